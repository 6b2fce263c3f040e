"""Probing files: splits, suites under their own names, and what is refused."""

import os
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


def test_sentevals_task_of_another_size_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "SentEval/probing/tree_depth.txt", LINES)
    with pytest.raises(MissingError, match="1 rows instead of 100,000"):
        Source(folder=tmp_path, offline=True).open("tree-depth", "train")


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


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "probing_mine/past_present.txt"
    write(file, LINES)
    (only,) = suite("mine-probing", tmp_path)
    source = Source(folder=tmp_path, offline=True)
    before = source.open_split(only, "test")
    write(file, [*LINES[:2], "te\tPAST\tit hailed ."])
    os.utime(file, ns=(0, 0))  # of the same size, and perhaps written within one tick of the clock
    after = source.open_split(only, "test")
    assert after.frame["sentence"].to_list() == ["it hailed ."]
    assert after.state.sha256 != before.state.sha256


def test_an_unknown_suite_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "probing_gum/past_present.txt", LINES)
    with pytest.raises(UsageError) as caught:
        suite("gun-probing", tmp_path)
    assert "gum-probing" in caught.value.hint


def test_an_unknown_split_is_named_with_file_and_line(tmp_path: Path) -> None:
    write(tmp_path / "probing_mine/odd_man_out.txt", [*LINES, "dev\tPAST\tit snowed ."])
    (only,) = suite("mine-probing", tmp_path)
    with pytest.raises(
        MissingError, match=r"odd_man_out\.txt, line 4: split 'dev' is none of tr, va, te"
    ):
        Source(folder=tmp_path, offline=True).open_split(only)


def test_a_file_without_a_split_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "probing_mine/odd_man_out.txt", LINES[:2])
    (only,) = suite("mine-probing", tmp_path)
    with pytest.raises(MissingError, match="no line of the split 'te'"):
        Source(folder=tmp_path, offline=True).open_split(only, "test")


def test_the_stand_in_is_read_whole_and_never_called_senteval(shared_data: Path) -> None:
    source = Source(folder=shared_data, offline=True)
    tasks = suite("gum-probing", shared_data)
    rows = {
        task.name: [source.open_split(task, split).state.rows for split in task.splits]
        for task in tasks
    }
    assert len(rows) == 10
    assert rows["gum-probing/word-content"] == [1928, 228, 234]
    assert not any("senteval" in f"{task.name}{task.summary}{task.home}".lower() for task in tasks)


def test_the_tasks_of_another_folder_are_in_alphabetical_order(tmp_path: Path) -> None:
    names = ["tense", "depth", "word_order", "length", "voice", "number", "animacy", "case"]
    for name in names:
        write(tmp_path / f"probing_mine/{name}.txt", LINES)
    expected = ["animacy", "case", "depth", "length", "number", "tense", "voice", "word-order"]
    assert [dataset.name for dataset in suite("mine-probing", tmp_path)] == [
        f"mine-probing/{name}" for name in expected
    ]
