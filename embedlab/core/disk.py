"""Files and folders that we store: written in one step with their checksum, and verified when they
are read; and the locks between processes.

A killed process never leaves half a file. Content carries its own checksum, so that both are
replaced in one step: a mark of fixed length among its own metadata (a JSON key, parquet or
safetensors metadata, a comment), of zeros while the checksum is computed. A folder that is written
as a whole lists the checksums of its files; a line of JSON ends in a short one of its own.
"""

import errno
import fcntl
import json
import os
import re
import resource
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import xxhash

from embedlab.core.errors import MissingError
from embedlab.core.foreign_files import open_own, refuse_foreign

KEY = "checksum"  # of metadata and of JSON objects
CHECKSUMS = "checksums.json"  # in a folder
# the hint for paths that the program chooses
ELSEWHERE = "choose another folder with --runs or EMBEDLAB_CACHE"

_PREFIX = b"embedlab-xxh3:"
_DIGITS = 32
_ZEROS = b"0" * _DIGITS
_LINE_END = re.compile(rb', "checksum": "([0-9a-f]{8})"\}[ \t\r\n]*$')
# A file exists where a folder is needed, or the file system, such as /proc, accepts no files.
_BLOCKED = (errno.ENOTDIR, errno.EEXIST, errno.ENOENT)

UNSEALED = (_PREFIX + _ZEROS).decode()  # the placeholder that `seal` replaces


class FullDiskError(MissingError):
    """A disk, or a user's share of it, has no room left, or a file would be larger than allowed."""


def largest_file(folder: Path) -> int:
    """Return how many bytes a file in FOLDER can take: as many as the disk has free, and as
    `ulimit -f` allows.
    """
    free_bytes = shutil.disk_usage(folder).free
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return free_bytes if limit == resource.RLIM_INFINITY else min(free_bytes, limit)


@contextmanager
def as_disk_errors(path: Path, *, hint: str = ELSEWHERE) -> Iterator[None]:
    """Turn a full, read-only or forbidden disk into a one-line error that names the PATH that could
    not be written.

    HINT says how to choose another folder.
    """
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise FullDiskError(
                f"no space left to write {str(path)!r}",
                hint="free some space; what was saved is intact",
            ) from error
        if error.errno == errno.EFBIG:
            raise FullDiskError(
                f"cannot write {str(path)!r}: {error.strerror}",
                hint="allow larger files: `ulimit -f` shows the limit; what was saved is intact",
            ) from error
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, *_BLOCKED}:
            raise MissingError(
                f"cannot write {str(path)!r}: {error.strerror}", hint=hint
            ) from error
        raise


@contextmanager
def as_reading_errors(path: Path, *, hint: str, what: str = "") -> Iterator[None]:
    """Turn whatever an absent or damaged file of ours at PATH raises into a MissingError that says
    WHAT it is.
    """
    description = f"{what} {str(path)!r}".strip()
    try:
        yield
    except OSError as error:
        raise MissingError(f"cannot read {description}: {error.strerror}", hint=hint) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MissingError(f"{description} is unusable", hint=hint) from error


def write_sealed(path: Path, content: bytes, *, hint: str = ELSEWHERE) -> None:
    """Replace PATH by CONTENT, in which the mark UNSEALED becomes its checksum, in one step."""
    write_atomic(path, seal(content), hint=hint)


def read_sealed(path: Path, *, hint: str) -> bytes:
    """Read a file that was written with a checksum; content that differs from it, or lost it, is a
    MissingError.
    """
    content = path.read_bytes()
    if not is_intact(content):
        raise damage_error(path, hint=hint)
    return content


def write_json(
    path: Path,
    values: Mapping[str, Any],
    *,
    indent: int | None = None,
    hint: str = ELSEWHERE,
) -> None:
    """Replace PATH by VALUES as JSON with their checksum, in one step."""
    write_atomic(path, sealed_json(values, indent=indent), hint=hint)


def read_sealed_json(path: Path, *, hint: str) -> Any:
    """Read what `write_json` wrote, without its checksum; text that is not JSON is a ValueError."""
    try:
        values = json.loads(read_sealed(path, hint=hint))
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if isinstance(values, dict):
        values.pop(KEY, None)
    return values


def write_atomic(path: Path, content: str | bytes, *, hint: str = ELSEWHERE) -> None:
    """Replace PATH by CONTENT in one step: a reader sees either the old file or the new one. A pipe
    or a device in its place stays, and is a MissingError.
    """
    with as_disk_errors(path, hint=hint):
        refuse_foreign(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Created like any other file, so that colleagues may read what the umask allows; mkstemp's
        # are private.
        with _temporary(path, lambda path: path.open("xb").close()) as temporary:
            with temporary.open("r+b") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync_folder(path.parent)


@contextmanager
def atomic_folder(path: Path, *, hint: str = ELSEWHERE, is_new: bool = False) -> Iterator[Path]:
    """Yield an empty folder next to PATH that replaces PATH when the block ends without an error.

    With IS_NEW it is an error if another process has created PATH meanwhile; that folder stays.
    """
    with as_disk_errors(path, hint=hint):
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(path) as temporary:
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    follow_umask(file)
                    _sync(file)
                elif file.is_dir():
                    sync_folder(file)
            sync_folder(temporary)
            _take_place(temporary, path, is_new=is_new)
            sync_folder(path.parent)


@contextmanager
def sealed_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces PATH, with the checksums of its files, when the block
    ends without an error.
    """
    with atomic_folder(path) as folder:
        yield folder
        write_checksums(folder)


def write_checksums(folder: Path) -> None:
    """List the checksum of every file in FOLDER in its `checksums.json`."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != CHECKSUMS)
    sums = {path.relative_to(folder).as_posix(): _file_digest(path) for path in files}
    (folder / CHECKSUMS).write_text(sealed_json({"xxh3": sums}, indent=1), encoding="utf-8")


def check_folder(folder: Path, *, hint: str) -> None:
    """Raise a MissingError if a file that `checksums.json` in FOLDER lists differs from it or is
    absent. Models of other programs have no such list.
    """
    listing = folder / CHECKSUMS
    if not listing.exists():
        return
    try:
        sums: Mapping[str, str] = dict(read_sealed_json(listing, hint=hint)["xxh3"])
    except (ValueError, KeyError, TypeError) as error:
        raise damage_error(listing, hint=hint) from error
    for name, expected in sums.items():
        path = folder / name
        if not path.is_file():
            raise MissingError(f"{str(path)!r} is missing: {CHECKSUMS} lists it", hint=hint)
        if _file_digest(path) != expected:
            raise damage_error(path, hint=hint)


def damage_error(path: Path, *, hint: str) -> MissingError:
    """Return the error of a file whose content differs from its checksum."""
    return MissingError(
        f"{str(path)!r} is damaged: its content does not match its checksum", hint=hint
    )


def follow_umask(path: Path) -> None:
    """Give the file at PATH the permissions of its folder, so that colleagues can read it;
    safetensors writes private files.
    """
    path.chmod(path.parent.stat().st_mode & 0o666)


def sync_folder(path: Path) -> None:
    """Wait until the names in the folder at PATH are on the disk; a file system that cannot do
    this, or forbids it, has its own ways.
    """
    try:
        _sync(path)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM}:
            raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder next to PATH; it is deleted after the block, unless it was moved."""
    with _temporary(path, Path.mkdir) as temporary:
        yield temporary


@contextmanager
def _temporary(path: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """Yield what MAKE makes next to PATH, locked by this process.

    Its name contains more than a process id, which another machine or a later process may share.
    The lock shows that the writer is alive; the leftovers of a killed one are unlocked, and the
    next write of the same path removes them.
    """
    _remove_leftovers(path)
    while True:
        temporary = path.with_name(f".{path.name}.tmp-{uuid4().hex}")
        make(temporary)
        with suppress(FileNotFoundError):  # taken for a leftover before it was locked
            descriptor = os.open(temporary, os.O_RDONLY)
            with suppress(OSError):  # a file system without locks
                wait_for_lock(descriptor)
            if is_same_file(descriptor, temporary):
                break
            os.close(descriptor)
    try:
        yield temporary
    finally:
        _remove(temporary)
        os.close(descriptor)


def _remove_leftovers(path: Path) -> None:
    """Remove what killed processes left next to PATH."""
    kinds = "tmp|old" if path.exists() else "tmp"  # the old one may be all there is
    leftover = re.compile(rf"\.{re.escape(path.name)}\.(?:{kinds})-[0-9a-f]+")
    with suppress(OSError):
        for sibling in path.parent.iterdir():
            if leftover.fullmatch(sibling.name):
                with suppress(OSError):  # another process holds it or has removed it
                    descriptor = os.open(sibling, os.O_RDONLY)
                    try:
                        if take_lock(descriptor):
                            _remove(sibling)
                    finally:
                        os.close(descriptor)


def _remove(path: Path) -> None:
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _take_place(folder: Path, path: Path, *, is_new: bool) -> None:
    """Move FOLDER to PATH, replacing what exists, even if other processes do the same at this
    moment.

    With IS_NEW an existing path, unless an empty folder, stays and is a FileExistsError.
    """
    while not _move_away(folder, path):
        if is_new:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        replaced_path = path.with_name(f".{path.name}.old-{uuid4().hex}")
        with suppress(FileNotFoundError):
            path.replace(replaced_path)
        is_done = _move_away(folder, path)
        _remove(replaced_path)
        if is_done:
            return


def _move_away(folder: Path, path: Path) -> bool:
    """Move FOLDER to PATH and return True, or return False where another folder with files is."""
    try:
        folder.replace(path)
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise
        return False
    return True


@contextmanager
def sole_writer(path: Path, *, hint: str = ELSEWHERE) -> Iterator[None]:
    """Hold the lock of the file or folder at PATH until the block ends; other writers wait. The
    lock is a file beside it, and is released when its process ends, however it ends.
    """
    lock = path.with_name(f".{path.name}.lock")
    while True:
        with as_disk_errors(path, hint=hint):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = open_own(lock)
        with file:
            with suppress(OSError):  # a file system without locks
                wait_for_lock(file.fileno())
            if is_same_file(file.fileno(), lock):  # it may have been deleted meanwhile
                yield
                return


@contextmanager
def sole_holder(path: Path) -> Iterator[bool]:
    """Yield whether this process holds the lock of the file PATH until the block ends; an absent
    file is created.

    The holder may delete the file and its folder: the lock of a deleted file is void, so the new
    file is locked instead.
    """
    while True:
        path.parent.mkdir(exist_ok=True)
        try:
            file = open_own(path)
        except FileNotFoundError:  # the folder was deleted just now
            continue
        with file:
            if not take_lock(file.fileno()):
                yield False
                return
            if is_same_file(file.fileno(), path):
                yield True
                return


def take_lock(descriptor: int, *, patience_s: Sequence[float] = ()) -> bool:
    """Lock an open file and return True, or return False where another process holds it, also after
    each of the pauses.
    """
    for pause_s in (0, *patience_s):
        time.sleep(pause_s)
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def wait_for_lock(descriptor: int, *, is_shared: bool = False) -> None:
    """Wait until an open file is locked: by this process alone, or shared with others that share
    it.
    """
    fcntl.flock(descriptor, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX)


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock of the file PATH; an absent file is unlocked."""
    try:
        with suppress(FileNotFoundError), open_own(path, "rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def is_same_file(descriptor: int, path: Path) -> bool:
    """Return whether PATH still names the file that DESCRIPTOR has open."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def seal(content: bytes) -> bytes:
    """Return CONTENT with its checksum in place of its last UNSEALED mark."""
    start = content.rindex(UNSEALED.encode()) + len(_PREFIX)
    return content[:start] + _digest(content, start) + content[start + _DIGITS :]


def is_intact(content: bytes) -> bool:
    """Return whether CONTENT is what `seal` returned."""
    start = content.rfind(_PREFIX) + len(_PREFIX)
    return start >= len(_PREFIX) and content[start : start + _DIGITS] == _digest(content, start)


def sealed_json(values: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Return the JSON text of VALUES, a line break at its end, with its checksum as the last
    key.
    """
    text = json.dumps({**values, KEY: UNSEALED}, indent=indent, ensure_ascii=False, default=str)
    return seal(f"{text}\n".encode()).decode()


def sealed_line(values: Mapping[str, Any]) -> str:
    """Return VALUES as one line of JSON that ends in its own short checksum."""
    text = json.dumps(values, ensure_ascii=False).removesuffix("}")
    return f'{text}, "{KEY}": "{xxhash.xxh32_hexdigest(text.encode())}"}}\n'


def is_intact_line(line: bytes) -> bool:
    """Return whether a line is what `sealed_line` returned."""
    end = _LINE_END.search(line)
    if end is None:
        return False
    return end[1].decode() == xxhash.xxh32_hexdigest(line[: end.start()])


def _digest(content: bytes, start: int) -> bytes:
    """Return the checksum of CONTENT with zeros for the digits at START."""
    view, digest = memoryview(content), xxhash.xxh3_128()
    for chunk in (view[:start], _ZEROS, view[start + _DIGITS :]):
        digest.update(chunk)
    return digest.hexdigest().encode()


def _file_digest(path: Path) -> str:
    digest, buffer = xxhash.xxh3_128(), memoryview(bytearray(2**20))
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            digest.update(buffer[:size])
    return digest.hexdigest()
