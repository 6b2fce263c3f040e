"""What a user can select of an explanation of why two models differ."""

from dataclasses import dataclass
from typing import Annotated

from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.items import OfItems
from embedlab.workflows.options.models import OfTwoModels


@dataclass(frozen=True, kw_only=True)
class WhyOptions(OfItems, OfTwoModels):
    """Two models, the items on which they differ, and how much is shown."""

    rows: Annotated[
        int,
        Flag(
            names=("--rows",),
            metavar="N",
            help="At most so many rows in a table; JSON and CSV have all.",
            min=1,
            after="unseen",
        ),
    ] = 4
    examples: Annotated[
        int,
        Flag(
            names=("--examples",),
            metavar="N",
            help="How many typical items to show of each model.",
            min=0,
            after="rows",
        ),
    ] = 5
