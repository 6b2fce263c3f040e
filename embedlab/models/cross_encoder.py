"""What a folder of a cross-encoder states: its labels, the function after its last layer, its
longest input.

A cross-encoder reads the two texts of a pair together. sentence-transformers 6 lists its modules
and states the function in config_sentence_transformers.json; earlier versions wrote a folder of
transformers and a key in config.json.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.nearest import unknown_name_error
from embedlab.models.config import brings_code, input_length, read_config
from embedlab.models.folder_files import (
    ADAPTER,
    PromptsFile,
    named_files,
    read_model_file,
    read_stated,
    refuse_incomplete,
)
from embedlab.models.modules import (
    CROSS_ENCODER,
    ENCODER_TYPE,
    MODULES,
    PROMPTS,
    TransformerFile,
    listed_modules,
    prompt_text,
    read_prompts,
    read_transformer_file,
)
from embedlab.models.reading import Reading

Activation = Literal["sigmoid", "identity", "tanh", "softmax"]
HEAD = "ForSequenceClassification"
SHORTEST_PAIR = 5  # tokens: a word of each text between the three that begin, part and end a pair
_ACTIVATION = re.compile(r"torch\.nn\.(?:modules\.\w+\.)?(Sigmoid|Identity|Tanh|Softmax)")
_SIMILAR = {"entailment", "duplicate", "paraphrase"}
_BY_AUTHOR = "score the pairs with its author's program and name them scores:FILE"
_TWO_LABELS = {"0": "LABEL_0", "1": "LABEL_1"}  # what transformers takes where none are stated


@dataclass(frozen=True, kw_only=True)
class StatedActivation:
    """What versions 4 and 5 of sentence-transformers put into config.json."""

    activation_fn: str | None = None


@dataclass(frozen=True, kw_only=True)
class HeadFile:
    """The part of config.json that describes the last layer and what is done with its output."""

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
        label_of_id = self.id2label or _TWO_LABELS
        ids = sorted(label_of_id, key=lambda key: (len(key), key))
        return tuple(str(label_of_id[key]) for key in ids)

    @property
    def function(self) -> str | None:
        """The full name of the function after the last layer, where one is stated."""
        activation = self.sentence_transformers or StatedActivation()
        return activation.activation_fn or self.sbert_ce_default_activation_function


@dataclass(frozen=True, kw_only=True)
class PairUsage:
    """How a folder scores pairs."""

    source: Path  # of weights and tokenizer
    labels: tuple[str, ...]
    label: int  # whose number is the similarity
    activation: Activation
    reading: Reading  # of both texts together

    @property
    def title(self) -> str:
        """How tables name what makes the similarity of a pair."""
        facts = ["cross-encoder"]
        if len(self.labels) > 1:
            facts.append(f"label {self.labels[self.label]}")
        facts.append(self.activation)
        if self.reading.prompt:
            facts.append(f"prompt={self.reading.prompt}")
        return ", ".join(facts)


def states_cross_encoder(folder: Path) -> bool:
    """Return whether the files in FOLDER say that it is a cross-encoder, and not only that it
    classifies texts; damaged ones do not.
    """
    try:
        file = read_model_file(folder / PROMPTS, PromptsFile)
        if file is not None or (folder / MODULES).is_file():
            return file is not None and file.model_type == CROSS_ENCODER
        head = read_model_file(folder / "config.json", HeadFile)
    except (MissingError, OSError):
        return False
    return head is not None and head.has_head and head.function is not None


def read_pair_usage(
    folder: Path,
    *,
    label: str | None,
    activation: str | None,
    prompt: str | None,
) -> PairUsage:
    """Return how FOLDER scores pairs; what was typed wins. A folder that is not a cross-encoder, or
    has parts that embedlab does not compute, is a MissingError. One of several labels must be
    typed.
    """
    source, stated = _source(folder)
    head = read_stated(source / "config.json", HeadFile)
    refuse_incomplete(source, source)
    named_files(source)  # which refuses one outside of the folder
    read_config(source)
    if not head.has_head:
        description = " and ".join(head.architectures or ()) or "a model without a stated class"
        hint = f"name {folder} without the prefix" if stated is None else _BY_AUTHOR
        raise MissingError(
            f"{str(folder)!r} is {description}: no layer of it scores a pair", hint=hint
        )
    file, settings = stated or PromptsFile(), TransformerFile()
    if stated is not None:
        settings = read_transformer_file(source)
    for is_uncomputed, feature in (
        (file.keep_in_fp32_modules, "'keep_in_fp32_modules'"),
        ((source / ADAPTER).is_file(), "an adapter, which is not merged"),
        (brings_code(source, with_head=True), "its own code to run"),
    ):
        if is_uncomputed:
            raise _uncomputed(folder, feature)
    tokens = input_length(
        folder, source, source, stated=settings.max_seq_length, shortest=SHORTEST_PAIR
    )
    return PairUsage(
        source=source,
        labels=head.labels,
        label=_label(folder, head.labels, label),
        activation=_activation(folder, head, file.activation_fn or head.function, activation),
        reading=Reading(
            max_tokens=tokens,
            prompt=prompt_text(folder, file, prompt),
            case="lower" if settings.do_lower_case else "kept",
        ),
    )


def _uncomputed(folder: Path, feature: str) -> MissingError:
    return MissingError(
        f"{str(folder)!r} has {feature}: embedlab does not compute that for pairs", hint=_BY_AUTHOR
    )


def _source(folder: Path) -> tuple[Path, PromptsFile | None]:
    """Return the folder of the transformer, and what a folder in the layout with modules states;
    None for the earlier layout.
    """
    modules = listed_modules(folder)
    if modules is None:
        return folder, None
    if read_stated(folder / PROMPTS, PromptsFile).model_type == ENCODER_TYPE:
        raise MissingError(
            f"{str(folder)!r} is an encoder, not a cross-encoder",
            hint=f"name {folder} without the prefix",
        )
    file = read_prompts(folder, kind=CROSS_ENCODER)
    names = [name for name, _ in modules]
    if names != ["Transformer"]:
        other_module = next((name for name in names if name != "Transformer"), "none")
        raise _uncomputed(folder, f"a module {other_module!r}")
    source = modules[0][1]
    if (setting := read_transformer_file(source).uncomputed("sequence-classification")) is not None:
        raise _uncomputed(folder, f"a Transformer {setting}")
    return source, file


def _label(folder: Path, labels: Sequence[str], typed: str | None) -> int:
    if typed is None and len(labels) == 1:
        return 0
    if typed is None:
        similar_labels = [name for name in labels if name.lower() in _SIMILAR]
        raise UsageError(
            f"{str(folder)!r} gives {len(labels)} numbers a pair: {', '.join(labels)}",
            hint=f"say which is the similarity: @label={[*similar_labels, labels[-1]][0]}",
        )
    if typed in labels:
        return labels.index(typed)
    if typed.isdecimal() and int(typed) < len(labels):
        return int(typed)
    raise unknown_name_error("label", typed, list(labels), listing=f"labels of {str(folder)!r}")


def _activation(folder: Path, head: HeadFile, stated: str | None, typed: str | None) -> Activation:
    """Return the function after the last layer: as typed, otherwise as STATED, otherwise as
    sentence-transformers chooses for so many labels.
    """
    choices: Sequence[Activation] = get_args(Activation)
    name = typed or ("sigmoid" if len(head.labels) == 1 else "identity")
    if typed is None and stated is not None:
        match = _ACTIVATION.fullmatch(stated)
        if match is None:
            raise MissingError(
                f"{str(folder)!r} states the activation {stated!r}, which is not computed",
                hint=f"say another: @activation={' or '.join(choices)}",
            )
        name = match[1].lower()
    if name not in choices:
        raise unknown_name_error("activation", name, choices)
    activation = cast("Activation", name)
    if activation == "softmax" and len(head.labels) == 1:
        raise UsageError(
            f"{str(folder)!r} has one label: softmax makes it 1 for every pair",
            hint="@activation=sigmoid or identity",
        )
    return activation
