"""A cache of pair tables as parquet files: one is faster to read than a dozen corpora and score
files are to read and join.

The first paint of 26,099 pairs took 0.69 s of processor time more than that of an empty app with
this cache and 1.38 s without it for two models, 0.73 s and 1.27 s for five (minima of 12 starts in
turns on a busy machine with 2 processors).
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic_core import from_json

from embedlab.analysis.scores import ModelColumns
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.plugins import added
from embedlab.core.settings import Settings
from embedlab.core.version import __version__
from embedlab.data.pair_parts import shipped_pairs
from embedlab.store.entries import EntryKind, Store
from embedlab.store.tables import StoredTable, TableFormat
from embedlab.tui.pair_table.data import PairData, load_pairs
from embedlab.tui.stored_models import StoredModel


def open_pairs(settings: Settings, pair_file: Path | None = None) -> PairData:
    """The pairs without any model, from the cache or read and then cached."""
    if pair_file is not None:
        return load_pairs(settings, pair_file)
    path = cache_file(settings)
    if (cached := read_cached(path)) is not None:
        return cached
    data = load_pairs(settings)
    if data.table.height:
        store(data, path, settings)
    return data


def cache_file(settings: Settings, models: Sequence[StoredModel] = ()) -> Path:
    """The cache file of the pairs with the scores of MODELS; its name depends on the present score
    files.
    """
    parts = [__version__, str(settings.allow_partial), str(settings.data)]
    parts += [f"{plugin.name} {plugin.identity}" for plugin in added("datasets")]
    for model in models:
        parts += [model.name, *(str(seed) for seed in model.seeds)]
        parts += [f"{member} {path} {_state(path)}" for member, path in model.files.items()]
    stamp = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return Store(settings.cache).path(PAIR_TABLES, stamp[:16])


def read_cached(path: Path) -> PairData | None:
    """The pairs cached at PATH, if the file is complete and the files that they were read from did
    not change.
    """
    return Store(path.parents[1]).get(PAIR_TABLES, path.stem)


def store(data: PairData, path: Path, settings: Settings) -> None:
    """Write DATA to PATH; a disk that cannot be written only makes the next start slower."""
    # By path, so that checking them does not load the readers of every corpus.
    files = tuple(map(str, (*_files_of_pairs(settings), *map(Path, data.files))))
    Store(path.parents[1]).put(PAIR_TABLES, path.stem, replace(data, files=files))


def _table(data: PairData) -> StoredTable:
    models = [(model.name, model.members, model.seeds, model.is_published) for model in data.models]
    files = {file: _state(Path(file)) for file in data.files}
    known = {
        "data_marks": data.data_marks,
        "of_unknown_text": data.of_unknown_text,
        "missing": data.missing,
    }
    facts = {"gold_ranges": dict(data.gold_ranges), "models": models, "files": files, **known}
    return StoredTable(frame=data.table, facts=json.dumps(facts))


def _pairs(table: StoredTable, _path: Path) -> PairData:
    facts = from_json(table.facts)
    if any(_state(Path(file)) != state for file, state in facts["files"].items()):
        raise ValueError("a file of the pairs was changed")
    return PairData(
        table=table.frame,
        gold_ranges={
            name: (float(low), float(high)) for name, (low, high) in facts["gold_ranges"].items()
        },
        models=tuple(
            ModelColumns(
                name=name, members=tuple(members), seeds=tuple(seeds), is_published=is_published
            )
            for name, members, seeds, is_published in facts["models"]
        ),
        data_marks=tuple(facts["data_marks"]),
        of_unknown_text=tuple(facts["of_unknown_text"]),
        missing=tuple(facts["missing"]),
        files=tuple(facts["files"]),
    )


def _files_of_pairs(settings: Settings) -> Iterator[Path]:
    """Every file that a dataset may be read from, whether it exists or not: a new file changes the
    pairs.
    """
    if settings.data in {None, TINY_FOLDER}:
        return
    for chosen, split in shipped_pairs():
        for layout in chosen.splits[split].layouts:
            yield from (settings.data / file for file in layout.files)


def _state(path: Path) -> str:
    """The size and time of a file; empty if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"


PAIR_TABLES: EntryKind[PairData] = EntryKind(
    folder="pairs",
    format=TableFormat(facts="embedlab-pairs", to_table=_table, from_table=_pairs),
    is_cache=True,
    most_entries=4,
)
