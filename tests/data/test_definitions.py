"""Definitions are parted by word, and a user's own file of them works like a dataset."""

from pathlib import Path

import pytest

from embedlab.core.errors import MissingError, UsageError
from embedlab.data.definitions import WORD_SPLITS, split_of
from embedlab.data.source import Source
from tests.data.conftest import Write, read_as

WORDS = [f"word{number}" for number in range(2000)]


def test_no_word_is_in_two_splits_and_case_does_not_matter() -> None:
    assert {split_of(word) == split_of(word.upper()) for word in WORDS} == {True}
    share = {
        split: sum(split_of(word) == split for word in WORDS) / len(WORDS) for split in WORD_SPLITS
    }
    assert share["train"] == pytest.approx(0.8, abs=0.03)
    assert share["dev"] == pytest.approx(0.1, abs=0.02)
    assert share["test"] == pytest.approx(0.1, abs=0.02)


def test_the_splits_together_are_the_whole(write: Write) -> None:
    path = write(
        "d.tsv", "".join(f"{word}\tfirst {word}\n{word}\tsecond {word}\n" for word in WORDS[:200])
    )
    parts = {split: Source().open(str(path), split, kind="definitions") for split in WORD_SPLITS}
    assert (
        sum(parts[split].state.rows for split in ("train", "dev", "test"))
        == parts["all"].state.rows
        == 400
    )
    words = [set(parts[split].frame["word"]) for split in ("train", "dev", "test")]
    assert sum(map(len, words)) == 200
    with pytest.raises(UsageError, match="no split 'tests'"):
        Source().open(str(path), "tests", kind="definitions")


def test_an_empty_definition_is_refused_with_its_line(write: Write) -> None:
    with pytest.raises(MissingError, match="line 2: an empty definition"):
        read_as("definitions", [write("d.tsv", "dog\tan animal\ncat\t \n")], "all")
    with pytest.raises(MissingError, match="line 1: an empty word"):
        read_as("definitions", [write("d.tsv", "\tan animal\n")], "all")


def test_a_third_column_is_refused_rather_than_taken_for_the_definition(write: Write) -> None:
    with pytest.raises(
        MissingError, match="line 2: 3 tab-separated fields: expected a word and its definition"
    ):
        read_as(
            "definitions", [write("d.tsv", "dog\tan animal\ncat\tnoun\tanother animal\n")], "all"
        )


def test_sentences_of_a_users_own_file_are_its_lines(write: Write) -> None:
    path = write("s.tsv", "one\ttwo\nthree\n")
    assert Source().open(str(path), kind="sentences").frame["sentence"].to_list() == [
        "one\ttwo",
        "three",
    ]
    with pytest.raises(MissingError, match="no file"):
        Source().open("absent.tsv", kind="sentences")


def test_the_words_of_wordnet_are_parted_by_word(shared_data: Path) -> None:
    source = Source(folder=shared_data, offline=True)
    words = {
        split: {word.casefold() for word in source.open("definitions", split).frame["word"]}
        for split in ("train", "dev", "test")
    }
    assert not words["train"] & words["dev"]
    assert not (words["train"] | words["dev"]) & words["test"]


def test_a_file_is_read_again_when_it_has_changed(write: Write) -> None:
    path = write("d.tsv", "dog\tan animal\n")
    assert read_as("definitions", [path], "all").frame.rows() == [("dog", "an animal")]
    write("d.tsv", "dog\tan animal\ncat\tanother\n")
    assert len(read_as("definitions", [path], "all").frame) == 2
    parted = [
        row
        for split in ("train", "dev", "test")
        for row in read_as("definitions", [path], split).frame.rows()
    ]
    assert sorted(parted) == [("cat", "another"), ("dog", "an animal")]
