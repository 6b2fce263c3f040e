"""Eight-bit matrix products on a CPU; `benchmarks/encoding.py --precision int8` measures what they
save and what they cost.
"""

import warnings

import torch
from torch import nn
from transformers import PreTrainedModel

NOTE = "int8: a vector differs a little with the sentences that are encoded beside it"


def quantise(backbone: PreTrainedModel) -> None:
    """Replace the linear layers of BACKBONE by int8 ones: weights are quantised once, inputs at
    each call by their largest value.
    """
    with warnings.catch_warnings():
        # torch warns that this moves to another package, which does not change the numbers.
        warnings.simplefilter("ignore")
        torch.ao.quantization.quantize_dynamic(
            backbone.eval(), {nn.Linear}, dtype=torch.qint8, inplace=True
        )
