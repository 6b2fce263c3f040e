"""Stored content carries a checksum that a read verifies."""

from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.core.seal import KEY, UNSEALED, is_intact, seal, sealed_json
from embedlab.store.sealed import (
    CHECKSUMS,
    check_folder,
    read_sealed,
    read_sealed_json,
    write_checksums,
)


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def parquet() -> bytes:
    content = BytesIO()
    pl.DataFrame({"similarity": [0.25, 0.5]}).write_parquet(
        content, metadata={"facts": "{}", KEY: UNSEALED}
    )
    return seal(content.getvalue())


def test_a_flipped_bit_outside_the_marks_name_is_found() -> None:
    content = parquet()
    mark = content.rfind(UNSEALED[:14].encode())
    found = [
        not is_intact(flipped(content, bit))
        for bit in range(8 * len(content))
        if not mark <= bit // 8 < mark + 14
    ]
    assert is_intact(content)
    assert all(found)


def test_sealed_parquet_is_parquet_still() -> None:
    assert pl.read_parquet(BytesIO(parquet()))["similarity"].to_list() == [0.25, 0.5]


def test_content_without_a_mark_is_read_unverified(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text('{"score": 1}')
    assert read_sealed_json(file, hint="") == {"score": 1}


def test_sealed_json_gives_its_values_back_and_is_refused_by_name_when_it_was_changed(
    tmp_path: Path,
) -> None:
    file = tmp_path / "new.json"
    file.write_text(sealed_json({"score": 0.5, "who": "Zoë"}, indent=1), encoding="utf-8")
    assert read_sealed_json(file, hint="") == {"score": 0.5, "who": "Zoë"}
    file.write_text(file.read_text(encoding="utf-8").replace("0.5", "0.7"), encoding="utf-8")
    with pytest.raises(MissingError, match=r"new\.json' is damaged") as refused:
        read_sealed(file, hint="evaluate again")
    assert refused.value.hint == "evaluate again"


def write_folder(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "weights").write_bytes(bytes(range(256)) * 9_000)  # several reads
    (folder / "deep" / "config.json").write_text("{}")
    write_checksums(folder)


def test_a_folder_is_intact_until_a_listed_file_changes(tmp_path: Path) -> None:
    write_folder(tmp_path)
    (tmp_path / "card.md").write_text("a file that was added")
    check_folder(tmp_path, hint="")
    content = (tmp_path / "weights").read_bytes()
    (tmp_path / "weights").write_bytes(flipped(content, 8 * len(content) - 1))
    with pytest.raises(MissingError, match="weights' is damaged"):
        check_folder(tmp_path, hint="")
    (tmp_path / "weights").write_bytes(content)
    (tmp_path / "deep" / "config.json").write_text("{ }")
    with pytest.raises(MissingError, match=r"config\.json' is damaged"):
        check_folder(tmp_path, hint="")


def test_a_flipped_bit_in_the_listing_itself_is_found(tmp_path: Path) -> None:
    write_folder(tmp_path)
    listing = tmp_path / CHECKSUMS
    content = listing.read_bytes()
    mark = content.rfind(UNSEALED[:14].encode())
    for bit in range(0, 8 * mark, 11):
        listing.write_bytes(flipped(content, bit))
        with pytest.raises(MissingError, match=CHECKSUMS):
            check_folder(tmp_path, hint="")


def test_a_folder_without_a_listing_is_read_unverified(tmp_path: Path) -> None:
    check_folder(tmp_path, hint="")


def test_json_nested_too_deep_is_a_value_error(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="nested too deep"):
        read_sealed_json(tmp_path / "deep.json", hint="")
