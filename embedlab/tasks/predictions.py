"""What chen's three heads say of sentences and pairs: one run's predictions, or the average of several runs'."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor, nn

from embedlab.encoders.catalog import ModelSpec
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import Watch, cosines
from embedlab.encoders.loading import load_trainable
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.objective import Objective, Trained, build_objectives
from embedlab.objectives.paraphrase_head.loss import ParaphraseHead
from embedlab.objectives.sentiment_head.loss import SentimentHead
from embedlab.objectives.similarity_head.loss import SimilarityHead
from embedlab.runs.store import RunFolder

Values = NDArray[np.float32]  # (rows, 5) probabilities of sentiments, (rows,) probabilities of paraphrases, (rows,) cosines
Head = TypeVar("Head", bound=Objective)

HEADS: Mapping[str, type[Objective]] = {"sentiment": SentimentHead, "paraphrases": ParaphraseHead, "sts-course": SimilarityHead}


def load_trained(spec: ModelSpec, machine: Machine, *, offline: bool = False) -> Trained:
    """The transformer of SPEC and, where it is a run, the objectives with the heads that it saved."""
    encoder = load_trainable(spec, machine, offline=offline)
    if spec.kind != "run":
        return Trained(encoder=encoder, objectives=())
    run = RunFolder(Path(spec.location).parent)
    objectives = build_objectives(run.recipe(), encoder.dim)
    # Projections and heads of other stages are there too; what an objective only borrowed from its encoder is not saved.
    nn.ModuleList(objectives).load_state_dict(load_file(run.path / "heads.safetensors"), strict=False)
    for objective in objectives:
        objective.to(machine.device).eval()
    return Trained(encoder=encoder, objectives=objectives)


def predict(trained: Trained, dataset: str, frame: pl.DataFrame, watch: Watch | None = None) -> Values | None:
    """What the head for DATASET says of the rows of FRAME; None where it has not been learnt."""
    head = next((objective for objective in reversed(trained.objectives) if isinstance(objective, HEADS[dataset])), None)
    if head is None:
        return None
    columns = _vectors(trained.encoder, frame, watch)
    was_training = head.training
    head.eval()
    with torch.inference_mode():
        values = _apply(head, columns)
    head.train(was_training)
    return values.cpu().numpy()


def plain_cosines(encoder: TransformerEncoder, frame: pl.DataFrame, watch: Watch | None = None) -> Values:
    """Cosines of the sentence vectors themselves, without any head."""
    first, second = (vectors.cpu().numpy() for vectors in _vectors(encoder, frame, watch))
    return cosines(first, second)


def best_threshold(values: Values, labels: NDArray[np.int64]) -> float:
    """The cosine from which on pairs are called paraphrases with the fewest errors on these; halfway between two of them."""
    order = np.argsort(-values, kind="stable")
    ranked = values[order].astype(np.float64)
    hits = np.append(0, np.cumsum(labels[order])) + np.append(np.cumsum((1 - labels[order])[::-1])[::-1], 0)
    # Pairs of one cosine cannot be parted.
    hits[1:-1][ranked[1:] == ranked[:-1]] = -1
    cut = int(hits.argmax())
    edges = np.concatenate([[ranked[0] + 1e-6], ranked, [ranked[-1] - 1e-6]])
    return float(edges[0] if cut == 0 else (edges[cut] + edges[cut + 1]) / 2)


def average(values: Sequence[Values]) -> Values:
    """The mean of several runs' predictions."""
    mean: Values = np.mean(values, axis=0, dtype=np.float32)
    return mean


def _vectors(encoder: TransformerEncoder, frame: pl.DataFrame, watch: Watch | None) -> tuple[Tensor, ...]:
    """The vectors of each sentence column; a sentence that repeats is encoded once."""
    names = [name for name in ("sentence", "sentence1", "sentence2") if name in frame.columns]
    vectors = torch.from_numpy(encoder.encode([text for name in names for text in frame[name]], watch))
    parts: tuple[Tensor, ...] = vectors.to(encoder.machine.device).split(len(frame))
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
