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


def test_without_the_others_only_duplicates_are_read() -> None:
    assert needs(Options(others="leave-out")).only == {"is_duplicate": "1"}
    vectors = torch.randn(6, 8)
    columns = {"sentence1": torch.tensor([0, 1, 2]), "sentence2": torch.tensor([3, 4, 5])}
    objective = DuplicateContrastive(Options(others="leave-out", projection="none"), 8)
    expected = by_loop(vectors[:3], vectors[3:], [1, 1, 1], 0.05)
    assert objective(vectors, columns).item() == pytest.approx(expected, abs=1e-4)


def test_a_duplicate_that_repeats_is_masked_and_a_non_duplicate_is_not() -> None:
    vectors = torch.randn(4, 8)
    columns = {
        "sentence1": torch.tensor([0, 0, 2]),
        "sentence2": torch.tensor([1, 3, 1]),
        "is_duplicate": torch.tensor([1, 0, 1]),
    }
    loss = DuplicateContrastive(Options(projection="none"), 8)(vectors, columns)
    score = (torch.cosine_similarity(vectors[:, None], vectors, dim=2) / 0.05).exp()
    # Row 0 chooses among 1 and 3, for the text of row 2 is its own; row 1 has 3 alone, for 1 is a
    # duplicate of its first text; row 2 chooses among 1 and 3.
    shares = score[[0, 2], 1] / (score[[0, 2], 1] + score[[0, 2], 3])
    assert loss.item() == pytest.approx(-shares.log().sum().item() / 3, abs=1e-5)
