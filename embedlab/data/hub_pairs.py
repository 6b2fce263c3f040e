"""Scored pairs of any dataset on the hub, usable instead of a dataset name:
`hub:OWNER/NAME?split=test&s1=a&s2=b&score=c&scale=0-5`.

`hub:FOLDER` is a copy of such a repository on this machine, a path that begins with "/", "." or
"~". Without a revision the commit that the main branch is at now is read, and recorded with every
number.
"""

import os
import re
from dataclasses import replace
from pathlib import Path

import polars as pl

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.foreign_files import refuse_other_content
from embedlab.core.names import option_values, split_name
from embedlab.core.network import OFFLINE, ONLINE
from embedlab.core.paths import typed_path
from embedlab.data.dataset import DatasetState, HubSource, Part
from embedlab.data.file_name import HUB, stated_scale
from embedlab.data.hub import NO_HUB, commit, copy_hashes, is_local, load_split
from embedlab.data.own_files import scored_pairs
from embedlab.data.score_scale import ScoreScale
from embedlab.data.table_file import TABLES, require_columns
from embedlab.data.text_file import PLACE

_KEYS = ("split", "config", "s1", "s2", "score", "scale", "source", "where", "revision")
# option → our column
_OURS = {"s1": "sentence1", "s2": "sentence2", "score": "score", "source": "source"}


def parse_hub_name(name: str) -> tuple[HubSource, tuple[float, float] | None]:
    """Return the repository that NAME says, with an empty revision where none was typed, and the
    lowest and highest score; a violation of the grammar is a UsageError that quotes it.
    """
    repository, *parts = split_name(name.removeprefix(HUB), _KEYS)
    values = option_values(name, parts, _KEYS)
    if repository.startswith(("/", ".", "~")):
        repository = os.path.abspath(typed_path(repository))  # noqa: PTH100 - a link stays a link
    elif not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise UsageError(
            f"{name!r}: {repository!r} is not a dataset of the hub",
            hint="write hub:OWNER/NAME, or hub:FOLDER for a copy of one",
        )
    column, _, value = values.get("where", "").partition(":")
    if "where" in values and not value:
        raise UsageError(
            f"{name!r}: where is {values['where']!r}",
            hint="write ?where=COLUMN:VALUE, for example ?where=lang:en",
        )
    source = HubSource(
        repository=repository,
        revision=values.get("revision", ""),
        split=values.get("split", "test"),
        columns={role: values.get(option, role) for option, role in _OURS.items()},
        config=values.get("config"),
        where={column: value} if value else {},
    )
    return source, stated_scale(name, values.get("scale"))


def open_hub_pairs(name: str, *, offline: bool) -> Part:
    """Return the pairs that NAME says; what cannot be read is one error that names the columns, or
    the row counted from 1.
    """
    hub, scale = parse_hub_name(name)
    sha256: dict[str, str] = {}
    if is_local(hub.repository):
        folder = Path(hub.repository)
        if not folder.is_dir():
            raise MissingError(
                f"no folder {str(folder)!r}",
                hint="hub:FOLDER is a copy of a repository of the hub; a file needs no hub:",
            )
        sha256 = copy_hashes(folder)
    elif offline:
        raise MissingError(f"{name!r} is not read: {OFFLINE}", hint=f"{ONLINE}; or {NO_HUB}")
    else:
        hub = replace(hub, revision=commit(hub.repository, hub.revision or "main"))
    columns = dict(hub.columns)
    hint = f"name its columns: {HUB}{hub.repository}?s1=NAME&s2=NAME&score=NAME"
    try:
        table = load_split(hub, otherwise=NO_HUB)
        if columns["source"] == "source" not in table.columns:
            del columns["source"]
        require_columns(hub.repository, table, columns.values(), hint=hint, error=UsageError)
    except EmbedlabError:  # the client does not know a pointer of git-lfs
        for file in map(Path, sha256):
            if hub.split in str(file) and file.suffix in TABLES:
                refuse_other_content(Path(hub.repository) / file)
        raise
    pairs = table.select(pl.col(name).alias(role) for role, name in columns.items())
    pairs = pairs.with_row_index(PLACE, offset=1)
    rows = scored_pairs(name, pairs, scale=scale)
    if scale is not None:
        ScoreScale.of(rows.frame["gold"]).refuse_other(repr(name), scale)
    state = DatasetState(
        name=name,
        rows=len(rows.frame),
        origin="hub",
        revision=f"{hub.repository}@{hub.revision}" if hub.revision else None,
        sha256=sha256,
        skipped=rows.skipped,
    )
    return Part(frame=rows.frame, state=state)
