"""Equal vectors against plain loops, what a training reports of them, and that measuring them
changes nothing.
"""

import math
from pathlib import Path

import pytest
import torch

from embedlab.objectives.losses import class_contrastive, in_batch_contrastive
from embedlab.objectives.losses.class_contrastive import Options as ClassOptions
from embedlab.objectives.losses.in_batch_contrastive import Options as InBatchOptions
from embedlab.objectives.objective import Objective
from embedlab.runs import events
from embedlab.training.batching import Batch
from embedlab.training.meter import loss_of_equal_vectors
from tests.training.small_runs import Train, events_of, short_stages

ClassContrastive = class_contrastive.objective()
InBatchContrastive = in_batch_contrastive.objective()


def batch_of(columns: dict[str, list[int]], sentences: int) -> Batch:
    tensors = {name: torch.tensor(values) for name, values in columns.items()}
    return Batch(
        stage=0,
        chunks=(),
        vectors=None,
        columns=tensors,
        rows=len(next(iter(columns.values()))),
        sentences=sentences,
    )


@pytest.mark.parametrize(
    ("objective", "batch", "chance"),
    [
        # One of six other views each; the sum over the four texts and two views.
        (
            ClassContrastive(ClassOptions(dropout=(0.0, 0.1), reduction="sum"), 3),
            batch_of({"sentence": [0, 1, 2, 3], "label": [0, 1, 0, 1]}, 4),
            8 * math.log(7),
        ),
        # One of five sentences, its own second view.
        (
            InBatchContrastive(InBatchOptions(positives="dropout"), 3),
            batch_of({"sentence": [0, 1, 2, 3, 4]}, 5),
            math.log(5),
        ),
    ],
)
def test_the_loss_of_equal_vectors_is_that_of_a_guess(
    objective: Objective, batch: Batch, chance: float
) -> None:
    vector = torch.tensor([1.0, 2.0, -1.0])
    assert loss_of_equal_vectors(objective, batch, vector) == pytest.approx(chance, rel=1e-5)
    assert objective.training


def test_a_training_reports_them_at_the_end_of_each_stage(train: Train, tiny_encoder: Path) -> None:
    run = train(short_stages(tiny_encoder), dev_score=lambda _: 1.0)
    found = events_of(run, events.VectorSpread)
    assert [event.step for event in events_of(run, events.Dev)] == [2, 3, 5, 6, 8]
    assert [(event.step, event.stage) for event in found] == [(3, 0), (8, 1)]
    for event in found:
        assert 0 < event.mean_cosine < 1
        assert 0 < event.before < 1
        assert event.before != event.mean_cosine
        assert event.chance > 0


@pytest.mark.parametrize(
    ("mean_cosine", "before", "said"),
    [
        (
            0.998,
            {"before": 0.41},
            "collapsed to equal vectors: mean cosine 0.998, before training 0.410; equal vectors "
            "have loss 4.554",
        ),
        (0.989, {"before": 0.41}, ""),
        (0.998, {}, "equal vectors: mean cosine 0.998; equal vectors have loss 4.554"),
    ],
)
def test_a_collapse_is_distinguished_from_vectors_that_began_so(
    mean_cosine: float, before: dict[str, float], said: str
) -> None:
    event = events.VectorSpread(step=9, stage=0, mean_cosine=mean_cosine, chance=4.554, **before)
    assert event.collapse == said
