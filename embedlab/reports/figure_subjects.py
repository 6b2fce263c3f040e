"""What a figure can be drawn of: each kind of result, with what its figures read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from embedlab.comparison.explanation import Explanation
    from embedlab.experiments.pivot import Pivot
    from embedlab.experiments.plan import GridPlan
    from embedlab.reports.cost_table import Costs
    from embedlab.reports.reproduction import Reproduction
    from embedlab.runs.store import RunFolder
    from embedlab.scoring.scored_pairs import ScoredPairs
    from embedlab.scoring.task_comparison import TaskComparison


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparedModels:
    """Models compared by a property, and the pairs behind it where there are any."""

    found: "TaskComparison"
    pairs: "Sequence[ScoredPairs]" = ()
    costs: "Costs | None" = None  # where they were measured


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluatedModels:
    """The tidy frame of evaluated models."""

    frame: "pl.DataFrame"


@dataclass(frozen=True, kw_only=True, eq=False)
class DetectableDifferences:
    """The tidy frame of the differences that can be detected, and what the table says of it."""

    frame: "pl.DataFrame"
    caption: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class ExplainedDifference:
    """Two models on each kind of items, and how many kinds are drawn."""

    found: "Explanation"
    rows: int
    caption: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class GridResults:
    """The scores of a grid along its axes, and what is measured."""

    plan: "GridPlan"
    pivot: "Pivot"
    measured: str
    caption: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReproducedTables:
    """Tables of a paper next to ours."""

    found: "Sequence[Reproduction]"


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedRuns:
    """Runs, of which the events say how they went."""

    runs: "Sequence[RunFolder]"


Subject = (
    ComparedModels
    | EvaluatedModels
    | DetectableDifferences
    | ExplainedDifference
    | GridResults
    | ReproducedTables
    | TrainedRuns
)
