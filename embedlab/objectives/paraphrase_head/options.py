"""Options of the paraphrase head."""

from embedlab.core.schema import table
from embedlab.objectives.needs import HeadDropout, Layers, Needs

SUMMARY = (
    "a bilinear form of two transformed vectors predicts whether the sentences are paraphrases"
)


@table
class Options:
    """What a recipe may say of this objective."""

    layers: Layers = "two-layer"
    dropout: HeadDropout = 0.3  # chen


def needs(_: Options) -> Needs:
    """Pairs that are duplicates or not."""
    return Needs(sentences=("sentence1", "sentence2"), classes={"is_duplicate": ("0", "1")})
