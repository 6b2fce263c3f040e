"""Eight-bit matrix products on a CPU; `benchmarks/encoding.py --precision int8` measures what they save and what they cost."""

import warnings

import torch
from torch import nn
from transformers import PreTrainedModel

NOTE = "int8: a vector differs a little with the sentences that are encoded beside it"


def quantise(backbone: PreTrainedModel) -> None:
    """Replace the linear layers of BACKBONE by int8 ones: weights once, what goes into them at each call, by its largest value."""
    with warnings.catch_warnings():
        # torch announces that this moves to a package of its own, which says nothing about the numbers.
        warnings.simplefilter("ignore")
        torch.ao.quantization.quantize_dynamic(backbone.eval(), {nn.Linear}, dtype=torch.qint8, inplace=True)
