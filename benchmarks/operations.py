"""The lower bound of a training step or an encoding: floating-point operations and bytes that no
program can do without.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn

# AdamW reads weight, gradient and two moments and writes three of them, float32
OPTIMIZER_BYTES = 28


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """The operations and bytes that the mathematics needs, counting real tokens alone."""

    gflop: float
    gigabytes: float

    def seconds(self, gflops: float, copy_gb_s: float) -> float:
        """The time at the machine's measured ceilings, one after the other as they depend on each
        other.
        """
        return self.gflop / gflops + self.gigabytes / copy_gb_s


def forward_gflop(
    backbone: "nn.Module", lengths: Sequence[int], *, is_first_only: bool = False
) -> float:
    """The matrix products of one forward pass over sentences of these LENGTHS (tokens).

    With IS_FIRST_ONLY just the first tokens' states are wanted: the last layer gives them from the
    keys and values of all.
    """
    from torch import nn

    width, layers = backbone.config.hidden_size, backbone.config.num_hidden_layers
    queries = [
        1 if is_first_only else length for length in lengths
    ]  # tokens of each sentence that leave the last layer
    operations = {
        name: 2 * layer.weight.numel()
        for name, layer in backbone.named_modules()
        if isinstance(layer, nn.Linear)
    }
    pairs = sum(
        (layers - 1) * length**2 + length * selected
        for length, selected in zip(lengths, queries, strict=True)
    )
    done = 4 * width * pairs  # scores, and the mix of values
    for name, per_token in operations.items():
        is_for_queries = f"layer.{layers - 1}." in name and not name.endswith(
            (".key", ".value", ".k_lin", ".v_lin")
        )
        done += per_token * sum(queries if is_for_queries else lengths)
    return done / 1e9


def encoding_bound(backbone: "nn.Module", lengths: Sequence[int]) -> LowerBound:
    """One forward pass; weights and activations are counted as staying in the caches."""
    return LowerBound(gflop=forward_gflop(backbone, lengths), gigabytes=0.0)


def step_bound(
    backbone: "nn.Module", lengths: Sequence[int], *, is_first_only: bool = False
) -> LowerBound:
    """Forward, twice as much backward, and the optimizer over every parameter."""
    parameters = sum(parameter.numel() for parameter in backbone.parameters())
    gflop = 3 * forward_gflop(backbone, lengths, is_first_only=is_first_only)
    return LowerBound(gflop=gflop, gigabytes=OPTIMIZER_BYTES * parameters / 1e9)
