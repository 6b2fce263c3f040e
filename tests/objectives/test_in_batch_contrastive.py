"""The in-batch loss against a loop and against sentence-transformers."""

import math

import pytest
import torch
from torch import Tensor

from embedlab.objectives.losses import in_batch_contrastive
from embedlab.objectives.losses.in_batch_contrastive import Options, in_batch_loss, needs

InBatchContrastive = in_batch_contrastive.objective()


def by_loop(anchors: Tensor, positives: Tensor, negatives: Tensor | None, tau: float) -> float:
    """Eq. 5 word by word."""

    def score(a: Tensor, b: Tensor) -> float:
        return math.exp((a @ b / (a.norm() * b.norm())).item() / tau)

    losses = []
    for anchor, own in zip(anchors, positives, strict=True):
        total = sum(score(anchor, other) for other in positives)
        total += sum(score(anchor, other) for other in negatives) if negatives is not None else 0.0
        losses.append(-math.log(score(anchor, own) / total))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("tau", [0.05, 1.0])
@pytest.mark.parametrize("is_hard", [False, True])
def test_the_loss_equals_the_loop(tau: float, is_hard: bool) -> None:
    anchors, positives, negatives = torch.randn(3, 6, 8, dtype=torch.float64).unbind()
    candidates = torch.cat([positives, negatives]) if is_hard else positives
    expected = by_loop(anchors, positives, negatives if is_hard else None, tau)
    assert in_batch_loss(anchors, candidates, temperature=tau).item() == pytest.approx(
        expected, abs=1e-9
    )


def test_the_loss_equals_sentence_transformers() -> None:
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    columns = list(torch.randn(3, 6, 8).unbind())
    theirs = MultipleNegativesRankingLoss(model=torch.nn.Identity(), scale=20.0)  # type: ignore[arg-type]
    expected = theirs.compute_loss_from_embeddings(columns, labels=None)
    assert in_batch_loss(
        columns[0], torch.cat(columns[1:]), temperature=0.05
    ).item() == pytest.approx(expected.item(), abs=1e-5)


def test_dropout_positives_are_the_same_rows_of_the_second_view() -> None:
    objective = InBatchContrastive(Options(), 8)
    assert objective.views == (None, None)
    vectors, rows = torch.randn(10, 8), torch.tensor([3, 0, 4])
    expected = in_batch_loss(vectors[rows], vectors[5 + rows], temperature=0.05)
    assert objective(vectors, {"sentence": rows}).item() == pytest.approx(expected.item())


def test_triplets_need_three_columns_and_one_view() -> None:
    options = Options(positives="triplets", projection="two-layer")
    assert needs(options).sentences == ("anchor", "positive", "negative")
    objective = InBatchContrastive(options, 8)
    assert objective.views == (None,)
    vectors = torch.randn(5, 8, requires_grad=True)
    columns = {
        "anchor": torch.tensor([0, 1]),
        "positive": torch.tensor([2, 3]),
        "negative": torch.tensor([4, 4]),
    }
    objective(vectors, columns).backward()
    assert all(parameter.grad is not None for parameter in (vectors, *objective.parameters()))


def test_pairs_pick_their_positive_among_those_of_the_batch_alone() -> None:
    options = Options(positives="pairs")
    assert needs(options).sentences == ("anchor", "positive")
    objective = InBatchContrastive(options, 8)
    assert objective.views == (None,)
    vectors = torch.randn(4, 8)
    columns = {"anchor": torch.tensor([0, 1]), "positive": torch.tensor([2, 3])}
    expected = in_batch_loss(vectors[:2], vectors[2:], temperature=0.05)
    assert objective(vectors, columns).item() == pytest.approx(expected.item())
