"""Equal vectors against plain loops, what a training reports of them, and that measuring them
changes nothing.
"""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from embedlab.encoders.encoder import mean_cosine
from embedlab.encoders.tokens import gather_rows
from embedlab.objectives.losses import class_contrastive, in_batch_contrastive
from embedlab.objectives.losses.class_contrastive import Options as ClassOptions
from embedlab.objectives.losses.in_batch_contrastive import Options as InBatchOptions
from embedlab.objectives.objective import Objective
from embedlab.runs import events
from embedlab.runs.status import collapse_of
from embedlab.runs.store import RunFolder
from embedlab.training.batching import Batch
from embedlab.training.meter import SENTENCES, SpreadMeter, loss_of_equal_vectors, sample_of
from tests.training.small_runs import saved_bytes, short_stages

ClassContrastive = class_contrastive.objective()
InBatchContrastive = in_batch_contrastive.objective()

Train = Callable[..., RunFolder]


def spreads_of(run: RunFolder) -> list[events.VectorSpread]:
    return [
        event
        for event in events.events_after(run.events_file)[0]
        if isinstance(event, events.VectorSpread)
    ]


def test_the_mean_cosine_is_that_of_a_loop_over_pairs() -> None:
    vectors = np.random.default_rng(0).normal(0.4, 1, size=(7, 5)).astype(np.float32)
    vectors[3] = 0
    cosines = []
    for one in range(7):
        for other in range(one):
            lengths = np.linalg.norm(vectors[one]) * np.linalg.norm(vectors[other])
            cosines.append(float(vectors[one] @ vectors[other]) / lengths if lengths else 0.0)
    assert mean_cosine(vectors) == pytest.approx(sum(cosines) / len(cosines), abs=1e-6)
    assert mean_cosine(np.ones((3, 4), np.float32)) == pytest.approx(1)
    assert math.isnan(mean_cosine(vectors[:1]))


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
    for vector in (torch.tensor([1.0, 2.0, -1.0]), torch.tensor([0.1, 0.0, 0.0])):
        assert loss_of_equal_vectors(objective, batch, vector) == pytest.approx(chance, rel=1e-5)
    assert objective.training


def test_the_measured_sentences_are_some_of_the_stage_and_always_the_same() -> None:
    rows = [[number] * (1 + number % 3) for number in range(SENTENCES + 40)]
    tokens = gather_rows(rows, np.zeros(len(rows), np.bool_))
    found = sample_of(tokens)
    texts = [
        tuple(found.flat[found.offsets[row] : found.offsets[row + 1]]) for row in range(len(found))
    ]
    assert len(set(texts)) == SENTENCES
    assert set(texts) <= {tuple(row) for row in rows}
    assert texts == [
        tuple(found.flat[found.offsets[row] : found.offsets[row + 1]])
        for row in range(len(sample_of(tokens)))
    ]


def test_a_training_reports_them_at_the_end_of_each_stage_and_not_more_than_they_are_worth(
    train: Train, tiny_encoder: Path
) -> None:
    run = train(short_stages(tiny_encoder), dev_score=lambda _: 1.0)
    found, dev = (
        spreads_of(run),
        [
            event
            for event in events.events_after(run.events_file)[0]
            if isinstance(event, events.Dev)
        ],
    )
    assert [event.step for event in dev] == [2, 3, 5, 6, 8]
    assert [event.step for event in found] == [3, 8]
    assert {event.stage for event in found} == {0, 1}
    assert all(
        0 < event.mean_cosine < 1 and 0 < event.before < 1 and event.chance > 0 for event in found
    )
    first = [event.before for event in found if event.stage == 0]
    assert len(set(first)) == 1
    assert first[0] != found[0].mean_cosine
    assert [event.step for event in spreads_of(train(short_stages(tiny_encoder), "without"))] == [
        event.step for event in found
    ]


def test_measuring_changes_no_weight(
    train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = train(short_stages(tiny_encoder), "measured")
    monkeypatch.setattr(SpreadMeter, "__init__", lambda self, *_, **__: None)
    monkeypatch.setattr(SpreadMeter, "measure", lambda self, *_, **__: iter(()))
    assert saved_bytes(train(short_stages(tiny_encoder), "unmeasured")) == saved_bytes(measured)


def test_a_collapse_is_distinguished_from_vectors_that_began_so() -> None:
    event = events.VectorSpread(step=9, stage=0, mean_cosine=0.998, before=0.41, chance=4.554)
    assert (
        collapse_of(event)
        == "collapsed to equal vectors: mean cosine 0.998, before training 0.410; equal vectors "
        "have loss 4.554"
    )
    assert (
        collapse_of(
            events.VectorSpread(step=9, stage=0, mean_cosine=0.989, before=0.41, chance=4.554)
        )
        == ""
    )
    assert collapse_of(None) == ""
    resumed = events.from_line(
        events.to_line(events.VectorSpread(step=9, stage=0, mean_cosine=0.998, chance=1.0))
    )
    assert isinstance(resumed, events.VectorSpread)
    assert (
        collapse_of(resumed)
        == "collapsed to equal vectors: mean cosine 0.998; equal vectors have loss 1.000"
    )
