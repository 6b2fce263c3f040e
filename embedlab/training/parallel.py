"""Data-parallel training: several processes take one step together, with the loss and the gradient
of one process.

Every process reads the same batch and encodes its share of the batch's distinct sentences; the
vectors are gathered, and each process computes the objective on all of them. So negatives, premise
groups, random draws and classifications are those of one process, for every objective alike, and
only the encoder's gradients have to be summed.

Dropout differs between processes, also in heads: a head with dropout has another loss in each
process, and the joint gradient equals that of one process only in expectation. The reported loss is
the leader's.
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

BUCKET_BYTES = 2**25  # maximum of gradients summed at once; an estimate


@dataclass(frozen=True, kw_only=True)
class StepDecision:
    """What all processes do after a step; a later signal applies to the next step."""

    is_checkpoint_due: bool
    stop: signal.Signals | None  # the signal that ends the run here


@dataclass(frozen=True, kw_only=True)
class Team:
    """The processes of one training, seen by one of them; a single process is a team too."""

    rank: int = 0
    size: int = 1
    # for messages between CPUs; None: the group that sends tensors
    messages: dist.ProcessGroup | None = None

    @property
    def is_leader(self) -> bool:
        """Return whether this process writes files and reports."""
        return self.rank == 0

    def share(self, sentences: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return those of a batch's SENTENCES, sorted by length, that this process encodes: every
        n-th, so that the work is balanced.

        With fewer sentences than processes, the other processes encode the first one without
        effect.
        """
        sentence = sentences[self.rank :: self.size]
        return sentence if len(sentence) else sentences[:1]

    def gather(self, vectors: Tensor, *, sentences: int, views: int) -> Tensor:
        """Return the vectors of a batch's SENTENCES in each view; VECTORS are this process's own
        and carry its gradient.
        """
        if self.size == 1:
            return vectors
        local = vectors.unflatten(0, (views, -1))[:, : len(range(self.rank, sentences, self.size))]
        padded_count = -(-sentences // self.size)
        padded = local.new_zeros(views, padded_count, local.shape[2])
        padded[:, : local.shape[1]] = local.detach()
        received = [torch.empty_like(padded) for _ in range(self.size)]
        dist.all_gather(received, padded)
        gathered = torch.stack(received, dim=2).flatten(1, 2)[:, :sentences].clone()
        gathered[:, self.rank :: self.size] = local
        return gathered.flatten(0, 1)

    def add_gradients(self, encoder: nn.Module, heads: nn.Module) -> None:
        """Make the gradients those of the whole batch: sums for the encoder; means for the heads,
        which differ only by dropout.
        """
        if self.size == 1:
            return
        for parameter in _trainable(heads):
            _gradient(parameter).div_(
                self.size
            )  # also where all are equal, so that the last digits stay equal
        for bucket in buckets([*_trainable(encoder), *_trainable(heads)]):
            summed = torch.cat([_gradient(parameter).flatten() for parameter in bucket])
            dist.all_reduce(summed)
            for parameter, gradient in zip(
                bucket, summed.split([parameter.numel() for parameter in bucket]), strict=True
            ):
                parameter.grad = gradient.view_as(parameter)

    def agree(self, stop: signal.Signals | None, *, is_time: bool) -> StepDecision:
        """Return what all processes do after this step; a STOP requested of any process applies to
        all, the clock is the leader's.
        """
        if self.size > 1:
            flags = torch.tensor([stop or 0, is_time and self.is_leader])
            dist.all_reduce(flags, dist.ReduceOp.MAX, group=self.messages)
            number, is_time = flags.tolist()
            stop = signal.Signals(number) if number else None
        return StepDecision(is_checkpoint_due=bool(is_time or stop), stop=stop)

    def random_states(self, local: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the generator states of every process, named "<name>.N" for process N except the
        leader; LOCAL are this process's.
        """
        if self.size == 1:
            return local
        states_by_rank: list[dict[str, Tensor]] = [{} for _ in range(self.size)]
        dist.all_gather_object(states_by_rank, local)
        return {
            name if rank == 0 else f"{name}.{rank}": state
            for rank, states in enumerate(states_by_rank)
            for name, state in states.items()
        }

    def own_states(self, states: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return this process's part of `random_states`; empty where the states come from a smaller
        team.
        """
        if self.is_leader:
            return {name: state for name, state in states.items() if "." not in name}
        ending = f".{self.rank}"
        return {
            name.removesuffix(ending): state
            for name, state in states.items()
            if name.endswith(ending)
        }

    def scatter_dropout(self, seed: int) -> None:
        """Give each process its own dropout masks, as different sentences have in one process; the
        leader uses the seed itself.
        """
        if not self.is_leader:
            torch.manual_seed(int(np.random.default_rng([seed, self.rank]).integers(2**62)))

    @contextmanager
    def hold_leader_lock(self, lock: AbstractContextManager[None]) -> Iterator[None]:
        """Hold a lock of the leader, after all processes have arrived here and before any
        continues.
        """
        self.wait()
        with lock if self.is_leader else nullcontext():
            yield

    def wait(self) -> None:
        """Wait until every process has arrived here."""
        if self.size > 1:
            dist.barrier()


def join_team(device: torch.device) -> Team:
    """Return the team that torchrun, accelerate or `embedlab train --gpus` started this process in;
    a single process otherwise.
    """
    state = process_state(device)
    is_apart = state.num_processes > 1 and device.type != "cpu"
    return Team(
        rank=state.process_index,
        size=state.num_processes,
        messages=_messages() if is_apart else None,
    )


@cache
def _messages() -> dist.ProcessGroup:
    """Return a group of all processes for messages: in the group between GPUs, a message would wait
    for all pending GPU work.
    """
    group: dist.ProcessGroup = dist.new_group(backend="gloo")
    return group


def buckets(parameters: Iterable[nn.Parameter]) -> Iterator[list[nn.Parameter]]:
    """Yield PARAMETERS in order, in buckets with gradients of one dtype and at most BUCKET_BYTES; a
    larger one is alone.
    """
    bucket: list[nn.Parameter] = []
    for parameter in parameters:
        if bucket and (
            parameter.dtype != bucket[0].dtype
            or sum(parameter.nbytes for parameter in bucket) + parameter.nbytes > BUCKET_BYTES
        ):
            yield bucket
            bucket = []
        bucket.append(parameter)
    if bucket:
        yield bucket


def _trainable(module: nn.Module) -> list[nn.Parameter]:
    """Return the parameters that have a gradient: the same in every process."""
    return [parameter for parameter in module.parameters() if parameter.grad is not None]


def _gradient(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
