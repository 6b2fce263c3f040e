"""Passes of training as CUDA graphs: at the papers' batch sizes a step waits for the launches of
its kernels, and a graph of them is one launch.

Sentences lie side by side in rows of one width, so that a step is one pass a view, hardly anything
is padding, and few shapes occur. Each shape is captured when it is first met.
"""

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from embedlab.core.errors import EmbedlabError
from embedlab.encoders.device import random_tensors, restore_random
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.objective import DropoutRate
from embedlab.training.batching import Chunk, Collation, PackedRows
from embedlab.training.order import batch_generator
from embedlab.training.parallel import Team

SAMPLE = 64  # batches whose lengths decide the shapes of a stage
WIDTH_STEP = 8  # tokens, as attention's kernels want them
# A wider row costs more in attention than padding saves; batches with longer sentences run eagerly.
WIDEST = 512
ROUNDS = 10  # the usual number of rows is rounded up by a tenth at most
MOST_SHAPES = 32  # of a stage; rarer ones run eagerly
WARM_UPS = 3  # passes before a capture: libraries make their plans in them


def why_not_captured(encoder: TransformerEncoder, team: Team) -> str:
    """Return why passes of ENCODER cannot be captured; empty where they can."""
    if team.size > 1:
        return "several processes train together"
    if encoder.machine.is_recomputing:
        return "gradient checkpointing draws its dropout twice"
    if not encoder.forward.takes_wide_mask or encoder.usage.layer is not None:
        return "this encoder's forward pass is not known to be the same for sentences side by side"
    return ""


@dataclass(frozen=True, kw_only=True)
class CommonShapes:
    """The shapes in which a stage's passes are captured."""

    width: int  # tokens in a row
    step: int  # numbers of rows are multiples of it
    rows: frozenset[int]
    padding: float  # share of the tokens, in the batches that decided
    pad: int
    positions: Callable[[Tensor], Tensor]  # of the tokens of padded sentences

    def pack(self, chunk: Chunk) -> PackedRows | None:
        """Return the rows of a CHUNK; None where their shape is too rare."""
        ids, mask, *types = chunk
        lengths = mask.sum(dim=1).numpy()
        if lengths.max() > self.width:
            return None
        starts, row_count = pack_side_by_side(lengths, self.width)
        rows = _rounded_up(row_count, self.step)
        if rows not in self.rows:
            return None
        positions = torch.from_numpy(starts)[:, None] + torch.arange(ids.shape[1])
        is_real = mask.bool()

        def laid(values: Tensor, padding: int) -> Tensor:
            flat = torch.full((rows * self.width,), padding)
            flat[positions[is_real]] = values[is_real]
            return flat.view(rows, self.width)

        owners = torch.arange(1, len(ids) + 1)[:, None].expand_as(ids)
        return PackedRows(
            ids=laid(ids, self.pad),
            positions=laid(self.positions(ids), 0),
            owners=laid(owners, 0),
            types=laid(types[0] if types else torch.zeros_like(ids), 0),
            flat_indices=positions * is_real,
            mask=mask,
        )


def common_shapes(collation: Collation, encoder: TransformerEncoder) -> CommonShapes:
    """Return the shapes that suit the first batches of a stage: as wide as its longest sentence."""
    width = min(WIDEST, _rounded_up(int(collation.tokens.lengths.max()), WIDTH_STEP))
    batches = (
        collation.parts(rows, batch_generator(collation.data.seed, collation.data.index, 0, number))
        for number, rows in enumerate(islice(collation.data.batches(0), SAMPLE))
    )
    row_counts, tokens = [], []
    for batch in batches:
        for batch_part in batch:
            sentences = np.concatenate([chunk[1].sum(dim=1).numpy() for chunk in batch_part.chunks])
            limit = collation.chunk_limit or len(sentences)
            for lengths in np.array_split(sentences, -(-len(sentences) // limit)):
                if lengths.max() <= width:
                    row_counts.append(pack_side_by_side(lengths, width)[1])
                    tokens.append(int(lengths.sum()))
    step = max(1, round(float(np.mean(row_counts or [1])) / ROUNDS))
    rows = [_rounded_up(count, step) for count in row_counts]
    common = Counter(rows).most_common(MOST_SHAPES)
    return CommonShapes(
        width=width,
        step=step,
        rows=frozenset(count for count, _ in common),
        padding=1 - sum(tokens) / max(1, sum(rows) * width),
        pad=collation.pad,
        positions=encoder.forward.positions,
    )


def pack_side_by_side(lengths: NDArray[np.int64], width: int) -> tuple[NDArray[np.int64], int]:
    """Return where in flattened rows of this WIDTH each sentence begins, and the number of rows:
    the longest first, each into the fullest row that has room.
    """
    starts, rows = np.zeros(len(lengths), np.int64), 0
    rows_with_room: list[tuple[int, int]] = []  # (free tokens, row), sorted
    for sentence in np.argsort(-lengths, kind="stable").tolist():
        length = int(lengths[sentence])
        index = bisect_left(rows_with_room, (length, -1))
        if index == len(rows_with_room):
            free_tokens, row, rows = width, rows, rows + 1
        else:
            free_tokens, row = rows_with_room.pop(index)
        starts[sentence] = (row + 1) * width - free_tokens
        insort(rows_with_room, (free_tokens - length, row))
    return starts, rows


def _rounded_up(number: int, step: int) -> int:
    return -(-number // step) * step


Pass = Callable[..., Tensor]
"""Computes states of the tensors of packed rows, all of one shape. The backward pass of a captured
one adds to the gradients of the parameters, and must come before the next call.
"""

Capture = Callable[[Pass, Sequence[Tensor], Sequence[nn.Parameter], int], Pass]
"""Captures a pass for tensors like these, which trains these parameters; the number is that of the
pass in its step.
"""


class CapturedPasses:
    """The states of packed rows, with their gradients.

    Every pass of a step until its backward one has a graph of its own, by its place in the step,
    and memory that no other place shares: replayed once more, a graph would overwrite what the
    first backward pass needs. A rate of dropout is a constant of a graph, and so are the parameters
    that are trained.
    """

    def __init__(self, encoder: TransformerEncoder, capture: Capture | None = None) -> None:
        self._encoder = encoder
        self._parameters = list(encoder.backbone.parameters())
        self._capture = capture or CudaGraphs()
        self._passes: dict[tuple[object, ...], Pass] = {}

    def encode(self, rows: PackedRows, rate: DropoutRate, pass_index: int) -> Tensor:
        """Return the vectors of the sentences in ROWS, where the dropouts are set to RATE."""
        inputs = (rows.ids, rows.positions, rows.owners, rows.types)
        trained = [parameter for parameter in self._parameters if parameter.requires_grad]
        key = (rows.ids.shape, rate, pass_index, tuple(map(id, trained)))
        if not trained:
            states = self.states(*inputs)
        else:
            if key not in self._passes:
                self._passes[key] = self._captured(inputs, trained, pass_index)
            states = self._passes[key](*inputs)
        return self._encoder.pool_packed(states, rows.flat_indices, rows.mask)

    def states(self, ids: Tensor, positions: Tensor, owners: Tensor, types: Tensor) -> Tensor:
        """Return the last states of tokens that attend to those of their own sentence; (rows,
        width, dim).
        """
        mask = owners[:, None, :, None] == owners[:, None, None, :]
        # Casts that autocast keeps would be, in a graph, of weights before the last step.
        with self._encoder.machine.autocast(keeps_casts=False):
            states: Tensor = self._encoder.backbone(
                input_ids=ids,
                attention_mask=mask,
                position_ids=positions,
                **self._encoder.segments(ids, types),
            ).last_hidden_state
        return states

    def _captured(
        self, inputs: Sequence[Tensor], trained: Sequence[nn.Parameter], pass_index: int
    ) -> Pass:
        # Passes that warm up draw dropout too, and a run that is resumed captures at other steps.
        device = inputs[0].device
        random_state = random_tensors(device)
        try:
            # The backward pass is captured too, and runs without autocast as every other.
            with torch.enable_grad(), torch.autocast(device.type, enabled=False):
                return self._capture(self.states, inputs, trained, pass_index)
        except RuntimeError as error:
            rows, width = inputs[0].shape
            raise EmbedlabError(
                f"a pass of {rows} x {width} tokens cannot be captured: {error}",
                hint="train without --capture",
            ) from error
        finally:
            restore_random(random_state, device)


class CudaGraphs:
    """Captures passes as CUDA graphs, whose dropout draws from the run's generator."""

    def __init__(self) -> None:
        self._pools: dict[int, Any] = defaultdict(torch.cuda.graph_pool_handle)  # by place
        # Where backward passes leave their gradients: one for all, as each is added up at once.
        self._gradients: dict[nn.Parameter, Tensor] = {}

    def __call__(
        self,
        compute: Pass,
        inputs: Sequence[Tensor],
        trained: Sequence[nn.Parameter],
        place: int,
    ) -> Pass:
        """Capture the forward and the backward pass of COMPUTE."""
        return _Graph(compute, inputs, trained, self._pools[place], self._gradients)


class _Graph:
    """The two graphs of a pass, with the memory that they read and write."""

    def __init__(
        self,
        compute: Pass,
        inputs: Sequence[Tensor],
        trained: Sequence[nn.Parameter],
        pool: Any,
        gradients: dict[nn.Parameter, Tensor],
    ) -> None:
        self.inputs = [values.clone() for values in inputs]
        self.forward, self.backward = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UPS):
                states = compute(*self.inputs)
                gradients_found = torch.autograd.grad(
                    states, trained, torch.zeros_like(states), allow_unused=True
                )
        torch.cuda.current_stream().wait_stream(stream)
        # An encoder may have parameters that its states do not depend on.
        self.trained = [
            parameter
            for parameter, gradient in zip(trained, gradients_found, strict=True)
            if gradient is not None
        ]
        del states, gradients_found
        self.gradients = [
            gradients.setdefault(parameter, torch.zeros_like(parameter))
            for parameter in self.trained
        ]
        with torch.cuda.graph(self.forward, pool=pool):
            self.states = compute(*self.inputs)
        self.given = torch.zeros_like(self.states)
        with torch.cuda.graph(self.backward, pool=pool):
            torch._foreach_copy_(
                self.gradients, torch.autograd.grad(self.states, self.trained, self.given)
            )
        self.states = self.states.detach()

    def __call__(self, *inputs: Tensor) -> Tensor:
        states: Tensor = _Replay.apply(self, self.trained[0], *inputs)  # type: ignore[no-untyped-call]
        return states


class _Replay(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, graph: _Graph, trained: nn.Parameter, *inputs: Tensor) -> Tensor:
        """Return the states; TRAINED makes them depend on what has a gradient."""
        ctx.graph = graph
        torch._foreach_copy_(graph.inputs, list(inputs))
        graph.forward.replay()
        return graph.states.detach()

    @staticmethod
    def backward(ctx: Any, *output_gradients: Tensor) -> tuple[None, ...]:
        """Add the gradients to those of the parameters."""
        graph: _Graph = ctx.graph
        graph.given.copy_(output_gradients[0])
        graph.backward.replay()
        add_gradients(graph.trained, graph.gradients)
        return (None,) * (2 + len(graph.inputs))


def add_gradients(parameters: Sequence[nn.Parameter], gradients: Sequence[Tensor]) -> None:
    """Add GRADIENTS, which the next pass overwrites, to those of PARAMETERS."""
    copied: list[tuple[Tensor, Tensor]] = []
    sums: list[tuple[Tensor, Tensor]] = []
    for parameter, gradient in zip(parameters, gradients, strict=True):
        pairs = sums if parameter.grad is not None else copied
        if parameter.grad is None:
            parameter.grad = torch.empty_like(gradient)
        pairs.append((parameter.grad, gradient))
    # in a few launches, not in one a parameter
    for change, pairs in ((torch._foreach_copy_, copied), (torch._foreach_add_, sums)):
        if pairs:
            change([total for total, _ in pairs], [gradient for _, gradient in pairs])
