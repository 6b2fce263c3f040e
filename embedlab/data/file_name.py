"""The name of a user's own file where a dataset's name is expected: its path and, behind "?" or
"@", what the user says of its columns.

`pairs.csv?s1=text&s2=answer&score=rating&scale=0-5` is the grammar of hub names; without options
everything is detected.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from embedlab.core.errors import UsageError
from embedlab.core.names import option_values, split_name
from embedlab.core.paths import typed_path
from embedlab.data.dataset import NLI_LABELS
from embedlab.data.table_file import TABLES

TEXT_FILE = ".txt"
HUB = "hub:"  # before the name of any dataset of the hub
PREFIX = "retrieval:"  # before the folder of queries, or a file of qrels
CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"  # that a folder of queries holds
PACKED = ".gz"  # behind the name of a file that is to be unpacked
# what a column can hold
ROLES = ("s1", "s2", "score", "label", "anchor", "positive", "negative", "sentence")
LOW_SCORES = "low-scores"
_OPTIONS = (*ROLES, "source", "labels", "scale", "held-out", "where", "drop")
_OBJECTIVES = {
    "sentence1": "s1",
    "premise": "s1",
    "sentence2": "s2",
    "hypothesis": "s2",
    "gold": "score",
}
_SCALE = re.compile(r"(-?[\d.]+(?:e[+-]?\d+)?)-(-?[\d.]+(?:e[+-]?\d+)?)")
_MEANING = rf"[^,]+:\s*(?:{'|'.join(NLI_LABELS)})\s*"
_CONDITIONS = r"[^:\n]+:.*(\n[^:\n]+:.*)*"
# option → its form, and an example
_FORMS = {
    "labels": (f"{_MEANING}(,{_MEANING})*", "0:entailment,1:neutral,2:contradiction"),
    "where": (_CONDITIONS, "split:train"),
    "drop": (_CONDITIONS, "label:-1"),
    "held-out": (r"0?\.(?=0*[1-9])([0-4]\d*|50*)", "0.1, a share of the rows up to 0.5"),
}

# files of rows that a call from Python gave: they are called by their stem, where they lie says
# nothing
ROWS_IN_MEMORY: set[Path] = set()


@dataclass(frozen=True, kw_only=True)
class FileName:
    """A user's own file, and what was said of it."""

    text: str  # as it was typed
    path: Path
    roles: Mapping[str, str] = field(default_factory=dict)  # one of ROLES → the column with it
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
        """Return whether nothing was said of it."""
        return self.with_options().text == str(self.path)

    @property
    def dataset(self) -> str:
        """The name of its rows as a dataset: as it was typed, with the path in its plain form, so
        that ./a.csv is a.csv.
        """
        if self.path in ROWS_IN_MEMORY:
            return self.path.stem
        is_bare = Path(self.text) == self.path
        return str(self.path) + self.text[len(file_part(self.text)) :] * (not is_bare)

    @property
    def is_table(self) -> bool:
        """Return whether its rows have named columns."""
        return self.path.suffix.lower() in TABLES

    def with_options(self, **values: object) -> Self:
        """Return the same file with other options, and the text that says so."""
        changed = replace(self, **values)  # type: ignore[arg-type]
        bounds = changed.scale or ()
        option_values = {
            **changed.roles,
            "source": changed.source or "",
            "labels": ",".join(f"{label}:{meaning}" for label, meaning in changed.labels.items()),
            "scale": "-".join(f"{bound:g}" for bound in bounds),
            "held-out": f"{changed.held_out:g}" if changed.held_out else "",
        }
        options = [option(key, value) for key, value in option_values.items() if value]
        for key in ("where", "drop"):
            options += [option(key, ":".join(pair)) for pair in getattr(changed, key).items()]
        options += [LOW_SCORES] * changed.low_scores
        return replace(changed, text=f"{changed.path}{'?' * bool(options)}{'&'.join(options)}")


def parse_file_name(text: str) -> FileName:
    """Return what TEXT says of a file; a violation of the grammar is a UsageError that quotes
    it.
    """
    name, *parts = split_name(text, _OPTIONS, (LOW_SCORES,))
    if not parts or file_part(text) == text:
        return FileName(text=text, path=Path(text))
    conditions: dict[str, dict[str, str]] = {"where": {}, "drop": {}}
    several = [*conditions]
    values = option_values(text, parts, _OPTIONS, switches=(LOW_SCORES,), several=several)
    for key, (form, example) in _FORMS.items():
        if key in values and not re.fullmatch(form, values[key]):
            hint = f"for example ?{key}={example}"
            raise UsageError(f"{text!r}: {key} is {values[key]!r}", hint=hint)
    labels = [pair.rpartition(":") for pair in values.get("labels", "").split(",") if pair]
    for key in conditions.keys() & values.keys():
        for condition in values[key].split("\n"):
            column, _, chosen = condition.partition(":")
            if column in conditions[key]:
                hint = f"name its values once, with commas: ?{key}={column}:VALUE,VALUE"
                raise UsageError(f"{text!r}: {key} is given twice for {column!r}", hint=hint)
            conditions[key][column] = chosen
    return FileName(
        text=text,
        path=Path(name),
        roles={role: values[role] for role in ROLES if role in values},
        source=values.get("source"),
        labels={label.strip(): meaning.strip() for label, _, meaning in labels},
        scale=stated_scale(text, values.get("scale")),
        low_scores=LOW_SCORES in values,
        held_out=float(values["held-out"]) if "held-out" in values else None,
        where=conditions["where"],
        drop=conditions["drop"],
    )


def file_part(name: str) -> str:
    """Return the part of a dataset's NAME in front of its options."""
    # a file may have a question mark in its own name; a text that no path can be is none
    is_path = os.path.isfile(name)  # noqa: PTH113
    return name if is_path else split_name(name, _OPTIONS, (LOW_SCORES,))[0]


def file_path(name: str) -> Path:
    """Return the path of the user's own file that a dataset's NAME means, without its options."""
    return parse_file_name(name).path


def with_overrides(file: FileName, overrides: Sequence[str]) -> FileName:
    """Return FILE with the options that OVERRIDES, such as `data.columns.NAME=…`, `data.labels`,
    `data.where` and `data.drop`, state. Options in the file's name win.
    """
    stated: dict[str, dict[str, str]] = {"labels": {}, "where": {}, "drop": {}, "roles": {}}
    for override in overrides:
        key, _, value = override.partition("=")
        data, section, name = (*key.split(".", 2), "", "")[:3]
        if section == "columns":
            section = "roles"
            name = name if name in ROLES else _OBJECTIVES.get(name, "")
        if data == "data" and section in stated and name:
            stated[section][name] = value
    if not any(stated.values()):
        return file
    options = {key: values | getattr(file, key) for key, values in stated.items()}
    return file.with_options(**options)


def is_row_file(name: str) -> bool:
    """Return whether NAME is a file of rows by its ending: a table, or text with a sentence a line;
    names of models are none.
    """
    path = file_part(name).lower()
    is_model = re.match(r"[\w.+-]+:", path) or re.search(r"@\w+=", path)
    return path.endswith((*TABLES, TEXT_FILE)) and not is_model


def is_pair_file(name: str) -> bool:
    """Return whether a dataset's NAME is a path, or one of the hub's own names: it contains a slash
    or has a suffix of pair files.
    """
    return "/" in name or name.startswith(HUB) or file_part(name).lower().endswith(TABLES)


def is_hub_name(name: str) -> bool:
    """Return whether NAME is a dataset of the hub by its own name."""
    return name.startswith(HUB)


def is_query_folder(name: str) -> bool:
    """Return whether a dataset's NAME means queries in a folder, or a file of qrels: by its prefix,
    or by what the folder holds.
    """
    path = typed_path(split_name(name, ("split",))[0])
    try:
        names = [file + ending for file in (QUERIES, CORPUS) for ending in ("", PACKED)]
        return name.startswith(PREFIX) or any((path / file).is_file() for file in names)
    except (OSError, ValueError):  # text that cannot be a path
        return False


def stated_scale(name: str, text: str | None) -> tuple[float, float] | None:
    """Return the scale `LOW-HIGH` that the option of a dataset's NAME states; another text is a
    UsageError.
    """
    if text is None:
        return None
    low = high = 0.0
    if match := _SCALE.fullmatch(text):
        with suppress(ValueError):
            low, high = map(float, match.groups())
    if low >= high:
        raise UsageError(
            f"{name!r}: scale is {text!r}, not the lowest and the highest score",
            hint="for example ?scale=0-5",
        )
    return low, high


def option(key: str, value: str) -> str:
    """Return an option as it is typed."""
    return f'{key}="{value}"' if any(sign in value for sign in '?&"') else f"{key}={value}"
