from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch

from embedlab.core.plugins import shipped_names
from embedlab.core.recipe import Pooling
from embedlab.encoders.pooling import pooling_method

SLOW: Mapping[
    str, Callable[[np.ndarray], np.ndarray]
] = {  # of the published poolings, by the tokens that are not padding
    "cls": lambda tokens: tokens[0],
    "mean": lambda tokens: sum(tokens) / len(tokens),
    "mean-without-cls": lambda tokens: (
        sum(tokens[1:]) / max(len(tokens) - 1, 1) * np.ones(tokens.shape[1])
    ),
    "mean-sqrt-length": lambda tokens: sum(tokens) / np.sqrt(len(tokens)),
    "weighted-mean": lambda tokens: (
        sum(place * row for place, row in enumerate(tokens, 1)) / sum(range(1, len(tokens) + 1))
    ),
    "max": lambda tokens: np.array([max(column) for column in tokens.T]),
    "last": lambda tokens: tokens[-1],
}


@pytest.mark.parametrize("name", SLOW)
def test_pooling_equals_a_loop_over_the_tokens_that_are_there(name: Pooling) -> None:
    rng = np.random.default_rng(0)
    lengths = np.array([1, 2, 5, 9])
    tokens = rng.normal(size=(4, 9, 3))
    mask = (np.arange(9) < lengths[:, None]).astype(np.int64)
    pooled = pooling_method(name).pool(torch.from_numpy(tokens), torch.from_numpy(mask)).numpy()
    slow = [SLOW[name](row[:length]) for row, length in zip(tokens, lengths, strict=True)]
    np.testing.assert_allclose(pooled, slow, atol=1e-12)


@pytest.mark.parametrize("name", shipped_names("poolings"))
def test_values_at_padded_places_change_nothing_and_gradients_stay_finite(name: Pooling) -> None:
    pool = pooling_method(name).pool
    mask = torch.tensor([[1, 1, 0, 0]])
    tokens = torch.randn(1, 4, 3, requires_grad=True)
    spoiled = tokens.masked_fill(mask.unsqueeze(-1) == 0, torch.inf)
    assert torch.equal(pool(tokens, mask), pool(spoiled, mask))
    pool(tokens, torch.tensor([[1, 0, 0, 0]])).sum().backward()  # nothing but [CLS]
    assert torch.isfinite(tokens.grad).all()


@pytest.mark.parametrize("name", [name for name in SLOW if name != "cls"])
def test_an_empty_row_gives_zeros(name: Pooling) -> None:
    nothing = torch.zeros(1, 3, dtype=torch.int64)
    assert not pooling_method(name).pool(torch.randn(1, 3, 2), nothing).any()


def test_a_negative_weight_counts_as_stated() -> None:
    tokens, weights = torch.tensor([[[2.0], [4.0], [7.0]]]), torch.tensor([[3.0, -1.0, 0.0]])
    assert pooling_method("mean").pool(tokens, weights).item() == pytest.approx(1)
