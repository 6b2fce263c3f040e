"""What a user can select of a plan with two models."""

from dataclasses import dataclass
from typing import Annotated

from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.items import OfCommonItems
from embedlab.workflows.options.models import OfTwoModels


@dataclass(frozen=True, kw_only=True)
class PowerOptions(OfCommonItems, OfTwoModels):
    """Two models, and what is planned with them."""

    detect: Annotated[
        float | None,
        Flag(
            names=("--detect",),
            metavar="POINTS",
            help="How many seeds a difference of POINTS needs.",
            after="unseen",
        ),
    ] = None
    seeds: Annotated[
        int | None,
        Flag(
            names=("--seeds",),
            metavar="N",
            help="What N seeds of each recipe would detect.",
            after="detect",
        ),
    ] = None
