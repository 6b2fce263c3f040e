"""What a dataset and the state of its rows are unless they say more."""

import hashlib
from pathlib import Path

import polars as pl
import pytest

from embedlab.data.dataset import (
    COLUMNS,
    Dataset,
    DatasetKind,
    DatasetState,
    Expected,
    FileLayout,
    HubSource,
    ParsedRows,
    Part,
    Split,
)


def dataset(kind: DatasetKind, *splits: str) -> Dataset:
    return Dataset(
        name="made",
        kind=kind,
        summary="",
        home="",
        splits={name: Split(layouts=(), expected=None) for name in splits},
    )


@pytest.mark.parametrize(
    ("kind", "splits", "expected"),
    [
        ("sts", ("train", "dev", "test"), "test"),
        ("sts", ("train", "dev"), "train"),
        ("nli", ("test", "dev", "train"), "train"),
        ("nli", ("dev", "test"), "dev"),
        ("sentences", ("all",), "all"),
    ],
)
def test_the_split_that_is_not_named_is_that_of_use(
    kind: DatasetKind, splits: tuple[str, ...], expected: str
) -> None:
    assert dataset(kind, *splits).default_split == expected


def test_a_dataset_is_scored_from_zero_to_five_in_rows_of_their_own_unless_it_says_more() -> None:
    plain = dataset("sts", "test")
    assert (plain.gold_range, plain.folder, plain.mteb, plain.unit) == ((0.0, 5.0), None, "", 1)
    assert plain != dataset("sts", "test")  # one object a corpus
    assert Split(layouts=(), expected=None).hub is None
    assert (Expected(rows=3).classes, Expected(rows=3).empty) == (None, 0)
    assert FileLayout(files=("a",), read=lambda _: ParsedRows(frame=pl.DataFrame())).write is None
    source = HubSource(repository="a/b", revision="1", split="test", columns={})
    assert (source.labels, source.config, source.where) == ((), None, {})


def test_rows_are_whole_and_real_unless_their_state_says_more() -> None:
    state = DatasetState(name="made", split="test", rows=3, expected_rows=3, origin="folder")
    assert (
        state.partial,
        state.revision,
        state.sha256,
        state.skipped,
        state.empty,
    ) == (False, None, {}, {}, 0)
    assert not state.is_of_starter_set
    assert DatasetState(
        name="made", split="test", rows=3, expected_rows=3, origin="starter"
    ).is_of_starter_set


def test_a_users_own_file_is_named_with_its_hash_and_what_was_skipped(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("anything")
    rows = ParsedRows(frame=pl.DataFrame({"sentence": ["a", "b"]}), skipped={"empty": 3})
    for split, part in (
        ("all", Part.of_file(file, rows, name="x")),
        ("dev", Part.of_file(file, rows, name="x", split="dev")),
    ):
        state = part.state
        assert (state.name, state.split, state.rows, state.expected_rows, state.origin) == (
            "x",
            split,
            2,
            None,
            "file",
        )
        assert state.sha256 == {"x": hashlib.sha256(b"anything").hexdigest()}
        assert state.skipped == {"empty": 3}
        assert part.frame is rows.frame
    assert ParsedRows(frame=rows.frame).skipped == {}


def test_each_kind_of_rows_has_its_columns() -> None:
    assert {kind: tuple(columns) for kind, columns in COLUMNS.items()} == {
        "nli": ("premise", "hypothesis", "label"),
        "sts": ("sentence1", "sentence2", "gold", "source"),
        "definitions": ("word", "definition"),
        "paraphrases": ("sentence1", "sentence2", "is_duplicate"),
        "sentiment": ("sentence", "label"),
        "sentences": ("sentence",),
        "triplets": ("anchor", "positive", "negative"),
        "classification": ("sentence", "label"),
        "pair-classification": ("sentence1", "sentence2", "label"),
    }
    assert COLUMNS["sts"]["gold"] == pl.Float64
    assert {
        COLUMNS[kind]["label"] for kind in ("nli", "classification", "pair-classification")
    } == {pl.String()}
    assert COLUMNS["sentiment"]["label"] == COLUMNS["paraphrases"]["is_duplicate"] == pl.Int8
