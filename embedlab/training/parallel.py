"""Several processes that take one step together, with the loss and the gradient of one process.

Every process reads the same batch and encodes its share of the batch's distinct sentences; the vectors are gathered, and each
process asks the objective about all of them. So negatives, premise groups, what a batch draws and what is classified are those of
one process, for every objective alike, and only the gradients of the encoder have to be added up.

Dropout is each process's own, in heads too: where a head drops, each process has another loss, the gradient is one of them all, and
only its expectation is that of one process. The loss that is told is the leader's.
"""

import signal
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn

from embedlab.encoders.device import process_state

BUCKET_BYTES = 2**25  # of gradients that are added up at once, at most; an estimate


@dataclass(frozen=True, kw_only=True)
class Agreed:
    """What all processes do after a step; a signal that comes later is for the next one."""

    is_checkpoint_due: bool
    stop: signal.Signals | None  # what ends the run here


@dataclass(frozen=True, kw_only=True)
class Team:
    """The processes of one training, seen by one of them; a process that is alone is a team too."""

    rank: int = 0
    size: int = 1
    messages: dist.ProcessGroup | None = None  # for what processors tell one another; None: the group that sends tensors

    @property
    def is_leader(self) -> bool:
        """Whether this process writes and tells."""
        return self.rank == 0

    def share(self, sentences: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of a batch's SENTENCES, sorted by length, that this process encodes: every so manieth, so that all have as much to do.

        Where there are fewer sentences than processes the rest encode the first one, for nothing.
        """
        own = sentences[self.rank :: self.size]
        return own if len(own) else sentences[:1]

    def gather(self, vectors: Tensor, *, sentences: int, views: int) -> Tensor:
        """The vectors of a batch's SENTENCES in each view, of which VECTORS are this process's own and carry its gradient."""
        if self.size == 1:
            return vectors
        own = vectors.unflatten(0, (views, -1))[:, : len(range(self.rank, sentences, self.size))]
        most = -(-sentences // self.size)
        sent = own.new_zeros(views, most, own.shape[2])
        sent[:, : own.shape[1]] = own.detach()
        received = [torch.empty_like(sent) for _ in range(self.size)]
        dist.all_gather(received, sent)
        whole = torch.stack(received, dim=2).flatten(1, 2)[:, :sentences].clone()
        whole[:, self.rank :: self.size] = own
        return whole.flatten(0, 1)

    def add_gradients(self, encoder: nn.Module, heads: nn.Module) -> None:
        """Make the gradients those of the whole batch: the encoder's are added up; of the heads', alike but for dropout, it is the mean."""
        if self.size == 1:
            return
        for parameter in _trainable(heads):
            _gradient(parameter).div_(self.size)  # where all are equal too, so that not even the last digits drift apart
        for bucket in buckets([*_trainable(encoder), *_trainable(heads)]):
            added = torch.cat([_gradient(parameter).flatten() for parameter in bucket])
            dist.all_reduce(added)
            for parameter, gradient in zip(bucket, added.split([parameter.numel() for parameter in bucket]), strict=True):
                parameter.grad = gradient.view_as(parameter)

    def agree(self, stop: signal.Signals | None, *, is_time: bool) -> Agreed:
        """What all do after this step; a STOP that any process was asked for is everybody's, the clock is the leader's."""
        if self.size > 1:
            selected = torch.tensor([stop or 0, is_time and self.is_leader])
            dist.all_reduce(selected, dist.ReduceOp.MAX, group=self.messages)
            number, is_time = selected.tolist()
            stop = signal.Signals(number) if number else None
        return Agreed(is_checkpoint_due=bool(is_time or stop), stop=stop)

    def random_states(self, own: dict[str, Tensor]) -> dict[str, Tensor]:
        """The states of every process's generators, those of process N as "<name>.N" but for the leader's; OWN are this one's."""
        if self.size == 1:
            return own
        found: list[dict[str, Tensor]] = [{} for _ in range(self.size)]
        dist.all_gather_object(found, own)
        return {name if rank == 0 else f"{name}.{rank}": state for rank, states in enumerate(found) for name, state in states.items()}

    def own_states(self, states: dict[str, Tensor]) -> dict[str, Tensor]:
        """The part of `random_states` that is of this process; empty where the states are of a smaller team."""
        if self.is_leader:
            return {name: state for name, state in states.items() if "." not in name}
        ending = f".{self.rank}"
        return {name.removesuffix(ending): state for name, state in states.items() if name.endswith(ending)}

    def scatter_dropout(self, seed: int) -> None:
        """Let each process draw other dropout masks, as the sentences of one process have; the leader draws by the seed itself."""
        if not self.is_leader:
            torch.manual_seed(int(np.random.default_rng([seed, self.rank]).integers(2**62)))

    @contextmanager
    def leading(self, held: AbstractContextManager[None]) -> Iterator[None]:
        """Hold what only the leader may hold, once all have come here: what the others looked up before was free."""
        self.wait()
        with held if self.is_leader else nullcontext():
            yield

    def wait(self) -> None:
        """Go on when every process has come here."""
        if self.size > 1:
            dist.barrier()


def join_team(device: torch.device) -> Team:
    """The team that this process was started in, as torchrun, accelerate or `embedlab train --gpus` say; alone otherwise."""
    state = process_state(device)
    is_apart = state.num_processes > 1 and device.type != "cpu"
    return Team(rank=state.process_index, size=state.num_processes, messages=_messages() if is_apart else None)


@cache
def _messages() -> dist.ProcessGroup:
    """All processes, beside the group that sends tensors from GPU to GPU: a message there would wait for all that a GPU has yet to do."""
    group: dist.ProcessGroup = dist.new_group(backend="gloo")
    return group


def buckets(parameters: Iterable[nn.Parameter]) -> Iterator[list[nn.Parameter]]:
    """PARAMETERS in their order, as many together as have gradients of one kind and of BUCKET_BYTES at most; a larger one comes alone."""
    bucket: list[nn.Parameter] = []
    for parameter in parameters:
        if bucket and (parameter.dtype != bucket[0].dtype or sum(one.nbytes for one in bucket) + parameter.nbytes > BUCKET_BYTES):
            yield bucket
            bucket = []
        bucket.append(parameter)
    if bucket:
        yield bucket


def _trainable(module: nn.Module) -> list[nn.Parameter]:
    """The parameters that have a gradient: the same in every process."""
    return [parameter for parameter in module.parameters() if parameter.grad is not None]


def _gradient(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
