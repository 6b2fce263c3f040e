"""Averaged vectors of words from GloVe's or word2vec's text files, `word-vectors:FILE`, and of
tokens in the published static models of the package wordllama: `wordllama:NAME`, for example
`wordllama:l2_supercat_256`. Its files are read without running its code. A vector is the mean of
the tokens' vectors, as its `embed` gives it by default.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embedlab.core.errors import MissingError
from embedlab.core.foreign_files import refuse_other_content
from embedlab.core.nearest import unknown_name_error
from embedlab.core.paths import file_hash
from embedlab.core.printable import count_text
from embedlab.encoders.encoder import EncoderFacts, Vectors
from embedlab.models.encoder_kind import EncoderKind, existing_file

if TYPE_CHECKING:
    from embedlab.analysis.word_effects import WeightedTokens
    from embedlab.encoders.static import TokenTable


PLUGINS = {"encoders": {"word-vectors": "WORD_VECTORS", "wordllama": "WORDLLAMA"}}
_FORMAT = "word-vectors:FILE takes GloVe's or word2vec's text format"
# Words and single marks, as the files' own corpora were split.
_TOKEN = re.compile(r"\w+|[^\w\s]")


class WordVectorEncoder:
    """Encodes a sentence as the mean of its known words' vectors; zeros, and so a cosine of 0, if
    none is known.

    A word is looked up as written, then in lower case.
    """

    def __init__(self, row_of_word: Mapping[str, int], vectors: Vectors) -> None:
        self._row_of_word, self._vectors = row_of_word, vectors
        self.dim = int(vectors.shape[1])
        # sentence → its words, its unknown words
        self._counts: dict[str, tuple[int, int]] = {}

    @property
    def facts(self) -> EncoderFacts:
        """The number of words without a vector in the distinct sentences so far."""
        word_count, unknown_count = np.sum([(0, 0), *self._counts.values()], axis=0).tolist()
        notes = (f"{unknown_count} of {word_count} words have no vector",) if unknown_count else ()
        return EncoderFacts(pooling="mean", notes=notes)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """The mean of the words' vectors for each of these sentences."""
        vectors = np.zeros((len(sentences), self.dim), np.float32)
        for row, sentence in enumerate(sentences):
            word_rows = [self._place(word) for word in _TOKEN.findall(sentence)]
            known_rows = [word_row for word_row in word_rows if word_row is not None]
            self._counts[sentence] = len(word_rows), len(word_rows) - len(known_rows)
            if known_rows:
                vectors[row] = self._vectors[known_rows].mean(axis=0)
        return vectors

    def token_vectors(self, sentence: str) -> "WeightedTokens":
        """The vectors of the known words, whose mean is the vector of SENTENCE."""
        from embedlab.analysis.word_effects import WeightedTokens

        matches = [(self._place(match[0]), match.span()) for match in _TOKEN.finditer(sentence)]
        row_of_span = {span: vector_row for vector_row, span in matches if vector_row is not None}
        return WeightedTokens(
            vectors=self._vectors[list(row_of_span.values())],
            weights=np.ones(len(row_of_span)),
            spans=tuple(row_of_span),
        )

    def _place(self, word: str) -> int | None:
        row = self._row_of_word.get(word)
        return self._row_of_word.get(word.lower()) if row is None else row


def load_word_vectors(path: Path) -> WordVectorEncoder:
    """Load the vectors in a text file of `word number number …` lines, with or without word2vec's
    first line of two counts.

    A line with another number of values, or with a value that is not a number, is a MissingError
    with file and line. If a word has several lines, the first counts.
    """
    row_of_word: dict[str, int] = {}
    rows: list[NDArray[np.float32]] = []
    for number, word, row in _read_rows(path):
        if rows and len(row) != len(rows[0]):
            raise _broken_line(
                path,
                number,
                f"{count_text(len(row), 'numbers')} where the lines before have {len(rows[0])}",
            )
        if not np.isfinite(row).all():
            raise _broken_line(path, number, "a number that is not finite")
        if row_of_word.setdefault(word, len(rows)) == len(rows):
            rows.append(row)
    if not rows:
        raise MissingError(f"{path}: no word vectors", hint=_FORMAT)
    return WordVectorEncoder(row_of_word, np.stack(rows))


def _read_rows(path: Path) -> Iterator[tuple[int, str, NDArray[np.float32]]]:
    dim: int | None = None
    refuse_other_content(path)
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            fields = line.split()
            if number == 1 and len(fields) == 2 and all(field.isdigit() for field in fields):
                dim = int(fields[1])
                continue
            # GloVe's largest file has words with blanks inside: the numbers are counted from the
            # end.
            dim = dim or len(fields) - 1
            if dim < 1 or len(fields) < dim + 1:
                raise _broken_line(
                    path,
                    number,
                    f"{count_text(max(0, len(fields) - 1), 'numbers')} where {dim} are expected",
                )
            try:
                word = b" ".join(fields[:-dim]).decode()
                yield number, word, np.fromiter(map(float, fields[-dim:]), np.float32, dim)
            except ValueError as error:
                raise _broken_line(path, number, str(error)) from error


def _broken_line(path: Path, number: int, reason: str) -> MissingError:
    return MissingError(
        f"{path}, line {number}: {reason}",
        hint="each line is a word and its numbers, separated by blanks",
    )


def _vector_length(path: str) -> int | None:
    """The length of the first vector in a text file; None where it cannot be read."""
    with suppress(OSError, MissingError):
        return next((len(row) for _, _, row in _read_rows(Path(path))), None)
    return None


WORD_VECTORS = EncoderKind(
    open=lambda location: load_word_vectors(Path(location)),
    locate=partial(existing_file, missing="no word vector file", hint=_FORMAT),
    dim=_vector_length,
    backend="numpy",
    is_cached=False,
    is_published=True,
)


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

    def token_vectors(self, sentence: str) -> "WeightedTokens":
        """The token vectors whose mean is the vector of SENTENCE."""
        return self._table.token_vectors(sentence)

    @cached_property
    def _table(self) -> "TokenTable":
        # torch: not for listing names
        from embedlab.encoders.static import (
            TokenTable,
            read_token_vectors,
            read_tokenizer,
        )

        path = _tokenizer(self._weights)
        tokenizer = read_tokenizer(path)
        tokenizer.no_truncation()
        return TokenTable(
            folder=path.parent,
            tokenizer=tokenizer,
            vectors=read_token_vectors(self._weights, tokenizer),
        )


def _locate(name: str) -> str:
    """The file of the weights, and the hash of its tokenizer."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingError(
            f"the package {PACKAGE} is not installed", hint=f"pip install 'embedlab[{PACKAGE}]'"
        )
    files = {path.stem: path for path in Path(spec.origin).parent.glob("weights/*.safetensors")}
    if name not in files:
        raise unknown_name_error(f"model of {PACKAGE}", name, files)
    return f"{files[name]}#{file_hash(_tokenizer(files[name]))}"


def _weights(location: str) -> Path:
    return Path(location.rpartition("#")[0])


def _tokenizer(weights: Path) -> Path:
    """The tokenizer of weights whose name ends with the number of components."""
    return (
        weights.parents[1]
        / "tokenizers"
        / f"{weights.stem.rpartition('_')[0]}_tokenizer_config.json"
    )


WORDLLAMA = EncoderKind(
    open=lambda location: WordLlamaEncoder(_weights(location)),
    locate=_locate,
    dim=lambda location: int(_weights(location).stem.rpartition("_")[2]),
    backend="torch",
    pooling="static",
    is_cached=False,
    is_published=True,
)
