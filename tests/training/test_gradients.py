"""Gradient surgery against a slow version that projects float64 vectors one by one."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor, nn

from embedlab.training.gradients import Gradients, take_gradients, without_conflicts
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


def three_tasks(seed: int, dtype: torch.dtype = torch.float32) -> list[Gradients]:
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


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_opposed_gradients_give_zero_and_orthogonal_ones_their_sum(reduction: str) -> None:
    orders, scale = [[1], [0]], 2 if reduction == "mean" else 1
    gradient = torch.tensor([3.0, -4.0])
    (zero,) = without_conflicts([[gradient], [-gradient]], orders, reduction)  # type: ignore[arg-type]
    assert zero is not None
    assert zero.tolist() == [0.0, 0.0]
    (both,) = without_conflicts(
        [[torch.tensor([2.0, 0.0])], [torch.tensor([0.0, 6.0])]], orders, reduction
    )  # type: ignore[arg-type]
    assert both is not None
    assert both.tolist() == [2.0 / scale, 6.0 / scale]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_three_tasks_equal_the_slow_version(seed: int, reduction: str) -> None:
    tasks, orders = three_tasks(seed), task_orders(seed, 0, 0, 3)
    expected = add_slowly(project_slowly(tasks, orders), 3 if reduction == "mean" else 1)
    found = without_conflicts(tasks, orders, reduction)  # type: ignore[arg-type]
    for ours, theirs in zip(found[:-1], expected[:-1], strict=True):
        torch.testing.assert_close(ours, theirs.float(), rtol=1e-5, atol=1e-6)  # type: ignore[union-attr]
    assert found[-1] is expected[-1] is None


def test_the_order_of_the_tasks_matters_and_comes_from_seed_and_step() -> None:
    assert task_orders(1, 2, 3, 3) == task_orders(1, 2, 3, 3)
    assert all(
        sorted([task, *order]) == [0, 1, 2] for task, order in enumerate(task_orders(1, 2, 3, 3))
    )
    assert len({str(task_orders(1, 2, step, 3)) for step in range(30)}) > 3
    tasks = three_tasks(0)
    one, other = (
        without_conflicts(tasks, orders)
        for orders in ([[1, 2], [0, 2], [0, 1]], [[2, 1], [2, 0], [1, 0]])
    )
    assert not torch.equal(one[0], other[0])  # type: ignore[arg-type]


def test_the_mean_without_conflicts_is_the_gradient_of_the_average_loss() -> None:
    encoder, head = nn.Parameter(torch.tensor([1.0, 2.0])), nn.Parameter(torch.tensor([0.5]))
    unused = nn.Parameter(torch.ones(1))
    losses = [lambda: encoder[0] * head[0], lambda: encoder[1] ** 2]
    tasks = []
    for loss in losses:
        loss().backward()
        tasks.append(take_gradients([encoder, head, unused]))
    ((losses[0]() + losses[1]()) / 2).backward()
    for parameter, gradient in zip(
        (encoder, head, unused), without_conflicts(tasks, [[1], [0]]), strict=True
    ):
        assert (gradient is None) == (parameter.grad is None)
        assert gradient is None or torch.equal(gradient, parameter.grad)  # type: ignore[arg-type]


def test_bf16_gradients_are_projected_in_float32_and_stay_bf16() -> None:
    tasks, orders = three_tasks(1, torch.bfloat16), task_orders(0, 0, 0, 3)
    found = without_conflicts(tasks, orders)
    expected = add_slowly(project_slowly(tasks, orders), 3)
    for ours, theirs in zip(found[:-1], expected[:-1], strict=True):
        assert ours is not None
        assert ours.dtype is torch.bfloat16
        torch.testing.assert_close(ours, theirs.to(torch.bfloat16), rtol=8e-3, atol=1e-3)  # type: ignore[union-attr]


def test_a_task_without_any_gradient_conflicts_with_no_other() -> None:
    zero, other = torch.zeros(3), torch.tensor([1.0, -2.0, 0.5])
    (found,) = without_conflicts([[zero], [other]], [[1], [0]], "sum")
    assert torch.equal(found, other)  # type: ignore[arg-type]
