"""What a user can select of a grid: its cells and who works on them, and which of its scores are
shown.
"""

from dataclasses import dataclass
from typing import Annotated

from embedlab.core.names import DEFAULT_TASK
from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.trainings import (
    cluster_flag,
    encoder_flag,
    override_flag,
    profile_flag,
    profile_override,
    seeds_flag,
    workers_flag,
)


@dataclass(frozen=True, kw_only=True)
class OfGrid:
    """One grid."""

    grid: Annotated[
        str, Flag(metavar="GRID", help="A grid's name, or its TOML file.", completes="grids")
    ]


@dataclass(frozen=True, kw_only=True)
class GridOptions(OfGrid):
    """What a user selects of a grid."""

    called: str | None = None  # what errors call it, where the user did not choose the file
    workers: Annotated[int | None, workers_flag("cells. [default: GPUs, or CPUs]")] = None
    overrides: Annotated[tuple[str, ...], override_flag("every cell")] = ()
    # None: that of the file, or paper
    profile: Annotated[str | None, profile_flag("every cell's recipe")] = None
    # None: those of the file
    seeds: Annotated[int | None, seeds_flag("Each of the seeds 1 to N.")] = None
    encoder: Annotated[str | None, encoder_flag("Start every cell")] = None
    cluster: Annotated[str | None, cluster_flag("cells")] = None

    @property
    def all_overrides(self) -> tuple[str, ...]:
        """What is set in every cell."""
        return (*profile_override(self.profile), *self.overrides)


@dataclass(frozen=True, kw_only=True)
class ScoresOptions(OfGrid):
    """Which scores of a grid are shown, along which of its axes."""

    rows: Annotated[
        tuple[str, ...],
        Flag(
            names=("--rows",),
            metavar="AXIS",
            help="Group rows by this axis. [default: all, of two the first]",
        ),
    ] = ()  # none: all
    columns: Annotated[
        str | None,
        Flag(
            names=("--columns",),
            metavar="AXIS",
            help="Group columns by this axis. [default: scores, of two axes the second]",
        ),
    ] = None
    score: Annotated[
        str | None,
        Flag(
            names=("--score",), metavar="NAME", help="Only this score: dev, a dataset, an average."
        ),
    ] = None
    where: Annotated[
        tuple[str, ...],
        Flag(names=("--where",), metavar="AXIS=VALUE", help="Only cells with this value."),
    ] = ()
    task: Annotated[
        str, Flag(names=("--task",), metavar="NAME", help="Whose scores.", completes="tasks")
    ] = DEFAULT_TASK
    metric: Annotated[
        str | None,
        Flag(
            names=("--metric",), help="Which measure of the task. [default: spearman, or its first]"
        ),
    ] = None
    setting: Annotated[
        str | None,
        Flag(
            names=("--aggregate",),
            is_expert=True,
            help="How the measure was taken. [default: all, or its first]",
        ),
    ] = None
    by: Annotated[
        tuple[str, ...],
        Flag(names=("--by",), help="Kinds of scores to show: dataset, average, source, dice."),
    ] = (
        "dataset",
        "average",
    )


@dataclass(frozen=True, kw_only=True)
class StatusOptions:
    """One grid, or all of them."""

    grid: Annotated[
        str | None, Flag(metavar="GRID", help="One grid, cell by cell.", completes="grids")
    ] = None
