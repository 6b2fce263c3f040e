"""The differences of one model from the reference over all slices, as a comparison has them: rows of a forest plot, cells of a map."""

from collections.abc import Sequence
from dataclasses import dataclass

from embedlab.analysis.comparison import ComparedSlice, Difference
from embedlab.analysis.slices import FIFTHS
from embedlab.comparison.comparison import Comparison


@dataclass(frozen=True, kw_only=True)
class ForestRow:
    """The difference on one slice; in points, 100 times the correlation."""

    key: str  # of the slice
    title: str
    pairs: int
    delta: float
    low: float
    high: float
    letters: str  # of the model and of the reference
    design_effect: float
    reach: str  # the sign of how far a significant difference reaches; empty for as far as it could, or none
    topic: str  # the sign of one that hangs on one topic
    is_significant: bool
    is_equivalent: bool
    is_average: bool


@dataclass(frozen=True, kw_only=True)
class Forest:
    """The differences of MODEL from REFERENCE."""

    model: str
    reference: str
    rows: Sequence[ForestRow]
    margin: float | None = None  # of equivalence, in points
    metric: str = "Spearman"

    @property
    def span(self) -> tuple[float, float]:
        """The range of all intervals, with zero and the margin in it."""
        ends = [end for row in self.rows for end in (row.delta, row.low, row.high) if end == end]
        ends += [0.0] if self.margin is None else [-self.margin, self.margin]
        return min(ends), max(ends)


def forest(comparison: Comparison, model: str) -> Forest:
    """The differences of MODEL on every slice that has one."""
    found = [(one, one.differences[model]) for one in comparison.slices if model in one.differences]
    rows = [_row(one, difference, model, comparison.reference) for one, difference in found if difference.delta == difference.delta]
    margin = 100 * comparison.margin if comparison.margin is not None else None
    return Forest(model=model, reference=comparison.reference, rows=rows, margin=margin, metric=_metric(comparison))


def _metric(comparison: Comparison) -> str:
    """What is compared; several measures are named by their slices."""
    metrics = {one.metric for one in comparison.slices}
    return "Spearman" if metrics <= {"spearman"} else metrics.pop() if len(metrics) == 1 else "score"


def _row(one: ComparedSlice, found: Difference, model: str, reference: str) -> ForestRow:
    letters = [one.letters(name) for name in (model, reference)]
    return ForestRow(
        key=one.key,
        title=one.title,
        pairs=one.pairs,
        delta=100 * found.delta,
        low=100 * found.low,
        high=100 * found.high,
        letters="/".join(letters) if all(letters) else "",
        design_effect=found.uncertainty.design_effect,
        reach=found.reach_sign if found.reach == "checkpoints" else "",
        topic=found.topic_sign,
        is_significant=found.significant,
        is_equivalent=found.equivalent,
        is_average=bool(one.average_of),
    )


@dataclass(frozen=True, kw_only=True)
class FifthsMap:
    """The differences of MODEL from REFERENCE on the Dice fifths of each dataset."""

    model: str
    reference: str
    rows: Sequence[tuple[str, Sequence[ForestRow | None]]]  # a dataset with its fifths, from the least overlap; None without a difference
    metric: str = "Spearman"

    @property
    def largest(self) -> float:
        """The largest difference of either sign."""
        return max((abs(cell.delta) for _, cells in self.rows for cell in cells if cell is not None), default=0.0)


def fifths_map(comparison: Comparison, model: str) -> FifthsMap:
    """The cells of a comparison by Dice; a slice is "DATASET/fifth-N" there."""
    rows: dict[str, list[ForestRow | None]] = {}
    for one in comparison.slices:
        dataset, _, fifth = one.key.rpartition("/fifth-")
        cells = rows.setdefault(dataset, [None] * FIFTHS)
        found = one.differences.get(model)
        if found is not None and found.delta == found.delta:
            cells[int(fifth) - 1] = _row(one, found, model, comparison.reference)
    return FifthsMap(model=model, reference=comparison.reference, rows=list(rows.items()), metric=_metric(comparison))
