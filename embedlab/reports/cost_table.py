"""What models cost beside what they score: a row a model, and one for each way to store fewer
numbers or bits of its vectors.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import median
from typing import Any

from embedlab.analysis.comparison import Difference, SliceScore
from embedlab.analysis.trade_offs import undominated
from embedlab.core.signs import UNBEATEN
from embedlab.models.grammar import titles_of
from embedlab.reports.tables import Column, Table, TableCell, Value, columns_of, number
from embedlab.tasks.task import scale_of

FLOAT_BITS = 32


@dataclass(frozen=True, kw_only=True)
class ScoredSlice:
    """What a score is of."""

    key: str
    title: str
    task: str
    metric: str

    @property
    def scale(self) -> float:
        """What people see it multiplied by."""
        return scale_of(self.task, self.metric)


@dataclass(frozen=True, kw_only=True)
class CostRow:
    """One model, or one way to store its vectors."""

    model: str  # whose vectors these are
    name: str
    dims: int | None = None  # numbers of a vector; None where there are no vectors
    bits: int = FLOAT_BITS  # of a number
    milliseconds: Sequence[
        float
    ] = ()  # a sentence, one number a round; none where it was not measured
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
        is_whole = self.bits == FLOAT_BITS
        return f"{self.dims} dims" if is_whole else f"{self.bits} bit{'s' * (self.bits != 1)}"

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
    slices: Sequence[ScoredSlice]
    machine: str  # what was measured on, and how
    notes: Sequence[str] = ()

    @property
    def unbeaten(self) -> list[bool]:
        """Whether no other row has as high a first score for as little time and as few bytes, and
        one of these better.
        """
        first = self.slices[0].key
        sizes = [float(row.bytes) if row.bytes is not None else nan for row in self.rows]
        costs = list(zip((row.time_ms for row in self.rows), sizes, strict=True))
        return undominated(
            [row.scores[first].value if first in row.scores else nan for row in self.rows], costs
        )


def cost_table(costs: Costs) -> Table:
    """Return the table of scores, losses and costs."""
    several = len(costs.slices) > 1
    scored = [
        column
        for scored in costs.slices
        for column in (
            Column(
                key=f"{scored.key}.score",
                title=f"{scored.title} {scored.metric}" if several else scored.metric,
                role="score",
                align="right",
            ),
            Column(
                key=f"{scored.key}.loss",
                title=f"{scored.title}: change" if several else "change from full vectors",
                role="difference",
            ),
        )
    ]
    titles = titles_of([row.name for row in costs.rows])
    of = "" if several else f" on {costs.slices[0].title}"
    return Table(
        title=f"What a choice costs{of}, scores x 100",
        columns=[
            *columns_of(("model", "dims", "bits", "bytes"), roles={"model": "key"}),
            *scored,
            Column(key="unbeaten", title=UNBEATEN.sign),
            Column(key="milliseconds", title="ms a sentence", align="right"),
            Column(key="memory_mib", title="MiB", align="right", digits=0),
        ],
        rows=[
            _row(row, costs, titles[row.name], is_best=is_unbeaten)
            for row, is_unbeaten in zip(costs.rows, costs.unbeaten, strict=True)
        ],
        notes=[*_notes(costs)],
        titles=titles,
    )


def _row(
    row: CostRow, costs: Costs, title: str, *, is_best: bool
) -> Mapping[str, Value | TableCell]:
    cells: dict[str, Value | TableCell] = {
        "model": TableCell(value=row.name, text=title),
        "dims": row.dims,
        "bits": row.bits if row.dims is not None else None,
        "bytes": row.bytes,
        "milliseconds": _time(row),
        "memory_mib": row.memory_mib,
        "unbeaten": TableCell(value=is_best, text=UNBEATEN.sign if is_best else ""),
    }
    for scored in costs.slices:
        if (score := row.scores.get(scored.key)) is not None:
            cells[f"{scored.key}.score"] = number(scored.scale * score.value)
        if (loss := row.losses.get(scored.key)) is not None:
            ends: dict[str, Any] = {
                "low": scored.scale * loss.low,
                "high": scored.scale * loss.high,
            }
            cells[f"{scored.key}.loss"] = number(
                scored.scale * loss.delta, is_signed=True, sign=loss.reach_sign, **ends
            )
            cells |= {f"{scored.key}.loss_{end}": each for end, each in ends.items()}
    return cells


def _time(row: CostRow) -> Value | TableCell:
    if not row.milliseconds:
        return None
    ends = "–".join(_digits(end(row.milliseconds)) for end in (min, max))
    spread = f" ({ends})" if row.is_whole else ""
    return TableCell(value=row.time_ms, text=f"{_digits(row.time_ms)}{spread}")


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
            "95% interval; *, °: different (5%, Holm over "
            "each model's own rows); what stores less is computed from whole vectors, in their time"
        )
    yield str(UNBEATEN)
    yield from costs.notes
