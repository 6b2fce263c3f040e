"""Atomic files: whole or not at all, and a full disk said in one line."""

import errno
import os
from pathlib import Path

import pytest

from embedlab.core.errors import ExitCode, MissingError
from embedlab.store.files import atomic_folder, write_atomic


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


def test_a_file_where_a_folder_is_due_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    for path in (tmp_path / "runs" / "state.json", tmp_path / "runs" / "deep" / "state.json"):
        with pytest.raises(MissingError, match=f"cannot write '{path}'"):
            write_atomic(path, "new")


def test_a_file_has_the_rights_of_any_other_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    write_atomic(tmp_path / "atomic", "x")
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "plain").stat().st_mode


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


def test_a_forbidden_folder_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", forbidden)
    with pytest.raises(MissingError, match="cannot write"):
        write_atomic(tmp_path / "a" / "b", "x")
