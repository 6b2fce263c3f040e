"""Load weights and tokenizers of model folders: complete, finite, and without remote code.

transformers initialises missing tensors at random and drops unknown ones, with at most a warning.
Both are refused here, like anything else that would make a model differ from its folder.
"""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import normalizers
from torch import Tensor, nn
from transformers import (
    MODEL_MAPPING,
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForTextEncoding,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from embedlab.core.errors import MissingError, UsageError, in_one_line
from embedlab.core.printable import first_few
from embedlab.core.recipe import LoraSection
from embedlab.data.column_names import name_key
from embedlab.encoders.device import DeviceMap
from embedlab.encoders.weight_checks import (
    POOLER,
    WHOLE,
    is_headless,
    is_unused,
    read_tensors,
    reading_file,
    refuse_infinite,
    refuse_other_size,
    refuse_other_tensors,
    silence_transformers,
    tensor_sizes,
    weights_name,
)
from embedlab.models.adapters import OWN_BASE, base_location, read_adapter
from embedlab.models.config import ENCODER_HALVES, read_config
from embedlab.models.folder import Usage
from embedlab.models.folder_files import ADAPTER_WEIGHTS, TokenizerFile, read_stated
from embedlab.models.reading import Reading


def load_backbone(
    folder: Path, *, is_narrow: bool = False, device_map: DeviceMap | None = None
) -> tuple[PreTrainedModel, nn.Linear | None]:
    """Load the encoder in FOLDER in float32, and apart from it its pooler, if it has one; weights
    that are not whole are a MissingError.

    If it IS_NARROW, weights are read as bf16 and no others are made: for encoding under autocast.
    With a DEVICE_MAP accelerate spreads the layers over several devices.
    """
    is_half = read_config(folder).model_type in ENCODER_HALVES
    kind = AutoModelForTextEncoding if is_half else AutoModel
    dtype = "bfloat16" if is_narrow else "float32"
    model, missing_names = _load(folder, kind, dtype=dtype, device_map=device_map)
    if is_narrow:
        widen_vectors(model)
    if not isinstance(getattr(model.config, "hidden_size", None), int):
        raise MissingError(
            f"the model in {str(folder)!r} is not a text encoder: it states no hidden_size",
            hint=WHOLE,
        )
    # A pooler that is missing in the checkpoint would be random.
    has_pooler = not any(re.search(POOLER, name) for name in missing_names)
    pooler = _pooler(model) if has_pooler else None
    if getattr(model, "pooler", None) is not None:
        model.register_module("pooler", None)
    return model, pooler


def _pooler(model: PreTrainedModel) -> nn.Linear | None:
    """The linear layer before tanh of a pooler as BERT's; None if MODEL has another pooler or
    none.
    """
    pooler = getattr(model, "pooler", None)
    # ALBERT's is beside its layer
    activation = getattr(pooler, "activation", getattr(model, "pooler_activation", None))
    linear = getattr(pooler, "dense", pooler)
    if isinstance(linear, nn.Linear) and isinstance(activation, nn.Tanh):
        return linear.float()
    return None


def load_language_model(folder: Path) -> PreTrainedModel | None:
    """Load the whole masked language model in FOLDER, under the same conditions; None if its
    weights have no such head.
    """
    model, missing_names = _load(folder, AutoModelForMaskedLM, may_lack_head=True)
    return None if is_headless(model, missing_names) else model


def load_with_head(folder: Path, kind: Any, *, labels: int) -> PreTrainedModel:
    """Load the model in FOLDER with its last layer, which gives so many LABELS, by one of
    transformers' Auto classes, in float32.

    Missing tensors, in the last layer or before it, are a MissingError, and so are unknown ones.
    """
    model, _ = _load(folder, kind, has_head=True)
    if model.config.num_labels != labels:
        raise MissingError(
            f"{folder / 'config.json'}: {model.config.num_labels} labels, of which {labels} "
            f"are named",
            hint=WHOLE,
        )
    return model


def load_tokenizer(weights: Path, folder: Path, reading: Reading) -> PreTrainedTokenizerFast:
    """Load the fast tokenizer in FOLDER of a model with its WEIGHTS in another, lower-casing where
    READING says so. A tokenizer that is not fast, or a model whose type is unknown or another one,
    is a MissingError.
    """
    refuse_other_type(weights)
    with reading_file(folder, "tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        tokenizer("a")  # some damage appears only when a text is read
    tokenizer.init_kwargs.pop("auto_map", None)  # code that is not run: what is saved names none
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise MissingError(
            f"{str(folder)!r} has no tokenizer.json", hint="save it again with a fast tokenizer"
        )
    if reading.case == "lower":
        backend = tokenizer.backend_tokenizer
        steps = [normalizers.Lowercase(), *filter(None, [backend.normalizer])]
        backend.normalizer = normalizers.Sequence(steps)
    return tokenizer


def _load(
    folder: Path,
    kind: Any,
    *,
    dtype: str = "float32",
    device_map: DeviceMap | None = None,
    has_head: bool = False,
    may_lack_head: bool = False,
) -> tuple[PreTrainedModel, Collection[str]]:
    """Load the model in FOLDER by one of transformers' Auto classes, and the names of its missing
    tensors; weights that are not whole are a MissingError, unless they MAY LACK the HEAD alone.
    """
    refuse_other_size(folder, kind)
    with reading_file(folder, "model"):
        model, info = kind.from_pretrained(
            folder,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            dtype=dtype,
            device_map=device_map,
            ignore_mismatched_sizes=True,  # refused by name
            output_loading_info=True,
        )
    vars(model.config).pop("auto_map", None)  # code that is not run: what is saved names none
    missing_names: Collection[str] = info["missing_keys"]
    if not (may_lack_head and is_headless(model, missing_names)):
        refuse_other_tensors(folder, model, info, has_head=has_head)
        refuse_infinite(weights_name(folder), model.named_parameters())
    return model, missing_names


def widen_vectors(backbone: nn.Module) -> None:
    """Make a bf16 BACKBONE compute under autocast as with float32 weights, except for the rounding
    of its weights.

    Norms and biases are few and become float32 parameters again. Embeddings stay in bf16 and give
    float32 rows, so that the sum over layers is float32.
    """
    for parameter in backbone.parameters():
        if parameter.ndim < 2 and parameter.dtype == torch.bfloat16:
            parameter.data = parameter.data.float()
    for module in backbone.modules():
        if isinstance(module, nn.Embedding):
            module.register_forward_hook(_widened)


def _widened(module: nn.Module, inputs: Any, rows: Tensor) -> Tensor:
    return rows.float()


# Types whose encoders have tensors of the same names, by transformers 5.23.
BERT_LIKE = frozenset(
    {
        "bert",
        "big_bird",
        "camembert",
        "data2vec-text",
        "electra",
        "ernie",
        "mra",
        "roberta",
        "splinter",
        "xlm-roberta",
        "yoso",
    }
)
# Prefixes that most decoders, and several other families, put before the names of their tensors.
_SHARED_PREFIXES = {"", "model", "transformer", "encoder", "backbone"}


def refuse_other_type(folder: Path) -> None:
    """Refuse a model_type that transformers does not have, that contradicts the folder's
    architecture, or that nothing in the folder confirms. No code of the folder is run.
    """
    config, file = read_config(folder), folder / "config.json"
    kind, architectures = config.model_type, config.architectures or ()
    if kind is None or kind not in transformers.CONFIG_MAPPING:
        raise MissingError(
            f"{file}: no architecture of transformers has the model_type {kind!r}",
            hint="is it a whole transformers folder? If it needs code of its author, encode with "
            "that and name the result vectors:FILE",
        )
    types = {name: _type_of(folder, name) for name in architectures}
    for name, architecture_type in types.items():
        if architecture_type not in {None, kind}:
            raise MissingError(
                f"{file}: the model_type is {kind!r}, but its architecture {name!r} is of "
                f"{architecture_type!r}",
                hint=WHOLE,
            )
    # types are written "xlm-roberta" and classes "XLMRoberta"
    own_names = [name for name in architectures if name_key(name).startswith(name_key(kind))]
    tensors = tensor_sizes(folder)
    if any(types.values()) or own_names or not tensors:
        return
    model = _model_class(folder, kind)
    if model is not None and not _is_confirmed(folder, kind, model.base_model_prefix, tensors):
        raise MissingError(
            f"{file}: nothing confirms the model_type {kind!r}: models of other types have such "
            f"tensors too",
            hint=f'if it is right, add "architectures": ["{model.__name__}"] there',
        )


def _type_of(folder: Path, architecture: str) -> str | None:
    """Return the model_type of transformers' class of this name; None if it does not exist."""
    with reading_file(folder, "model"):
        config = getattr(getattr(transformers, architecture, None), "config_class", None)
    model_type = getattr(config, "model_type", None)
    return model_type if isinstance(model_type, str) else None


def _model_class(folder: Path, model_type: str) -> Any:
    """Return the encoder class of this type; None if it does not exist, which loading refuses."""
    with reading_file(folder, "model"):
        model_class = MODEL_MAPPING.get(transformers.CONFIG_MAPPING[model_type], None)
    return model_class[0] if isinstance(model_class, tuple) else model_class


def _is_confirmed(folder: Path, model_type: str, prefix: str, tensors: Collection[str]) -> bool:
    """Return whether the names of its TENSORS are unique to this type, or its tokenizer's class is
    named after the type.
    """
    if prefix not in _SHARED_PREFIXES and (
        model_type not in BERT_LIKE or any(name.startswith(f"{prefix}.") for name in tensors)
    ):
        return True
    tokenizer = read_stated(folder / "tokenizer_config.json", TokenizerFile)
    type_of_tokenizer = name_key(tokenizer.tokenizer_class or "").removesuffix("fast")
    return type_of_tokenizer == f"{name_key(model_type)}tokenizer"


NAME = "default"  # peft's own name of the only adapter
AGAIN = "save or download the adapter again"


def apply_adapter(backbone: PreTrainedModel, adapter: Path) -> None:
    """Merge the adapter in a folder into the weights of BACKBONE; an adapter that does not fit, or
    has damaged weights, is a MissingError.
    """
    require_peft()
    read_adapter(adapter)
    from peft import PeftConfig

    # of names; loading an adapter replaces the base's own
    conversions: Any = getattr(backbone, "_weight_conversions", None)
    # The magnitudes of DoRA are a module, but files name them as a tensor: transformers 5.23 does
    # not find them and draws others.
    weights = {
        re.sub(r"(lora_magnitude_vector)$", r"\1.weight", name): value
        for name, value in read_tensors(adapter / ADAPTER_WEIGHTS, hint=AGAIN).items()
    }
    with _as_misfit_errors(adapter, backbone):
        config = PeftConfig.from_pretrained(str(adapter), local_files_only=True)
        loaded = backbone.load_adapter(
            peft_config=config, adapter_state_dict=weights, adapter_name=NAME
        )
    problems = {
        "has no weights for": loaded.missing_keys,
        "has weights that do not belong in it:": loaded.unexpected_keys,
    }
    stored = first_few(map(repr, sorted(weights)), 1) or "none"
    for problem, names in problems.items():
        needed = sorted(name for name in names if not is_unused(name))
        if needed:
            reason = f"it {problem} {needed[0]!r}; its tensors: {stored}"
            raise _misfit(adapter, backbone, reason)
    with _as_misfit_errors(adapter, backbone):
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
            linear = [
                name.rpartition(".")[2]
                for name, module in backbone.named_modules()
                if isinstance(module, nn.Linear)
            ]
            raise UsageError(
                f"'encoder.lora.targets' does not fit: {in_one_line(error)}",
                hint=f"its linear layers are {', '.join(sorted(set(linear)))}",
            ) from error
    lora_config: Any = backbone.peft_config[NAME]
    lora_config.base_model_name_or_path, lora_config.revision = base_location(usage.source)
    for parameter in backbone.parameters():
        if parameter.requires_grad:  # peft makes them of the base's precision
            parameter.data = parameter.data.float()


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
            merged: Any = module.unload_and_optionally_merge_module(
                merge=True, safe_merge=False, adapter_names=None
            )
        elif isinstance(module, BaseTunerLayer):
            module.merge()
            merged = module.get_base_layer()
        else:
            continue
        backbone.set_submodule(name, merged)
    backbone.requires_grad_(True)
    if hasattr(backbone, "peft_config"):
        del backbone.peft_config
    backbone._hf_peft_config_loaded = False


@contextmanager
def _as_misfit_errors(adapter: Path, backbone: PreTrainedModel) -> Iterator[None]:
    """Turn whatever peft and transformers raise over an adapter and its base into a one-line
    error.
    """
    try:
        with silence_transformers():
            yield
    except (KeyboardInterrupt, SystemExit, MissingError):
        raise
    except Exception as error:
        raise _misfit(adapter, backbone, in_one_line(error)) from error


def _misfit(adapter: Path, backbone: PreTrainedModel, reason: str) -> MissingError:
    return MissingError(
        f"the adapter in {str(adapter)!r} does not fit the base model "
        f"{str(backbone.name_or_path)!r}: {reason}",
        hint=OWN_BASE.format(adapter),
    )
