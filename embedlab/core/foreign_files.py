"""Files that others may have made: only regular files are read, and only up to a size, so that a
device or pipe cannot block or fill us; and links in a folder of ours are not followed out of it.
"""

import errno
import os
import shlex
import stat
from pathlib import Path
from typing import BinaryIO, cast

from embedlab.core.errors import EmbedlabError, MissingError, UsageError

MIB = 2**20
LARGEST_OUTPUT = 256 * MIB

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a link",
}


_SIGNED = 64  # bytes
GZIP = b"\x1f\x8b"
_PACKED = "unpack it, and name what was in it"
# How files begin that are in the place of others, in lower case; what they are, and what to do with
# them.
_SIGNATURES: tuple[tuple[bytes | tuple[bytes, ...], str, str], ...] = (
    (
        b"version https://git-lfs.github.com/spec/",
        "a git-lfs pointer, not the file itself",
        "fetch the file: git lfs pull",
    ),
    ((b"<!doctype html", b"<html"), "a web page, not the file", "get the file again"),
    (GZIP, "compressed by gzip", _PACKED),
    (b"bzh91ay&sy", "compressed by bzip2", _PACKED),
    (b"\xfd7zxz", "compressed by xz", _PACKED),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", _PACKED),
    (b"pk\x03\x04", "a zip archive or a spreadsheet", "unpack it, or save it as .csv"),
    (b"par1\x15", "a parquet file", "let its name end in .parquet"),
    (b"arrow1", "an Arrow file", "write its rows into a .parquet file"),
    (
        (b"\xff\xfe", b"\xfe\xff"),
        "text in UTF-16 or UTF-32",
        "convert it to UTF-8, for example with iconv",
    ),
)


def read_foreign(path: Path, *, limit: int, error: type[EmbedlabError] = MissingError) -> bytes:
    """Return the content of a regular file of at most LIMIT bytes; anything else is an ERROR before
    it is read.
    """
    # a pipe without a writer would block
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        _refuse(path, os.fstat(descriptor), limit, error)
        content = file.read(limit + 1)
    if len(content) > limit:  # it grew meanwhile
        raise _too_large(path, limit, error)
    return content


def open_own(path: Path, mode: str = "ab") -> BinaryIO:
    """Open a file that a run, a grid or the cache has for itself: a link or a pipe in its place,
    which whoever made the folder can have put there, is a MissingError.
    """

    def plain(name: str, flags: int) -> int:
        descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        return descriptor

    try:
        return cast("BinaryIO", open(path, mode, buffering=0, opener=plain))
    except OSError as error:
        if error.errno not in {errno.ELOOP, errno.ENXIO, errno.EISDIR}:
            raise
        raise _not_plain(path, path.lstat()) from error


def refuse_links(folder: Path) -> None:
    """Refuse a FOLDER of ours that holds anything but files and folders: a link leads out of it."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            status = (path := Path(parent, name)).lstat()
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                raise _not_plain(path, status)


def check_output(path: Path, option: str, *, example: str, what: str, mark: bytes) -> None:
    """Refuse a PATH, named by an OPTION, where WHAT cannot be written or would replace anything but
    an older one, which holds our MARK; before long work begins.
    """
    if path.is_dir():
        raise UsageError(
            f"{option} is {str(path)!r}, a folder", hint=f"for example {option} {path / example}"
        )
    if not path.parent.is_dir():
        raise UsageError(
            f"{option} is {str(path)!r}, but there is no folder {str(path.parent)!r}",
            hint=f"mkdir -p {path.parent}",
        )
    try:
        is_from_embedlab = mark in read_foreign(path, limit=LARGEST_OUTPUT, error=UsageError)
    except FileNotFoundError:
        return
    except (UsageError, OSError):  # not a file, or none that may be read
        is_from_embedlab = False
    if not is_from_embedlab:
        raise UsageError(
            f"{option} is {str(path)!r}, which is not {what} of embedlab",
            hint="choose another name, or remove that file",
        )


def _not_plain(path: Path, status: os.stat_result) -> MissingError:
    return MissingError(
        f"{str(path)!r} is {_kind(status)}, not a file of its own",
        hint=f"it is not followed out of its folder; delete it: rm {shlex.quote(str(path))}",
    )


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
        raise error(f"{path}: {_kind(status)}, not a file", hint="replace it by a file")
    if limit is not None and status.st_size > limit:
        raise _too_large(path, limit, error)


def _kind(status: os.stat_result) -> str:
    return _KINDS.get(stat.S_IFMT(status.st_mode), "something else")


def _too_large(path: Path, limit: int, error: type[EmbedlabError]) -> EmbedlabError:
    return error(f"{path}: larger than {limit // MIB} MiB", hint="is this the file that was meant?")


def refuse_other_content(path: Path) -> None:
    """Refuse the file at PATH where it is by its signature another one than its name says."""
    content, hint = _content_of(path)
    is_named_so = path.suffix.lower() == ".parquet" and "parquet" in content
    if content and not is_named_so:
        raise MissingError(f"{path} is {content}", hint=hint)


def hint_of_content(path: Path, otherwise: str) -> str:
    """Return what the file at PATH is by its signature and what to do with it; OTHERWISE if its
    signature is unknown.
    """
    content, hint = _content_of(path)
    return f"it is {content}: {hint}" if content else otherwise


def _content_of(path: Path) -> tuple[str, str]:
    """Return what the file at PATH is instead of text or weights, by its signature, and what to do
    with it; empty texts if its signature is unknown.
    """
    with path.open("rb") as file:
        start = file.read(_SIGNED).lstrip().lower()
    for signature, content, hint in _SIGNATURES:
        if start.startswith(signature):
            return content, hint
    return "", ""
