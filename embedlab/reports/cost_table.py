"""What models cost beside what they score: a row a model, and one for each way to store fewer
numbers or bits of its vectors.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import median

from embedlab.analysis.comparison import ComparedSlice, Difference, SliceScore
from embedlab.analysis.trade_offs import find_undominated
from embedlab.core.printable import UNBEATEN, count_text
from embedlab.models.grammar import titles_of
from embedlab.reports.tables import Column, Table, TableCell, Value, attributes, columns_of, number
from embedlab.tasks.task import scale_of

FLOAT_BITS = 32


@dataclass(frozen=True, kw_only=True)
class CostRow:
    """One model, or one way to store its vectors."""

    model: str  # whose vectors these are
    name: str
    dims: int | None = None  # numbers of a vector; None where there are no vectors
    bits: int = FLOAT_BITS  # of a number
    # a sentence, one number a round; none where it was not measured
    milliseconds: Sequence[float] = ()
    memory_mib: float | None = None
    scores: Mapping[str, SliceScore]  # by the key of a slice
    losses: Mapping[str, Difference]  # from the whole vectors; empty of these

    @property
    def bytes(self) -> int | None:
        """The size of a vector."""
        return None if self.dims is None else -(-self.dims * self.bits // 8)

    @property
    def label(self) -> str:
        """What is stored of a vector."""
        if self.dims is None:
            return "no vectors"
        is_float = self.bits == FLOAT_BITS
        return f"{self.dims} dims" if is_float else count_text(self.bits, "bits")

    @property
    def is_whole(self) -> bool:
        """Whether these are the model's own vectors."""
        return self.model == self.name

    @property
    def time_ms(self) -> float:
        """The median time of a sentence; nan where it was not measured."""
        return median(self.milliseconds) if self.milliseconds else nan


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What models score and cost on one machine."""

    rows: Sequence[CostRow]
    slices: Sequence[ComparedSlice]  # what scores are of
    machine: str  # what was measured on, and how
    notes: Sequence[str] = ()

    @property
    def unbeaten(self) -> list[bool]:
        """Whether each row is beaten by no other: by none that is at least as good in its first
        score, time and bytes, and better in one of them.
        """
        scores, costs = [], []
        for row in self.rows:
            score = row.scores.get(self.slices[0].key)
            scores.append(nan if score is None else score.value)
            costs.append((row.time_ms, nan if row.bytes is None else float(row.bytes)))
        return find_undominated(scores, costs)


def cost_table(costs: Costs) -> Table:
    """Return the table of scores, losses and costs."""
    has_several = len(costs.slices) > 1
    columns = columns_of("model [key]", "dims", "bits", "bytes")
    for cost_slice in costs.slices:
        title = (
            f"{cost_slice.slice_title} {cost_slice.metric}" if has_several else cost_slice.metric
        )
        change = f"{cost_slice.slice_title}: change" if has_several else "change from full vectors"
        columns.append(Column(f"{cost_slice.key}.score", title, "score", "right"))
        columns.append(Column(f"{cost_slice.key}.loss", change, "difference"))
    columns += columns_of(
        f"unbeaten = {UNBEATEN.sign}", "milliseconds = ms a sentence >", "memory_mib = MiB .0 >"
    )
    titles = titles_of([row.name for row in costs.rows])
    rows = []
    for row, is_best in zip(costs.rows, costs.unbeaten, strict=True):
        cells = {
            "model": TableCell(row.name, titles[row.name]),
            "dims": row.dims,
            "bits": row.bits if row.dims is not None else None,
            "bytes": row.bytes,
            "milliseconds": _time(row),
            "memory_mib": row.memory_mib,
            "unbeaten": TableCell(is_best, UNBEATEN.sign * is_best),
        }
        rows.append(cells | _scores(row, costs))
    place = "" if has_several else f" on {costs.slices[0].slice_title}"
    title = f"What a choice costs{place}, scores x 100"
    return Table(title, columns, rows, [*_notes(costs)], titles=titles)


def _scores(row: CostRow, costs: Costs) -> dict[str, Value | TableCell]:
    cells: dict[str, Value | TableCell] = {}
    for cost_slice in costs.slices:
        scale = scale_of(cost_slice.task, cost_slice.metric)
        if (score := row.scores.get(cost_slice.key)) is not None:
            cells[f"{cost_slice.key}.score"] = number(scale * score.value)
        if (loss := row.losses.get(cost_slice.key)) is not None:
            delta, low, high = attributes(loss, "delta low high", scale).values()
            key, sign = f"{cost_slice.key}.loss", loss.star
            cells[key] = number(delta, is_signed=True, sign=sign, low=low, high=high)
            cells |= {f"{key}_low": low, f"{key}_high": high}
    return cells


def _time(row: CostRow) -> Value | TableCell:
    if not row.milliseconds:
        return None
    extremes = "–".join(_digits(end(row.milliseconds)) for end in (min, max))
    spread = f" ({extremes})" if row.is_whole else ""
    return TableCell(row.time_ms, f"{_digits(row.time_ms)}{spread}")


def _digits(milliseconds: float) -> str:
    """Return a time in whole milliseconds, or its first two digits below 10."""
    return f"{milliseconds:z,.0f}" if milliseconds >= 10 else f"{milliseconds:.2g}"


def _notes(costs: Costs) -> Iterator[str]:
    yield costs.machine
    yield (
        "bytes: of one vector; MiB: the largest memory of a process that does nothing else, "
        "Python and its libraries included"
    )
    if any(not row.is_whole for row in costs.rows):
        yield (
            "change from full vectors: the difference from the model's own vectors with its "
            "95% interval; *: different (5%, Holm over "
            "each model's own rows); smaller vectors are computed from full ones, in the same time"
        )
    yield str(UNBEATEN)
    yield from costs.notes
