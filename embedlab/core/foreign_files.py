"""Files that others may have made: only regular files are read, and only up to a size, so that a
device or pipe cannot block or fill us.
"""

import os
import stat
from pathlib import Path

from embedlab.core.errors import EmbedlabError, MissingError

MIB = 2**20

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def read_foreign(path: Path, *, limit: int, error: type[EmbedlabError] = MissingError) -> bytes:
    """Return the content of a regular file of at most LIMIT bytes; anything else is an ERROR before
    it is read.
    """
    descriptor = os.open(
        path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    )  # a pipe without a writer would block
    with os.fdopen(descriptor, "rb") as file:
        _refuse(path, os.fstat(descriptor), limit, error)
        content = file.read(limit + 1)
    if len(content) > limit:  # it grew meanwhile
        raise _too_large(path, limit, error)
    return content


def refuse_foreign(path: Path, *, limit: int | None = None) -> None:
    """Refuse PATH, which another library opens, where it is neither absent nor a regular file of at
    most LIMIT bytes.
    """
    if path.exists():
        _refuse(path, path.stat(), limit, MissingError)


def _refuse(
    path: Path, status: os.stat_result, limit: int | None, error: type[EmbedlabError]
) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise error(f"{path}: {kind}, not a file", hint="replace it by a file")
    if limit is not None and status.st_size > limit:
        raise _too_large(path, limit, error)


def _too_large(path: Path, limit: int, error: type[EmbedlabError]) -> EmbedlabError:
    return error(f"{path}: larger than {limit // MIB} MiB", hint="is this the file that was meant?")
