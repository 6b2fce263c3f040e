"""Poolings at their edges: padding, rows without tokens, weights. That each is what
sentence-transformers computes is shown where models are saved.
"""

import pytest
import torch

from embedlab.core.plugins import shipped_names
from embedlab.core.recipe import Pooling
from embedlab.encoders.pooling import pooling_method

ONE_TOKEN = {"cls", "pooler"}  # which they take wherever it is


@pytest.mark.parametrize("name", shipped_names("poolings"))
def test_values_at_padded_places_change_nothing_and_gradients_stay_finite(name: Pooling) -> None:
    pool = pooling_method(name).pool
    mask = torch.tensor([[1, 1, 0, 0]])
    tokens = torch.randn(1, 4, 3, requires_grad=True)
    spoiled = tokens.masked_fill(mask.unsqueeze(-1) == 0, torch.inf)
    assert torch.equal(pool(tokens, mask), pool(spoiled, mask))
    pool(tokens, torch.tensor([[1, 0, 0, 0]])).sum().backward()  # nothing but [CLS]
    assert torch.isfinite(tokens.grad).all()


@pytest.mark.parametrize(
    "name", [name for name in shipped_names("poolings") if name not in ONE_TOKEN]
)
def test_an_empty_row_gives_zeros(name: Pooling) -> None:
    nothing = torch.zeros(1, 3, dtype=torch.int64)
    assert not pooling_method(name).pool(torch.randn(1, 3, 2), nothing).any()


def test_a_negative_weight_counts_as_stated() -> None:
    tokens, weights = torch.tensor([[[2.0], [4.0], [7.0]]]), torch.tensor([[3.0, -1.0, 0.0]])
    assert pooling_method("mean").pool(tokens, weights).item() == pytest.approx(1)
