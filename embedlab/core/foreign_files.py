"""Files that others may have made: only regular files are read, and only up to a size, so that a
device or pipe cannot block or fill us.
"""

import os
import stat
from pathlib import Path
from typing import NamedTuple

from embedlab.core.errors import EmbedlabError, MissingError

MIB = 2**20

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class OtherContent(NamedTuple):
    """What a file is in place of what its name says, and what to do with it."""

    what: str
    hint: str


_PACKED = "unpack it, and name what was in it"
# How files begin that are in the place of others; in lower case.
_SIGNATURES = {
    b"version https://git-lfs.github.com/spec/": OtherContent(
        "a git-lfs pointer, not the file itself", "fetch the file: git lfs pull"
    ),
    b"<!doctype html": OtherContent("a web page, not the file", "get the file again"),
    b"<html": OtherContent("a web page, not the file", "get the file again"),
    b"\x1f\x8b": OtherContent("compressed by gzip", _PACKED),
    b"bzh91ay&sy": OtherContent("compressed by bzip2", _PACKED),
    b"\xfd7zxz": OtherContent("compressed by xz", _PACKED),
    b"\x28\xb5\x2f\xfd": OtherContent("compressed by zstd", _PACKED),
    b"pk\x03\x04": OtherContent("a zip archive or a spreadsheet", "unpack it, or save it as .csv"),
    b"par1\x15": OtherContent("a parquet file", "let its name end in .parquet"),
    b"\xff\xfe": OtherContent("text in UTF-16", "convert it to UTF-8, for example with iconv"),
    b"\xfe\xff": OtherContent("text in UTF-16", "convert it to UTF-8, for example with iconv"),
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


def other_content(head: bytes) -> OtherContent | None:
    """Return what a file that begins with HEAD is instead of text or weights, by its signature."""
    start = head[:64].lstrip().lower()
    return next((other for sign, other in _SIGNATURES.items() if start.startswith(sign)), None)
