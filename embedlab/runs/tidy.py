"""Delete unneeded files of run folders: checkpoints of finished runs, and leftovers of killed
processes.
"""

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from embedlab.core.disk import is_locked
from embedlab.runs.status import is_trained
from embedlab.runs.store import RunFolder

# Files that only the process that holds a run writes. Scores, evaluations and the training text
# have other writers too.
_OWN = ("model", "checkpoints", "heads.safetensors", "recipe.toml", "environment.json")


def prune_run(run: RunFolder) -> int:
    """Delete files of RUN that neither `--resume` nor `export` needs, and return the freed bytes. A
    held run is refused.
    """
    with run.lock():
        freed_bytes = sweep(run)
        return freed_bytes + (drop_checkpoints(run) if is_trained(run) else 0)


def prune_removed(runs: Path) -> dict[str, int]:
    """Delete what killed removals left in the runs folder; gives the bytes freed by run, such as
    "sbert@3".

    A removal under way holds the lock of its run, and is left alone.
    """
    freed_by_run: dict[str, int] = {}
    for path in sorted(runs.glob("*/.seed-*.tmp-*")):
        match = re.fullmatch(r"\.seed-(\d+)\.tmp-[0-9a-f]+", path.name)
        if match is None or is_locked(path / "lock"):
            continue
        run = f"{path.parent.name}@{int(match[1])}"
        freed_by_run[run] = freed_by_run.get(run, 0) + _remove(path)
        with suppress(OSError):  # other seeds are still there
            path.parent.rmdir()
    return freed_by_run


def drop_checkpoints(run: RunFolder) -> int:
    """Delete a finished run's checkpoints, with the optimizer three times the size of its model,
    and return the freed bytes.
    """
    return _remove(run.checkpoints)


def sweep(run: RunFolder) -> int:
    """Delete the temporary files that killed processes left in RUN, which this process must hold,
    and return the freed bytes.
    """
    return sum(_remove(path) for path in list(_leftovers(run)))


def _leftovers(run: RunFolder) -> Iterator[Path]:
    prefixes = tuple(f".{name}." for name in _OWN)
    yield from (path for path in run.path.iterdir() if path.name.startswith(prefixes))
    yield from run.checkpoints.glob(".step-*")
    yield from run.checkpoints.glob(".best-*")


def _remove(path: Path) -> int:
    """Delete a file or folder as far as possible, and return the freed bytes."""
    size_before = _size(path)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return size_before - _size(path)


def _size(path: Path) -> int:
    """The bytes that end with PATH: of a file, or of all files in a folder, that nothing outside
    names too.
    """
    names: dict[tuple[int, int], list[os.stat_result]] = {}
    for file in [path, *path.rglob("*")] if not path.is_symlink() else []:
        with suppress(FileNotFoundError):
            status = file.lstat()
            if stat.S_ISREG(status.st_mode):
                names.setdefault((status.st_dev, status.st_ino), []).append(status)
    return sum(
        statuses[0].st_size for statuses in names.values() if len(statuses) == statuses[0].st_nlink
    )
