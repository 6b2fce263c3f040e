"""Which files of the cache folder embedlab wrote: only those are counted, trimmed and cleared.

The folder may be one that the user chose, with other files in it. Each file of ours carries a mark:
segments of vectors their names, parquet files our metadata, JSON files our checksum, folders of
tokens their list of checksums, encoders of `--data tiny` their statement.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from embedlab.core.errors import MissingError
from embedlab.core.foreign_files import MIB, read_foreign
from embedlab.store.sealed import CHECKSUMS, read_sealed_json

NAME_FILE = "model.txt"  # in a folder of vectors: the name under which the encoder was used last
LARGEST_JSON = 64 * MIB

_SEAL = re.compile(rb'"checksum": "embedlab-xxh3:[0-9a-f]{32}"')
_FINGERPRINT = re.compile("[0-9a-f]{16}")
_SEGMENT = re.compile(r"[0-9a-f]{32}\.(vectors|cut|sums|keys)\.npy")
_UNFINISHED = re.compile(rf"\.{_SEGMENT.pattern}\.((tmp|old)-[0-9a-f]+|[0-9a-f]{{32}}\.tmp)")
_STATEMENT = "embedlab.json"
_OF_ENCODERS = {
    *(
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.txt",
    ),
    *("special_tokens_map.json", "added_tokens.json", _STATEMENT),
}


def is_segment(name: str) -> bool:
    """Return whether a file of this NAME is part of a segment of vectors, finished or not."""
    return _SEGMENT.fullmatch(name) is not None or _UNFINISHED.fullmatch(name) is not None


def own_vectors(folder: Path) -> list[Path]:
    """Return the files of an encoder's vectors in FOLDER."""
    listed = list(folder.iterdir())
    paths = list(_files(path for path in listed if is_segment(path.name)))
    is_emptied = _FINGERPRINT.fullmatch(folder.name) is not None and [
        path.name for path in listed
    ] == [NAME_FILE]
    return [*paths, *_files([folder / NAME_FILE])] if paths or is_emptied else []


def own_tokens(folder: Path) -> list[Path]:
    """Return the files of tokenised sentences in FOLDER, as their list of checksums names them."""
    with suppress(OSError, ValueError, KeyError, TypeError, MissingError):
        names = [
            name
            for name in read_sealed_json(folder / CHECKSUMS, hint="")["xxh3"]
            if Path(name).name == name
        ]
        return list(_files(folder / name for name in (*names, CHECKSUMS)))
    return []


def is_ours(path: Path) -> bool:
    """Return whether a parquet or JSON file carries our mark."""
    if path.suffix == ".parquet":
        return _has_metadata(path)
    with suppress(OSError, ValueError, RecursionError, MissingError):
        content = read_foreign(path, limit=LARGEST_JSON)
        return path.suffix == ".json" and _SEAL.search(content) is not None
    return False


def own_files(kind: str, entry: Path) -> list[Path]:
    """Return the files that embedlab wrote of an ENTRY, which is in the cache's folder for a KIND;
    a link is not ours.
    """
    try:
        return [] if entry.is_symlink() else _OWN[kind](entry)
    except OSError:  # removed meanwhile, or another user's
        return []


def remove_own(files: Iterable[Path], entry: Path) -> None:
    """Delete FILES of an ENTRY, and those of its folders that are then empty."""
    for path in files:
        path.unlink(missing_ok=True)
    if entry.is_dir() and not entry.is_symlink():
        for folder in (
            *sorted((path for path in entry.rglob("*") if path.is_dir()), reverse=True),
            entry,
        ):
            with suppress(OSError):
                folder.rmdir()


def _own_scores(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    candidates = (
        *folder.glob("scores*.parquet"),
        *folder.glob("evaluations/**/*.json"),
        *folder.glob("evaluations/**/*.parquet"),
    )
    paths = [path for path in _files(candidates) if is_ours(path)]
    return [
        *paths,
        *(
            path
            for path in _files(folder.glob(".scores*.parquet.lock"))
            if paths and not path.stat().st_size
        ),
    ]


def _own_encoder(folder: Path) -> list[Path]:
    """The files of an encoder of `--data tiny`: its statement says that it was trained on
    nothing.
    """
    with suppress(OSError, ValueError, MissingError):
        if json.loads(read_foreign(folder / _STATEMENT, limit=MIB)) == {"training_text": []}:
            return [path for path in _files(folder.iterdir()) if path.name in _OF_ENCODERS]
    return []


def _own_file(path: Path) -> list[Path]:
    return [each for each in _files([path]) if is_ours(each)]


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    return (path for path in paths if path.is_file() and not path.is_symlink())


def _has_metadata(path: Path) -> bool:
    import polars as pl

    with suppress(OSError, ValueError, pl.exceptions.PolarsError):
        return any(key.startswith("embedlab") for key in pl.read_parquet_metadata(path))
    return False


_OWN: Mapping[str, Callable[[Path], list[Path]]] = MappingProxyType(
    {
        "embeddings": own_vectors,
        "models": _own_scores,
        "tokens": own_tokens,
        "tiny-encoder": _own_encoder,
        "pairs": _own_file,
        "comparisons": _own_file,
        "similar-sentences": _own_file,
        "training-text": _own_file,
    }
)
KINDS = tuple(_OWN)
