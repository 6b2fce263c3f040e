"""Adapters of peft: merged into the weights of a base model, or trained beside them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import PreTrainedModel

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.lora import LoraSection
from embedlab.encoders.damaged_files import silence_transformers
from embedlab.encoders.weight_checks import is_unused
from embedlab.models.adapters import OWN_BASE, base_location, read_adapter
from embedlab.models.folder import Usage
from embedlab.models.folder_files import ADAPTER_WEIGHTS

NAME = "default"  # peft's own name of the only adapter
WHOLE = "save or download the adapter again"


def apply_adapter(backbone: PreTrainedModel, adapter: Path) -> None:
    """Merge the adapter in a folder into the weights of BACKBONE; one that does not fit, or damaged
    weights, are a MissingError.
    """
    require_peft()
    read_adapter(adapter)
    from peft import PeftConfig

    conversions: Any = getattr(
        backbone, "_weight_conversions", None
    )  # of names; loading an adapter replaces the base's own
    weights = _adapter_weights(adapter)
    with _fitting(adapter, backbone):
        config = PeftConfig.from_pretrained(str(adapter), local_files_only=True)
        loaded = backbone.load_adapter(
            peft_config=config, adapter_state_dict=weights, adapter_name=NAME
        )
    for what, names in (
        ("has no weights for", loaded.missing_keys),
        ("has weights without a place:", loaded.unexpected_keys),
    ):
        if needed := sorted(name for name in names if not is_unused(name)):
            raise _misfit(adapter, backbone, f"it {what} {needed[0]!r}")
    with _fitting(adapter, backbone):
        merge_adapter(backbone)
    backbone._weight_conversions = conversions


def add_lora(backbone: PreTrainedModel, lora: LoraSection, usage: Usage, *, seed: int) -> None:
    """Freeze BACKBONE, the model of USAGE, and add changes of low rank to its linear layers, which
    are to be trained.

    They begin as no change, drawn by SEED. Layers that the model does not have are a UsageError.
    """
    require_peft()
    if lora.save == "adapter" and usage.adapter is not None:
        raise UsageError(
            "the encoder is an adapter itself, and no adapter can be saved on it",
            hint="--set encoder.lora.save=merged",
        )
    from peft import LoraConfig

    config = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,  # type: ignore[arg-type]  # only divided by the rank
        lora_dropout=lora.dropout,
        target_modules="all-linear" if lora.targets is None else list(lora.targets),
    )
    with torch.random.fork_rng(devices=[]), silence_transformers():
        torch.manual_seed(seed)
        try:
            backbone.add_adapter(config, adapter_name=NAME)
        except ValueError as error:
            reason = " ".join(str(error).split())[:200]
            layers = sorted(
                {
                    name.rpartition(".")[2]
                    for name, module in backbone.named_modules()
                    if isinstance(module, nn.Linear)
                }
            )
            raise UsageError(
                f"'encoder.lora.targets' does not fit: {reason}",
                hint=f"its linear layers are {', '.join(layers)}",
            ) from error
    lora_config: Any = backbone.peft_config[NAME]
    lora_config.base_model_name_or_path, lora_config.revision = base_location(usage.source)
    for parameter in backbone.parameters():
        if parameter.requires_grad:  # peft makes them of the base's precision
            parameter.data = parameter.data.float()


def _adapter_weights(adapter: Path) -> dict[str, Tensor]:
    """The tensors of an adapter, which are few; ones that are not finite are a MissingError."""
    path = adapter / ADAPTER_WEIGHTS
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise MissingError(
            f"{str(path)!r} cannot be read: {' '.join(str(error).split())[:200]}", hint=WHOLE
        ) from error
    if odd := next((name for name, value in tensors.items() if not value.isfinite().all()), None):
        raise MissingError(f"{str(path)!r}: numbers that are not finite in {odd!r}", hint=WHOLE)
    # The magnitudes of DoRA are a module, but files name them as a tensor: transformers 5.23 does
    # not find them and draws others.
    return {
        re.sub(r"(lora_magnitude_vector)$", r"\1.weight", name): value
        for name, value in tensors.items()
    }


def require_peft() -> None:
    """Refuse an adapter where peft is not installed."""
    try:
        import peft  # noqa: F401
    except ImportError as error:
        raise MissingError(
            "peft is not installed, which adapters need", hint="pip install 'embedlab[peft]'"
        ) from error


@torch.no_grad()
def merge_adapter(backbone: PreTrainedModel) -> None:
    """Add the adapter of BACKBONE to its weights, which are then those of a plain model."""
    from peft.tuners.tuners_utils import BaseTunerLayer
    from peft.utils.other import AuxiliaryTrainingWrapper

    for name, module in list(backbone.named_modules()):
        if isinstance(module, AuxiliaryTrainingWrapper):
            made: Any = module.unload_and_optionally_merge_module(
                merge=True, safe_merge=False, adapter_names=None
            )
        elif isinstance(module, BaseTunerLayer):
            module.merge()
            made = module.get_base_layer()
        else:
            continue
        backbone.set_submodule(name, made)
    backbone.requires_grad_(True)
    if hasattr(backbone, "peft_config"):
        del backbone.peft_config
    backbone._hf_peft_config_loaded = False


@contextmanager
def _fitting(adapter: Path, backbone: PreTrainedModel) -> Iterator[None]:
    """Turn whatever peft and transformers raise over an adapter and its base into a one-line
    error.
    """
    try:
        with silence_transformers():
            yield
    except (KeyboardInterrupt, SystemExit, MissingError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise _misfit(adapter, backbone, reason) from error


def _misfit(adapter: Path, backbone: PreTrainedModel, reason: str) -> MissingError:
    return MissingError(
        f"the adapter in {str(adapter)!r} does not fit the base model "
        f"{str(backbone.name_or_path)!r}: {reason}",
        hint=OWN_BASE.format(adapter),
    )
