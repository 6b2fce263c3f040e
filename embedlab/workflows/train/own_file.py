"""A file of the user's own where a recipe is expected: the recipe for its kind of rows, and what
was detected as values of that recipe.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from embedlab.core.errors import UsageError
from embedlab.core.overrides import overrides_of
from embedlab.core.own_files import absolute
from embedlab.core.recipe import Recipe, load_recipe
from embedlab.data.file_name import FileName, is_row_file, parse_file_name, with_said
from embedlab.data.own_columns import (
    LABELLED,
    PAIRS,
    SCORED,
    SENTENCES,
    TRIPLETS,
    OwnData,
    own_data,
)
from embedlab.data.own_files import read_texts
from embedlab.data.table_file import read_rows
from embedlab.data.topics import SEED, is_held_out

RECIPES: Mapping[str, str] = MappingProxyType(
    {
        SCORED.title: "own-scored-pairs",
        LABELLED.title: "own-labelled-pairs",
        PAIRS.title: "own-pairs",
        TRIPLETS.title: "own-triplets",
        SENTENCES.title: "own-sentences",
    }
)
SHARE = 0.1  # of the rows, for the dev score, where no dev file is named


@dataclass(frozen=True, kw_only=True)
class OwnTraining:
    """The recipe and its values that train on a file, and what the user should know of them."""

    recipe: str
    overrides: tuple[str, ...]
    name: str  # of the run
    notes: tuple[str, ...]
    dev: (
        str | None
    )  # the rows of the dev score as one types them, relative to the working folder; None without any


def recipe_of(
    typed: str, overrides: Sequence[str] = (), *, encoder: str | None = None, dev: str | None = None
) -> tuple[Recipe, OwnTraining | None]:
    """Return the recipe called TYPED, or that of the file of rows TYPED, with the values of
    OVERRIDES, and what was detected of a file.
    """
    if (training := own_training(typed, overrides, dev)) is not None:
        return replace(
            load_recipe(training.recipe, (*training.overrides, *overrides), encoder=encoder),
            name=training.name,
        ), training
    said = overrides_of({"evaluate.dev": dev}) if dev is not None else ()
    return load_recipe(typed, (*said, *overrides), encoder=encoder), None


def own_training(typed: str, overrides: Sequence[str], dev: str | None) -> OwnTraining | None:
    """Return how the file that was TYPED in place of a recipe is trained on; None for the name or
    the TOML file of a recipe.

    OVERRIDES are the user's own values: those of `data.columns`, `data.labels`, `data.where` and
    `data.drop` take part in what is detected. DEV is the file of the dev score; it is read as the
    file of training where it has the same columns. Without it a part of the rows is held out.
    """
    if not is_row_file(typed):
        return None
    data = own_data(with_said(parse_file_name(typed), overrides).text)
    values: dict[str, object] = {
        "data.files": absolute([str(data.file.path)]),
        "evaluate.tasks": [],
    }
    values |= {
        f"data.{key}": value
        for key, value in (
            ("columns", data.ours),
            ("labels", dict(data.labels)),
            ("where", dict(data.file.where)),
            ("drop", dict(data.file.drop)),
        )
        if value
    }
    values |= _scale(data)
    rows: _DevRows | None = None
    if _needs_dev(overrides):
        rows = _dev_rows(data, dev)
        file = rows.file
        values["evaluate.dev"] = (
            "none"
            if file is None
            else file.with_options(path=Path(absolute([str(file.path)])[0])).text
        )
        values |= {"data.held_out": file.held_out} if file is not None and file.held_out else {}
    recipe = RECIPES[data.kind.title]
    notes = (
        *data.lines(),
        f"  recipe {recipe}; `embedlab recipes {recipe}` shows it",
        *([rows.note] if rows else []),
    )
    return OwnTraining(
        recipe=recipe,
        overrides=overrides_of(values),
        name=_run_name(data.file.path),
        notes=notes,
        dev=rows.typed if rows is not None else None,
    )


def _needs_dev(overrides: Sequence[str]) -> bool:
    return not any(override.startswith("evaluate.dev=") for override in overrides)


def _scale(data: OwnData) -> dict[str, object]:
    """Return the highest score as the recipe states it; scores of which the scale is open are
    refused.
    """
    if data.scores is None or data.scale is None:
        return {}
    high = data.scale[1]
    if data.scores.contradicts(high) and not data.file.low_scores:
        first = data.file.with_options(scale=(min(0.0, data.scores.low), data.scores.largest)).text
        other = data.file.with_options(
            scale=(min(0.0, data.scores.low), high), low_scores=True
        ).text
        raise UsageError(
            f"{data.file.path}: the scores are {data.scores}: of which scale?",
            hint=f"write '{first}' or '{other}'",
        )
    return {
        "objective.highest": high,
        **({"data.low_scores": True} if data.file.low_scores else {}),
    }


@dataclass(frozen=True, kw_only=True)
class _DevRows:
    """The rows of the dev score, and what to say of them."""

    note: str
    file: FileName | None = None  # with all that was detected; None without any
    typed: str | None = None  # the same as one types it


def _dev_rows(data: OwnData, dev: str | None) -> _DevRows:
    """Return the rows of the dev score: the file DEV, read as the file of training where it has the
    same columns, or a part of that.
    """
    if dev is None:
        return _held_out(data)
    file = parse_file_name(dev)
    if (
        file.is_plain
        and data.columns
        and file.is_table
        and {*data.columns.values()} <= {*read_rows(file.path, needed=()).columns}
    ):
        file = file.with_options(roles=data.said.roles, labels=data.said.labels)
    dev_data = own_data(file.text)
    if dev_data.kind == SENTENCES:
        raise UsageError(
            f"{dev}: single sentences give no dev score",
            hint="name a file of pairs, with scores or without",
        )
    return _DevRows(note=f"dev: {dev_data.lines()[0]}", file=dev_data.said, typed=file.text)


def _held_out(data: OwnData) -> _DevRows:
    """Return the part of the file that is held out, whole topics of it."""
    if data.kind == SENTENCES:
        return _DevRows(note="no dev score: single sentences have none; --dev FILE names pairs")
    status = data.file.path.stat()
    count = _held_out_rows(data.said.text, status.st_size, status.st_mtime_ns)
    if not count:
        why = (
            f"no part of the {data.rows} rows is large enough and shares no sentence with the rest"
        )
        return _DevRows(note=f"no dev score: {why}; --dev FILE names pairs")
    typed = data.file.with_options(held_out=SHARE, scale=None, low_scores=False).text
    note = (
        f"dev: {count} of {data.rows} rows that share no sentence with the rest (seed "
        f"{SEED}): '{typed}'"
    )
    return _DevRows(note=note, file=data.said.with_options(held_out=SHARE), typed=typed)


@lru_cache(maxsize=16)  # a form plans at each key; a file is that of its size and time
def _held_out_rows(name: str, _size: int, _modified_ns: int) -> int:
    data = own_data(name)
    return int(is_held_out(read_texts(data).frame, data.texts, SHARE).sum())


def _run_name(path: Path) -> str:
    """Return a name for the run of a file that a run can have."""
    return re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9._+-]+", "-", path.stem).strip("-") or "own"
