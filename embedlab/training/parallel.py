"""Several processes that take one step together, with the loss and the gradient of one process.

Every process reads the same batch and encodes its share of the batch's distinct sentences; the vectors are gathered, and each
process asks the objective about all of them. So negatives, premise groups, what is drawn and what is classified are those of one
process, for every objective alike, and only the gradients of the encoder have to be added up.
"""

import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.distributed as dist
from accelerate import PartialState
from numpy.typing import NDArray
from torch import Tensor, nn


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
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

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
        """Make the gradients those of the whole batch: the encoder's are added up, the heads' are the same everywhere already."""
        if self.size == 1:
            return
        for module, share in ((encoder, 1.0), (heads, 1 / self.size)):
            for parameter in module.parameters():
                if parameter.grad is not None:
                    parameter.grad *= share  # the mean of what is equal, so that not even the last digits drift apart
                    dist.all_reduce(parameter.grad)

    def agree(self, stop: signal.Signals | None, *, is_time: bool) -> "Agreed":
        """What all do after this step; a STOP that any process was asked for is everybody's, the clock is the leader's."""
        if self.size > 1:
            asked = torch.tensor([stop or 0, is_time and self.is_leader], device=self.device)
            dist.all_reduce(asked, dist.ReduceOp.MAX)
            number, is_time = asked.tolist()
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
        """Let each process draw other dropout masks; the leader's are those of a process that is alone."""
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
    state = PartialState(cpu=device.type == "cpu")
    return Team(rank=state.process_index, size=state.num_processes, device=device)
