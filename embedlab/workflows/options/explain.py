"""What a user can select of an explanation of two sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from embedlab.choices import EDIT_RULES, ExplainView
from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.sentences import OfTwoSentences


@dataclass(frozen=True, kw_only=True)
class ExplainOptions(OfTwoSentences):
    """Two sentences, the models that compare them, and what is shown."""

    reference: Annotated[
        str | None,
        Flag(
            names=("--reference",),
            metavar="DATASET|FILE",
            help="Pairs among which similarities are ranked. [default: the dataset that the pair "
            "is from, or else starter]",
            completes="datasets",
        ),
    ] = None
    instead: Annotated[
        Sequence[str],
        Flag(
            names=("--instead",),
            metavar="SENTENCE",
            help="An edited sentence in place of the nearer one. Give it again for more.",
        ),
    ] = ()
    edits: Annotated[
        Sequence[str],
        Flag(
            names=("--edit",),
            metavar="|".join(EDIT_RULES),
            help="Edit a sentence by rule, the second where it is safe there.",
        ),
    ] = ()
    view: Annotated[
        ExplainView,
        Flag(
            names=("--view",),
            help="effects: words are left out. tokens: the sum over pairs of tokens, of mean "
            "pooling.",
        ),
    ] = "effects"
