"""Loss, speed, time left and memory since the last event."""

import time
from collections.abc import Mapping

import psutil
import torch
from torch import Tensor

from embedlab.runs import events

INTERVAL_S = 0.5
INTERVAL_STEPS = 10


class Meter:
    """Adds up what happens in a step without waiting for the accelerator; only an event reads the loss."""

    _losses: Tensor  # the sum of each task's

    def __init__(self, device: torch.device, *, done: int, steps: int) -> None:
        self._device = device
        self._start_s, self._start_step = time.perf_counter(), done
        self._paused_s = 0.0
        self._steps = steps
        self._process = psutil.Process()
        self._clear()

    def add(self, losses: Tensor, rows: int) -> None:
        """Count a step by the loss of each batch it read."""
        self._losses = self._losses + losses.detach()
        self._rows += rows
        self._count += 1

    def pause(self, seconds: float) -> None:
        """Leave the time of an evaluation or a checkpoint out of the speed."""
        self._paused_s += seconds
        self._since_s += seconds

    def is_due(self) -> bool:
        """Whether enough happened for an event: ten steps, or half a second."""
        return self._count >= INTERVAL_STEPS or (self._count > 0 and time.perf_counter() - self._since_s >= INTERVAL_S)

    def read(self, epochs: Mapping[int, float], *, step: int, lr: float) -> list[events.Step]:
        """The events of the steps since the last ones, one a stage; EPOCHS are those of each stage by its index."""
        losses = (self._losses / self._count).tolist()  # waits for the accelerator, so that the times below are true
        now = time.perf_counter()
        per_step = (now - self._start_s - self._paused_s) / max(1, step - self._start_step)
        told = [
            events.Step(
                stage=stage,
                epoch=epoch,
                step=step,
                steps=self._steps,
                loss=loss,
                lr=lr,
                rows_per_s=self._rows / max(1e-9, now - self._since_s),
                eta_s=per_step * (self._steps - step),
                memory_mib=self._memory_mib(),
            )
            for (stage, epoch), loss in zip(epochs.items(), losses, strict=True)
        ]
        self._clear()
        return told

    @property
    def is_finite(self) -> bool:
        """Whether every loss since the last event was a number; on a CPU this costs nothing."""
        return bool(self._losses.isfinite().all())

    def _clear(self) -> None:
        self._losses = torch.zeros(1, device=self._device)
        self._rows: int = 0
        self._count: int = 0
        self._since_s: float = time.perf_counter()

    def _memory_mib(self) -> float:
        if self._device.type == "cuda":
            return torch.cuda.max_memory_allocated(self._device) / 2**20
        return float(self._process.memory_info().rss / 2**20)
