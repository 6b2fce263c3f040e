"""Public interface of the CPU execution engine: a plain backbone in, a forward out; every other
file here is private.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Protocol, TypeVar

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from embedlab.cpu.forward import Forward, Pool


__all__ = ["EngineMachine", "describe_engine", "prepare_backbone", "run_in_threads"]


class EngineMachine(Protocol):
    """The facts about a machine that the engine needs."""

    @property
    def device(self) -> torch.device:
        """The device of tensors."""

    @property
    def precision(self) -> str:
        """The dtype of matrix products: "float32", "bf16" or "int8"."""

    @property
    def has_cpu_engine(self) -> bool:
        """Whether the user enables the engine; without it transformers and torch do all the
        work.
        """


def prepare_backbone(
    backbone: "PreTrainedModel",
    machine: EngineMachine,
    *,
    pool: "Pool",
    is_first_only: bool,
    layer: int | None,
    is_padded: bool,
) -> "Forward":
    """Change BACKBONE in place to run fastest on MACHINE, and return its forward; parameters keep
    their names and values.

    On other devices, and with the engine off, it stays as transformers built it; int8 is a
    precision and applies either way. IS_FIRST_ONLY says that POOL reads only the first token. LAYER
    is the number of the hidden states that are pooled, 0 the embeddings; None: the model's last
    ones. If it IS_PADDED, padding is computed, and may be on the left.
    """
    # Classifiers use the thread pool alone: they must not wait for transformers (2 s).
    from embedlab.cpu.dropout import use_bits
    from embedlab.cpu.forward import Forward
    from embedlab.cpu.linear import NOTE, quantise, use_onednn
    from embedlab.cpu.packing import can_pack, make_packable

    notes: tuple[str, ...] = ()
    if machine.precision == "int8":
        quantise(backbone)
        notes = (NOTE,)
    is_packing = uses_onednn = False
    is_on = machine.device.type == "cpu" and machine.has_cpu_engine
    if is_on and not hasattr(backbone, "hf_device_map"):
        use_bits(backbone)
        uses_onednn = use_onednn(backbone)
        is_packing = not is_padded and layer is None and can_pack(backbone)
        if is_packing:
            make_packable(backbone)
    return Forward(
        backbone,
        pool,
        layer=layer,
        is_packing=is_packing,
        is_first_only=is_first_only,
        uses_onednn=uses_onednn,
        notes=notes,
    )


def describe_engine(*, is_on: bool) -> str:
    """Describe in one line what the engine does on this machine; IS_ON is the user's choice."""
    from embedlab.cpu.linear import why_not_multiplied

    if not is_on:
        return "off: transformers and torch do all the work"
    kinds = {"float32": torch.float32, "bf16": torch.bfloat16}
    reasons = {name: why_not_multiplied(kind) for name, kind in kinds.items()}
    multiplied = " and ".join(name for name, reason in reasons.items() if not reason)
    unused = [f"not {name}: {reason}" for name, reason in reasons.items() if reason]
    does = f"oneDNN multiplies {multiplied}" if multiplied else "without oneDNN's linear layers"
    return "; ".join([f"on, {does}", *unused])


Piece = TypeVar("Piece")


def run_in_threads(
    process: Callable[[Piece], Iterator[int]],
    pieces: Sequence[Piece],
    count: Callable[[int], None],
    device: torch.device | None = None,
    most: int | None = None,
) -> None:
    """Run PROCESS on all PIECES, as many at once as torch has threads, or MOST; COUNT receives, in
    the caller's thread, what it yields.

    Many small matrix products are faster in separate threads than split among threads that
    synchronise at each. An interrupt or an error stops the other pieces when they next yield. On
    other DEVICEs than a CPU the pieces run one after the other.
    """
    threads = torch.get_num_threads()
    worker_count = threads if most is None else min(threads, most)
    if worker_count <= 1 or (device is not None and device.type != "cpu"):
        for piece in pieces:
            for finished in process(piece):
                count(finished)
        return
    counts_queue: SimpleQueue[int | None] = SimpleQueue()  # each piece puts None at its end
    stop = Event()

    def run(piece: Piece) -> None:
        try:
            for finished in process(piece):
                counts_queue.put(finished)
                if stop.is_set():
                    return
        except BaseException:
            stop.set()
            raise
        finally:
            counts_queue.put(None)

    # New threads inherit the last number that was set, so that it is restored.
    share = (threads // worker_count,)
    try:
        with ThreadPoolExecutor(worker_count, "piece", torch.set_num_threads, share) as pool:
            jobs = [pool.submit(run, piece) for piece in pieces]
            try:
                for _ in jobs:
                    while (news := counts_queue.get()) is not None:
                        count(news)
                    if stop.is_set():
                        break
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)
        for future in jobs:
            future.result()
    finally:
        torch.set_num_threads(threads)
