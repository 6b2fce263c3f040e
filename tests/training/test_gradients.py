"""Gradient surgery against a slow version that projects float64 vectors one by one."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from embedlab.training.gradients import Gradients, without_conflicts
from embedlab.training.order import task_orders


def project_slowly(tasks: Sequence[Gradients], orders: Sequence[Sequence[int]]) -> list[Gradients]:
    """Algorithm 1 word by word, over the parameters that two tasks share."""
    projected: list[Gradients] = []
    for task, order in enumerate(orders):
        own = [None if gradient is None else gradient.double().clone() for gradient in tasks[task]]
        for other in order:
            both = [
                place
                for place, gradient in enumerate(own)
                if gradient is not None and tasks[other][place] is not None
            ]
            theirs = [tasks[other][place].double() for place in both]  # type: ignore[union-attr]
            dot = sum(
                (own[place] * gradient).sum().item()
                for place, gradient in zip(both, theirs, strict=True)
            )  # type: ignore[operator]
            if dot < 0:
                length = sum(gradient.square().sum().item() for gradient in theirs)
                for place, gradient in zip(both, theirs, strict=True):
                    own[place] = own[place] - dot / length * gradient
        projected.append(own)
    return projected


def add_slowly(projected: Sequence[Gradients], scale: float) -> list[Tensor | None]:
    columns = [
        [gradient for gradient in column if gradient is not None]
        for column in zip(*projected, strict=True)
    ]
    return [sum(column) / scale if column else None for column in columns]  # type: ignore[misc]


def three_tasks(seed: int, dtype: torch.dtype) -> list[Gradients]:
    """Three tasks that share an encoder; two of them share a layer, each has a head, and one
    parameter is used by none.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).to(dtype)

    base = draw(5, 4)
    encoder = [draw(5, 4) - base, base, draw(5, 4) - base]  # apart on purpose
    layer = [None, draw(7), -draw(7)]
    heads = [[draw(3) if task == owner else None for owner in range(3)] for task in range(3)]
    return [[encoder[task], layer[task], *heads[task], None] for task in range(3)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 1e-5), (torch.bfloat16, 8e-3)])
def test_three_tasks_equal_the_slow_version(
    dtype: torch.dtype, limit: float, reduction: Any, seed: int
) -> None:
    tasks, orders = three_tasks(seed, dtype), task_orders(seed, 0, 0, 3)
    expected = add_slowly(project_slowly(tasks, orders), 3 if reduction == "mean" else 1)
    found = without_conflicts(tasks, orders, reduction)
    for ours, theirs in zip(found[:-1], expected[:-1], strict=True):
        torch.testing.assert_close(ours, theirs.to(dtype), rtol=limit, atol=limit / 10)  # type: ignore[union-attr]
    assert found[-1] is expected[-1] is None


def test_the_order_of_the_tasks_comes_from_seed_and_step() -> None:
    orders = task_orders(1, 2, 3, 3)
    assert orders == task_orders(1, 2, 3, 3)
    assert all(sorted([task, *order]) == [0, 1, 2] for task, order in enumerate(orders))
    assert len({str(task_orders(1, 2, step, 3)) for step in range(30)}) > 3


def test_a_task_without_any_gradient_conflicts_with_no_other() -> None:
    zero, other = torch.zeros(3), torch.tensor([1.0, -2.0, 0.5])
    (found,) = without_conflicts([[zero], [other]], [[1], [0]], "sum")
    assert torch.equal(found, other)  # type: ignore[arg-type]
