"""The contract of all scorers of sentence pairs: word overlap, word vectors, transformers and
combinations of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.note import Note
from embedlab.core.printable import count_text, first_few, one_line
from embedlab.data.words import APART, text_bytes

if TYPE_CHECKING:
    from embedlab.choices import Similarity
    from embedlab.core.session import ProgressCallback


@dataclass(frozen=True, kw_only=True, slots=True)
class TextPair:
    """Two texts that are encoded together, "[CLS] a [SEP] b [SEP]", to one vector."""

    first: str
    second: str


Text = str | TextPair
"""What an encoder reads; pairs are for transformers alone."""


def count_characters(text: Text) -> int:
    """Return the length of a sentence, or of the two texts of a pair together."""
    return len(text) if isinstance(text, str) else len(text.first) + len(text.second)


def single_texts(name: str, texts: Sequence[Text]) -> list[str]:
    """Return TEXTS for the encoder called NAME, which reads one text at a time; a pair of texts is
    a UsageError.
    """
    sentences = [text for text in texts if isinstance(text, str)]
    if len(sentences) < len(texts):
        raise UsageError(f"{name!r} does not read two texts at once", hint="name a transformer")
    return sentences


def key_content(text: Text) -> bytes:
    """Return bytes that identify TEXT, as a key for what is computed of it."""
    if isinstance(text, str):
        return text_bytes(text)
    return APART.join((b"", b"pair", text_bytes(text.first), text_bytes(text.second)))


def sentence_keys(sentences: Sequence[Text]) -> TextKeys:
    """Return a 128-bit hash of each sentence or pair of texts, by which vectors are stored."""
    digests = (
        hashlib.blake2b(key_content(sentence), digest_size=16).digest() for sentence in sentences
    )
    return np.frombuffer(b"".join(digests), np.uint64).reshape(-1, 2)


SHOWN = 3  # texts that the message names
LENGTH = 50  # characters of each that it shows


class RefusedTextsError(EmbedlabError):
    """Some texts have no vector; the error holds the vectors of the others, so that they can be
    cached before it is raised again.

    REFUSED are the texts without a vector and why, VECTORS the rows of the others in their order.
    """

    def __init__(
        self,
        encoder_name: str,
        refused: Iterable[tuple[str, str]],
        vectors: NDArray[np.float32] | None = None,
    ) -> None:
        self.encoder_name, self.refused = encoder_name, tuple(refused)
        self.vectors = np.empty((0, 0), np.float32) if vectors is None else vectors
        count = len(self.refused)
        texts = f"{count} texts" if count > 1 else "a text"
        reason = self.refused[0][1]
        examples = first_few((quote_text(text) for text, _ in self.refused), SHOWN, separator="; ")
        super().__init__(
            f"{encoder_name} refuses {texts}, even alone ({reason}): {examples}",
            hint="shorten or remove what it refuses; the vectors of all other texts are "
            "computed, and cached if the cache is on",
        )


def quote_text(text: str) -> str:
    """Return TEXT in quotes on one line; of a long one the beginning and its length."""
    line = one_line(text)
    if len(line) <= LENGTH:
        return repr(line)
    return f"{line[:LENGTH] + '…'!r} of {len(text):,} characters"


TextKeys = NDArray[np.uint64]
"""The two halves of a hash of each text: (texts, 2)."""

Vectors = NDArray[np.float32]
"""One row a sentence: (sentences, dim)."""

# pairs whose vectors are gathered at once: 0.8 GB of float64 at 768 dimensions
PAIRS_AT_ONCE = 65_536


# the facts that count sentences
TEXT_COUNTS = ("truncated", "zero_vectors", "unknown_texts")

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class EncoderFacts:
    """The facts that must accompany an encoder's numbers."""

    pooling: str | None = None  # absent where no token vectors are pooled
    precision: str = "float32"
    max_tokens: int | None = None
    truncated: int = 0  # distinct sentences so far that were truncated at max_tokens
    zero_vectors: int = 0  # distinct sentences so far whose vector says nothing
    unknown_texts: int = 0  # distinct sentences so far of unknown tokens alone
    refused: tuple[str, ...] = ()  # texts that it has no vector of
    notes: tuple[str, ...] = ()

    @property
    def odd_texts(self) -> tuple[str, ...]:
        """Notes on sentences whose vectors say nothing."""
        return odd_texts(self.zero_vectors, self.unknown_texts)


def odd_texts(zero_count: int, unknown_count: int) -> tuple[str, ...]:
    """Return the notes on ZERO_COUNT sentences with a zero vector, and on UNKNOWN_COUNT with only
    unknown tokens.
    """
    counts = {
        "a zero vector (similarity 0)": zero_count,
        "only tokens that its vocabulary does not know": unknown_count,
    }
    return tuple(
        Note(f"{count_text(count, 'sentences have')} {description}", kind="doubted")
        for description, count in counts.items()
        if count
    )


class DescribedModel(Protocol):
    """A model with everything that must accompany its numbers."""

    @property
    def name(self) -> str:
        """The model name as typed."""

    @property
    def fingerprint(self) -> str:
        """Hex digits that change exactly when its scores would."""

    @property
    def facts(self) -> EncoderFacts:
        """Facts of the work so far, to be reported with its numbers."""


class PairScorer(DescribedModel, Protocol):
    """Scores pairs: two lists of sentences in, one similarity per pair out."""

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """Similarity of each pair, higher = closer; (pairs,)."""


def no_similarities(message: str, *, hint: str) -> Callable[[str], NoReturn]:
    """Return a function that refuses to open a file that scores no pairs of text. MESSAGE says why,
    with "{}" for its location; HINT says where the file can be used.
    """

    def refuse(location: str) -> NoReturn:
        raise UsageError(message.format(location), hint=hint)

    return refuse


def refuse_not_finite(
    name: str,
    numbers: NDArray[np.floating[Any]],
    *,
    what: str = "vectors",
) -> None:
    """Refuse NUMBERS of the model called NAME that are not finite."""
    if not np.isfinite(numbers.sum(dtype=np.float64)):
        hint = "its weights are damaged, or its training diverged"
        raise EmbedlabError(f"{name!r} gives {what} that are not finite", hint=hint)


def no_token_sum(name: str) -> UsageError:
    """Return the error of the model called NAME, whose similarities no vectors of tokens add up
    to.
    """
    return UsageError(
        f"{name!r}: its vectors are not sums of token vectors",
        hint="--view effects leaves out words, which works for every model",
    )


def distinct_texts(sentences: Sequence[T]) -> tuple[list[T], NDArray[np.intp]]:
    """Return each distinct sentence once, in order of first appearance, and the index of every
    input sentence among them.
    """
    index_of_sentence: dict[T, int] = {}
    index = [
        index_of_sentence.setdefault(sentence, len(index_of_sentence)) for sentence in sentences
    ]
    return list(index_of_sentence), np.array(index, np.intp)


def shift_progress(
    progress: ProgressCallback | None, steps_before: int, total: int
) -> ProgressCallback | None:
    """Return a callback that reports progress of a part of the work as progress of the whole."""
    return None if progress is None else lambda done, _: progress(steps_before + done, total)


class CountingEncoder:
    """A model with facts that do not depend on what it has encoded, and counts that do."""

    stated = EncoderFacts()
    number_notes: tuple[str, ...] = ()

    @cached_property
    def counted(self) -> dict[str, set[Text]]:
        """The distinct sentences so far that each of TEXT_COUNTS counts."""
        return {name: set() for name in TEXT_COUNTS}

    def count(self, name: str, sentences: Sequence[Text], is_counted: NDArray[np.bool_]) -> None:
        """Count those of SENTENCES that are to be counted under NAME."""
        self.counted[name].update(compress(sentences, is_counted.tolist()))

    @property
    def facts(self) -> EncoderFacts:
        """Facts of the work so far."""
        counts: Any = {name: len(texts) for name, texts in self.counted.items()}
        return replace(self.stated, **counts, notes=(*self.stated.notes, *self.number_notes))


class Encoder(CountingEncoder):
    """A scorer that has a vector for each sentence; its scores are the similarity of two
    vectors.
    """

    name: str
    fingerprint: str
    dim: int  # length of a vector
    similarity: Similarity = "cosine"  # how two vectors are compared

    # texts that another model refuses: none has a vector
    refused_texts: frozenset[str] = frozenset()

    def inspect_vectors(self, sentences: Sequence[Text], vectors: Vectors) -> None:
        """Count zero vectors, and note numbers that may be no values."""
        is_zero = np.asarray(~vectors.any(axis=1))
        self.count("zero_vectors", sentences, is_zero)
        self.number_notes = self.number_notes or _number_notes(vectors[~is_zero])

    def embed(self, sentences: Sequence[Text], progress: ProgressCallback | None = None) -> Vectors:
        """A vector for each of these distinct sentences."""
        raise NotImplementedError

    def encode(
        self, sentences: Sequence[Text], progress: ProgressCallback | None = None
    ) -> Vectors:
        """One vector a sentence, in order; equal sentences are computed once. Pairs of texts are
        for transformers alone.
        """
        self.refuse_others(sentences)
        unique, index = distinct_texts(sentences)
        return self.embed(unique, progress)[index]

    def refuse_others(self, sentences: Sequence[Text]) -> None:
        """Refuse texts that another model refuses, as if this one did."""
        if refused_texts := self.refused_texts.intersection(sentences):
            refused = [(text, "another model refuses it") for text in sorted(refused_texts)]
            raise RefusedTextsError(self.name, refused)

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """The similarity of each pair by its vectors, nan where a sentence is refused; a sentence
        of several pairs is encoded once.
        """
        sentences, index = distinct_texts([*first, *second])
        vectors, is_accepted = self.encode_accepted(sentences, progress)
        left, right = index[: len(first)], index[len(first) :]
        scores = row_similarities(vectors, left, vectors, right, self.similarity)
        scores[~(is_accepted[left] & is_accepted[right])] = np.nan
        return scores

    def encode_accepted(
        self, sentences: Sequence[str], progress: ProgressCallback | None
    ) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return a vector of each sentence, zeros where it is refused alone, and which it
        accepts. If all are refused, the error is raised.
        """
        refused_texts: set[str] = set()
        while True:
            is_accepted = np.array(
                [sentence not in refused_texts for sentence in sentences], np.bool_
            )
            try:
                accepted = self.encode([*compress(sentences, is_accepted)], progress)
                break
            except RefusedTextsError as error:
                refused_texts |= {text for text, _ in error.refused}
                if refused_texts.issuperset(sentences):
                    raise
        if not refused_texts:
            return accepted, is_accepted
        vectors = np.zeros((len(sentences), accepted.shape[1]), np.float32)
        vectors[is_accepted] = accepted
        return vectors, is_accepted


def _number_notes(vectors: Vectors) -> tuple[str, ...]:
    """Return a note on VECTORS that hold only whole numbers, as bits and packed bits do."""
    if not len(vectors) or (vectors[0] % 1).any() or (vectors % 1).any():
        return ()
    low, high = vectors.min(), vectors.max()
    if low >= -1 and high <= 1:
        return (Note("its numbers are bits", kind="doubted"),)
    if low < -128 or high >= 256 or high - low <= 100:  # counts of words are smaller
        return ()
    remark = "all its numbers are whole: if they are packed bits, take np.unpackbits of them"
    return (Note(remark, kind="doubted"),)


def cosines(first: Vectors, second: Vectors) -> NDArray[np.float32]:
    """Return the cosine of each row of FIRST with the same row of SECOND; 0 if either is a zero
    vector.
    """
    # float64 inside, so that equal vectors score exactly 1 and identical pairs stay tied in a rank
    # correlation.
    a, b = first.astype(np.float64), second.astype(np.float64)
    dots = np.einsum("nd,nd->n", a, b)
    lengths = np.sqrt(np.einsum("nd,nd->n", a, a) * np.einsum("nd,nd->n", b, b))
    scores: NDArray[np.float64] = np.divide(
        dots, lengths, out=np.zeros_like(dots), where=lengths > 0
    )
    return scores.clip(-1, 1).astype(np.float32)


def unit_vectors(vectors: Vectors) -> NDArray[np.float64]:
    """Each vector at length 1; a zero vector stays zero."""
    doubles = vectors.astype(np.float64)
    lengths = np.linalg.norm(doubles, axis=1, keepdims=True)
    unit: NDArray[np.float64] = doubles / np.where(lengths > 0, lengths, 1)
    return unit


def mean_cosine(vectors: Vectors) -> float:
    """Mean cosine of all pairs of different vectors, computed from their sum: the measure of
    anisotropy (Ethayarajh 2019).
    """
    count = len(vectors)
    if count < 2:
        return float("nan")
    unit = unit_vectors(vectors)
    squares = float((unit**2).sum())  # a zero vector has no direction and counts as cosine 0
    return float(((unit.sum(0) ** 2).sum() - squares) / (count * (count - 1)))


def pair_similarities(
    first: Vectors, second: Vectors, similarity: Similarity
) -> NDArray[np.float32]:
    """Similarity of each row of FIRST with the same row of SECOND; distances are negative, so that
    higher is closer.
    """
    if similarity == "cosine":
        return cosines(first, second)
    a, b = first.astype(np.float64), second.astype(np.float64)
    if similarity == "dot":
        scores: NDArray[np.float64] = np.einsum("nd,nd->n", a, b)
    elif similarity == "euclidean":
        scores = -np.sqrt(((a - b) ** 2).sum(axis=1))
    else:
        scores = -np.abs(a - b).sum(axis=1)
    return scores.astype(np.float32)


def row_similarities(
    first: Vectors,
    first_rows: NDArray[np.intp],
    second: Vectors,
    second_rows: NDArray[np.intp],
    similarity: Similarity,
) -> NDArray[np.float32]:
    """Return the similarity of each of FIRST_ROWS with the same of SECOND_ROWS, gathered in
    pieces.
    """
    scores = np.empty(len(first_rows), np.float32)
    for start in range(0, len(first_rows), PAIRS_AT_ONCE):
        piece = slice(start, start + PAIRS_AT_ONCE)
        a, b = first[first_rows[piece]], second[second_rows[piece]]
        scores[piece] = pair_similarities(a, b, similarity)
    return scores


def similarity_rows(first: Vectors, second: Vectors, similarity: Similarity) -> NDArray[np.float32]:
    """Return the similarity of each row of FIRST with each row of SECOND, (first, second), as
    `pair_similarities` computes those of pairs.
    """
    if similarity in {"euclidean", "manhattan"}:  # of differences: equal ones are 0 apart
        return np.stack([pair_similarities(vector[None], second, similarity) for vector in first])
    a, b = first.astype(np.float64), second.astype(np.float64)
    dots: NDArray[np.float64] = a @ b.T
    if similarity == "dot":
        return dots.astype(np.float32)
    # in place from here: new memory costs as much as the product
    lengths = np.outer(np.einsum("nd,nd->n", a, a), np.einsum("nd,nd->n", b, b))
    np.sqrt(lengths, out=lengths)
    if not lengths.all():
        is_zero = lengths == 0
        dots[is_zero] = 0
        lengths[is_zero] = 1
    np.divide(dots, lengths, out=dots)
    return dots.clip(-1, 1, out=dots).astype(np.float32)
