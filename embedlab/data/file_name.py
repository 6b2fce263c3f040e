"""The name of a user's own file where a dataset's name is expected: its path and, behind "?", what
the user says of its columns.

`pairs.csv?s1=text&s2=answer&score=rating&scale=0-5` is the grammar of hub names; without options
everything is detected.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from embedlab.core.errors import UsageError
from embedlab.core.name_options import option_values, split_name
from embedlab.data.table_file import TABLES

TEXT_FILE = ".txt"
HUB = "hub:"  # before the name of any dataset of the hub
ROLES = (
    "s1",
    "s2",
    "score",
    "label",
    "anchor",
    "positive",
    "negative",
    "sentence",
)  # what a column can hold
_OPTIONS = (*ROLES, "source", "labels", "scale", "held-out", "where", "drop")
LOW_SCORES = "low-scores"
_ROLE_OF = {role: role for role in ROLES} | {
    "sentence1": "s1",
    "premise": "s1",
    "sentence2": "s2",
    "hypothesis": "s2",
    "gold": "score",
}
_EXAMPLES = {"where": "where=split:train", "drop": "drop=label:-1"}
_SCALE = re.compile(r"(-?[\d.]+)-(-?[\d.]+)")
_MOST_HELD_OUT = 0.5


@dataclass(frozen=True, kw_only=True)
class FileName:
    """A user's own file, and what was said of it."""

    text: str  # as it was typed
    path: Path
    roles: Mapping[str, str] = field(
        default_factory=dict
    )  # one of ROLES → the column that holds it
    source: str | None = None  # the column with a pair's source
    labels: Mapping[str, str] = field(default_factory=dict)  # label in the file → its meaning
    scale: tuple[float, float] | None = None  # lowest and highest score that there can be
    # whether the scores are all in the lower half of their scale, and that is right
    low_scores: bool = False
    held_out: float | None = None  # only the rows that a training with this share leaves out
    where: Mapping[str, str] = field(default_factory=dict)  # column → values of rows that are read
    drop: Mapping[str, str] = field(default_factory=dict)  # column → values of rows that are not

    @property
    def is_plain(self) -> bool:
        """Return whether nothing was said of its columns, labels and scale."""
        return not (
            self.roles or self.source or self.labels or self.scale or self.where or self.drop
        )

    @property
    def dataset(self) -> str:
        """The name of its rows as a dataset: as it was typed, with the path in its plain form, so
        that ./a.csv is a.csv.
        """
        said = "" if Path(self.text) == self.path else self.text[len(file_part(self.text)) :]
        return f"{self.path}{said}"

    @property
    def is_table(self) -> bool:
        """Return whether its rows have named columns."""
        return self.path.suffix.lower() in TABLES

    def with_options(self, **values: object) -> Self:
        """Return the same file with other options, and the text that says so."""
        changed = replace(self, **values)  # type: ignore[arg-type]
        return replace(changed, text=changed._written())

    def at(self, path: Path) -> Self:
        """Return the same options of the file at PATH."""
        changed = replace(self, path=path)
        return replace(changed, text=changed._written())

    def _written(self) -> str:
        values = {
            **self.roles,
            **({"source": self.source} if self.source else {}),
            **(
                {"labels": ",".join(f"{theirs}:{ours}" for theirs, ours in self.labels.items())}
                if self.labels
                else {}
            ),
            **({"scale": "-".join(f"{end:g}" for end in self.scale)} if self.scale else {}),
            **({"held-out": f"{self.held_out:g}"} if self.held_out else {}),
            **{
                key: f"{column}:{values}"
                for key, rows in (("where", self.where), ("drop", self.drop))
                for column, values in rows.items()
            },
        }
        options = [
            *(option(key, value) for key, value in values.items()),
            *([LOW_SCORES] if self.low_scores else []),
        ]
        return str(self.path) + ("?" + "&".join(options) if options else "")


def parse_file_name(text: str) -> FileName:
    """Return what TEXT says of a file; a violation of the grammar is a UsageError that quotes
    it.
    """
    name, *parts = split_name(text, _OPTIONS, (LOW_SCORES,))
    if not parts or Path(text).is_file():  # a file may have a question mark in its own name
        return FileName(text=text, path=Path(text))
    values = option_values(text, parts, _OPTIONS, switches=(LOW_SCORES,))
    return FileName(
        text=text,
        path=Path(name),
        roles={role: values[role] for role in ROLES if role in values},
        source=values.get("source"),
        labels=_labels(text, values.get("labels")),
        scale=stated_scale(text, values.get("scale")),
        low_scores=LOW_SCORES in values,
        held_out=_share(text, values.get("held-out")),
        where=_rows_with(text, "where", values.get("where")),
        drop=_rows_with(text, "drop", values.get("drop")),
    )


def file_part(name: str) -> str:
    """Return the part of a dataset's NAME in front of its options."""
    return split_name(name, _OPTIONS, (LOW_SCORES,))[0]


def file_path(name: str) -> Path:
    """Return the path of the user's own file that a dataset's NAME means, without its options."""
    return parse_file_name(name).path


def with_said(file: FileName, overrides: Sequence[str]) -> FileName:
    """Return FILE with what `--set data.columns.NAME=…`, and those of `data.labels`, `data.where`
    and `data.drop`, state, where its name says nothing of it.
    """
    said: dict[str, dict[str, str]] = {key: {} for key in ("columns", "labels", "where", "drop")}
    for override in overrides:
        key, _, value = override.partition("=")
        data, _, rest = key.partition(".")
        kind, _, name = rest.partition(".")
        if data == "data" and kind in said and name:
            said[kind][name] = value
    roles = {_ROLE_OF[name]: theirs for name, theirs in said["columns"].items() if name in _ROLE_OF}
    if not (roles or said["labels"] or said["where"] or said["drop"]):
        return file
    return file.with_options(
        roles={**roles, **file.roles},
        labels={**said["labels"], **file.labels},
        where={**said["where"], **file.where},
        drop={**said["drop"], **file.drop},
    )


def is_row_file(name: str) -> bool:
    """Return whether NAME is a file of rows by its ending: a table, or text with a sentence a line;
    names of models are none.
    """
    path = file_part(name).lower()
    return path.endswith((*TABLES, TEXT_FILE)) and not re.match(r"[\w.+-]+:", path)


def stated_scale(name: str, text: str | None) -> tuple[float, float] | None:
    """Return the scale `LOW-HIGH` that the option of a dataset's NAME states; another text is a
    UsageError.
    """
    if text is None:
        return None
    match = _SCALE.fullmatch(text)
    try:
        low, high = (float(number) for number in match.groups()) if match else (0.0, 0.0)
    except ValueError:
        low = high = 0.0
    if low >= high:
        raise UsageError(
            f"{name!r}: scale is {text!r}, not the lowest and the highest score",
            hint="for example ?scale=0-5",
        )
    return low, high


def _labels(name: str, text: str | None) -> dict[str, str]:
    pairs = [pair.rpartition(":") for pair in (text or "").split(",") if pair]
    if any(not (theirs and ours) for theirs, _, ours in pairs):
        raise UsageError(
            f"{name!r}: labels is {text!r}",
            hint="for example ?labels=0:entailment,1:neutral,2:contradiction",
        )
    return {theirs.strip(): ours.strip() for theirs, _, ours in pairs}


def _rows_with(name: str, key: str, text: str | None) -> dict[str, str]:
    """Return the column and the values, with commas between them, of rows that are read or not."""
    if text is None:
        return {}
    column, _, values = text.partition(":")
    if not (column and values):
        raise UsageError(
            f"{name!r}: {key} is {text!r}",
            hint=f"for example ?{_EXAMPLES[key]}",
        )
    return {column: values}


def _share(name: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= _MOST_HELD_OUT:
        raise UsageError(
            f"{name!r}: held-out is {text!r}",
            hint=f"give a share of the rows, up to {_MOST_HELD_OUT}: ?held-out=0.1",
        )
    return share


def option(key: str, value: str) -> str:
    """Return an option as it is typed."""
    return f'{key}="{value}"' if any(sign in value for sign in '?&"') else f"{key}={value}"
