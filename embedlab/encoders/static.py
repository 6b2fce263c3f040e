"""Static token vectors averaged to sentence vectors: sentence-transformers' StaticEmbedding and
model2vec's folders.
"""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import nn

from embedlab.analysis.word_effects import WeightedTokens
from embedlab.core.errors import UsageError
from embedlab.core.progress import ProgressCallback
from embedlab.encoders.encoder import EncoderFacts, Text, Vectors, VectorScorer, single_texts
from embedlab.encoders.layers import load_layers
from embedlab.encoders.token_table import TokenTable, read_table, read_tokenizer
from embedlab.models.folder import Usage, pooling_label, vector_dim
from embedlab.models.folder_files import Model2VecFile, is_model2vec, read_model_file, weight_files

SENTENCES_AT_ONCE = 16_384  # tokenised together, so that progress is seen and id lists stay small


class StaticEncoder(VectorScorer):
    """Sentences to the mean of their tokens' vectors; a sentence without any known token has
    zeros.
    """

    def __init__(
        self,
        *,
        name: str,
        fingerprint: str,
        table: TokenTable,
        usage: Usage,
        layers: nn.Sequential,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.usage = usage
        self.similarity = usage.similarity
        self._table = table
        self._layers = layers
        self._notes = notes
        self._truncated: set[Text] = set()
        self._zero: set[Text] = set()

    @cached_property
    def dim(self) -> int:
        """Length of a vector."""
        return vector_dim(self.usage)

    @property
    def facts(self) -> EncoderFacts:
        """How it makes vectors, and how many texts were cut."""
        return EncoderFacts(
            pooling=pooling_label(self.usage),
            max_tokens=self._table.most_tokens,
            truncated=len(self._truncated),
            zero_vectors=len(self._zero),
            notes=self._notes,
        )

    def embed(
        self, sentences: Sequence[Text], progress: ProgressCallback | None = None
    ) -> tuple[Vectors, NDArray[np.bool_]]:
        """A vector for each of these sentences, and which of them were cut."""
        vectors, is_cut = (
            np.empty((len(sentences), self.dim), np.float32),
            np.zeros(len(sentences), np.bool_),
        )
        for start in range(0, len(sentences), SENTENCES_AT_ONCE):
            block = slice(start, start + SENTENCES_AT_ONCE)
            vectors[block], is_cut[block] = self._means(single_texts(self.name, sentences[block]))
            if progress is not None:
                progress(min(block.stop, len(sentences)), len(sentences))
        self._truncated.update(sentences[row] for row in np.flatnonzero(is_cut).tolist())
        self._zero.update(sentences[row] for row in np.flatnonzero(~vectors.any(axis=1)).tolist())
        return vectors, is_cut

    def token_vectors(self, sentence: str) -> WeightedTokens:
        """The token vectors whose sum is the vector of SENTENCE but for its length; layers after it
        are a UsageError.
        """
        if len(self._layers):
            raise UsageError(
                f"{self.name!r} has layers after the mean: its vectors are not sums",
                hint="--view effects fits every model",
            )
        return self._table.token_vectors(
            sentence, prompt=self.usage.reading.prompt, dim=self.usage.dim
        )

    def _means(self, sentences: Sequence[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        prompt = self.usage.reading.prompt
        vectors, is_cut = self._table.means([f"{prompt}{sentence}" for sentence in sentences])
        with torch.inference_mode():
            vectors = self._layers(vectors)
            vectors = F.normalize(vectors, dim=-1) if self.usage.is_normalised else vectors
        shortened: Vectors = vectors[:, : self.usage.dim].numpy()
        return shortened, is_cut


def load_static(
    folder: Path, usage: Usage, *, name: str, fingerprint: str, note: str | None = None
) -> StaticEncoder:
    """The static token vectors in FOLDER, used as USAGE says; what is missing, pickled or not
    finite is a MissingError.
    """
    return StaticEncoder(
        name=name,
        fingerprint=fingerprint,
        table=_table(usage.source),
        usage=usage,
        layers=load_layers(usage.layers).eval(),
        notes=(*usage.notes, *([note] if note else [])),
    )


def _table(folder: Path) -> TokenTable:
    """The vectors in a folder; in one of model2vec unknown tokens do not count, and long texts are
    cut as that package does.
    """
    tokenizer = read_tokenizer(folder / "tokenizer.json")
    stated = (tokenizer.truncation or {}).get("max_length")
    tokenizer.no_truncation()
    vectors = read_table(next(iter(weight_files(folder)), folder / "model.safetensors"), tokenizer)
    if not is_model2vec(folder):
        return TokenTable(folder=folder, tokenizer=tokenizer, vectors=vectors, most_tokens=stated)
    file, words = (
        read_model_file(folder / "config.json", Model2VecFile) or Model2VecFile(),
        tokenizer.get_vocab(),
    )
    typical = int(np.median([len(word) for word in words]))
    return TokenTable(
        folder=folder,
        tokenizer=tokenizer,
        vectors=vectors,
        most_tokens=file.max_length,
        most_characters=None if file.max_length is None else file.max_length * typical,
        ignored=_unknown(tokenizer),
    )


def _unknown(tokenizer: Tokenizer) -> int | None:
    """The id of the token that replaces unknown words."""
    model = json.loads(tokenizer.to_str())["model"]
    token: int | None = (
        model["unk_id"]
        if "unk_id" in model
        else tokenizer.token_to_id(model.get("unk_token") or "")
    )
    return token
