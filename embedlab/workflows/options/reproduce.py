"""What a user can select of a reproduction."""

from dataclasses import dataclass
from typing import Annotated, Literal

from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.items import UNSEEN
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
class ReproductionOptions:
    """Which tables of a paper, which models are behind them, and whether they are trained for
    it.
    """

    paper: Annotated[
        str | None, Flag(metavar="PAPER", help="A paper's name, or its folder.", completes="papers")
    ] = None
    table: Annotated[
        str | None, Flag(metavar="TABLE", help="One of its tables, or all.", completes="tables")
    ] = None
    published_only: Annotated[
        bool, Flag(names=("--published-only",), help="Print the paper's numbers; run nothing.")
    ] = False
    claims: Annotated[
        bool, Flag(names=("--claims",), help="Print whether its claims hold; train nothing.")
    ] = False
    from_: Annotated[
        Literal["runs", "scores"] | None,
        Flag(
            names=("--from",),
            help="Train nothing: use the runs that are there, or only what --row gives.",
        ),
    ] = None
    models: Annotated[
        tuple[str, ...],
        Flag(
            names=("--row",),
            metavar="ROW=MODEL",
            help="Take MODEL for a row: any model, or scores:FILE.",
        ),
    ] = ()
    seeds: Annotated[int | None, seeds_flag("Each of the seeds 1 to N. [default: 3]")] = None
    overrides: Annotated[tuple[str, ...], override_flag("every recipe")] = ()
    profile: Annotated[str | None, profile_flag("the rows' recipes")] = None  # None: paper
    encoder: Annotated[str | None, encoder_flag("Start every row")] = None
    unseen: Annotated[bool, UNSEEN] = False
    workers: Annotated[int | None, workers_flag("trainings.")] = None
    cluster: Annotated[str | None, cluster_flag("trainings")] = None

    @property
    def profile_override(self) -> tuple[str, ...]:
        """The profile as it is set in every recipe."""
        return profile_override(self.profile)

    @property
    def all_overrides(self) -> tuple[str, ...]:
        """What is set in every recipe."""
        return (*self.profile_override, *self.overrides)

    @property
    def trains(self) -> bool:
        """Whether what is missing is trained."""
        return self.from_ is None and not self.claims

    @property
    def uses_runs(self) -> bool:
        """Whether rows have the runs that are there, and not only the models that are named for
        them.
        """
        return self.from_ != "scores"
