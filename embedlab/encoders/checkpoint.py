"""Load and save transformer encoders as folders in transformers layout, which sentence-transformers
loads with equal vectors.
"""

import inspect
from collections.abc import Callable
from pathlib import Path

from embedlab.core.disk import ELSEWHERE, atomic_folder, write_checksums
from embedlab.core.errors import UsageError
from embedlab.core.paths import hide_folders
from embedlab.core.recipe import LoraSection
from embedlab.encoders.device import Machine
from embedlab.encoders.layers import load_layers, pooler_layer, write_layout
from embedlab.encoders.pooling import pools_by_pooler
from embedlab.encoders.pretrained import add_lora, apply_adapter, load_backbone, load_tokenizer
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.encoders.weight_checks import silence_transformers, writing_weights
from embedlab.encoders.word_head import MaskedWordHead
from embedlab.models.encoder_kind import combined_fingerprint
from embedlab.models.folder import Usage, read_intact_usage
from embedlab.models.folder_identity import used_fingerprint, weight_parts
from embedlab.models.reading import UsageOptions

SPREAD = 0.02  # of new weights, where a config states none: BERT's


def load_transformer(
    folder: str, machine: Machine, *, wishes: UsageOptions | None = None, seed: int = 0
) -> TransformerEncoder:
    """The transformer in FOLDER to be trained, used as WISHES say or else as it states."""
    usage = read_intact_usage(Path(folder), wishes)
    return open_transformer(usage, machine, name=folder, is_trained=True, seed=seed)


def open_transformer(
    usage: Usage,
    machine: Machine,
    *,
    name: str,
    lora: LoraSection | None = None,
    is_trained: bool = False,
    seed: int = 0,
) -> TransformerEncoder:
    """The transformer that USAGE describes, with LORA to be trained in place of its weights; static
    token vectors are a UsageError.

    Without a pooling it is `mean`, and the encoder's facts say so. The folder's layers and
    normalisation follow, in training too. Only safetensors are read and no remote code is run; what
    is missing or cannot be read is a MissingError. Unless it IS_TRAINED, its weights are in the
    precision that computes, and may be spread over several devices. LORA is drawn by
    SEED, and so is a pooler that is pooled by and not in its folder where it IS_TRAINED; otherwise
    that is a UsageError.
    """
    if usage.is_static:
        raise UsageError(
            f"{name!r} has static token vectors, which embedlab does not train",
            hint="name a transformer",
        )
    machine = machine.in_dtype(usage.reading.dtype)
    fingerprint = used_fingerprint(usage, precision=machine.precision)
    tokenizer = load_tokenizer(usage.source, usage.tokenizer, usage.reading)
    if is_trained:  # float32: the optimizer's small steps vanish in bf16
        backbone, pooler = load_backbone(usage.source)
    else:
        backbone, pooler = load_backbone(
            usage.source, is_narrow=machine.precision == "bf16", device_map=machine.device_map
        )
    layers, notes = load_layers(usage.layers), usage.notes
    if pools_by_pooler(usage.pooling):
        if pooler is None and not is_trained:
            raise UsageError(
                f"{name!r} has no pooler (a linear layer after the first token)",
                hint="@pooling=cls uses the first token itself",
            )
        notes += ("the folder has no pooler: it started at random",) if pooler is None else ()
        width = int(backbone.config.hidden_size)
        spread = float(getattr(backbone.config, "initializer_range", SPREAD))
        layers.insert(0, pooler_layer(pooler, width, seed=seed, spread=spread))
    if usage.adapter is not None:
        apply_adapter(backbone, usage.adapter)
    if lora is not None:
        add_lora(backbone, lora, usage, seed=seed)
    return TransformerEncoder(
        name=name,
        fingerprint=fingerprint,
        backbone=backbone,
        tokenizer=tokenizer,
        usage=usage,
        machine=machine,
        layers=layers,
        notes=notes,
        frozen_weights=None if lora is None else combined_fingerprint("base", *weight_parts(usage)),
    )


def save_model(
    folder: Path,
    encoder: TransformerEncoder,
    *,
    card: str,
    word_head: MaskedWordHead | None = None,
    add: Callable[[Path], None] = lambda _: None,
    hint: str = ELSEWHERE,
    is_new: bool = False,
) -> None:
    """Write ENCODER as a model folder, in one step, with CARD as its README; transformers and
    sentence-transformers load it.

    With a WORD_HEAD the folder holds a whole masked language model, which loads as an encoder like
    any other. ADD is called with the folder and may write more files into it; HINT says how to
    choose another folder if writing fails. With IS_NEW, a folder that another process has written
    meanwhile is not replaced.
    """
    with (
        silence_transformers(),
        atomic_folder(folder, hint=hint, is_new=is_new) as temporary,
        writing_weights(folder),
    ):
        if word_head is None:
            encoder.backbone.save_pretrained(temporary)
        else:
            word_head.save(temporary, encoder.backbone)
        # Settings that earlier calls left in the tokenizer do not belong to the model.
        encoder.tokenizer.backend_tokenizer.no_truncation()
        encoder.tokenizer.model_max_length = encoder.max_tokens
        encoder.tokenizer.save_pretrained(temporary)
        backbone = encoder.backbone
        # a class that has a pooler on its own accord may have been loaded without one
        can_have = "add_pooling_layer" in inspect.signature(type(backbone).__init__).parameters
        write_layout(
            temporary,
            tokenizer=encoder.tokenizer,
            usage=encoder.usage,
            width=int(backbone.config.hidden_size),
            layers=encoder.layers,
            has_pooler=not can_have or getattr(backbone, "pooler", None) is not None,
        )
        write_checksums(temporary)  # of all but what its owner may edit or add to
        (temporary / "README.md").write_text(hide_folders(card), encoding="utf-8")
        add(temporary)
