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
    differences = [(compared, compared.differences[model]) for compared in comparison.slices if model in compared.differences]
    rows = [
        _row(compared, difference, model, comparison.reference)
        for compared, difference in differences
        if difference.delta == difference.delta
    ]
    margin = 100 * comparison.margin if comparison.margin is not None else None
    return Forest(model=model, reference=comparison.reference, rows=rows, margin=margin, metric=_metric(comparison))


def _metric(comparison: Comparison) -> str:
    """What is compared; several measures are named by their slices."""
    metrics = {compared.metric for compared in comparison.slices}
    return "Spearman" if metrics <= {"spearman"} else metrics.pop() if len(metrics) == 1 else "score"


def _row(compared: ComparedSlice, difference: Difference, model: str, reference: str) -> ForestRow:
    letters = [compared.letters(name) for name in (model, reference)]
    return ForestRow(
        key=compared.key,
        title=compared.title,
        pairs=compared.pairs,
        delta=100 * difference.delta,
        low=100 * difference.low,
        high=100 * difference.high,
        letters="/".join(letters) if all(letters) else "",
        design_effect=difference.uncertainty.design_effect,
        reach=difference.reach_sign if difference.reach == "checkpoints" else "",
        topic=difference.topic_sign,
        is_significant=difference.significant,
        is_equivalent=difference.equivalent,
        is_average=bool(compared.average_of),
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
    for compared in comparison.slices:
        dataset, _, fifth = compared.key.rpartition("/fifth-")
        cells = rows.setdefault(dataset, [None] * FIFTHS)
        difference = compared.differences.get(model)
        if difference is not None and difference.delta == difference.delta:
            cells[int(fifth) - 1] = _row(compared, difference, model, comparison.reference)
    return FifthsMap(model=model, reference=comparison.reference, rows=list(rows.items()), metric=_metric(comparison))
