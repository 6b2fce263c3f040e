"""Records which files of a data folder `data get` wrote, and from which hub revision: this
identifies their content.
"""

from collections.abc import Mapping
from pathlib import Path

from embedlab.core.disk import disk_errors, sole_writer, write_atomic

DATA_HINT = "choose another folder with --data"
RECORD = "embedlab-get.tsv"  # file, sha256 and repository@revision on each line


def record(folder: Path, sha256: Mapping[str, str], revision: str) -> None:
    """Record in FOLDER that the files with these hashes come from a REVISION on the hub."""
    with (
        disk_errors(folder / RECORD, hint=DATA_HINT),
        sole_writer(folder / RECORD),
    ):  # several processes may fetch
        known = {
            file: line for line in _lines(folder) if (file := line.partition("\t")[0]) not in sha256
        }
        known |= {file: f"{file}\t{digest}\t{revision}" for file, digest in sha256.items()}
        write_atomic(
            folder / RECORD, "".join(f"{known[file]}\n" for file in sorted(known)), hint=DATA_HINT
        )


def revision_of(folder: Path, sha256: Mapping[str, str]) -> str | None:
    """Return the revision that all files with these hashes come from; None if one has changed
    since, or came from elsewhere.
    """
    known = {
        tuple(line.split("\t")[:2]): line.rpartition("\t")[2]
        for line in _lines(folder)
        if line.count("\t") == 2
    }
    revisions = {known.get((file, digest)) for file, digest in sha256.items()}
    return revisions.pop() if len(revisions) == 1 else None


def _lines(folder: Path) -> list[str]:
    try:
        return (folder / RECORD).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # nothing was fetched into this folder
        return []
