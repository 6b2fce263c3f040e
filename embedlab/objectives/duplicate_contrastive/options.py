"""Options of the contrast of labelled pairs."""

from dataclasses import replace
from typing import Literal

from embedlab.core.recipe import Positive
from embedlab.core.schema import table
from embedlab.objectives.in_batch_contrastive.options import UNWRITTEN as UNWRITTEN
from embedlab.objectives.in_batch_contrastive.options import Projection, Repeats
from embedlab.objectives.needs import Needs

SUMMARY = (
    "each first sentence picks its duplicate among the batch's second ones; other pairs are "
    "pushed apart"
)


@table
class Options:
    """What a recipe may say of this objective."""

    # for non-duplicate pairs; compared in chen table 4
    others: Literal["maximise", "leave-out"] = "maximise"
    temperature: Positive = 0.05  # τ, on cosines; chen
    projection: Projection = "two-layer"  # chen
    repeats: Repeats = "masked"  # ours; chen's loss takes them as negatives


def needs(options: Options) -> Needs:
    """Labelled pairs, or the duplicates among them alone."""
    sentences = ("sentence1", "sentence2")
    needs = Needs(
        sentences=sentences,
        compares_rows=True,
        contrasts=("sentence2",),
        varies=(),
        parts_repeats=options.repeats == "apart",
    )
    if options.others == "leave-out":
        return replace(needs, only={"is_duplicate": "1"})
    return replace(needs, classes={"is_duplicate": ("0", "1")}, holds={"is_duplicate": "1"})
