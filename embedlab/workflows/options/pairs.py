"""What a user can select of single pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.items import SELECTION, UNSEEN, joined_expression
from embedlab.workflows.options.models import MODELS_AND_FILES


@dataclass(frozen=True, kw_only=True)
class PairsOptions:
    """Which pairs are shown, of which models."""

    models: Annotated[Sequence[str], MODELS_AND_FILES]
    tasks: Annotated[
        Sequence[str],
        Flag(
            names=("--task", "--dataset"),
            metavar="NAME",
            help="Only this dataset, your own file, or hub:OWNER/NAME.",
            completes="datasets",
        ),
    ] = ()  # none: all
    where: Annotated[
        str,
        Flag(
            names=("--where",), metavar="EXPR", help="Only pairs for which all of its terms hold."
        ),
    ] = ""
    selection: Annotated[str, SELECTION] = ""
    unseen: Annotated[bool, UNSEEN] = False
    name: Annotated[
        str,
        Flag(
            names=("--name",),
            metavar="NAME",
            help="Call the pairs that fit @NAME in every filter from now on.",
        ),
    ] = ""
    sort: Annotated[
        str | None,
        Flag(
            names=("--sort",),
            metavar="KEY",
            help="gap (default; with one model: its error), dice, gold, a model or error(MODEL), "
            "largest first; -KEY: smallest first.",
        ),
    ] = None
    limit: Annotated[
        int | None, Flag(names=("--limit",), metavar="N", help="How many to show.", min=1)
    ] = 20  # None: all

    @property
    def expression(self) -> str:
        """What picks the pairs; empty for all."""
        return joined_expression(self.where, self.selection, unseen=self.unseen)
