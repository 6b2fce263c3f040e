"""Signatures: one line with everything that decides a number, comparable by eye and by program.

`part:value|part:value|…`: every part of `Signature` once, in alphabetical order. Several values of
a part are sorted and separated by commas; `none` means that the part does not apply, `unknown` that
what it holds is not known. Values are percent-encoded, so that a signature is one line of ASCII
whatever a file or a model is called. What does not decide a number (folders, the machine, its
threads, the name of a model) is not in it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import PurePath
from typing import Any, Literal, Self
from urllib.parse import quote, unquote

from embedlab.core.errors import MissingError

PartValues = tuple[str, ...]
DifferenceKind = Literal["differs", "other version", "only in one", "unknown"]

NONE, UNKNOWN = "none", ("unknown",)
HASH_DIGITS = 12  # of the hash of a dataset's files
# These parts say which numbers a result contains, not how each is made: results that share some can
# be compared.
SCOPE = frozenset({"aggregation", "by", "interval", "margin", "metric", "setting", "task", "test"})
_SAFE = "/@.:=()?<>*+"
_ERRORS = "surrogatepass"  # file names may contain bytes that are not text


@dataclass(frozen=True, kw_only=True)
class Signature:
    """The parts of a signature; an empty one does not apply."""

    aggregation: PartValues = ()  # of a dataset's sources: all, mean, wmean
    backend: PartValues = ()  # library that computed the vectors
    by: PartValues = ()  # group of a number: dataset, source, dice
    data: PartValues = ()  # name/split@hash of the files' contents
    dims: PartValues = ()  # length of a vector
    interval: PartValues = ()  # how intervals are made
    margin: PartValues = ()  # of a test of equivalence, in points
    max_tokens: PartValues = ()  # longest input
    metric: PartValues = ()  # spearman, pearson, accuracy …
    # fingerprints of the weights, and of pooling, longest input and precision with them
    model: PartValues = ()
    n: PartValues = ()  # pairs or items that were scored
    pooling: PartValues = ()
    precision: PartValues = ()  # of the evaluation
    prompt: PartValues = ()  # text put before each sentence
    seeds: PartValues = ()  # of the runs behind a mean
    setting: PartValues = ()  # how a task's classifiers are trained
    task: PartValues = ()
    test: PartValues = ()  # test of p
    training_precision: PartValues = ()  # of the model's training runs by embedlab
    # of embedlab: that of the scores, and that of stored similarities where it is another
    version: PartValues = ()

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            object.__setattr__(
                self, name, tuple(sorted(filter(None, dict.fromkeys(values)), key=_order))
            )

    def __str__(self) -> str:
        """The line."""
        return "|".join(
            f"{name}:{','.join(map(_encoded, vars(self)[name])) or NONE}"
            for name in SIGNATURE_PARTS
        )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a line that `str` wrote; anything else is a MissingError."""
        parts: dict[str, PartValues] = {}
        for part in text.split("|"):
            name, colon, values = part.partition(":")
            if not colon or not values or name not in SIGNATURE_PARTS or name in parts:
                raise _no_signature(part)
            try:
                parts[name] = (
                    ()
                    if values == NONE
                    else tuple(unquote(value, errors=_ERRORS) for value in values.split(","))
                )
            except UnicodeDecodeError as error:
                raise _no_signature(part) from error
        if missing_parts := [name for name in SIGNATURE_PARTS if name not in parts]:
            raise _no_signature(f"{text[:40]}… without {missing_parts[0]!r}")
        return cls(**parts)


SIGNATURE_PARTS = tuple(sorted(field.name for field in fields(Signature)))


@dataclass(frozen=True, kw_only=True)
class PartDifference:
    """One part that differs between two signatures."""

    name: str
    first: PartValues
    second: PartValues
    agreement: DifferenceKind


def part_differences(first: Signature, second: Signature) -> list[PartDifference]:
    """Return the parts that are not equal, in order.

    "differs" if they contradict each other, "other version" for the program's version and how it
    makes intervals, which do not change what was measured, "only in one" if one result has more
    numbers than the other, "unknown" if one of them lacks the part.
    """
    differences = []
    for name in SIGNATURE_PARTS:
        first_values, second_values = vars(first)[name], vars(second)[name]
        if first_values != second_values:
            agreement = (
                "only in one"
                if _is_of_more(name, first, second)
                else _agreement(name, first_values, second_values)
            )
            differences.append(
                PartDifference(
                    name=name, first=first_values, second=second_values, agreement=agreement
                )
            )
    return differences


def _is_of_more(name: str, first: Signature, second: Signature) -> bool:
    """Return whether a part differs because one result has more numbers: their count, or the
    versions that several tasks have.
    """
    if name == "n":
        return (first.data, first.by) != (second.data, second.by)
    return (
        name == "version"
        and first.task != second.task
        and bool({*first.version} & {*second.version})
    )


def merged(signatures: Sequence[Signature]) -> Signature:
    """Return the signature of a mean over members: all values of each."""
    return Signature(
        **{
            name: tuple(value for signature in signatures for value in vars(signature)[name])
            for name in SIGNATURE_PARTS
        }
    )


def data_part(state: Mapping[str, Any]) -> str:
    """Return the name of a part of the data in a signature, from its stored STATE: a user's own
    file without its folder.
    """
    name = (
        PurePath(str(state["name"])).name if state.get("origin") == "file" else str(state["name"])
    )
    return f"{name}/{state.get('split') or NONE}@{_content(state)}"


def joined_values(text: str | None) -> PartValues:
    """Return the values of a fact of several encoders ("mean + cls", "float32 and bf16"), or of
    one.
    """
    return tuple((text or "").replace(" and ", " + ").split(" + ")) if text else ()


def _content(state: Mapping[str, Any]) -> str:
    if state.get("origin") == "tiny":
        return "tiny"  # generated, the same for one version
    if hashes := state.get("sha256"):
        return hashlib.sha256("\0".join(sorted(hashes.values())).encode()).hexdigest()[:HASH_DIGITS]
    return (
        str(state["revision"]).rpartition("@")[2][:HASH_DIGITS]
        if state.get("revision")
        else UNKNOWN[0]
    )


def _no_signature(part: str) -> MissingError:
    hint = "a newer embedlab may have written it: install that one, or evaluate again"
    return MissingError(f"not a signature: {part[:60]!r}", hint=hint)


def _encoded(value: str) -> str:
    text = quote(value, safe=_SAFE, errors=_ERRORS)
    return (
        f"%{ord(text[0]):02X}{text[1:]}" if value == NONE else text
    )  # a value called "none" differs from an absent one


def _conditions(values: PartValues) -> set[str]:
    """Return what picks items, and what the names of selections in it mean."""
    return {value for value in values if value.startswith(("where ", "@"))}


def _agreement(name: str, first_values: PartValues, second_values: PartValues) -> DifferenceKind:
    if UNKNOWN[0] in {*first_values, *second_values}:
        return "unknown"
    if name == "version" or (
        name == "interval" and first_values and second_values
    ):  # how intervals are made is a version's; scores are compared
        return "other version"
    if name == "data":
        first_contents, second_contents = (
            dict(value.rpartition("@")[::2] for value in values)
            for values in (first_values, second_values)
        )
        common_keys = first_contents.keys() & second_contents.keys()
        return (
            "only in one"
            if common_keys
            and all(first_contents[key] == second_contents[key] for key in common_keys)
            else "differs"
        )
    if name == "by" and _conditions(first_values) != _conditions(second_values):
        return "differs"
    if name in SCOPE and (
        not first_values or not second_values or {*first_values} & {*second_values}
    ):
        return "only in one"
    return "differs"


def _order(value: str) -> tuple[bool, int, str]:
    """Sort numbers by size, before text."""
    is_number = value.isascii() and value.isdigit()
    return not is_number, int(value) if is_number and len(value) < 20 else 0, value
