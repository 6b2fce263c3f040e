"""The heads that a model was trained with for sentiment, paraphrases and similarity (chen), by its
recipe or loaded.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from embedlab.core.errors import UsageError
from embedlab.core.recipe import Recipe
from embedlab.core.settings import Settings
from embedlab.models.catalog import ModelSpec
from embedlab.runs.store import RunFolder
from embedlab.tasks.task import load_member

if TYPE_CHECKING:
    from embedlab.objectives.objective import Trained

THRESHOLD_DATA = (
    "paraphrases",
    "train",
)  # the data that sets the threshold of a model without a paraphrase head


def no_heads(spec: ModelSpec) -> UsageError:
    """Return the error for an ensemble of which no member can predict."""
    return UsageError(
        f"no member of {spec.name!r} has a head to predict with",
        hint="train one: embedlab train multitask",
    )


def heads_of(spec: ModelSpec) -> set[str]:
    """Return the objectives for which a model has a trained head; a model that is not a run has
    none.
    """
    if spec.kind != "run":
        return set()
    return heads_of_recipe(RunFolder(Path(spec.location).parent).recipe())


def heads_of_recipe(recipe: Recipe) -> set[str]:
    """Return the objectives for which the model of RECIPE has a trained head."""
    return {stage.objective.name for stage in recipe.stages} & {
        "sentiment_head",
        "paraphrase_head",
        "similarity_head",
    }


def load_trained(spec: ModelSpec, settings: Settings) -> "Trained":
    """Load the encoder of SPEC and, if it is a run, its objectives with their trained heads."""
    from embedlab.objectives.objective import Trained, load_objectives

    encoder, device = load_member(spec, settings)
    if spec.kind != "run":
        return Trained(encoder=encoder, objectives=())
    objectives = load_objectives(RunFolder(Path(spec.location).parent), encoder.dim)
    for objective in objectives:
        objective.to(device).eval()
    return Trained(encoder=encoder, objectives=objectives)
