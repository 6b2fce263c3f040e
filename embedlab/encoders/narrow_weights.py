"""Weights in bf16: matrices as autocast multiplies them, vectors and the sums between layers in
float32.
"""

from typing import Any

import torch
from torch import Tensor, nn


def widen_vectors(backbone: nn.Module) -> None:
    """Make a bf16 BACKBONE compute under autocast as one with float32 weights does, but for the
    rounding of its weights.

    Norms and biases are few and become float32 parameters again; embeddings stay in bf16 and give
    float32 rows, so that what the layers add up is float32.
    """
    for parameter in backbone.parameters():
        if parameter.ndim < 2 and parameter.dtype == torch.bfloat16:
            parameter.data = parameter.data.float()
    for module in backbone.modules():
        if isinstance(module, nn.Embedding):
            module.register_forward_hook(_widened)


def _widened(module: nn.Module, given: Any, rows: Tensor) -> Tensor:
    return rows.float()
