"""What a user can select of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from embedlab.workflows.options.flag import Flag


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """One run."""

    run: Annotated[
        str, Flag(metavar="RUN", help="A run, or one seed of it as name@seed.", completes="runs")
    ]


@dataclass(frozen=True, kw_only=True)
class LogOptions(RunOptions):
    """One run, and whether its events are followed."""

    follow: Annotated[bool, Flag(names=("--follow", "-f"), help="Go on until the run ends.")] = (
        False
    )


@dataclass(frozen=True, kw_only=True)
class CancelOptions(RunOptions):
    """One run, and how it ends."""

    force: Annotated[
        bool, Flag(names=("--force",), help="End the process at once, without a checkpoint.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class RenameOptions(RunOptions):
    """One run, and its other name."""

    new: Annotated[str, Flag(metavar="NEW", help="The new name.")]


@dataclass(frozen=True, kw_only=True)
class PruneOptions:
    """Runs, or all of them."""

    names: Annotated[
        Sequence[str],
        Flag(
            metavar="[RUN]...",
            help="Runs, or single seeds as name@seed. [default: all]",
            completes="runs",
        ),
    ] = ()
