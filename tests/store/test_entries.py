"""Entries of all kinds are put and got in one way: sealed, in one step, by one writer at a time,
the oldest deleted first.
"""

import multiprocessing
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.core.seal import json_values
from embedlab.store.arrays import Arrays, ArraysFormat
from embedlab.store.entries import EntryKind, Store
from embedlab.store.json_files import JsonFormat
from embedlab.store.tables import StoredTable, TableFormat

JSON: EntryKind[Mapping[str, Any]] = EntryKind(
    folder="comparisons",
    format=JsonFormat(to_values=dict, from_content=lambda content, _path: json_values(content)),
    title="the record",
    again="make it again",
)
TABLE: EntryKind[StoredTable] = EntryKind(
    folder="similar-sentences",
    format=TableFormat(
        facts="embedlab-facts", to_table=lambda table: table, from_table=lambda table, _path: table
    ),
)
ARRAYS: EntryKind[Arrays] = EntryKind(
    folder="tokens", format=ArraysFormat(names=("a",), absent=("b",))
)
VALUES: dict[str, tuple[EntryKind[Any], Any]] = {
    "json": (JSON, {"score": 0.5}),
    "table": (TABLE, StoredTable(frame=pl.DataFrame({"x": [1, 2]}), facts="of today")),
    "arrays": (ARRAYS, {"a": np.arange(3), "b": np.zeros(2)}),
}


def plain(value: Any) -> Any:
    """A value as one that can be compared."""
    if isinstance(value, StoredTable):
        return value.frame.to_dicts(), value.facts
    return {
        name: item.tolist() if isinstance(item, np.ndarray) else item
        for name, item in value.items()
    }


def flip(path: Path) -> None:
    """Change one bit of the largest file of an entry, inside its content."""
    file = max(path.iterdir(), key=lambda one: one.stat().st_size) if path.is_dir() else path
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("name", VALUES)
def test_what_was_put_is_got_and_damage_is_an_error_or_in_a_cache_an_absence(
    tmp_path: Path, name: str
) -> None:
    kind, value = VALUES[name]
    store = Store(tmp_path)
    assert store.get(kind, "key") is None
    path = store.put(kind, "key", value)
    assert plain(store.get(kind, "key")) == plain(value)
    assert {one.name for one in path.parent.iterdir()} == {
        path.name
    }  # nothing is left of writing it
    flip(path)
    with pytest.raises(MissingError, match="is damaged"):
        store.get(kind, "key")
    assert store.get(replace(kind, is_cache=True), "key") is None
    store.put(kind, "key", value)
    assert plain(store.load(kind, "key")) == plain(value)


def test_an_absent_entry_and_one_that_is_something_else_are_named(tmp_path: Path) -> None:
    store, path = Store(tmp_path), tmp_path / "comparisons" / "key.json"
    with pytest.raises(
        MissingError, match=f"cannot read the record '{path}': No such file"
    ) as absent:
        store.load(JSON, "key")
    assert absent.value.hint == "make it again"
    path.parent.mkdir()
    path.write_text("[1, 2")
    with pytest.raises(MissingError, match=f"the record '{path}' is unusable"):
        store.get(JSON, "key")


def test_the_least_recently_used_entries_are_deleted_and_what_others_put_there_stays(
    tmp_path: Path,
) -> None:
    kind, store = replace(JSON, most_entries=2, is_cache=True), Store(tmp_path)
    (tmp_path / "comparisons").mkdir()
    (tmp_path / "comparisons" / "mine.json").write_text("{}")
    os.utime(tmp_path / "comparisons" / "mine.json", (1, 1))
    for age, key in enumerate(("first", "second")):
        os.utime(store.put(kind, key, {"key": key}), (10 + age, 10 + age))
    assert store.get(kind, "first") == {"key": "first"}  # used now
    store.put(kind, "third", {})
    assert sorted(path.stem for path in (tmp_path / "comparisons").iterdir()) == [
        "first",
        "mine",
        "third",
    ]


def test_entries_above_a_size_are_deleted_but_the_newest(tmp_path: Path) -> None:
    kind, store = replace(ARRAYS, most_bytes=3_000), Store(tmp_path)
    for age, key in enumerate("abcd"):
        os.utime(store.put(kind, key, {"a": np.arange(100)}), (10 + age, 10 + age))
    left = {
        path.name: sum(file.stat().st_size for file in path.iterdir())
        for path in (tmp_path / "tokens").iterdir()
    }
    assert set(left) == {"c", "d"}
    assert sum(left.values()) <= 3_000 < 1.5 * sum(left.values())
    store.put(replace(kind, most_bytes=0), "e", {"a": np.arange(100)})
    assert [path.name for path in (tmp_path / "tokens").iterdir()] == ["e"]


def test_a_disk_that_refuses_a_cache_costs_nothing_and_an_entry_of_the_user_is_an_error(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    Store(tmp_path / "file").put(replace(JSON, is_cache=True), "key", {})
    with pytest.raises(MissingError, match="cannot write") as refused:
        Store(tmp_path / "file").put(replace(JSON, place="choose another"), "key", {})
    assert refused.value.hint == "choose another"


def add_numbers(folder: Path, numbers: range) -> None:
    for number in numbers:
        Store(folder).change(
            JSON, "key", lambda known, number=number: {**(known or {}), str(number): number}
        )


def test_processes_that_change_one_entry_lose_nothing(tmp_path: Path) -> None:
    start = multiprocessing.get_context("fork").Process
    others = [
        start(target=add_numbers, args=(tmp_path, range(first, first + 15))) for first in (0, 100)
    ]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert {int(key) for key in Store(tmp_path).load(JSON, "key")} == {*range(15), *range(100, 115)}


def test_a_damaged_entry_is_moved_aside_before_it_is_changed(tmp_path: Path) -> None:
    store, aside = Store(tmp_path), tmp_path / "aside"
    path = store.put(JSON, "key", {"a": 1})
    flip(path)
    damaged = path.read_bytes()
    with pytest.raises(MissingError, match="damaged"):
        store.change(JSON, "key", lambda _: {})
    assert store.change(JSON, "key", lambda known: {"known": known}, aside=aside) == {"known": None}
    assert aside.read_bytes() == damaged
    assert store.change(JSON, "key", lambda known: {"known": known}, aside=aside) == {
        "known": {"known": None}
    }
