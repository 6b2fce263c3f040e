"""Files and folders are whole or not at all, carry a checksum that a read verifies, and a full disk
is said in one line.
"""

import errno
import os
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.disk import (
    CHECKSUMS,
    KEY,
    UNSEALED,
    as_reading_errors,
    atomic_folder,
    check_folder,
    is_intact,
    read_sealed,
    read_sealed_json,
    seal,
    sealed_json,
    write_atomic,
    write_checksums,
    write_json,
    write_sealed,
)
from embedlab.core.errors import ExitCode, MissingError


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.json"
    write_atomic(path, "old")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MissingError, match="no space left") as caught:
        write_atomic(path, "new")
    assert caught.value.exit_code is ExitCode.MISSING
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["state.json"]


def test_a_write_leaves_a_pipe_in_its_place(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(MissingError, match="a pipe, not a file"):
        write_atomic(pipe, "content")
    assert pipe.is_fifo()


def test_a_private_file_in_a_folder_is_readable_as_the_others(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "model") as folder:
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").touch(mode=0o600)
    modes = {file.name: file.stat().st_mode for file in (tmp_path / "model").iterdir()}
    assert modes["model.safetensors"] == modes["config.json"]


def test_a_folder_appears_only_when_its_block_ends_well(tmp_path: Path) -> None:
    target = tmp_path / "checkpoint"

    def write_half() -> None:
        with atomic_folder(target) as folder:
            (folder / "half").write_text("x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert not target.exists()
    with atomic_folder(target) as folder:
        (folder / "whole").write_text("1")
    with atomic_folder(target) as folder:
        (folder / "whole").write_text("2")
    assert (target / "whole").read_text() == "2"
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


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


def test_a_flipped_bit_is_found() -> None:
    content = parquet()
    found = [not is_intact(flipped(content, bit)) for bit in range(8 * len(content))]
    assert is_intact(content)
    assert all(found)
    assert pl.read_parquet(BytesIO(content))["similarity"].to_list() == [0.25, 0.5]


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
    file.write_text('{"score": 1}')  # without a checksum
    with pytest.raises(MissingError, match="is damaged"):
        read_sealed_json(file, hint="")


def write_folder(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "weights").write_bytes(bytes(range(256)) * 9_000)  # several reads
    (folder / "deep" / "config.json").write_text("{}")
    write_checksums(folder)


def test_a_folder_is_intact_until_a_listed_file_changes_or_goes(tmp_path: Path) -> None:
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
    (tmp_path / "deep" / "config.json").unlink()
    with pytest.raises(MissingError, match=rf"config\.json' is missing: {CHECKSUMS} lists it"):
        check_folder(tmp_path, hint="")


def test_a_flipped_bit_in_the_listing_itself_is_found(tmp_path: Path) -> None:
    write_folder(tmp_path)
    listing = tmp_path / CHECKSUMS
    content = listing.read_bytes()
    for bit in range(0, 8 * len(content), 11):
        listing.write_bytes(flipped(content, bit))
        with pytest.raises(MissingError, match=CHECKSUMS):
            check_folder(tmp_path, hint="")


def test_json_nested_too_deep_is_a_value_error(tmp_path: Path) -> None:
    write_sealed(tmp_path / "deep.json", b"[" * 100_000 + UNSEALED.encode())
    with pytest.raises(ValueError, match="nested too deep"):
        read_sealed_json(tmp_path / "deep.json", hint="")


def test_an_absent_file_and_one_that_is_something_else_are_named(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    record = as_reading_errors(path, hint="make it again", what="the record")
    with pytest.raises(MissingError, match="cannot read the record") as absent, record:
        read_sealed_json(path, hint="")
    assert absent.value.message == f"cannot read the record '{path}': No such file or directory"
    assert absent.value.hint == "make it again"
    write_json(path, {"a": 1})
    record = as_reading_errors(path, hint="", what="the record")
    with pytest.raises(MissingError, match=r"the record .* is unusable"), record:
        read_sealed_json(path, hint="")["b"]
