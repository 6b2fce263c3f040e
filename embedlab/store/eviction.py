"""The one eviction: of what embedlab wrote into a folder of the cache, the least recently used
entries are deleted first.
"""

from pathlib import Path

from embedlab.store.marks import own_files, remove_own


def evict_beyond(folder: Path, kind: str, suffix: str, *, entries: int) -> None:
    """Delete what is ours of the entries of a KIND in FOLDER, files with this SUFFIX, that are
    older than the newest ENTRIES.
    """
    for path in _oldest_first(folder, suffix)[:-entries]:  # what stays is not opened
        remove_own(own_files(kind, path), path)


def evict_above(folder: Path, kind: str, *, size: int, newest: Path) -> None:
    """Delete the oldest entries of a KIND in FOLDER, which are folders, until ours are at most SIZE
    bytes; NEWEST stays.

    What others have put there neither counts nor is deleted. Processes that read an entry keep
    their mappings.
    """
    ours = {path: own_files(kind, path) for path in _oldest_first(folder, "")}
    left = sum(map(_bytes, ours.values()))
    for path, files in ours.items():
        if left <= size:
            return
        if path != newest:
            left -= _bytes(files)
            remove_own(files, path)


def _oldest_first(folder: Path, suffix: str) -> list[Path]:
    entries = (
        path for path in folder.iterdir() if path.suffix == suffix and path.is_dir() != bool(suffix)
    )
    return sorted(entries, key=lambda path: path.stat().st_mtime)


def size_of(kind: str, entry: Path) -> int:
    """Return the bytes of our files of an ENTRY."""
    return _bytes(own_files(kind, entry))


def _bytes(files: list[Path]) -> int:
    return sum(file.stat().st_size for file in files)
