"""Passes of few fixed shapes as CUDA graphs: a small encoder is bound by launching its hundreds of kernels, a graph of them is one launch.

Asked for by the setting `capture`, as it has not been measured on a GPU yet.
"""

from collections.abc import Callable
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from embedlab.core.errors import EmbedlabError
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.objective import View
from embedlab.training.batching import Chunk
from embedlab.training.checkpointing import random_tensors, restore_random
from embedlab.training.dropout import dropout_places, dropout_rate

# Sentences and tokens that a chunk is filled up to multiples of, so that batches have few shapes.
SHAPE_STEPS = (16, 8)
MOST_SHAPES = 32  # each keeps a gradient of every parameter; what comes beyond is computed as without captures

Pass = Callable[[Tensor, Tensor], Tensor]
Capture = Callable[[nn.Module, Chunk], Pass]
"""From a module and arguments like those to come to what computes the same, its backward pass too, for arguments of that shape."""


class CapturedPasses:
    """The vectors of a chunk with their gradient, each shape captured when it first comes.

    The graphs share the memory of what lies between sentences and vectors. That is right as long as each pass is followed by its
    backward pass before the next, and its gradient taken up: where a step is one pass.
    """

    def __init__(self, encoder: TransformerEncoder, capture: Capture | None = None) -> None:
        self._encoder = encoder
        self._capture = capture or cuda_graphs()
        self._dropouts = dropout_places(encoder.backbone)
        self._passes: dict[tuple[int, int, View], Pass] = {}

    def encode(self, chunk: Chunk, view: View) -> Tensor:
        """The vectors of the chunk's sentences, encoded with the dropout of VIEW; (sentences, dim)."""
        ids, mask = filled(chunk, int(self._encoder.tokenizer.pad_token_id or 0), self._encoder.max_tokens)
        sentences, tokens = ids.shape
        shape = (sentences, tokens, view)
        if shape not in self._passes:
            if len(self._passes) == MOST_SHAPES:
                with dropout_rate(self._dropouts, view):
                    return self._encoder.forward_tokens(*chunk)
            self._passes[shape] = self._captured((ids, mask), view)
        return self._passes[shape](ids, mask)[: len(chunk[0])]

    def _captured(self, chunk: Chunk, view: View) -> Pass:
        machine = self._encoder.machine
        # What autocast keeps of one pass would be weights of before the last step in a graph.
        autocast = torch.autocast(machine.device.type, torch.bfloat16, enabled=machine.precision == "bf16", cache_enabled=False)
        # Passes that warm up draw dropout; a run that is resumed captures at other steps.
        before = random_tensors(machine.device)
        try:
            with dropout_rate(self._dropouts, view), autocast:
                return self._capture(_Pass(self._encoder), chunk)
        except RuntimeError as error:
            sentences, tokens = chunk[0].shape
            raise EmbedlabError(
                f"a pass of {sentences} x {tokens} tokens cannot be captured: {error}", hint="train without the setting `capture`"
            ) from error
        finally:
            restore_random(before, machine.device)


def cuda_graphs() -> Capture:
    """Torch's own captures, in one pool of memory."""
    # Gradients of a replay come from another stream than captures warm up on. Autograd lets one wait for the other outside
    # the graphs, so torch's warning of it is of no use; versions before it have no such switch.
    if hasattr(torch.autograd.graph, "set_warn_on_accumulate_grad_stream_mismatch"):
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    pool = torch.cuda.graph_pool_handle()

    def capture(module: nn.Module, chunk: Chunk) -> Pass:
        # An encoder may have parameters that its vectors do not depend on.
        return cast("Pass", torch.cuda.make_graphed_callables(module, chunk, pool=pool, allow_unused_input=True))

    return capture


class _Pass(nn.Module):
    """A pass as a module whose parameters are the encoder's."""

    def __init__(self, encoder: TransformerEncoder) -> None:
        super().__init__()
        self.backbone = encoder.backbone
        self._embed = encoder.forward_tokens
        self.train(encoder.backbone.training)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self._embed(ids, mask)


def filled(chunk: Chunk, pad: int, max_tokens: int) -> Chunk:
    """The chunk with sentences and tokens of padding up to the next shape; such a sentence attends to its first token, to be a number."""
    ids, mask = chunk
    sentences, tokens = (-(-size // step) * step for size, step in zip(ids.shape, SHAPE_STEPS, strict=True))
    more = (0, min(tokens, max(max_tokens, ids.shape[1])) - ids.shape[1], 0, sentences - len(ids))
    filled_mask = F.pad(mask, more)
    filled_mask[len(ids) :, 0] = 1
    return F.pad(ids, more, value=pad), filled_mask
