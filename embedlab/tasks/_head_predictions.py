"""Predictions of chen's three heads: one run's, or the average of several runs'."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor

from embedlab.core.progress import ProgressCallback, StartProgress
from embedlab.data.dataset import Part
from embedlab.data.source import Source
from embedlab.encoders.encoder import Encoder, cosines
from embedlab.models.catalog import ModelSpec
from embedlab.objectives.objective import Objective, Trained
from embedlab.objectives.paraphrase_head.loss import ParaphraseHead
from embedlab.objectives.sentiment_head.loss import SentimentHead
from embedlab.objectives.similarity_head.loss import SimilarityHead
from embedlab.tasks._heads import THRESHOLD_DATA, no_heads

HeadPredictions = NDArray[
    np.float32
]  # (rows, 5) probabilities of sentiments, (rows,) probabilities of paraphrases, (rows,) cosines
Head = TypeVar("Head", bound=Objective)

HEAD_TYPES: Mapping[str, type[Objective]] = {
    "sentiment": SentimentHead,
    "paraphrases": ParaphraseHead,
    "sts-course": SimilarityHead,
}
THRESHOLD_PAIRS = 2_000  # training pairs that set the threshold


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The predictions of one model for the rows of a dataset, and their method."""

    values: HeadPredictions
    by: str  # the kind of head, or the cosine and its threshold
    threshold: float = 0.5  # of paraphrases


def predict_all(
    trained: Trained,
    parts: Mapping[str, Part],
    source: Source,
    start_progress: StartProgress | None = None,
) -> dict[str, Prediction]:
    """Return one model's predictions for each dataset: by its head, or without one by the cosine;
    sentiment needs a head.
    """
    predictions = {}
    for name, part in parts.items():
        progress = start_progress(name) if start_progress is not None else None
        values = predict_rows(trained, name, part.frame, progress)
        if values is not None:
            predictions[name] = Prediction(values=values, by=_make(trained, name))
        elif name != "sentiment":
            values = plain_cosines(trained.encoder, part.frame, progress)
            predictions[name] = (
                _thresholded(trained, values, source)
                if name == "paraphrases"
                else Prediction(values=values, by="plain cosine")
            )
    return predictions


def predict_averages(
    spec: ModelSpec,
    members: Sequence[Trained],
    parts: Mapping[str, Part],
    start_progress: StartProgress,
) -> dict[str, Prediction]:
    """Return the average of the members' predictions; members without a head for a dataset do not
    count.
    """
    predictions = {}
    for name, part in parts.items():
        said = {
            each.name: predict_rows(member, name, part.frame, start_progress(name))
            for each, member in zip(spec.parts, members, strict=True)
        }
        voices = {member: values for member, values in said.items() if values is not None}
        if voices:
            by = (
                f"average of {', '.join(voices)}"
                if len(voices) > 1
                else f"head of {next(iter(voices))}"
            )
            predictions[name] = Prediction(values=average_predictions(list(voices.values())), by=by)
    if not predictions:
        raise no_heads(spec)
    return predictions


def predict_rows(
    trained: Trained, dataset: str, frame: pl.DataFrame, progress: ProgressCallback | None = None
) -> HeadPredictions | None:
    """Return the predictions of the head for DATASET on the rows of FRAME; None if it was not
    trained.
    """
    head = next(
        (
            objective
            for objective in reversed(trained.objectives)
            if isinstance(objective, HEAD_TYPES[dataset])
        ),
        None,
    )
    if head is None:
        return None
    device = next((parameter.device for parameter in head.parameters()), None)
    columns = tuple(vectors.to(device) for vectors in _vectors(trained.encoder, frame, progress))
    was_training = head.training
    head.eval()
    with torch.inference_mode():
        values = _apply(head, columns)
    head.train(was_training)
    return values.cpu().numpy()


def plain_cosines(
    encoder: Encoder, frame: pl.DataFrame, progress: ProgressCallback | None = None
) -> HeadPredictions:
    """Cosines of the sentence vectors themselves, without any head."""
    return cosines(*(vectors.numpy() for vectors in _vectors(encoder, frame, progress)))


def best_threshold(values: HeadPredictions, labels: NDArray[np.int64]) -> float:
    """Return the cosine above which pairs count as paraphrases with the fewest errors; halfway
    between two of them.
    """
    order = np.argsort(-values, kind="stable")
    ranked = values[order].astype(np.float64)
    hits = np.append(0, np.cumsum(labels[order])) + np.append(
        np.cumsum((1 - labels[order])[::-1])[::-1], 0
    )
    cuts = np.flatnonzero(
        np.concatenate([[True], ranked[1:] != ranked[:-1], [True]])
    )  # pairs of equal cosine cannot be separated
    cut = int(cuts[hits[cuts].argmax()])
    edges = np.concatenate([[ranked[0] + 1e-6], ranked, [ranked[-1] - 1e-6]])
    return float(edges[0] if cut == 0 else (edges[cut] + edges[cut + 1]) / 2)


def average_predictions(values: Sequence[HeadPredictions]) -> HeadPredictions:
    """The mean of several runs' predictions."""
    mean: HeadPredictions = np.mean(values, axis=0, dtype=np.float32)
    return mean


def _vectors(
    encoder: Encoder, frame: pl.DataFrame, progress: ProgressCallback | None
) -> tuple[Tensor, ...]:
    """The vectors of each sentence column; a sentence that repeats is encoded once."""
    names = [name for name in ("sentence", "sentence1", "sentence2") if name in frame.columns]
    vectors = torch.from_numpy(
        encoder.encode([text for name in names for text in frame[name]], progress)
    )
    parts: tuple[Tensor, ...] = vectors.split(len(frame))
    return parts


def _apply(head: Objective, columns: tuple[Tensor, ...]) -> Tensor:
    match head:
        case SentimentHead():
            return head.logits(*columns).softmax(dim=-1)
        case ParaphraseHead():
            return head.logits(*columns).sigmoid()
        case SimilarityHead():
            return head.similarity(*columns)
    raise TypeError(type(head).__name__)


def _thresholded(trained: Trained, values: HeadPredictions, source: Source) -> Prediction:
    pairs = source.open(*THRESHOLD_DATA).frame
    chosen = pairs[np.sort(np.random.default_rng(0).permutation(len(pairs))[:THRESHOLD_PAIRS])]
    threshold = best_threshold(
        plain_cosines(trained.encoder, chosen), chosen["is_duplicate"].to_numpy().astype(np.int64)
    )
    return Prediction(
        values=values,
        threshold=threshold,
        by=f"plain cosine above {threshold:.3f}, which is best on {len(chosen)} training pairs",
    )


def _make(trained: Trained, name: str) -> str:
    """Describe a head by its options."""
    head = next(
        objective
        for objective in reversed(trained.objectives)
        if isinstance(objective, HEAD_TYPES[name])
    )
    options: Any = head.options
    layers = (
        "head with two additional layers"
        if options.layers == "two-layer"
        else "head without additional layers"
    )
    sharing = getattr(options, "sharing", "separate")
    return layers if sharing == "separate" else f"{layers}, {sharing} shared with paraphrases"
