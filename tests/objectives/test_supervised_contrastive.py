"""The contrastive loss against a plain loop written from eq. 2."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from embedlab.objectives.losses import supervised_contrastive
from embedlab.objectives.losses.supervised_contrastive import Options
from embedlab.objectives.needs import ENTAILMENT

SupervisedContrastive = supervised_contrastive.objective()

Row = tuple[int, int, int]


def eq2_by_loop(
    vectors: Tensor,
    positives: dict[int, set[int]],
    negatives: dict[int, set[int]],
    tau: float,
    similarity: str,
) -> Tensor:
    """Eq. 2 word by word: over anchors, over their positives, over the denominator."""

    def score(i: int, j: int) -> Tensor:
        product = (vectors[i] * vectors[j]).sum()
        return (
            product / (vectors[i].norm() * vectors[j].norm()) if similarity == "cosine" else product
        )

    anchor_losses = []
    for anchor, own in positives.items():
        if not own:
            continue
        terms = []
        for positive in sorted(own):
            denominator = torch.stack(
                [torch.exp(score(anchor, k) / tau) for k in sorted(own | negatives[anchor])]
            ).sum()
            terms.append(-torch.log(torch.exp(score(anchor, positive) / tau) / denominator))
        anchor_losses.append(torch.stack(terms).mean())
    return torch.stack(anchor_losses).mean() if anchor_losses else vectors.sum() * 0


def sets_by_loop(rows: Sequence[Row]) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
    """The sets by their definition in the paper."""
    positives: dict[int, set[int]] = {}
    negatives: dict[int, set[int]] = {}
    for anchor in sorted({premise for premise, _, _ in rows}):
        positives[anchor] = {
            hypothesis
            for premise, hypothesis, label in rows
            if premise == anchor and label == ENTAILMENT
        }
        own = {
            hypothesis
            for premise, hypothesis, label in rows
            if premise == anchor and label != ENTAILMENT
        }
        others = {hypothesis for premise, hypothesis, _ in rows if premise != anchor}
        negatives[anchor] = (own | others) - positives[anchor] - {anchor}
    return positives, negatives


def random_batch(
    seed: int, premises: int, rows: int, labels: Sequence[int] = (0, 1, 2)
) -> list[Row]:
    """Rows whose premises repeat and whose hypotheses are sometimes shared; sentences are numbered
    without a gap.
    """
    rng = np.random.default_rng(seed)
    first = np.concatenate(
        [np.arange(premises), rng.integers(premises, size=max(0, rows - premises))]
    )
    second = premises + rng.integers(rows, size=len(first))
    _, numbers = np.unique(np.concatenate([first, second]), return_inverse=True)
    return list(
        zip(
            numbers[: len(first)],
            numbers[len(first) :],
            rng.choice(labels, size=len(first)),
            strict=True,
        )
    )


def columns_of(rows: Sequence[Row]) -> dict[str, np.ndarray]:
    return {
        name: np.array(values)
        for name, values in zip(
            ("premise", "hypothesis", "label"), zip(*rows, strict=True), strict=True
        )
    }


def vectors_for(rows: Sequence[Row], dtype: torch.dtype) -> Tensor:
    generator = torch.Generator().manual_seed(len(rows))
    sentences = max(max(premise, hypothesis) for premise, hypothesis, _ in rows) + 1
    return (
        (0.5 * torch.randn(sentences, 8, generator=generator, dtype=torch.float64))
        .to(dtype)
        .requires_grad_()
    )


def batch_of(objective: Any, rows: Sequence[Row]) -> dict[str, Tensor]:
    """The columns of ROWS, and the sets that an objective samples of them."""
    columns = columns_of(rows)
    sampled = columns | objective.sample(columns, np.random.default_rng(0))
    return {key: torch.from_numpy(value) for key, value in sampled.items()}


BATCHES = {
    "repeated premises": random_batch(0, premises=6, rows=24),
    "one row": [(0, 1, ENTAILMENT)],
    "no entailment": random_batch(3, premises=5, rows=12, labels=(1, 2)),
}


@pytest.mark.parametrize("rows", BATCHES.values(), ids=BATCHES.keys())
@pytest.mark.parametrize("similarity", ["dot", "cosine"])
@pytest.mark.parametrize("tau", [0.05, 1.0])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-5)])
def test_loss_and_gradient_equal_the_loop(
    rows: list[Row], similarity: str, tau: float, dtype: torch.dtype, tolerance: float
) -> None:
    options = Options(temperature=tau, similarity=similarity, weight=1.0)  # type: ignore[arg-type]
    objective = SupervisedContrastive(options, 8)
    fast_vectors, slow_vectors = vectors_for(rows, dtype), vectors_for(rows, torch.float64)
    fast = objective(fast_vectors, batch_of(objective, rows))
    slow = eq2_by_loop(slow_vectors, *sets_by_loop(rows), tau, similarity)
    scale = max(
        1.0, slow.item()
    )  # float32 has seven digits, and a small temperature makes large losses
    assert fast.item() == pytest.approx(slow.item(), abs=tolerance * scale)
    fast.backward()
    slow.backward()
    torch.testing.assert_close(
        fast_vectors.grad.double(), slow_vectors.grad, rtol=tolerance, atol=tolerance / tau
    )


def test_an_anchor_has_as_many_of_its_sets_as_the_options_say() -> None:
    rows = random_batch(4, premises=6, rows=30)
    objective = SupervisedContrastive(Options(positives=2, negatives=3), 8)
    drawn = objective.sample(columns_of(rows), np.random.default_rng(5))
    for side, limit, whole in zip(
        ("positives", "negatives"), (2, 3), sets_by_loop(rows), strict=True
    ):
        for anchor, mask in zip(drawn["anchors"].tolist(), drawn[side], strict=True):
            members = set(mask.nonzero()[0].tolist())
            assert members <= whole[anchor]
            assert len(members) == min(len(whole[anchor]), limit)


def loss_of(weight: float) -> float:
    torch.manual_seed(0)
    rows = BATCHES["repeated premises"]
    objective = SupervisedContrastive(Options(weight=weight), 8)
    return objective(vectors_for(rows, torch.float32), batch_of(objective, rows)).item()


def test_the_weight_mixes_the_two_losses() -> None:
    mixed = 0.7 * loss_of(0.0) + 0.3 * loss_of(1.0)
    assert loss_of(0.3) == pytest.approx(mixed, rel=1e-5)


def test_weight_one_has_no_head() -> None:
    assert list(SupervisedContrastive(Options(weight=1.0), 8).parameters()) == []
