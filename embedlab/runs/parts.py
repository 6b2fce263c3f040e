"""The stored facts of each part of the data that a run or an evaluation read."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict
from typing_extensions import TypedDict

from embedlab.core.schema import shaped


class _Stored(TypedDict):
    """The keys that are read; others are preserved."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    name: str
    split: NotRequired[str]
    rows: NotRequired[int]
    used: NotRequired[int]
    expected_rows: NotRequired[int | None]
    partial: NotRequired[bool]
    sample: NotRequired[bool]
    sha256: NotRequired[dict[str, str]]
    empty: NotRequired[int]


# The fields of `embedlab.data.dataset.DatasetState`, and those that a run adds; checked where it is read from JSON.
StoredPart = Annotated[Mapping[str, Any], shaped(_Stored)]
