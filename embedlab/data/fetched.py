"""Which files of a data folder `data get` wrote, and from which revision on the hub: their content is known by that."""

from collections.abc import Mapping
from pathlib import Path

from embedlab.core.paths import disk_errors, write_atomic

DATA_HINT = "choose another folder with --data"
RECORD = "embedlab-get.tsv"  # file, sha256 and repository@revision on each line


def record(folder: Path, sha256: Mapping[str, str], revision: str) -> None:
    """Note in FOLDER that the files with these hashes were made of a REVISION on the hub."""
    from filelock import FileLock  # who only reads the notes need not load it

    with disk_errors(folder / RECORD, hint=DATA_HINT), FileLock(folder / f".{RECORD}.lock"):  # two may fetch different datasets at once
        known = {file: line for line in _lines(folder) if (file := line.partition("\t")[0]) not in sha256}
        known |= {file: f"{file}\t{digest}\t{revision}" for file, digest in sha256.items()}
        write_atomic(folder / RECORD, "".join(f"{known[file]}\n" for file in sorted(known)), hint=DATA_HINT)


def revision_of(folder: Path, sha256: Mapping[str, str]) -> str | None:
    """The revision that all files with these hashes were made of; None where one has changed since, or came from elsewhere."""
    known = {tuple(line.split("\t")[:2]): line.rpartition("\t")[2] for line in _lines(folder) if line.count("\t") == 2}
    revisions = {known.get((file, digest)) for file, digest in sha256.items()}
    return revisions.pop() if len(revisions) == 1 else None


def _lines(folder: Path) -> list[str]:
    try:
        return (folder / RECORD).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # nothing was fetched into this folder
        return []
