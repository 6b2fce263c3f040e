"""Shared parts of the objectives on premise and hypothesis pairs."""

from typing import Literal

from embedlab.data.dataset import NLI_LABELS
from embedlab.objectives.needs import Needs

NLI_CLASSES = NLI_LABELS
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)

# Premises stay together also where only the cross-entropy reads them: the baselines then see the
# same batches as the contrastive recipes, and a premise is encoded once for its three hypotheses.
NEEDS = Needs(
    sentences=("premise", "hypothesis"),
    classes={"label": NLI_CLASSES},
    predicts="label",
    together="premise",
)

# Of the classifier on [u; v; |u−v|]; "two-linear" has nothing between its layers, as in the code of
# liao's authors.
HeadKind = Literal["linear", "two-layer", "two-linear"]
