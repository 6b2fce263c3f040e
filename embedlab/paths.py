"""Where things live on disk, and how a file is written so that a kill never leaves half of it."""

import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

import platformdirs

from embedlab.errors import MissingError

PACKAGE = Path(__file__).parent
# A file stands where a folder is due; a place, as of /proc, takes no files.
_IN_THE_WAY = (errno.ENOTDIR, errno.EEXIST, errno.ENOENT)
ELSEWHERE = "choose another folder with --runs or EMBEDLAB_CACHE"  # the hint for what the program places by itself


def recipes_folder() -> Path:
    """The shipped recipes: inside the wheel, or at the top of a source checkout."""
    installed = PACKAGE / "recipes"
    return installed if installed.is_dir() else PACKAGE.parent / "recipes"


def user_config_file() -> Path:
    """The user's own settings file."""
    return platformdirs.user_config_path("embedlab") / "embedlab.toml"


def default_cache_folder() -> Path:
    """Where embeddings and scores of models that are no runs are kept."""
    return platformdirs.user_cache_path("embedlab")


def state_folder() -> Path:
    """Where the dashboard remembers its state and logs."""
    return platformdirs.user_state_path("embedlab")


@contextmanager
def disk_errors(what: Path, *, hint: str = ELSEWHERE) -> Iterator[None]:
    """Turn a full, read-only or forbidden disk into one clear line that names WHAT could not be written.

    HINT says how the place was chosen.
    """
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise MissingError(f"no space left to write {str(what)!r}", hint="free some space; what was saved is intact") from error
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, *_IN_THE_WAY}:
            raise MissingError(f"cannot write {str(what)!r}: {error.strerror}", hint=hint) from error
        raise


def write_atomic(path: Path, content: str | bytes, *, hint: str = ELSEWHERE) -> None:
    """Replace PATH by CONTENT in one step: a reader sees the old file or the new one, never a part."""
    with disk_errors(path, hint=hint):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Opened like any other file, so that a colleague may read what the umask allows; mkstemp's are private.
        temporary = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
        try:
            with temporary.open("xb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def atomic_folder(path: Path, *, hint: str = ELSEWHERE) -> Iterator[Path]:
    """Yield an empty folder beside PATH that takes PATH's place when the block ends without an error."""
    temporary = path.with_name(f".{path.name}.tmp-{os.getpid()}")
    with disk_errors(path, hint=hint):
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        try:
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    follow_umask(file)
                    _sync(file)
            old = path.with_name(f".{path.name}.old-{os.getpid()}")
            if path.exists():
                path.replace(old)
            temporary.replace(path)
            _sync(path.parent)
            shutil.rmtree(old, ignore_errors=True)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def follow_umask(path: Path) -> None:
    """Let a colleague read the file at PATH as any other of its folder; what safetensors writes is private."""
    path.chmod(path.parent.stat().st_mode & 0o666)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of the file PATH; one that is not there is free."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def file_hash(path: Path) -> str:
    """The sha256 of a file; read again only when its size or time of change differ."""
    status = path.stat()
    return _hash(path.resolve(), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=256)  # all files of all suites, and they are only text
def _hash(path: Path, size: int, changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
