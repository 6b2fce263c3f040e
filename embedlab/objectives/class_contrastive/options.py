"""Options of the contrast between classes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from annotated_types import Len

from embedlab.core.recipe import Positive, Share
from embedlab.core.schema import table
from embedlab.objectives.needs import Needs, labelled_needs

SUMMARY = "texts of a class are pulled together over several dropout rates, others pushed apart"


@table
class Options:
    """What a recipe may say of this objective."""

    # The labels; "tenths": gold scores rounded to tenths; "exact": gold scores as they are; "none":
    # each text is its own class, whose members are its views.
    classes: Annotated[tuple[str, ...], Len(2)] | Literal["tenths", "exact", "none"] = ("0", "1")
    joint: bool = False  # pairs, encoded together
    dropout: Annotated[tuple[Share, ...], Len(1)] = (
        0.0,
        0.1,
        0.2,
    )  # one view for each rate; sedghamiz table 4, CoLA
    temperature: Positive = 0.05  # τ; sedghamiz table 4
    # of the anchors' losses: "sum" in sedghamiz eq. 1; absent: their mean
    reduction: Literal["sum", "mean"] | None = None
    # How the list of rates is read; "coded": as the authors' code sets them, see `coded_rates`.
    # Absent: a view for each.
    rates: Literal["coded"] | None = None
    scale: Positive | None = None  # of the loss; the authors' code multiplies by τ/0.07. Absent: 1

    @property
    def views(self) -> tuple[float, ...]:
        """Return the rate of each view that is encoded."""
        return coded_rates(self.dropout) if self.rates == "coded" else self.dropout


def coded_rates(rates: Sequence[float], own_rate: float = 0.1) -> tuple[float, ...]:
    """Return the rates of the views that the code of SupCL-Seq's authors encodes for RATES, from
    the second step on.

    There is one more view at the encoder's rate, OWN_RATE. A listed rate equal to it sets nothing,
    so that the view has the rate that was set last; and where it ends the list, that rate also
    stays for the first view of the next step.
    """
    coded = [
        next((rate for rate in reversed(rates) if rate != own_rate), own_rate)
        if rates[-1] == own_rate
        else own_rate
    ]
    for rate in rates:
        coded.append(coded[-1] if rate == own_rate else rate)
    return tuple(coded)


def needs(options: Options) -> Needs:
    """Labelled sentences or pairs, pairs with a gold score, or texts alone."""
    if options.classes == "none":
        return Needs(
            sentences=("sentence1", "sentence2") if options.joint else ("sentence",),
            joint=options.joint,
            compares_rows=True,
            contrasts=("joint",) if options.joint else ("sentence",),
        )
    needs = labelled_needs(options.classes, joint=options.joint)
    return replace(needs, compares_rows=True, contrasts=(*needs.classes, *needs.numbers))
