"""Public interface of the CPU execution engine: a plain backbone in, a forward out; every other
file here is private.
"""

from typing import TYPE_CHECKING, Protocol

import torch

from embedlab.cpu.thread_pool import run_in_threads

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
    is_first_only: bool = False,
    layer: int | None = None,
    is_padded: bool = False,
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
    is_on = machine.device.type == "cpu" and machine.has_cpu_engine
    if is_on and not hasattr(backbone, "hf_device_map"):
        use_bits(backbone)
        uses_onednn = use_onednn(backbone)
        if not is_padded and layer is None and can_pack(backbone):
            make_packable(backbone)
            return Forward(
                backbone,
                pool,
                is_packing=True,
                is_first_only=is_first_only,
                uses_onednn=uses_onednn,
                notes=notes,
            )
    return Forward(backbone, pool, layer=layer, notes=notes)


def describe_engine(*, is_on: bool) -> str:
    """Describe in one line what the engine does on this machine; IS_ON is the user's choice."""
    from embedlab.cpu.linear import why_not

    if not is_on:
        return "off: transformers and torch do all the work"
    kinds = {"float32": torch.float32, "bf16": torch.bfloat16}
    reasons = {name: why_not(kind) for name, kind in kinds.items()}
    used = " and ".join(name for name, reason in reasons.items() if not reason)
    unused = [f"not {name}: {reason}" for name, reason in reasons.items() if reason]
    does = f"oneDNN multiplies {used}" if used else "without oneDNN's linear layers"
    return "; ".join([f"on, {does}", *unused])
