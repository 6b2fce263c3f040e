"""What a folder of a cross-encoder states: its labels, the function after its last layer, its
longest input.

A cross-encoder reads the two texts of a pair together. sentence-transformers 6 lists its modules
and states the function in config_sentence_transformers.json; earlier versions wrote a folder of
transformers and a key in config.json.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.nearest import nearest_name, unknown
from embedlab.models.config import brings_code, longest_input, read_config
from embedlab.models.folder_files import (
    ADAPTER,
    RESTORE_HINT,
    PromptsFile,
    read_model_file,
    refuse_incomplete,
)
from embedlab.models.modules import MODULES, listed_modules
from embedlab.models.prompts import CROSS_ENCODER, ENCODER_TYPE, typed_prompt, unused_type
from embedlab.models.prompts import FILE as PROMPTS
from embedlab.models.reading import Reading
from embedlab.models.transformer_file import read_transformer_file

Activation = Literal["sigmoid", "identity", "tanh", "softmax"]
HEAD = "ForSequenceClassification"
SHORTEST_PAIR = 5  # tokens: a word of each text between the three that begin, part and end a pair
_ACTIVATIONS: Mapping[str, Activation] = {
    "torch.nn.modules.activation.Sigmoid": "sigmoid",
    "torch.nn.modules.linear.Identity": "identity",
    "torch.nn.modules.activation.Tanh": "tanh",
    "torch.nn.modules.activation.Softmax": "softmax",
    "torch.nn.Sigmoid": "sigmoid",
    "torch.nn.Identity": "identity",
    "torch.nn.Tanh": "tanh",
    "torch.nn.Softmax": "softmax",
}
_BY_AUTHOR = "score the pairs with its author's program and name them scores:FILE"
_TWO_LABELS = {"0": "LABEL_0", "1": "LABEL_1"}  # what transformers takes where none are stated


@dataclass(frozen=True, kw_only=True)
class StatedActivation:
    """What versions 4 and 5 of sentence-transformers put into config.json."""

    activation_fn: str | None = None


@dataclass(frozen=True, kw_only=True)
class HeadFile:
    """The part of config.json that says what the last layer gives, and what is done with it."""

    architectures: tuple[str, ...] | None = None
    id2label: Mapping[str, str | int] | None = None
    num_labels: int | None = None  # read where no labels are named
    sentence_transformers: StatedActivation | None = None
    sbert_ce_default_activation_function: str | None = None  # before version 4

    @property
    def has_head(self) -> bool:
        """Whether its last layer gives one or several numbers for the whole input."""
        return any(name.endswith(HEAD) for name in self.architectures or ())

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the numbers that the last layer gives, in their order."""
        if self.id2label is None and self.num_labels is not None:
            return tuple(f"LABEL_{number}" for number in range(self.num_labels))
        stated = self.id2label or _TWO_LABELS
        return tuple(str(stated[key]) for key in sorted(stated, key=lambda key: (len(key), key)))

    @property
    def function(self) -> str | None:
        """The full name of the function after the last layer, where one is stated."""
        return (
            self.sentence_transformers or StatedActivation()
        ).activation_fn or self.sbert_ce_default_activation_function


@dataclass(frozen=True, kw_only=True)
class PairUsage:
    """How a folder scores pairs."""

    source: Path  # of weights and tokenizer
    labels: tuple[str, ...]
    label: int  # whose number is the similarity
    activation: Activation
    reading: Reading  # of both texts together

    @property
    def tokenizer_folder(self) -> Path:
        """The folder of the tokenizer."""
        return self.source

    @property
    def title(self) -> str:
        """How tables name what makes the similarity of a pair."""
        label = [f"label {self.labels[self.label]}"] if len(self.labels) > 1 else []
        prompt = [f"prompt={self.reading.prompt}"] if self.reading.prompt else []
        return ", ".join(["cross-encoder", *label, self.activation, *prompt])


def states_cross_encoder(folder: Path) -> bool:
    """Return whether the files in FOLDER say that it is a cross-encoder, and not only that it
    classifies texts; damaged ones do not.
    """
    try:
        file = read_model_file(folder / PROMPTS, _ModelType)
        if file is not None or (folder / MODULES).is_file():
            return file is not None and file.model_type == CROSS_ENCODER
        head = read_model_file(folder / "config.json", HeadFile)
    except (MissingError, OSError):
        return False
    return head is not None and head.has_head and head.function is not None


@dataclass(frozen=True, kw_only=True)
class _ModelType:
    model_type: str | None = None


def read_pair_usage(
    folder: Path,
    *,
    label: str | None = None,
    activation: str | None = None,
    prompt: str | None = None,
) -> PairUsage:
    """Return how FOLDER scores pairs, except for what was typed.

    What is not a cross-encoder, or has parts that are not computed, is a MissingError; of several
    labels one must be typed.
    """
    source, stated = _source(folder)
    head = read_model_file(source / "config.json", HeadFile) or HeadFile()
    refuse_incomplete(source, source)
    read_config(source)
    if not head.has_head:
        named = " and ".join(head.architectures or ()) or "a model without a stated class"
        hint = f"name {folder} without the prefix" if stated is None else _BY_AUTHOR
        raise MissingError(f"{str(folder)!r} is {named}: no layer of it scores a pair", hint=hint)
    if (source / ADAPTER).is_file():
        raise MissingError(
            f"{str(source)!r} holds an adapter, which is not applied to a cross-encoder",
            hint="merge it and save the whole model",
        )
    if brings_code(source, with_head=True):
        raise MissingError(
            f"{str(folder)!r} needs its own code, which embedlab does not run", hint=_BY_AUTHOR
        )
    settings = None if stated is None else read_transformer_file(source)
    length = None if settings is None else settings.max_seq_length
    limit = longest_input(source, source, length)
    tokens = min(length or limit, limit)
    if tokens < SHORTEST_PAIR:
        raise MissingError(
            f"{str(folder)!r} reads at most {tokens} tokens: too few for a pair", hint=RESTORE_HINT
        )
    chosen = _label(folder, head.labels, label)
    return PairUsage(
        source=source,
        labels=head.labels,
        label=chosen,
        activation=_activation(
            folder, head, None if stated is None else stated.activation_fn, activation
        ),
        reading=Reading(
            max_tokens=tokens,
            prompt=_prompt(folder, stated, prompt),
            case="lower" if settings is not None and settings.do_lower_case else "kept",
        ),
    )


def _source(folder: Path) -> tuple[Path, PromptsFile | None]:
    """Return the folder of the transformer, and what a folder in the layout with modules states;
    None for the earlier layout.
    """
    modules = listed_modules(folder)
    if modules is None:
        return folder, None
    file = read_model_file(folder / PROMPTS, PromptsFile) or PromptsFile()
    if file.model_type == ENCODER_TYPE:
        raise MissingError(
            f"{str(folder)!r} is an encoder, not a cross-encoder",
            hint=f"name {folder} without the prefix",
        )
    if file.model_type != CROSS_ENCODER:
        raise unused_type(folder, file.model_type)
    if file.keep_in_fp32_modules:
        raise MissingError(
            f"{folder / PROMPTS}: 'keep_in_fp32_modules' is not computed", hint=_BY_AUTHOR
        )
    names = [name for name, _ in modules]
    if names != ["Transformer"]:
        other = next((name for name in names if name != "Transformer"), "none")
        raise MissingError(
            f"{str(folder)!r} has a module {other!r} that embedlab does not compute for pairs",
            hint=_BY_AUTHOR,
        )
    source = modules[0][1]
    if (setting := read_transformer_file(source).uncomputed("sequence-classification")) is not None:
        raise MissingError(
            f"{str(folder)!r} has a Transformer {setting} that embedlab does not compute for pairs",
            hint=_BY_AUTHOR,
        )
    return source, file


def listed_source(folder: Path) -> Path:
    """Return the folder of the transformer of FOLDER: that of its first module, or FOLDER
    itself.
    """
    modules = listed_modules(folder)
    return modules[0][1] if modules else folder


def _label(folder: Path, labels: Sequence[str], typed: str | None) -> int:
    if typed is None and len(labels) == 1:
        return 0
    if typed is None:
        example = next(
            (name for name in labels if name.lower() in {"entailment", "duplicate", "paraphrase"}),
            labels[-1],
        )
        raise UsageError(
            f"{str(folder)!r} gives {len(labels)} numbers a pair: {', '.join(labels)}",
            hint=f"say which is the similarity: @label={example}",
        )
    if typed in labels:
        return labels.index(typed)
    if typed.isdecimal() and int(typed) < len(labels):
        return int(typed)
    if nearest_name(typed, labels) is None:
        raise UsageError(
            f"{str(folder)!r} has no label {typed!r}", hint=f"labels: {', '.join(labels)}"
        )
    raise unknown("label", typed, list(labels))


def _activation(folder: Path, head: HeadFile, stated: str | None, typed: str | None) -> Activation:
    """Return the function after the last layer: typed, else as stated, else that of
    sentence-transformers for so many labels.
    """
    choices: Sequence[Activation] = get_args(Activation)
    if typed is not None:
        activation = next((choice for choice in choices if choice == typed), None)
        if activation is None:
            raise unknown("activation", typed, list(choices))
    else:
        name = stated or head.function
        activation = (
            _ACTIVATIONS.get(name)
            if name is not None
            else ("sigmoid" if len(head.labels) == 1 else "identity")
        )
        if activation is None:
            raise MissingError(
                f"{str(folder)!r} states the activation {name!r}, which is not computed",
                hint=f"say another: @activation={' or '.join(choices)}",
            )
    if activation == "softmax" and len(head.labels) == 1:
        raise UsageError(
            f"{str(folder)!r} has one label: softmax makes it 1 for every pair",
            hint="@activation=sigmoid or identity",
        )
    return activation


def _prompt(folder: Path, stated: PromptsFile | None, typed: str | None) -> str:
    if typed is not None:
        return typed_prompt(typed, folder, kind=CROSS_ENCODER)
    if stated is None or stated.default_prompt_name is None:
        return ""
    prompts: Mapping[str, Any] = stated.prompts or {}
    if stated.default_prompt_name not in prompts:
        raise MissingError(
            f"{folder / PROMPTS}: no prompt {stated.default_prompt_name!r}, which "
            f"'default_prompt_name' names",
            hint=RESTORE_HINT,
        )
    return stated.default_prompt
