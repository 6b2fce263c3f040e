"""Refuse model folders whose weights contradict their description; each error names the file."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from logging import ERROR
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoConfig, PreTrainedModel, PreTrainedTokenizerFast

from embedlab.core.errors import MissingError, in_one_line
from embedlab.core.note import Note
from embedlab.core.printable import first_few
from embedlab.models.config import read_config
from embedlab.models.folder_files import read_header, weight_files

WHOLE = "is it a whole transformers folder? copy or download it again"


@contextmanager
def reading_file(folder: Path, description: str) -> Iterator[None]:
    """Turn any exception of transformers and tokenizers over what DESCRIPTION says in FOLDER, files
    that are not trusted, into a one-line error, and silence transformers.
    """
    try:
        with silence_transformers():
            yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MissingError):
        raise
    except BaseException as error:  # any type: tokenizers' panic is not even an Exception
        raise MissingError(
            f"cannot load the {description} in {str(folder)!r}: {in_one_line(error)}", hint=WHOLE
        ) from error


@contextmanager
def silence_transformers() -> Iterator[None]:
    """Show only errors and no progress bars until the block ends."""
    from transformers.utils import logging  # slow

    verbosity, had_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    # setting a level makes every logger of the process look its own up again
    if verbosity != ERROR:
        logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if verbosity != ERROR:
            logging.set_verbosity(verbosity)
        if had_bars:
            logging.enable_progress_bar()


@contextmanager
def writing_weights(path: Path) -> Iterator[None]:
    """Turn a system error inside safetensors into the OSError that any other writer raises for
    PATH.
    """
    try:
        yield
    except SafetensorError as error:
        code = re.search(r"(?:os error|code:) (\d+)", str(error))
        if code is None:
            raise
        raise OSError(int(code[1]), os.strerror(int(code[1])), str(path)) from error


POOLER = r"(^|\.)pooler\."  # in the names of its tensors
# Tensors that an encoder does not need, by a part of their names: the pooling layer, position ids,
# and heads of language models.
_UNUSED = re.compile(
    r"(^|\.)(pooler\.|position_ids$|token_type_ids$)"
    r"|^(cls|lm_head|lm_predictions|mask_predictions|predictions|generator_predictions|generator_lm_head|discriminator_predictions"
    r"|vocab_transform|vocab_layer_norm|vocab_projector|pred_layer)\."
    r"|^head\.(dense|norm)\.|^decoder\.(weight|bias)$"  # ModernBERT's head
)
# A model of these tasks has one more layer, which its config.json declares.
_TASK_HEADS = {
    "ForSequenceClassification": re.compile(r"^(classifier|pre_classifier|score|head)\."),
    "ForTokenClassification": re.compile(r"^(classifier|score|head)\."),
    "ForMultipleChoice": re.compile(r"^(classifier|pre_classifier)\."),
    "ForQuestionAnswering": re.compile(r"^qa_outputs\."),
}
PADDED_ROWS = 127  # of a table of token vectors, to make it a multiple of 128
_FLOATING = {"F64", "F32", "F16", "BF16"}
# by the class that reads the model and the contents of config.json
_SIZES: dict[tuple[Any, bytes], int] = {}


def is_unused(name: str) -> bool:
    """Whether the tensor called NAME belongs to a part of a model that an encoder does not need."""
    return _UNUSED.search(name) is not None


def is_headless(model: PreTrainedModel, missing_names: Collection[str]) -> bool:
    """Return whether MISSING_NAMES are exactly the tensors of the head of MODEL, as in weights of
    an encoder alone.
    """
    word_embeddings = {id(value) for value in model.get_input_embeddings().parameters()}
    prefix = f"{model.base_model_prefix}."
    head = {
        name
        for name, value in model.named_parameters()
        if not name.startswith(prefix) and id(value) not in word_embeddings
    }
    return bool(missing_names) and head <= set(missing_names)


def refuse_other_tensors(
    folder: Path, model: PreTrainedModel, info: Mapping[str, Any], *, has_head: bool
) -> None:
    """Refuse missing, unknown and wrongly shaped tensors in the weights in FOLDER for MODEL.

    Where it HAS a HEAD, its pooler is needed too, and no tensor of another head may be left over.
    """
    file = weights_name(folder)
    unexpected = info["unexpected_keys"]
    missing_names = {
        name for name in info["missing_keys"] if has_head or not re.search(POOLER, name)
    }
    heads = () if has_head else read_config(folder).architectures or ()
    ignored = [_UNUSED]
    for task, pattern in _TASK_HEADS.items():
        if any(name.endswith(task) for name in heads):
            ignored.append(pattern)
    unknown_names = {
        name for name in unexpected if not any(pattern.search(name) for pattern in ignored)
    }
    for problem, names in (("lacks", missing_names), ("has unknown", unknown_names)):
        if names:
            raise MissingError(
                f"{file} {problem} {_describe_tensors(names)} for a model of type {model.config.model_type!r}",
                hint=_wrapper_hint(missing_names, unexpected),
            )
    for name, shape, expected_shape in sorted(info["mismatched_keys"]):
        raise MissingError(
            f"{file}: {name!r} has the shape {list(shape)}, but config.json describes "
            f"{list(expected_shape)}",
            hint=WHOLE,
        )


def _wrapper_hint(missing_names: Collection[str], unexpected: Collection[str]) -> str:
    """The hint for tensors that are present under names that a wrapper of a model gives them."""
    missing_name = max(sorted(missing_names), key=len, default="")
    wrapped_name = next(filter(partial(_is_wrapped, missing_name), sorted(unexpected)), None)
    if not missing_name or wrapped_name is None:
        return WHOLE
    return (
        f"its tensors are called {wrapped_name.replace(missing_name, '*')}, as a wrapper names "
        "them (module. "
        f"is of DataParallel, _orig_mod. of torch.compile, base_model. of peft): save the model "
        f"inside it"
    )


def _is_wrapped(name: str, stored_name: str) -> bool:
    """Whether STORED_NAME is NAME with the names of wrappers before it or between its parts."""
    stored_parts = iter(stored_name.split("."))
    return all(part in stored_parts for part in name.split("."))


def refuse_other_size(folder: Path, kind: Any) -> None:
    """Refuse a config.json that describes far more numbers than stored: random ones would fill the
    memory first.
    """
    tensors = tensor_sizes(folder)
    layers, stored_count = read_config(folder).layers or 0, sum(tensors.values())
    if layers > len(tensors):
        raise MissingError(
            f"{folder / 'config.json'}: {layers} layers, but the weights are {len(tensors)} "
            f"tensors",
            hint=WHOLE,
        )
    described = _described_size(folder, kind)
    if described > 2 * stored_count + 2**20:
        raise MissingError(
            f"{folder / 'config.json'}: a model of {described} numbers, but the weights are "
            f"{stored_count}",
            hint=WHOLE,
        )


def _described_size(folder: Path, kind: Any) -> int:
    """Return how many numbers config.json in FOLDER describes; a process counts those of equal
    files once.
    """
    key = (kind, (folder / "config.json").read_bytes())
    if key not in _SIZES:
        with reading_file(folder, "model"), torch.device("meta"):
            config = AutoConfig.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            _SIZES[key] = sum(
                value.numel()
                for value in kind.from_config(config, trust_remote_code=False).parameters()
            )
    return _SIZES[key]


def read_tensors(path: Path, hint: str = WHOLE) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file, which are few; what cannot be read, or holds
    numbers that are not finite, is a MissingError.
    """
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise MissingError(
            f"{str(path)!r} cannot be read: {in_one_line(error)}", hint=hint
        ) from error
    refuse_infinite(repr(str(path)), tensors.items(), hint=hint)
    return tensors


def tensor_sizes(folder: Path) -> Mapping[str, int]:
    """Return the number of values of each tensor in FOLDER; a tensor that is not of floating point
    numbers is refused.
    """
    sizes: dict[str, int] = {}
    for path in weight_files(folder):
        for name, tensor in read_header(path).items():
            if tensor.dtype not in _FLOATING and not is_unused(name):
                raise MissingError(
                    f"{str(path)!r}: {name!r} holds no floating point numbers",
                    hint="embedlab loads no quantised weights",
                )
            sizes[name] = prod(tensor.shape)
    return sizes


def vocabulary_notes(
    folder: Path, tokenizer: PreTrainedTokenizerFast, vector_count: int
) -> list[str]:
    """Return notes if the vocabulary of the TOKENIZER of the model in FOLDER does not fit its
    VECTOR_COUNT vectors; the vocabulary of another model is a MissingError.

    Tables have rows without a token, so that their length is a multiple of 128, and now and then a
    percent of them.
    """
    size = len(tokenizer)
    own_size = tokenizer.backend_tokenizer.get_vocab_size(with_added_tokens=False)
    sizes_text = (
        f"its tokenizer knows {size:,} tokens, and the weights have vectors for {vector_count:,}"
    )
    if size < 0.9 * (vector_count - PADDED_ROWS) or own_size > vector_count:
        raise MissingError(
            f"{str(folder)!r}: {sizes_text}: it belongs to another model",
            hint="copy the tokenizer's files of the model with these weights into the folder",
        )
    if size < 0.98 * vector_count - PADDED_ROWS:
        return [Note(f"{sizes_text}: does it belong to this model?", kind="doubted")]
    remark = f"{sizes_text}: a text with a token beyond them cannot be encoded"
    return [Note(remark, kind="doubted")] if size > vector_count else []


def refuse_unknown_tokens(folder: Path, ids: NDArray[np.integer[Any]], vector_count: int) -> None:
    """Refuse token IDS of the tokenizer in FOLDER beyond the VECTOR_COUNT that its model has
    vectors for.
    """
    if len(ids) and (largest_id := int(ids.max())) >= vector_count:
        raise MissingError(
            f"{str(folder)!r}: its tokenizer gives token {largest_id}, but its weights have "
            f"{vector_count} word vectors",
            hint=WHOLE,
        )


def refuse_infinite(file: str, tensors: Iterable[tuple[str, Tensor]], *, hint: str = WHOLE) -> None:
    """Refuse non-finite numbers in the TENSORS of a FILE, which make every vector meaningless."""
    # A non-finite number makes the sum non-finite, in a tenth of the time; large finite ones may
    # too, and are checked again. What is on no device yet is read as it is used.
    broken = [
        name
        for name, value in tensors
        if value.device.type != "meta"
        and not torch.isfinite(value.detach().sum())
        and not torch.isfinite(value).all()
    ]
    if broken:
        raise MissingError(
            f"{file}: numbers that are not finite in {_describe_tensors(broken)}", hint=hint
        )


def weights_name(folder: Path) -> str:
    files = weight_files(folder)
    return repr(str(files[0] if len(files) == 1 else folder / "model.safetensors.index.json"))


def _describe_tensors(names: Collection[str]) -> str:
    """Describe the tensors NAMES: the first three, and how many more."""
    return f"tensor{'s' if len(names) > 1 else ''} {first_few(map(repr, sorted(names)), 3)}"
