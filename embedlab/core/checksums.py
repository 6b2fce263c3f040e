"""Checksums of stored files: every write adds one, every read verifies it.

A single file carries its own checksum, so that both are replaced in one step: a mark of fixed length among the file's own
metadata (a JSON key, parquet or safetensors metadata, a comment), of zeros while the checksum is computed. A folder that is
written as a whole lists those of its files in `checksums.json`. What an older embedlab wrote has none and is read unverified; but
the metadata's key without the mark is damage, and so is a file without both in a run whose recipe or environment has one: these are
written first.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import xxhash

from embedlab.core.errors import MissingError

KEY = "checksum"  # of metadata and of JSON objects
CHECKSUMS = "checksums.json"

_PREFIX = b"embedlab-xxh3:"
_DIGITS = 32
_ZEROS = b"0" * _DIGITS
_LINE_END = re.compile(rb', "checksum": "([0-9a-f]{8})"\}\s*$')
_LINE_KEY = b', "checksum": '
# The key as JSON and safetensors, TOML and parquet hold it. Inside a text of JSON its quotes would be escaped.
_MARKED = re.compile(rb'"checksum"\s*:|^# checksum: |\x08checksum\x18', re.MULTILINE)
_FIRST_OF_RUN = ("recipe.toml", "environment.json")
_unverified: ContextVar[list[Path] | None] = ContextVar("unverified", default=None)  # collects their paths

UNSEALED = (_PREFIX + _ZEROS).decode()  # the placeholder that `seal` replaces


def seal(content: bytes) -> bytes:
    """Return CONTENT with its checksum in place of its last UNSEALED mark."""
    start = content.rindex(UNSEALED.encode()) + len(_PREFIX)
    return content[:start] + _digest(content, start) + content[start + _DIGITS :]


def is_intact(content: bytes) -> bool:
    """Return whether CONTENT is what `seal` returned; content without a mark and its key counts as intact."""
    start = content.rfind(_PREFIX) + len(_PREFIX)
    if start < len(_PREFIX):
        return _MARKED.search(content) is None
    return content[start : start + _DIGITS] == _digest(content, start)


def read_sealed(path: Path, *, hint: str) -> bytes:
    """Read a file that was written through `seal`; content that differs from its checksum, or lost it, is a MissingError."""
    content = path.read_bytes()
    if not is_intact(content):
        raise damaged(path, hint=hint)
    if _PREFIX not in content:
        if witness := _sealed_before(path):
            raise MissingError(f"{str(path)!r} is damaged: it has no checksum, and {witness.name} of its run has one", hint=hint)
        if (found := _unverified.get()) is not None:
            found.append(path)
    return content


def _sealed_before(path: Path) -> Path | None:
    """Return the file with a checksum that was written before PATH into its run; an evaluation is one or two folders below."""
    near = (folder / name for folder in list(path.parents)[:3] for name in _FIRST_OF_RUN)
    return next((file for file in near if file != path and file.is_file() and _PREFIX in file.read_bytes()), None)


@contextmanager
def unverified_files() -> Iterator[list[Path]]:
    """Collect the files without a checksum that `read_sealed` reads in the block: an older embedlab wrote them."""
    found: list[Path] = []
    token = _unverified.set(found)
    try:
        yield found
    finally:
        _unverified.reset(token)


def sealed_json(values: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Return the JSON text of VALUES, a line break at its end, with its checksum as the last key."""
    text = json.dumps({**values, KEY: UNSEALED}, indent=indent, ensure_ascii=False, default=str) + "\n"
    return seal(text.encode()).decode()


def read_sealed_json(path: Path, *, hint: str) -> Any:
    """Read what `sealed_json` returned, without its checksum; text that is not JSON is a ValueError."""
    content = read_sealed(path, hint=hint)
    try:
        values = json.loads(content)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if isinstance(values, dict):
        values.pop(KEY, None)
    return values


def sealed_line(values: Mapping[str, Any]) -> str:
    """Return VALUES as one line of JSON that ends in its own short checksum."""
    text = json.dumps(values, ensure_ascii=False).removesuffix("}")
    return f'{text}, "{KEY}": "{_short_digest(text.encode())}"}}\n'


def is_intact_line(line: bytes) -> bool:
    """Return whether a line is what `sealed_line` returned; one without a checksum and its key counts as intact."""
    found = _LINE_END.search(line)
    if found is None:
        return _LINE_KEY not in line
    return found[1].decode() == _short_digest(line[: found.start()])


def is_sealed_line(line: bytes) -> bool:
    """Return whether a line ends in a checksum."""
    return _LINE_END.search(line) is not None


def short_checksum(*values: object) -> int:
    """Return the checksum of some plain values as a whole number that a database takes."""
    return xxhash.xxh3_64_intdigest(repr(values).encode("utf-8", "surrogatepass")) >> 1


def write_checksums(folder: Path) -> None:
    """List the checksum of every file in FOLDER in its `checksums.json`."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != CHECKSUMS)
    sums = {path.relative_to(folder).as_posix(): _file_digest(path) for path in files}
    (folder / CHECKSUMS).write_text(sealed_json({"xxh3": sums}, indent=1), encoding="utf-8")


def check_folder(folder: Path, *, hint: str) -> None:
    """Raise a MissingError if a file in FOLDER differs from its `checksums.json`; absent files are for their readers to report."""
    listing = folder / CHECKSUMS
    if not listing.exists():
        return
    try:
        sums: Mapping[str, str] = dict(read_sealed_json(listing, hint=hint)["xxh3"])
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(listing, hint=hint) from error
    for name, expected in sums.items():
        path = folder / name
        if path.is_file() and _file_digest(path) != expected:
            raise damaged(path, hint=hint)


def damaged(path: Path, *, hint: str) -> MissingError:
    """Return the error of a file whose content differs from its checksum."""
    return MissingError(f"{str(path)!r} is damaged: its content does not match its checksum", hint=hint)


def _short_digest(text: bytes) -> str:
    return str(xxhash.xxh32_hexdigest(text))


def _digest(content: bytes, start: int) -> bytes:
    """Return the checksum of CONTENT with zeros for the digits at START."""
    view, digest = memoryview(content), xxhash.xxh3_128()
    for part in (view[:start], _ZEROS, view[start + _DIGITS :]):
        digest.update(part)
    return digest.hexdigest().encode()


def _file_digest(path: Path) -> str:
    digest, buffer = xxhash.xxh3_128(), memoryview(bytearray(2**20))
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            digest.update(buffer[:size])
    return digest.hexdigest()
