"""Probing files: splits, suites under their own names, and what is refused."""

from pathlib import Path

import pytest

from embedlab.core.errors import MissingError, UsageError
from embedlab.data.probing import suite, suite_names
from embedlab.data.readers import delimited
from embedlab.data.source import Source
from embedlab.data.text_file import read_fields

LINES = ["tr\tPAST\tit rained .", "va\tPRES\tit rains .", "te\tPAST\tit poured ."]


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_sentevals_suite_has_its_ten_tasks() -> None:
    assert len(suite("probing", None)) == 10
    assert {name for dataset in suite("probing", None) for name in dataset.splits} == {
        "train",
        "dev",
        "test",
    }


def test_another_folder_is_a_suite_under_its_own_name(tmp_path: Path) -> None:
    write(tmp_path / "probing_mine/past_present.txt", LINES)
    write(tmp_path / "probing_mine/LICENSE.txt", ["Free to use"])
    assert suite_names(tmp_path) == ["probing", "mine-probing"]
    (only,) = suite("mine-probing", tmp_path)
    assert only.name == "mine-probing/past-present"
    part = Source(folder=tmp_path, offline=True).open_split(only, "dev")
    assert part.frame.rows() == [("it rains .", "PRES")]
    assert part.state.name == "mine-probing/past-present"


def test_the_splits_of_a_file_are_parted_from_one_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    monkeypatch.setattr(
        delimited,
        "read_fields",
        lambda path, *rest, **named: read.append(path) or read_fields(path, *rest, **named),
    )
    file = tmp_path / "probing_mine/past_present.txt"
    write(file, LINES)
    (only,) = suite("mine-probing", tmp_path)
    source = Source(folder=tmp_path, offline=True)
    assert [
        source.open_split(only, split).frame["sentence"].to_list() for split in only.splits
    ] == [
        ["it rained ."],
        ["it rains ."],
        ["it poured ."],
    ]
    assert read == [file]


def test_an_unknown_suite_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "probing_gum/past_present.txt", LINES)
    with pytest.raises(UsageError) as caught:
        suite("gun-probing", tmp_path)
    assert "gum-probing" in caught.value.hint


def test_an_unknown_split_is_named_with_file_and_line(tmp_path: Path) -> None:
    write(tmp_path / "probing_mine/odd_man_out.txt", [*LINES, "dev\tPAST\tit snowed ."])
    (only,) = suite("mine-probing", tmp_path)
    with pytest.raises(
        MissingError, match=r"odd_man_out\.txt, line 4: split 'dev' is not one of tr, va, te"
    ):
        Source(folder=tmp_path, offline=True).open_split(only)


def test_a_file_without_a_split_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "probing_mine/odd_man_out.txt", LINES[:2])
    (only,) = suite("mine-probing", tmp_path)
    with pytest.raises(MissingError, match="no line of the split 'te'"):
        Source(folder=tmp_path, offline=True).open_split(only, "test")
