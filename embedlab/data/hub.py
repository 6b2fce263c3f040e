"""Rows from the Hugging Face hub, always at a pinned revision."""

import logging
import re
from contextlib import nullcontext
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from embedlab.core.errors import Hint, MissingError, NamedOption
from embedlab.core.network import is_reachable
from embedlab.core.paths import file_hash
from embedlab.data.dataset import CLASS_COLUMN, DatasetKind, HubSource, ParsedRows, rows_of_kind
from embedlab.data.table_file import require_columns, selected_rows

NO_HUB = "give a file of pairs, or hub:FOLDER with a copy of the repository"
_DATA_FOLDER = (
    "add --data starter for the pairs inside embedlab, or --data DIR for a folder that holds the "
    "corpus; `embedlab data get` fills one on a machine with a network"
)


def read_hub(hub: HubSource, kind: DatasetKind) -> ParsedRows:
    """Return the rows of a split on the hub in our columns; unlabelled rows are skipped and
    counted.
    """
    table = load_split(hub, otherwise=_DATA_FOLDER)
    require_columns(_title(hub), table, hub.columns.values())
    label = CLASS_COLUMN.get(kind)
    if hub.labels and label is not None:
        names = dict(enumerate(hub.labels))
        table = table.with_columns(
            pl.col(hub.columns[label]).replace_strict(names, default=None, return_dtype=pl.String)
        )
    ours = table.select(pl.col(column).alias(name) for name, column in hub.columns.items())
    frame = rows_of_kind(ours, kind)
    complete = frame.drop_nulls(list(hub.columns))
    unlabelled = len(frame) - len(complete)
    return ParsedRows(frame=complete, skipped={"no label": unlabelled} if unlabelled else {})


def load_split(hub: HubSource, *, otherwise: str) -> pl.DataFrame:
    """Return all columns of a split on the hub, or of a repository in the hub's layout in a local
    folder.

    A hub that cannot be reached is a MissingError; OTHERWISE is its hint for what can be done
    without the hub.
    """
    load = _load if is_local(hub.repository) else _load_once
    if load is _load_once and not is_reachable():
        raise MissingError(
            f"{hub.repository!r} ({hub.split}) is not in the data folder, and the hub cannot "
            f"be reached",
            hint=otherwise,
        )
    table = load(hub.repository, hub.config, hub.split, hub.revision, otherwise)
    return selected_rows(f"{_title(hub)} ({hub.split})", table, hub.where, {})


def _load(
    repository: str, config: str | None, split: str, revision: str, otherwise: str
) -> pl.DataFrame:
    import datasets
    import huggingface_hub

    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(logging.CRITICAL)  # what it prints of a file is in its error
    huggingface_hub.logging.set_verbosity_error()  # it prints a line for each of its attempts
    context = TemporaryDirectory() if is_local(repository) else nullcontext()
    is_hidden = Path(repository).exists() and not is_local(repository)
    try:
        # The client knows a folder by its last name and its card alone: in its shared cache it
        # would give the rows of another.
        with context as cache_folder:
            hub_dataset = datasets.load_dataset(
                # for a bare name a local folder would win
                f"{'hf://datasets/' * is_hidden}{repository}",
                config,
                split=split,
                revision=revision or None,
                cache_dir=cache_folder,
                keep_in_memory=cache_folder is not None,
                trust_remote_code=False,
            )
    except Exception as error:  # the client raises a dozen unrelated types for "not reachable"
        location = f" at revision {revision[:8]} from the hub" if revision else ""
        # its own message of unreadable files names no reason
        reason = " ".join(str(error.__cause__ or error).split())
        remedy = "get its files again" if is_local(repository) else "check the network"
        hint = f"{remedy}, or {otherwise}"
        if "Unknown split" in reason or "corresponds to no data" in reason:
            hint = "name one of its splits that has rows: ?split=NAME"
        elif "Config name is missing" in reason or "BuilderConfig" in reason:
            hint = "name one of its configurations: ?config=NAME"
        raise MissingError(
            f"cannot get {repository!r} ({split}){location}: {reason}", hint=hint
        ) from error
    # without a network the client uses any revision in its cache
    paths = [Path(file["filename"]) for file in hub_dataset.cache_files]
    folders = {part for path in paths for part in path.parts}
    others = folders - {revision}
    other_revisions = [name for name in others if re.fullmatch("[0-9a-f]{40}", name)]
    if revision and other_revisions:
        raise MissingError(
            f"the hub's client gave {repository!r} at revision {min(other_revisions)[:8]}, not "
            f"{revision[:8]}",
            hint=Hint(
                "try again with a network, or give a folder that holds the corpus with ",
                NamedOption("--data", "DIR"),
            ),
        )
    table: pl.DataFrame = hub_dataset.to_polars()
    return table


# of the hub: a command opens each dataset several times, at a revision that does not change
_load_once = lru_cache(maxsize=4)(_load)


def is_local(repository: str) -> bool:
    """Return whether REPOSITORY is a folder in the hub's layout, not a name on the hub."""
    return Path(repository).is_absolute()


def copy_hashes(folder: Path) -> dict[str, str]:
    """Return the hash of each file of a copy of a repository in FOLDER; its own bookkeeping does
    not count.
    """
    hashes = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            hashes[str(name)] = file_hash(path)
    return hashes


@cache  # one commit for a whole command
def commit(repository: str, revision: str) -> str:
    """Return the commit that REVISION, a branch, tag or part of a commit's name, means in a
    REPOSITORY on the hub.

    A REVISION that the hub does not have, or an unreachable hub, is a MissingError.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    if not is_reachable():
        raise MissingError(f"{repository!r} is on the hub, which cannot be reached", hint=NO_HUB)
    try:
        return str(HfApi().dataset_info(repository, revision=revision).sha)
    except Exception as error:  # the client's types for a dropped connection are unrelated
        is_unknown = isinstance(error, RepositoryNotFoundError | HFValidationError)
        reason = "no such dataset" if is_unknown else str(error).strip().split("\n")[0]
        hint = "check the name; private ones need `hf auth login`"
        raise MissingError(
            f"cannot get {repository!r} from the hub: {reason}",
            hint=hint if is_unknown else f"try again, or {NO_HUB}",
        ) from error


def _title(hub: HubSource) -> str:
    return f"{hub.repository} at {hub.revision[:8]}" if hub.revision else hub.repository
