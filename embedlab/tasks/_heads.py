"""The heads that a model was trained with for sentiment, paraphrases and similarity (chen): whether
it has them, by its recipe, and what they predict; one run's, or the average of several runs'.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.measures import best_threshold
from embedlab.core.errors import UsageError
from embedlab.core.names import objective_options
from embedlab.core.recipe import Recipe
from embedlab.core.session import ProgressCallback, StartProgress, unseen
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.source import Source
from embedlab.encoders.encoder import Encoder, Vectors, cosines
from embedlab.models.catalog import ModelSpec
from embedlab.runs.store import RunFolder
from embedlab.tasks.task import load_member

if TYPE_CHECKING:
    from embedlab.objectives.objective import TrainedEncoder

# (rows, 5) probabilities of sentiments, (rows,) probabilities of paraphrases, (rows,) cosines
HeadPredictions = NDArray[np.float32]
HEADS: Mapping[str, str] = {
    "sentiment": "sentiment_head",
    "paraphrases": "paraphrase_head",
    "sts-course": "similarity_head",
}
# the data that sets the threshold of a model without a paraphrase head
THRESHOLD_DATA = ("paraphrases", "train")
THRESHOLD_PAIRS = 2_000  # training pairs that set the threshold
COSINE = "plain cosine"


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The predictions of one model for the rows of a dataset, and their method."""

    values: HeadPredictions
    by: str  # the kind of head, or the cosine and its threshold
    threshold: float = 0.5  # of paraphrases


def no_heads(spec: ModelSpec) -> UsageError:
    """Return the error for an ensemble without any member that can predict."""
    return UsageError(
        f"no member of {spec.name!r} has a head to predict with",
        hint="train one: embedlab train multitask",
    )


def run_of(spec: ModelSpec) -> RunFolder:
    """Return the folder of the run that a model is."""
    return RunFolder(Path(spec.location).parent)


def heads_of(spec: ModelSpec) -> set[str]:
    """Return the objectives for which a model has a trained head: nothing unless it is a run."""
    return heads_of_recipe(run_of(spec).recipe()) if spec.kind == "run" else set()


def heads_of_recipe(recipe: Recipe) -> set[str]:
    """Return the objectives for which the model of RECIPE has a trained head."""
    return {stage.objective.name for stage in recipe.stages} & {*HEADS.values()}


def load_trained(spec: ModelSpec, settings: Settings) -> "TrainedEncoder":
    """Load the encoder of SPEC and, if it is a run, its objectives with their trained heads."""
    from embedlab.objectives.objective import TrainedEncoder, load_objectives

    encoder, device = load_member(spec, settings)
    if spec.kind != "run":
        return TrainedEncoder(encoder=encoder, objectives=())
    objectives = load_objectives(run_of(spec), encoder.dim)
    for objective in objectives:
        objective.to(device).eval()
    return TrainedEncoder(encoder=encoder, objectives=objectives)


def predict_all(
    members: Mapping[str, "TrainedEncoder"],
    parts: Mapping[str, Part],
    source: Source | None,
    start_progress: StartProgress = unseen,
) -> dict[str, Prediction]:
    """Return what MEMBERS, by name, predict for each dataset: the mean over those that have a head
    for it. If none has, cosines predict similarity, and paraphrases with a threshold from pairs of
    SOURCE; without a SOURCE, as for an ensemble, the dataset has no prediction.
    """
    predictions = {}
    for name, part in parts.items():
        votes = {}
        for member, trained in members.items():
            progress = start_progress(name)
            values = predict_rows(trained, name, part.frame, progress)
            if values is not None:
                votes[member] = values
        if votes:
            mean = np.asarray(np.mean([*votes.values()], axis=0, dtype=np.float32))
            by = f"{'average' if len(votes) > 1 else 'head'} of {', '.join(votes)}"
            if source is not None:
                by = _title(_head_for(trained, name))
            predictions[name] = Prediction(values=mean, by=by)
        elif source is not None and name != "sentiment":
            values = plain_cosines(trained.encoder, part.frame, progress)
            by = COSINE
            threshold = 0.5
            if name == "paraphrases":
                threshold, count = _best_on_training_pairs(trained.encoder, source)
                by += f" above {threshold:.3f}, which is best on {count} training pairs"
            predictions[name] = Prediction(values=values, by=by, threshold=threshold)
    return predictions


def predict_rows(
    trained: "TrainedEncoder",
    dataset: str,
    frame: pl.DataFrame,
    progress: ProgressCallback | None = None,
) -> HeadPredictions | None:
    """Return the predictions of the head for DATASET on the rows of FRAME; None if it was not
    trained.
    """
    import torch

    head = _head_for(trained, dataset)
    if head is None:
        return None
    device = next((parameter.device for parameter in head.parameters()), None)
    columns = _vectors(trained.encoder, frame, progress)
    was_training = head.training
    head.eval()
    with torch.inference_mode():
        tensors = [torch.from_numpy(vectors).to(device) for vectors in columns]
        values: HeadPredictions = head.predict(*tensors).cpu().numpy()
    head.train(was_training)
    return values


def plain_cosines(
    encoder: Encoder, frame: pl.DataFrame, progress: ProgressCallback | None = None
) -> HeadPredictions:
    """Cosines of the sentence vectors themselves, without any head."""
    return cosines(*_vectors(encoder, frame, progress))


def _head_for(trained: "TrainedEncoder", dataset: str) -> Any:
    """The head that was trained last for DATASET; None where there is none."""
    head_type = objective_options(HEADS[dataset]).objective()
    heads = [objective for objective in trained.objectives if isinstance(objective, head_type)]
    return heads[-1] if heads else None


def _vectors(
    encoder: Encoder, frame: pl.DataFrame, progress: ProgressCallback | None
) -> list[Vectors]:
    """The vectors of each sentence column; a sentence that repeats is encoded once."""
    columns = [frame[name] for name in frame.columns if name.startswith("sentence")]
    vectors = encoder.encode([text for column in columns for text in column], progress)
    return np.split(vectors, len(columns))


def _best_on_training_pairs(encoder: Encoder, source: Source) -> tuple[float, int]:
    """The best threshold on some training pairs, and their number."""
    pairs = source.open(*THRESHOLD_DATA).frame
    order = np.random.default_rng(0).permutation(len(pairs))
    sample = pairs[np.sort(order[:THRESHOLD_PAIRS])]
    labels = sample["is_duplicate"].to_numpy().astype(np.float64)
    similarities = plain_cosines(encoder, sample).astype(np.float64)
    return best_threshold(labels, similarities, by_f1=False), len(sample)


def _title(head: Any) -> str:
    """Describe a head by its options."""
    has_two_layers = head.options.layers == "two-layer"
    layers = f"head with{' two' if has_two_layers else 'out'} additional layers"
    sharing = getattr(head.options, "sharing", "separate")
    return layers if sharing == "separate" else f"{layers}, {sharing} shared with paraphrases"
