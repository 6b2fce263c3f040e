"""What the items have in common on which one model is right and the other wrong: shares of them
beside the shares of all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.evidence import Evidence, ModelColumns, SliceRows
from embedlab.analysis.influence import quotient
from embedlab.analysis.seed_tests import holm
from embedlab.analysis.topics import largest_joined
from embedlab.analysis.weighing import Weighed
from embedlab.comparison.evidence import near_sentences
from embedlab.outcomes.frame import Outcomes, text_numbers
from embedlab.runs.outcomes import SENTENCES

if TYPE_CHECKING:
    from embedlab.analysis.influence import Floats

FEWEST_WITH_WORD = 20  # items that have a word which is counted
LEVEL = 0.05
_SHARE = ModelColumns(name="share", members=("share",))

Rows = NDArray[np.bool_]  # (rows,) of the frame
Counts = NDArray[np.integer]


@dataclass(frozen=True, kw_only=True, eq=False)
class Fact:
    """Something that is true of some items."""

    by: str  # a property, "error" or "word"
    title: str
    holds: Rows
    applies: Rows  # of which items it can be said


@dataclass(frozen=True, kw_only=True)
class Common:
    """A fact that is more or less frequent among the items of one side than among all others."""

    by: str
    title: str
    items: int  # of the side, with the fact
    share: float  # of the side's items, 0–1
    elsewhere: float  # of the others
    # 95% interval of the difference of both shares, items of one topic counted as dependent
    low: float
    high: float
    p: float
    p_corrected: float  # by Holm over all properties of the side, or by the number of words

    @property
    def difference(self) -> float:
        """The share of the side minus that of the others."""
        return self.share - self.elsewhere

    @property
    def significant(self) -> bool:
        """Whether the difference remains after the correction."""
        return self.p_corrected < LEVEL


def share_contributions(holds: Rows, side: Rows) -> tuple[float, float, Floats]:
    """Return the share of a fact on a side and elsewhere, and what each row contributes to the
    error of their difference; (rows,).

    Contributions are as large as if one item more had the fact and one more had it not, on either
    side: without that a fact of none of ten items would have no variance (Agresti & Caffo 2000).
    """
    counts = np.array([np.count_nonzero(side), np.count_nonzero(~side)])
    hits = np.array([np.count_nonzero(holds & side), np.count_nonzero(holds & ~side)])
    share, other_share = hits / counts
    contributions = np.where(side, (holds - share) / counts[0], -(holds - other_share) / counts[1])
    spread, adjusted_spread = (
        float((share * (1 - share) / size).sum())
        for share, size in ((hits / counts, counts), ((hits + 1) / (counts + 2), counts + 2))
    )
    return (
        float(share),
        float(other_share),
        contributions * np.sqrt(max(1.0, adjusted_spread / spread))
        if spread > 0
        else contributions,
    )


def find_common_facts(
    outcomes: Outcomes, side: Rows, among: Rows, facts: Sequence[Fact]
) -> list[Common]:
    """Return the FACTS that are more or less frequent on a SIDE than on the other rows AMONG which
    it is, first the surest.

    One that is true of none, or of all, of these rows is left out, as is one that can be said of no
    row of the side or of no other.
    """
    commons = []
    weigher = _FactComparison(outcomes)
    for fact in facts:
        rows = among & fact.applies
        is_on_side = side[rows]
        holds = fact.holds[rows]
        if is_on_side.any() and not is_on_side.all() and holds.any() and not holds.all():
            commons.append(weigher.common(fact, rows, is_on_side, holds))
    corrected = holm([common.p for common in commons])
    return _sort_by_certainty(
        replace(common, p_corrected=p) for common, p in zip(commons, corrected, strict=True)
    )


def find_common_words(outcomes: Outcomes, side: Rows, among: Rows) -> list[Common]:
    """Return the words that are more frequent on a SIDE than on the other rows AMONG which it is,
    first the surest.

    Counted is each word that FEWEST_WITH_WORD items have in one of their sentences, whatever the
    case; p is multiplied by the number of these words. Those that would not be significant if items
    were independent are not weighed: dependence only adds to the variance.
    """
    rows = np.flatnonzero(among)
    sentences = outcomes.sentences[rows].with_row_index("row")
    texts = pl.concat([sentences.select("row", text=name) for name in SENTENCES])
    words = (
        texts.select("row", word=pl.col("text").str.to_lowercase().str.extract_all(r"\w+"))
        .explode("word")
        .drop_nulls()
        .unique()
    )
    is_on_side = side[rows]
    weigher = _FactComparison(outcomes)
    commons = []
    word_is_on_side = pl.Series(is_on_side).gather(words["row"])
    word_counts = (
        words.with_columns(own=word_is_on_side)
        .group_by("word")
        .agg("row", items=pl.len(), hits=pl.col("own").sum())
    )
    word_counts = word_counts.filter(
        pl.col("items").is_between(FEWEST_WITH_WORD, len(rows) - 1)
    ).sort("word")
    tested_words = word_counts.height
    word_counts = word_counts.filter(
        pl.col("hits") * (len(rows) - int(is_on_side.sum()))
        > (pl.col("items") - pl.col("hits")) * int(is_on_side.sum())
    )
    p = _independent_p(
        word_counts["hits"].to_numpy(),
        word_counts["items"].to_numpy(),
        int(is_on_side.sum()),
        len(rows),
    )
    for word, positions in (
        word_counts.filter(pl.Series(tested_words * p < LEVEL)).select("word", "row").iter_rows()
    ):
        holds = np.zeros(len(rows), dtype=bool)
        holds[positions] = True
        common = weigher.common(
            Fact(by="word", title=f"word {word!r}", holds=holds, applies=holds),
            among,
            is_on_side,
            holds,
        )
        commons.append(replace(common, p_corrected=min(1.0, tested_words * common.p)))
    return _sort_by_certainty(commons)


def _sort_by_certainty(commons: Iterable[Common]) -> list[Common]:
    return sorted(commons, key=lambda common: (isnan(common.p), common.p, -abs(common.difference)))


def _independent_p(hits: Counts, items: Counts, side: int, rows: int) -> Floats:
    """Return the p of differences of shares whose rows are independent, without any steadying: no
    larger than what `common` finds.

    HITS of the ITEMS with a fact are on a side of that many of the ROWS.
    """
    from scipy.special import ndtr

    shares = np.array([hits / side, (items - hits) / (rows - side)])
    counts = np.array([[side], [rows - side]])
    spread = np.sqrt((shares * (1 - shares) / counts).sum(axis=0))
    difference = np.abs(shares[0] - shares[1])
    distance = quotient(difference, spread, where=spread > 0, otherwise=np.inf)
    p: Floats = 2 * ndtr(-distance)
    return p


class _FactComparison:
    """The rows behind shares: what is the same for all facts of the same rows is found once."""

    def __init__(self, outcomes: Outcomes) -> None:
        self._texts, self._near = text_numbers(outcomes), near_sentences(outcomes)
        self._known: dict[bytes, SliceRows] = {}

    def common(self, fact: Fact, rows: Rows, side: Rows, holds: Rows) -> Common:
        """Return how frequent a fact is on a side and elsewhere; SIDE and HOLDS are of the ROWS
        alone.
        """
        share, other_share, contributions = share_contributions(holds, side)
        difference = share - other_share
        key = rows.tobytes()
        if key not in self._known:
            count = int(rows.sum())
            self._known[key] = SliceRows(
                contributions=np.zeros((1, count)),
                texts=self._texts[rows],
                groups=np.zeros(count, np.intp),
                row_shares=np.full(count, 1 / count),
                largest_joined=largest_joined(count),
                near=self._near,
            )
        evidence = Evidence(
            key=fact.title,
            title=fact.title,
            items=len(side),
            points=np.array([difference]),
            rows=self._known[key].with_contributions(contributions[None]),
        )
        uncertainty = Weighed(evidence, [_SHARE]).score_uncertainties[_SHARE.name]
        low, high = uncertainty.interval(difference)
        p = uncertainty.p(difference)
        return Common(
            by=fact.by,
            title=fact.title,
            items=int((holds & side).sum()),
            share=share,
            elsewhere=other_share,
            low=max(low, -1.0),
            high=min(high, 1.0),
            p=p,
            p_corrected=p,
        )
