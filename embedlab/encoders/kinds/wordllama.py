"""The published static models of the package wordllama: `wordllama:NAME`, for example
`wordllama:l2_supercat_256`.

Its files are read without running its code. A vector is the mean of the tokens' vectors, as its
`embed` gives it by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from embedlab.core.errors import MissingError
from embedlab.core.nearest import unknown
from embedlab.core.paths import file_hash
from embedlab.encoders.encoder import EncoderFacts, Vectors
from embedlab.models.encoder_kind import EncoderKind

if TYPE_CHECKING:
    from embedlab.analysis.word_effects import WeightedTokens
    from embedlab.encoders.static import TokenTable

PACKAGE = "wordllama"


class WordLlamaEncoder:
    """The token vectors of one file of the package."""

    facts = EncoderFacts(pooling="static")

    def __init__(self, weights: Path) -> None:
        self._weights = weights

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """One vector a sentence, in order."""
        vectors: Vectors = self._table.means(sentences)[0].numpy()
        return vectors

    def token_vectors(self, sentence: str) -> WeightedTokens:
        """The token vectors whose mean is the vector of SENTENCE."""
        return self._table.token_vectors(sentence)

    @cached_property
    def _table(self) -> TokenTable:
        from embedlab.encoders.static import (
            TokenTable,
            read_table,
            read_tokenizer,
        )  # torch: not for listing names

        path = _tokenizer(self._weights)
        tokenizer = read_tokenizer(path)
        tokenizer.no_truncation()
        return TokenTable(
            folder=path.parent, tokenizer=tokenizer, vectors=read_table(self._weights, tokenizer)
        )


def _locate(rest: str) -> str:
    """The file of the weights, and the hash of its tokenizer."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingError(
            f"the package {PACKAGE} is not installed", hint=f"pip install 'embedlab[{PACKAGE}]'"
        )
    files = {path.stem: path for path in Path(spec.origin).parent.glob("weights/*.safetensors")}
    if rest not in files:
        raise unknown(f"model of {PACKAGE}", rest, files)
    return f"{files[rest]}#{file_hash(_tokenizer(files[rest]))}"


def _weights(location: str) -> Path:
    return Path(location.rpartition("#")[0])


def _tokenizer(weights: Path) -> Path:
    """The tokenizer of weights whose name ends with the number of components."""
    return (
        weights.parents[1]
        / "tokenizers"
        / f"{weights.stem.rpartition('_')[0]}_tokenizer_config.json"
    )


ENCODER = EncoderKind(
    open=lambda location: WordLlamaEncoder(_weights(location)),
    locate=_locate,
    dim=lambda location: int(_weights(location).stem.rpartition("_")[2]),
    backend="torch",
    pooling="static",
    is_cached=False,
    is_published=True,
)
