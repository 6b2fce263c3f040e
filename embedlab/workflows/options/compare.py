"""What a user can select of a comparison."""

from dataclasses import dataclass
from typing import Annotated

from embedlab.choices import Aggregate
from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.items import OfGroupedItems
from embedlab.workflows.options.models import OfModelsAndFiles


@dataclass(frozen=True, kw_only=True)
class CompareOptions(OfGroupedItems, OfModelsAndFiles):
    """What is compared, and how."""

    aggregate: Annotated[
        Aggregate,
        Flag(
            names=("--aggregate",),
            is_expert=True,
            help="How a dataset's sources become one number.",
            after="unseen",
        ),
    ] = "all"
    equivalent: Annotated[
        float | None,
        Flag(
            names=("--equivalent",),
            is_expert=True,
            metavar="MARGIN",
            help="Also test whether models are equal within MARGIN points; = marks those.",
            after="aggregate",
        ),
    ] = None
    letters: Annotated[
        bool,
        Flag(
            names=("--letters",),
            is_expert=True,
            help="Also test each two models: those that share a letter are not distinguished.",
            after="equivalent",
        ),
    ] = False
    another_dataset: Annotated[
        bool,
        Flag(
            names=("--another-dataset",),
            is_expert=True,
            help="Also say what the differences let expect on another dataset of this kind.",
            after="letters",
        ),
    ] = False
    published: Annotated[
        bool,
        Flag(
            names=("--published",),
            is_expert=True,
            help="Also show what papers print for models of these names.",
            after="common",
        ),
    ] = False
    cost: Annotated[
        bool,
        Flag(
            names=("--cost",),
            is_expert=True,
            help="Also measure what each model costs here, time, memory and bytes, and what it "
            "loses with fewer dimensions or bits.",
            after="published",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """A gate that the first of two models passes or not."""

    fail_if_worse: Annotated[
        float | None,
        Flag(
            names=("--fail-if-worse",),
            is_expert=True,
            metavar="MARGIN",
            help="CANDIDATE BASE: end with 0 where CANDIDATE is shown to be less than MARGIN "
            "points worse, 4 where it is shown to be worse by more, otherwise 5.",
        ),
    ] = None
    require_better: Annotated[
        bool,
        Flag(
            names=("--require-better",),
            is_expert=True,
            help="The same gate with 0 where CANDIDATE is shown to be better, 4 where worse.",
        ),
    ] = False

    @property
    def margin(self) -> float | None:
        """The margin in points; None: there is no gate."""
        return 0.0 if self.require_better else self.fail_if_worse
