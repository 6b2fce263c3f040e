"""Options of the sentiment head."""

from embedlab.core.schema import table
from embedlab.objectives.needs import HeadDropout, Layers, Needs

SUMMARY = "a separate head predicts the sentiment of a sentence in five classes"

SENTIMENT_CLASSES = ("0", "1", "2", "3", "4")  # very negative … very positive


@table
class Options:
    """What a recipe may say of this objective."""

    layers: Layers = "two-layer"
    dropout: HeadDropout = 0.3  # chen


def needs(_: Options) -> Needs:
    """Sentences with a sentiment."""
    return Needs(sentences=("sentence",), classes={"label": SENTIMENT_CLASSES})
