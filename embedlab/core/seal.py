"""The seal of stored content: a checksum that every write adds and every read verifies. No file is
opened here.

Content carries its own checksum, so that both are replaced in one step: a mark of fixed length
among its own metadata (a JSON key, parquet or safetensors metadata, a comment), of zeros while the
checksum is computed. What an older embedlab wrote has none and is read unverified; but the
metadata's key without the mark is damage. A line of JSON ends in a short checksum of its own.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import xxhash

KEY = "checksum"  # of metadata and of JSON objects

_PREFIX = b"embedlab-xxh3:"
_DIGITS = 32
_ZEROS = b"0" * _DIGITS
_LINE_END = re.compile(rb', "checksum": "([0-9a-f]{8})"\}\s*$')
_LINE_KEY = b', "checksum": '
# The key as JSON and safetensors, TOML and parquet hold it. Inside a text of JSON its quotes would
# be escaped.
_MARKED = re.compile(rb'"checksum"\s*:|^# checksum: |\x08checksum\x18', re.MULTILINE)

UNSEALED = (_PREFIX + _ZEROS).decode()  # the placeholder that `seal` replaces


def seal(content: bytes) -> bytes:
    """Return CONTENT with its checksum in place of its last UNSEALED mark."""
    start = content.rindex(UNSEALED.encode()) + len(_PREFIX)
    return content[:start] + _digest(content, start) + content[start + _DIGITS :]


def is_intact(content: bytes) -> bool:
    """Return whether CONTENT is what `seal` returned; content without a mark and its key counts as
    intact.
    """
    start = content.rfind(_PREFIX) + len(_PREFIX)
    if start < len(_PREFIX):
        return _MARKED.search(content) is None
    return content[start : start + _DIGITS] == _digest(content, start)


def is_sealed(content: bytes) -> bool:
    """Return whether CONTENT has a checksum, right or wrong."""
    return _PREFIX in content


def sealed_json(values: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Return the JSON text of VALUES, a line break at its end, with its checksum as the last
    key.
    """
    text = (
        json.dumps({**values, KEY: UNSEALED}, indent=indent, ensure_ascii=False, default=str) + "\n"
    )
    return seal(text.encode()).decode()


def json_values(content: bytes) -> Any:
    """Return the values of what `sealed_json` returned, without its checksum; text that is not JSON
    is a ValueError.
    """
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
    """Return whether a line is what `sealed_line` returned; one without a checksum and its key
    counts as intact.
    """
    order = _LINE_END.search(line)
    if order is None:
        return _LINE_KEY not in line
    return order[1].decode() == _short_digest(line[: order.start()])


def is_sealed_line(line: bytes) -> bool:
    """Return whether a line ends in a checksum."""
    return _LINE_END.search(line) is not None


def short_checksum(*values: object) -> int:
    """Return the checksum of some plain values as a whole number that a database takes."""
    return xxhash.xxh3_64_intdigest(repr(values).encode("utf-8", "surrogatepass")) >> 1


def _short_digest(text: bytes) -> str:
    return str(xxhash.xxh32_hexdigest(text))


def _digest(content: bytes, start: int) -> bytes:
    """Return the checksum of CONTENT with zeros for the digits at START."""
    view, digest = memoryview(content), xxhash.xxh3_128()
    for chunk in (view[:start], _ZEROS, view[start + _DIGITS :]):
        digest.update(chunk)
    return digest.hexdigest().encode()
