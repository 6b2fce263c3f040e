"""Rows from the Hugging Face hub, always at a pinned revision."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.data.dataset import CLASS_COLUMN, COLUMNS, DatasetKind, HubSource, ParsedRows


def read_hub(hub: HubSource, kind: DatasetKind) -> ParsedRows:
    """Return the rows of a split on the hub in our columns; unlabelled rows are skipped and counted."""
    loaded = _load(hub)
    absent = [theirs for theirs in hub.columns.values() if theirs not in loaded.columns]
    if absent:
        raise MissingError(f"{hub.repository} at {hub.revision[:8]} has no column {absent[0]!r}: found {', '.join(loaded.columns)}")
    label = CLASS_COLUMN.get(kind)
    if hub.labels and label is not None:
        names = dict(enumerate(hub.labels))
        loaded = loaded.with_columns(pl.col(hub.columns[label]).replace_strict(names, default=None, return_dtype=pl.String))
    frame = loaded.select(
        (pl.col(hub.columns[name]) if name in hub.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in COLUMNS[kind].items()
    )
    whole = frame.drop_nulls(list(hub.columns))
    unlabelled = len(frame) - len(whole)
    return ParsedRows(frame=whole, skipped={"no label": unlabelled} if unlabelled else {})


@cache
def is_reachable() -> bool:
    """Return whether the hub answers; cached, because its client retries for half a minute for each dataset."""
    from huggingface_hub import constants

    try:
        with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=5):
            pass
    except HTTPError:
        return True  # a refusal is also an answer
    except OSError:
        return False
    return True


def _load(hub: HubSource) -> pl.DataFrame:
    import datasets
    import huggingface_hub

    if not Path(hub.repository).is_absolute() and not is_reachable():
        raise MissingError(
            f"{hub.repository!r} ({hub.split}) is not in the data folder, and the hub cannot be reached",
            hint="give a folder that holds the corpus with --data DIR, or fill one on a machine with a network: embedlab data get",
        )
    datasets.disable_progress_bars()
    huggingface_hub.logging.set_verbosity_error()  # it prints a line for each of its attempts
    try:
        loaded = datasets.load_dataset(_address(hub.repository), split=hub.split, revision=hub.revision, trust_remote_code=False)
    except Exception as error:  # the hub's client raises a dozen unrelated types for "not reachable"
        raise MissingError(
            f"cannot get {hub.repository!r} ({hub.split}) at revision {hub.revision[:8]} from the hub: {error}",
            hint="check the network, or give a folder that holds the corpus with --data DIR",
        ) from error
    _check_revision(hub, [file["filename"] for file in loaded.cache_files])
    table: pl.DataFrame = loaded.to_polars()
    return table


def _address(repository: str) -> str:
    """Return an address that the client resolves to the hub's REPOSITORY only: for a bare name a local folder would win."""
    return f"hf://datasets/{repository}" if Path(repository).exists() and not Path(repository).is_absolute() else repository


def _check_revision(hub: HubSource, files: Sequence[str]) -> None:
    """Refuse rows of another revision: without a network the client uses any revision in its cache."""
    revisions = {part for file in files for part in Path(file).parts if re.fullmatch("[0-9a-f]{40}", part)}
    if revisions - {hub.revision}:
        found = min(revisions - {hub.revision})
        raise MissingError(
            f"the hub's client gave {hub.repository!r} at revision {found[:8]}, not {hub.revision[:8]}",
            hint="type the command again with a network, or give a folder that holds the corpus with --data DIR",
        )
