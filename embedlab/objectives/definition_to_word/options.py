"""Options of the prediction of a word by its definition."""

from typing import Literal

from embedlab.core.schema import table
from embedlab.objectives.needs import Needs

SUMMARY = (
    "the vector of a definition predicts its word through the frozen masked-language-model head"
)


@table
class Options:
    """What a recipe may say of this objective."""

    # the encoder's pre-trained head; or, where it has none, its word vectors
    head: Literal["mlm", "tied"] = "mlm"


def needs(_: Options) -> Needs:
    """Definitions and words that are one token each."""
    return Needs(sentences=("definition",), words=("word",))
