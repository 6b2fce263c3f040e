"""BM25, the words that a query and a document share, weighed by how rare they are among the
documents: `bm25`, by the package bm25s.

As bm25s has it without options, in one of its variants: words of two letters and more in lower
case, English stop words left out, no stemming, k1 = 1.5, b = 0.75. `bm25` is the variant of Lucene
(Kamphuis et al. 2020), `bm25:robertson` and others are the package's.
"""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from numpy.typing import NDArray

from embedlab.core.errors import MissingError
from embedlab.core.nearest import unknown_name_error
from embedlab.encoders.encoder import no_similarities
from embedlab.models.encoder_kind import EncoderKind

PACKAGE, EXTRA = "bm25s", "search"
VARIANTS = ("lucene", "robertson", "atire", "bm25l", "bm25+")


class Bm25Index:
    """Documents, each with a score for any query."""

    def __init__(self, documents: Sequence[str], variant: str) -> None:
        from bm25s import BM25  # half a second

        self._count = len(documents)
        tokens = _words(documents)
        self._bm25 = BM25(method=variant) if any(tokens) else None
        if self._bm25 is not None:
            self._bm25.index(tokens, show_progress=False)

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return the score of each document for a QUERY; 0 where they share no word;
        (documents,).
        """
        (tokens,) = _words([query])
        if self._bm25 is None or not tokens:
            return np.zeros(self._count, np.float32)
        return np.asarray(self._bm25.get_scores(tokens), np.float32)


def _words(texts: Sequence[str]) -> list[list[str]]:
    from bm25s import tokenize

    tokens: list[list[str]] = tokenize(
        list(texts), stopwords="en", return_ids=False, show_progress=False
    )
    return tokens


def _locate(variant: str) -> str:
    """Return the variant and the version of the package, which decides its stop words."""
    if variant not in VARIANTS:
        raise unknown_name_error("variant of BM25", variant, VARIANTS)
    try:
        return f"{variant} {PACKAGE} {version(PACKAGE)}"
    except PackageNotFoundError:
        raise MissingError(
            f"the package {PACKAGE} is not installed", hint=f"pip install 'embedlab[{EXTRA}]'"
        ) from None


def _index(location: str, documents: Sequence[str]) -> Bm25Index:
    return Bm25Index(documents, location.partition(" ")[0])


ENCODER = EncoderKind(
    open=no_similarities(
        "BM25 ({}) weighs words by all documents of a search: it cannot score a pair alone",
        hint="search with it: --task retrieval-captions; for pairs, dice measures the share of "
        "common words",
    ),
    locate=_locate,
    backend="numpy",
    options=(),
    has_vectors=False,
    is_published=True,
    index=_index,
)
