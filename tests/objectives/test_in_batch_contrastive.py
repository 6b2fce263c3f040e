"""The in-batch loss against a loop and against sentence-transformers."""

import math
from typing import Any

import pytest
import torch
from torch import nn

from embedlab.objectives.losses import in_batch_contrastive
from embedlab.objectives.losses.in_batch_contrastive import Options, projection

InBatchContrastive = in_batch_contrastive.objective()


def by_loop(
    vectors: torch.Tensor, rows: list[tuple[int, ...]], tau: float, *, is_masked: bool
) -> float:
    """Eq. 5 word by word; a row is its anchor, its positive and perhaps a negative."""
    unit = vectors / vectors.norm(dim=1, keepdim=True)

    def score(first: int, second: int) -> float:
        return math.exp(float(unit[first] @ unit[second]) / tau)

    losses = []
    for number, (anchor, positive, *_) in enumerate(rows):
        relatives = {anchor, *(row[1] for row in rows if row[0] == anchor)} if is_masked else ()
        others = [row[1] for other, row in enumerate(rows) if other != number]
        others += [row[2] for row in rows if len(row) == 3]
        total = score(anchor, positive)
        total += sum(score(anchor, other) for other in others if other not in relatives)
        losses.append(-math.log(score(anchor, positive) / total))
    return sum(losses) / len(losses)


ROWS: list[tuple[int, ...]] = [(0, 1, 4), (2, 1, 5), (0, 3, 5), (5, 0, 1)]


@pytest.mark.parametrize("repeats", ["masked", "negatives"])
@pytest.mark.parametrize("positives", ["pairs", "triplets"])
def test_texts_that_repeat_are_no_negatives_where_they_are_masked(
    repeats: str, positives: str
) -> None:
    vectors = torch.randn(6, 8, dtype=torch.float64)
    used = ROWS if positives == "triplets" else [row[:2] for row in ROWS]
    options = Options(positives=positives, repeats=repeats)  # type: ignore[arg-type]
    columns = {
        name: torch.tensor(column)
        for name, column in zip(
            ("anchor", "positive", "negative"), zip(*used, strict=True), strict=False
        )
    }
    expected = by_loop(vectors, used, 0.05, is_masked=repeats == "masked")
    objective = InBatchContrastive(options, 8)
    assert objective.views == (None,)
    assert objective(vectors, columns).item() == pytest.approx(expected, abs=1e-9)


def test_dropout_positives_are_the_same_rows_of_the_second_view() -> None:
    objective = InBatchContrastive(Options(), 8)
    assert objective.views == (None, None)
    vectors, rows = torch.randn(10, 8, dtype=torch.float64), torch.tensor([3, 0, 4])
    expected = by_loop(vectors, [(3, 8), (0, 5), (4, 9)], 0.05, is_masked=False)
    assert objective(vectors, {"sentence": rows}).item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "layers"),
    [
        ("none", []),
        ("one-layer", [nn.Linear, nn.Tanh]),
        ("two-layer", [nn.Linear, nn.ReLU, nn.Linear]),
    ],
)
def test_layers_before_a_loss_are_those_of_their_paper(kind: Any, layers: list[type]) -> None:
    assert [type(layer) for layer in projection(kind, 4).children()] == layers
