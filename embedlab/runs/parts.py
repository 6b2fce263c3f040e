"""The stored facts of each part of the data that a run or an evaluation read."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from embedlab.core.schema import Shaped


class _Stored(TypedDict):
    """The keys that are read; others are preserved."""

    __pydantic_config__ = {"extra": "allow"}  # type: ignore[misc]  # noqa: RUF012 - pydantic reads it, and takes long to import

    name: str
    split: NotRequired[str]
    rows: NotRequired[int]
    used: NotRequired[int]
    expected_rows: NotRequired[int | None]
    partial: NotRequired[bool]
    sha256: NotRequired[dict[str, str]]
    empty: NotRequired[int]


# The fields of `embedlab.data.dataset.DatasetState`, and those that a run adds; checked where it is
# read from JSON.
StoredPart = Annotated[Mapping[str, Any], Shaped(_Stored)]
