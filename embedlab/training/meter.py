"""Loss, speed, time left and memory since the last event."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass

import psutil
import torch
from torch import Tensor

from embedlab.runs import events

HEARTBEAT_S = 2.0  # without an event, until a progress event is due


@dataclass(frozen=True, kw_only=True)
class Unreported:
    """The losses that no event has reported yet; a checkpoint stores them for the process that
    continues.
    """

    losses: tuple[float, ...] = (0.0,)  # the sum of each task's
    steps: int = 0


class Meter:
    """Accumulates the losses of steps without waiting for the accelerator; only an event or a
    checkpoint reads them.
    """

    _losses: Tensor  # the sum of each task's

    def __init__(
        self, device: torch.device, *, done: int, steps: int, before: Unreported | None = None
    ) -> None:
        self._device = device
        self._start_s, self._start_step = time.perf_counter(), done
        self._paused_s = 0.0
        self._steps = steps
        self._process = psutil.Process()
        self._process.cpu_percent()  # the next call measures from here
        self._clear(before or Unreported())

    def add(self, losses: Tensor, rows: int) -> None:
        """Count a step with the loss of each batch it read."""
        self._losses = self._losses + losses.detach()
        self._rows += rows
        self._count += 1

    def pause(self, seconds: float) -> None:
        """Exclude the time of an evaluation or a checkpoint from the speed."""
        self._paused_s += seconds
        self._since_s += seconds

    def is_beat_due(self) -> bool:
        """Return whether there was no event for so long that a progress event is due."""
        return time.perf_counter() - self._beat_s >= HEARTBEAT_S

    def beat(self, step: int) -> events.Progress:
        """Return a progress event after STEP, without waiting for the accelerator."""
        self._beat_s = time.perf_counter()
        return events.Progress(
            step=step, steps=self._steps, eta_s=self._eta_s(step), **self._machine_load()
        )

    def unreported(self) -> Unreported:
        """Return the losses since the last event."""
        return Unreported(losses=tuple(self._losses.tolist()), steps=self._count)

    def read(
        self, epochs: Mapping[int, float], *, step: int, lr: float, skipped: int = 0
    ) -> list[events.Step]:
        """Return the events of the steps since the last ones, one a stage; EPOCHS are by stage
        index, SKIPPED is of all steps so far.
        """
        losses = (
            self._losses / self._count
        ).tolist()  # waits for the accelerator, so that the times below are correct
        elapsed = max(1e-9, time.perf_counter() - self._since_s)
        load = self._machine_load()
        steps = [
            events.Step(
                stage=stage,
                epoch=epoch,
                step=step,
                steps=self._steps,
                loss=loss,
                lr=lr,
                rows_per_s=self._rows / elapsed,
                eta_s=self._eta_s(step),
                skipped=skipped,
                **load,
            )
            for (stage, epoch), loss in zip(epochs.items(), losses, strict=True)
        ]
        self._clear(Unreported())
        return steps

    @property
    def is_finite(self) -> bool:
        """Return whether every loss since the last event was finite; on a CPU this costs
        nothing.
        """
        return bool(self._losses.isfinite().all())

    def _clear(self, before: Unreported) -> None:
        self._losses = torch.tensor(before.losses, device=self._device)
        self._count = before.steps
        self._rows = 0
        self._since_s = self._beat_s = time.perf_counter()

    def _eta_s(self, step: int) -> float:
        per_step = (time.perf_counter() - self._start_s - self._paused_s) / max(
            1, step - self._start_step
        )
        return per_step * (self._steps - step)

    def _machine_load(self) -> dict[str, float]:
        """Return the memory and the use of processor and GPU, as events record them."""
        if self._device.type != "cuda":
            memory, gpu_percent = self._process.memory_info().rss, math.nan
        else:
            memory = torch.cuda.max_memory_allocated(self._device)
            try:
                gpu_percent = float(torch.cuda.utilization(self._device))
            except (ModuleNotFoundError, RuntimeError):  # needs nvidia-ml-py and a driver
                gpu_percent = math.nan
        return {
            "memory_mib": memory / 2**20,
            "cpu_percent": self._process.cpu_percent(),
            "gpu_percent": gpu_percent,
        }
