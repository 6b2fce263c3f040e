"""The class-contrastive loss against a loop, at its edges, and the views that it needs."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from embedlab.objectives.losses import class_contrastive, classification
from embedlab.objectives.losses.class_contrastive import (
    Options,
    class_contrastive_loss,
)
from embedlab.objectives.losses.classification import Options as ClassificationOptions

ClassContrastive = class_contrastive.objective()
Classification = classification.objective()


def by_loop(vectors: Tensor, labels: list[int], tau: float) -> float:
    """Khosla's eq. 2 word by word."""
    unit = [vector / vector.norm() for vector in vectors]
    anchors = []
    for i, own in enumerate(labels):
        positives = [j for j, label in enumerate(labels) if label == own and j != i]
        if not positives:
            continue
        total = sum(
            math.exp((unit[i] @ unit[j]).item() / tau) for j in range(len(labels)) if j != i
        )
        anchors.append(
            -sum(math.log(math.exp((unit[i] @ unit[j]).item() / tau) / total) for j in positives)
            / len(positives)
        )
    return sum(anchors) / len(anchors)


@pytest.mark.parametrize("tau", [0.05, 0.5])
@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 0, 1, 2], [0, 1, 1, 1], [0, 0]])
def test_the_loss_equals_the_loop(labels: list[int], tau: float) -> None:
    vectors = torch.randn(len(labels), 6, dtype=torch.float64)
    found = class_contrastive_loss(vectors, torch.tensor(labels), temperature=tau)
    assert found.item() == pytest.approx(by_loop(vectors, labels, tau), abs=1e-9)


def test_one_view_of_each_class_is_finite() -> None:
    vectors = torch.randn(3, 6, requires_grad=True)
    loss = class_contrastive_loss(vectors, torch.tensor([0, 1, 2]), temperature=0.05)
    loss.backward()
    assert loss.item() == 0
    assert vectors.grad is not None
    assert vectors.grad.isfinite().all()


def test_a_score_is_trained_by_squared_error_over_all_views() -> None:
    objective = Classification(
        ClassificationOptions(classes="score", joint=True, dropout=(0.0, 0.1), head_dropout=0.0), 8
    )
    vectors, rows, gold = torch.randn(10, 8), torch.tensor([4, 0, 2]), torch.tensor([1.0, 3.5, 5.0])
    found = objective(vectors, {"joint": rows, "gold": gold})
    errors = [
        (objective.head(vectors[5 * view + row]) - gold[index]) ** 2
        for view in (0, 1)
        for index, row in enumerate(rows.tolist())
    ]
    assert found.item() == pytest.approx(sum(errors).item() / 6)


def views_of_the_code(listed: list[float], steps: int) -> list[tuple[float, ...]]:
    """The rate of the dropout modules at each pass of each step, as SupCsTrainer.compute_loss sets
    them.
    """
    rate, found = 0.1, []
    for _ in range(steps):
        passes = [rate]
        for one in listed:
            if one != 0.1:
                rate = one
            passes.append(rate)
        if listed[-1] != 0.1:
            rate = 0.1
        found.append(tuple(passes))
    return found


@pytest.mark.parametrize(
    "listed",
    [
        [0.0, 0.1, 0.2],
        [0.0, 0.05, 0.1, 0.2],
        [0.0, 0.1],
        [0.1, 0.1],
        [0.1, 0.2, 0.1],
    ],
)
def test_coded_rates_are_those_of_every_later_step_of_the_authors_code(listed: list[float]) -> None:
    _, *later = views_of_the_code(listed, 4)
    assert {ClassContrastive(Options(dropout=tuple(listed), rates="coded"), 8).views} == {*later}


@pytest.mark.parametrize(
    ("classes", "column", "labels", "expected"),
    [
        (("0", "1"), "label", [1, 0, 1], [1, 0, 1]),
        ("none", "joint", [], [0, 1, 2]),
        ("exact", "gold", [3.81, 3.79, 3.81], [0, 1, 0]),
        ("tenths", "gold", [3.81, 2.5, 3.79], [0, 1, 0]),
    ],
)
def test_all_views_of_a_class_are_positives_and_the_loss_is_scaled(
    classes: Any, column: str, labels: list[float], expected: list[int]
) -> None:
    options = Options(
        classes=classes, joint=column != "label", dropout=(0.2, 0.1), scale=0.5, reduction="sum"
    )
    objective = ClassContrastive(options, 8)
    assert objective.views == (0.2, 0.1)
    vectors, rows = torch.randn(10, 8, dtype=torch.float64), torch.tensor([4, 0, 2])
    views = torch.cat([vectors[rows], vectors[5 + rows]])
    encoded = "joint" if options.joint else "sentence"
    found = objective(vectors, {column: torch.tensor(labels), encoded: rows})
    assert found.item() == pytest.approx(6 * by_loop(views, expected * 2, 0.05) / 2)
