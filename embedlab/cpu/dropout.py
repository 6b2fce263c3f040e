"""Dropout that draws sixteen random bits per element; on a CPU torch's own draws a number for each,
one after the other.

Its share of a training step grows as matrix products get faster.
"""

import torch
from torch import Tensor, nn

LEVELS = 2**16


class BitDropout(nn.Dropout):
    """Dropout with the rate rounded to 1/65,536; survivors are scaled by the rounded rate, so that
    the mean is preserved.

    In bf16 the scale itself is rounded, as torch's is.
    """

    def forward(self, states: Tensor) -> Tensor:
        """Return the states with about a share `p` of them zero while training, unchanged
        otherwise.
        """
        return drop(states, self.p) if self.training else states


def drop(states: Tensor, rate: float) -> Tensor:
    """Return STATES with about a share RATE of them zero and the others scaled up; the mask comes
    from torch's generator.
    """
    return states if round(rate * LEVELS) == 0 else states * dropout_mask(states, rate)


def dropout_mask(states: Tensor, rate: float) -> Tensor:
    """Return the factors that drop about a share RATE of STATES, in their shape and dtype."""
    threshold = round(rate * LEVELS)
    if threshold == LEVELS:
        return torch.zeros_like(states)
    random_words = torch.empty(-(-states.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    bits = random_words.view(torch.int16)[: states.numel()].view(states.shape)
    mask = torch.ge(
        bits, threshold - LEVELS // 2, out=torch.empty(states.shape, dtype=states.dtype)
    )
    return mask.mul_(LEVELS / (LEVELS - threshold))


def use_bits(backbone: nn.Module) -> None:
    """Make every dropout module in BACKBONE draw bits."""
    for module in list(backbone.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, BitDropout(child.p).train(child.training))
