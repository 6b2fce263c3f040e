"""What a user can select of an evaluation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from embedlab.choices import Aggregate, Correlation
from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.items import OfGroupedItems
from embedlab.workflows.options.models import OfModelsAndFiles


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(OfGroupedItems, OfModelsAndFiles):
    """What is evaluated, and which of its numbers are shown."""

    aggregate: Annotated[
        Aggregate | None,
        Flag(
            names=("--aggregate",),
            is_expert=True,
            help="Only this aggregation of a dataset's sources.",
            after="unseen",
        ),
    ] = None
    metric: Annotated[
        Correlation, Flag(names=("--metric",), help="The correlation to show.", after="aggregate")
    ] = "spearman"
    again: Annotated[
        bool,
        Flag(names=("--again",), help="Evaluate also what was evaluated before on the same data."),
    ] = False
    mteb: Annotated[
        Path | None,
        Flag(
            names=("--mteb",),
            is_expert=True,
            metavar="DIR",
            help="Also write the STS results into DIR/MODEL as files that mteb reads.",
        ),
    ] = None
    submission: Annotated[
        Path | None,
        Flag(
            names=("--submission",),
            is_expert=True,
            metavar="DIR",
            help="Also write predictions of GLUE's test splits into DIR, for its server.",
        ),
    ] = None
