"""Loss scaling (Micikevicius et al. 2018): gradients below 6e-8 are zero in fp16, so that the loss
is multiplied before them.
"""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from embedlab.encoders.device import Machine

_SKIPPED = "skipped"  # in the state of a checkpoint, beside what GradScaler has there


class LossScale:
    """The factor of the loss, and the steps taken with it: by torch's GradScaler in fp16, 1 in any
    other precision.

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
        before = self._scaler.get_scale()
        self._scaler.step(optimizer)
        self._scaler.update()
        self.skipped += self._scaler.get_scale() < before

    def state(self) -> dict[str, float]:
        """Return what a training needs to go on; empty where the factor is always 1."""
        return {
            key: float(value) for key, value in (self._scaler.state_dict() | self._counts()).items()
        }

    def _counts(self) -> dict[str, int]:
        return {_SKIPPED: self.skipped} if self._scaler.is_enabled() else {}

    def restore(self, state: Mapping[str, float]) -> None:
        """Go on from the STATE of a checkpoint; one of a training without a factor leaves the first
        one.
        """
        if self._scaler.is_enabled() and state:
            whole = {"growth_interval", "_growth_tracker"}
            known = {
                key: int(value) if key in whole else value
                for key, value in state.items()
                if key != _SKIPPED
            }
            self._scaler.load_state_dict(known)
            self.skipped = int(state[_SKIPPED])
