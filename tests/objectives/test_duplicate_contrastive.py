"""The contrast of labelled pairs against a loop."""

import math

import pytest
import torch
from torch import Tensor

from embedlab.objectives.losses import duplicate_contrastive
from embedlab.objectives.losses.duplicate_contrastive import Options, duplicate_loss, needs

DuplicateContrastive = duplicate_contrastive.objective()


def by_loop(first: Tensor, second: Tensor, labels: list[int], tau: float) -> float:
    """The formula of the docstring word by word."""

    def score(a: Tensor, b: Tensor) -> float:
        return math.exp((a @ b / (a.norm() * b.norm())).item() / tau)

    total = 0.0
    for a, own, label in zip(first, second, labels, strict=True):
        loss = -math.log(score(a, own) / sum(score(a, other) for other in second))
        total += loss if label else -loss
    return total / len(labels)


@pytest.mark.parametrize("tau", [0.05, 1.0])
@pytest.mark.parametrize("labels", [[1, 0, 0, 1, 0], [1] * 5, [0] * 5])
def test_the_loss_equals_the_loop(tau: float, labels: list[int]) -> None:
    first, second = torch.randn(2, 5, 8, dtype=torch.float64).unbind()
    found = duplicate_loss(first, second, torch.tensor(labels), temperature=tau)
    assert found.item() == pytest.approx(by_loop(first, second, labels, tau), abs=1e-9)


def test_a_step_draws_duplicates_together_and_the_others_apart() -> None:
    first, second = torch.randn(2, 4, 8).unbind()
    second.requires_grad_()
    duplicate_loss(first, second, torch.tensor([1, 1, 0, 0]), temperature=1.0).backward()
    assert second.grad is not None
    before = torch.cosine_similarity(first, second)
    after = torch.cosine_similarity(first, second - 0.1 * second.grad)
    assert ((after - before)[:2] > 0).all()
    assert ((after - before)[2:] < 0).all()


def test_without_the_others_only_duplicates_are_read() -> None:
    assert needs(Options(others="leave-out")).only == {"is_duplicate": "1"}
    vectors = torch.randn(6, 8)
    columns = {"sentence1": torch.tensor([0, 1, 2]), "sentence2": torch.tensor([3, 4, 5])}
    objective = DuplicateContrastive(Options(others="leave-out", projection="none"), 8)
    expected = by_loop(vectors[:3], vectors[3:], [1, 1, 1], 0.05)
    assert objective(vectors, columns).item() == pytest.approx(expected, abs=1e-4)
