"""What is done with gradients: those of several tasks combined without conflicts (PCGrad), the loss
scaled before them, and those of word vectors added up in memory that is used again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor, nn

from embedlab.encoders.device import Machine

Gradients = list[Tensor | None]  # one entry a parameter, None where the task does not use it
Users = frozenset[int]  # the tasks that use a parameter


def take_gradients(parameters: Iterable[nn.Parameter]) -> Gradients:
    """Return the gradients of PARAMETERS and clear them."""
    gradients: Gradients = []
    for parameter in parameters:
        gradients.append(parameter.grad)
        parameter.grad = None
    return gradients


def without_conflicts(
    tasks: Sequence[Gradients],
    orders: Sequence[Sequence[int]],
    reduction: Literal["mean", "sum"] = "mean",
) -> Gradients:
    """Return the mean or sum of the gradients of TASKS after removing conflicting parts (Yu et al.
    2020, algorithm 1).

    Task i is compared with the tasks of ORDERS[i] (without i) in order: where its current gradient
    and the other's original one conflict (dot product below 0), it is projected onto the other's
    normal plane. Two tasks are compared, and projected, over the parameters that both use. A
    parameter that no task uses has None; one that only some use is divided by the number of all
    tasks too, so that without conflicts the mean is the gradient of the average loss. Dot products
    and sums are computed in at least float32, whatever the dtype of the gradients.
    """
    users = [
        frozenset(task for task, gradients in enumerate(tasks) if gradients[index] is not None)
        for index in range(len(tasks[0]))
    ]
    dots = _dots(tasks, users)
    projection = _projected(
        dots, orders
    )  # (tasks, tasks): row i says how much of each gradient is in task i's
    scale = len(tasks) if reduction == "mean" else 1
    return [
        _combine_gradients([task[index] for task in tasks], projection, parameter_users, scale)
        for index, parameter_users in enumerate(users)
    ]


def _dots(tasks: Sequence[Gradients], users: Sequence[Users]) -> dict[Users, Tensor]:
    """Return the dot products of every two tasks, (tasks, tasks), summed over the parameters with
    the same users.
    """
    tables: dict[Users, Tensor] = {}
    for index, parameter_users in enumerate(users):
        if len(parameter_users) < 2:
            continue
        gradients = {
            task: _wide(gradient)
            for task in parameter_users
            if (gradient := tasks[task][index]) is not None
        }
        table = tables.setdefault(
            parameter_users, next(iter(gradients.values())).new_zeros(len(tasks), len(tasks))
        )
        for first_task in parameter_users:
            for second_task in parameter_users:
                if first_task <= second_task:
                    table[first_task, second_task] += (
                        gradients[first_task] * gradients[second_task]
                    ).sum()
    return {parameter_users: table + table.triu(1).T for parameter_users, table in tables.items()}


def _projected(dots: dict[Users, Tensor], orders: Sequence[Sequence[int]]) -> Tensor:
    """Return the coefficient of each task's original gradient in each task's projected one.

    A projected gradient is a linear combination of the original ones, so its dot products follow
    from theirs: no gradient is copied, and no number is transferred from the accelerator.
    """
    projection = torch.eye(len(orders))
    for table in dots.values():
        projection = projection.to(table)
    for task, order in enumerate(orders):
        for other_task in order:
            common = [table for users, table in dots.items() if {task, other_task} <= users]
            if not common:
                continue
            # a table is 0 for tasks that do not use its parameters
            dot = torch.stack([projection[task] @ table[:, other_task] for table in common]).sum()
            length = torch.stack([table[other_task, other_task] for table in common]).sum()
            projection[task, other_task] -= torch.where(dot < 0, dot / length, 0.0)
    return projection


def _combine_gradients(
    gradients: Sequence[Tensor | None], projection: Tensor, parameter_users: Users, scale: int
) -> Tensor | None:
    """Return the gradient of one parameter: the tasks' gradients, weighted by the projections of
    the tasks that use it.
    """
    if not parameter_users:
        return None
    users = sorted(parameter_users)
    weights = projection[users].sum(dim=0) / scale
    weighted = [
        (weights[task], gradient) for task in users if (gradient := gradients[task]) is not None
    ]
    total = sum(weight * _wide(gradient) for weight, gradient in weighted)
    assert isinstance(total, Tensor)
    return total.to(weighted[0][1].dtype)


def _wide(gradient: Tensor) -> Tensor:
    return gradient.to(torch.promote_types(gradient.dtype, torch.float32))


_SKIPPED = "skipped"  # in the state of a checkpoint, beside what GradScaler has there


class LossScale:
    """The factor of the loss, and the steps taken with it: by torch's GradScaler in fp16, 1 in any
    other precision (Micikevicius et al. 2018): in fp16 gradients below 6e-8 are zero.

    A step whose gradient is not finite is left out, and the factor is halved; after 2,000 steps
    without one it is doubled.
    """

    skipped: int = 0  # steps left out since the run began

    def __init__(self, machine: Machine) -> None:
        self._scaler = torch.amp.GradScaler(
            machine.device.type, enabled=machine.precision == "fp16"
        )

    def backward(self, loss: Tensor) -> None:
        """Add the gradient of LOSS, multiplied by the factor, to the parameters."""
        scaled: Tensor = self._scaler.scale(loss)
        scaled.backward()

    def step(
        self,
        optimizer: torch.optim.Optimizer,
        parameters: Iterable[nn.Parameter],
        clip: float | None,
    ) -> None:
        """Divide the gradients of PARAMETERS by the factor, limit their norm to CLIP, and take a
        step of OPTIMIZER.
        """
        if self._scaler.is_enabled():
            self._scaler.unscale_(optimizer)
        if clip is not None:
            nn.utils.clip_grad_norm_(parameters, clip)
        scale_before = self._scaler.get_scale()
        self._scaler.step(optimizer)
        self._scaler.update()
        self.skipped += self._scaler.get_scale() < scale_before

    def state(self) -> dict[str, float]:
        """Return what a training needs to go on; empty where the factor is always 1."""
        state = dict(self._scaler.state_dict())
        if self._scaler.is_enabled():
            state[_SKIPPED] = self.skipped
        return {key: float(value) for key, value in state.items()}

    def restore(self, state: Mapping[str, float]) -> None:
        """Go on from the STATE of a checkpoint; one of a training without a factor leaves the first
        one.
        """
        if self._scaler.is_enabled() and state:
            integer_keys = {"growth_interval", "_growth_tracker"}
            scaler_state = {
                key: int(value) if key in integer_keys else value
                for key, value in state.items()
                if key != _SKIPPED
            }
            self._scaler.load_state_dict(scaler_state)
            self.skipped = int(state[_SKIPPED])


class WordGradient:
    """One dense gradient of WORDS, to which a step adds only the rows of its own words: on a CPU
    the largest block of a step, in memory that is reused.

    If torch allocated a gradient of all words at each step, BERT-base's would take 94 MB; by then
    the memory freed by the last step is often split up for other blocks, and the C library requests
    it from the system page by page.
    """

    def __init__(self, words: nn.Embedding) -> None:
        self._words = words
        self._gradient: Tensor | None = None

    @contextmanager
    def add_up(self) -> Iterator[None]:
        """Within the block, add gradients of words to a zeroed dense gradient; only for words that
        the step trains.
        """
        weight = self._words.weight
        self._gradient = (
            torch.zeros_like(weight) if self._gradient is None else self._gradient.zero_()
        )
        weight.grad = self._gradient
        # their gradients are sparse rows, which torch adds to the existing dense gradient
        self._words.sparse = True
        try:
            yield
        finally:
            self._words.sparse = False
