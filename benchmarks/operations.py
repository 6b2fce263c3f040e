"""The floor of a training step or an encoding: floating-point operations and bytes that no program can do without."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn

OPTIMIZER_BYTES = 28  # AdamW reads weight, gradient and two moments and writes three of them, float32


@dataclass(frozen=True, kw_only=True)
class Floor:
    """What the mathematics asks for, counting real tokens alone."""

    gflop: float
    gigabytes: float

    def seconds(self, gflops: float, copy_gb_s: float) -> float:
        """The time at the machine's measured ceilings, one after the other as they depend on each other."""
        return self.gflop / gflops + self.gigabytes / copy_gb_s


def forward_gflop(backbone: "nn.Module", lengths: Sequence[int]) -> float:
    """The matrix products of one forward pass over sentences of these LENGTHS (tokens)."""
    from torch import nn

    per_token = sum(2 * layer.weight.numel() for layer in backbone.modules() if isinstance(layer, nn.Linear))
    width, layers = backbone.config.hidden_size, backbone.config.num_hidden_layers
    attention = sum(4 * layers * width * length**2 for length in lengths)  # scores, and the mix of values
    return (per_token * sum(lengths) + attention) / 1e9


def encoding_floor(backbone: "nn.Module", lengths: Sequence[int]) -> Floor:
    """One forward pass; weights and activations are counted as staying in the caches."""
    return Floor(gflop=forward_gflop(backbone, lengths), gigabytes=0.0)


def step_floor(backbone: "nn.Module", lengths: Sequence[int]) -> Floor:
    """Forward, twice as much backward, and the optimizer over every parameter."""
    parameters = sum(parameter.numel() for parameter in backbone.parameters())
    return Floor(gflop=3 * forward_gflop(backbone, lengths), gigabytes=OPTIMIZER_BYTES * parameters / 1e9)
