"""Supervised contrast of texts by their class over dropout views: SupCL-Seq."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Len

from embedlab.core.recipe import Positive, Share
from embedlab.core.schema import table
from embedlab.objectives.needs import Needs, labelled_needs

if TYPE_CHECKING:
    from torch import Tensor


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


def class_contrastive_loss(
    vectors: "Tensor",
    labels: "Tensor",
    *,
    temperature: float,
    reduction: Literal["mean", "sum"] = "mean",
) -> "Tensor":
    """Mean or sum over vectors of the mean over the others of their class of −log softmax over all
    others (Khosla 2020, eq. 2).

    vectors: (vectors, dim), not normalised; labels: (vectors,). A vector alone in its class is not
    an anchor; without any anchor the loss is 0, still part of the graph.
    """
    import torch
    import torch.nn.functional as F

    vectors = F.normalize(vectors)
    is_self = torch.eye(len(vectors), dtype=torch.bool, device=vectors.device)
    scores = vectors @ vectors.T / temperature
    negative_log_probabilities = (
        scores.masked_fill(is_self, float("-inf")).logsumexp(dim=1, keepdim=True) - scores
    )
    positives = (labels.unsqueeze(0) == labels.unsqueeze(1)) & ~is_self
    counts = positives.sum(dim=1)
    terms = negative_log_probabilities.masked_fill(~positives, 0.0).sum(dim=1) / counts.clamp(min=1)
    return terms.sum() if reduction == "sum" else terms.sum() / (counts > 0).sum().clamp(min=1)


@cache
def objective() -> type:
    """Every text is encoded once with each dropout rate; all views of all texts of a class are
    positives of each other.

    Formula: Khosla's supervised contrastive loss on cosines over views x texts, its anchors summed
    or averaged (`reduction`). Columns: sentence, label; or sentence1, sentence2, and label or gold,
    with the pair encoded together; without labels where `classes` is "none" and only the views of a
    text belong together. Source: sedghamiz (SupCL-Seq), eq. 1 and table 4. Differs from the paper
    in: nothing known with `reduction` "sum". The authors' code encodes other views (`rates`
    "coded"), averages over the anchors, multiplies the loss by τ/0.07 (`scale`), and does not round
    STS-B's scores (`classes` "exact").
    """
    import torch
    from torch import Tensor

    from embedlab.objectives.objective import Objective, views_of_rows

    class ClassContrastive(Objective):
        def __init__(self, options: Options, dim: int) -> None:
            super().__init__()
            self.options = options
            self.views = options.views
            self.is_sum = options.reduction == "sum"

        def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
            """The sum or mean over all views of the batch's texts."""
            views = views_of_rows(vectors, columns, len(self.views))
            labels = self._classes(columns, views.shape[1]).to(views.device).repeat(len(self.views))
            loss = class_contrastive_loss(
                views.flatten(0, 1),
                labels,
                temperature=self.options.temperature,
                reduction=self.options.reduction or "mean",
            )
            return loss if self.options.scale is None else loss * self.options.scale

        def _classes(self, columns: Mapping[str, Tensor], rows: int) -> Tensor:
            match self.options.classes:
                case "tenths":
                    return (10 * columns["gold"]).round().long()
                case "exact":
                    classes: Tensor = torch.unique(columns["gold"], return_inverse=True)[1]
                    return classes
                case "none":
                    return torch.arange(rows)
                case _:
                    return columns["label"]

    return ClassContrastive
