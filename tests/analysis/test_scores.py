import hashlib
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.analysis.overlap import dice
from embedlab.analysis.scores import (
    SCORE_COLUMNS,
    ModelColumns,
    ScoreFile,
    merge_scores,
    pair_key,
    pair_keys,
    pair_table,
    with_scores,
)
from embedlab.core.errors import MissingError, UsageError
from embedlab.data.dataset import Part


def score_file(scores: dict[int, float], fingerprint: str = "f") -> ScoreFile:
    frame = pl.DataFrame(
        {"pair_key": list(scores), "similarity": list(scores.values())}, schema=SCORE_COLUMNS
    )
    return ScoreFile(scores=frame, facts={"fingerprint": fingerprint, "model": "sbert"})


def as_dict(file: ScoreFile) -> dict[int, float]:
    return dict(file.scores.iter_rows())


def test_pair_table_has_the_declared_columns(table: pl.DataFrame) -> None:
    assert table.schema == {
        "dataset": pl.String,
        "source": pl.String,
        "pair": pl.UInt32,
        "sentence1": pl.String,
        "sentence2": pl.String,
        "gold": pl.Float64,
        "dice": pl.Float64,
        "pair_key": pl.UInt64,
    }
    row = table.row(105, named=True)
    assert (row["dataset"], row["source"], row["pair"]) == ("mine", None, 5)
    assert row["dice"] == dice(row["sentence1"], row["sentence2"])
    assert row["pair_key"] == pair_key(row["sentence1"], row["sentence2"])


def test_pair_table_names_a_split_that_is_not_test(make_part: Callable[..., Part]) -> None:
    parts = [make_part("sts-benchmark", {None: 2}, split=split) for split in ("train", "test")] + [
        make_part("mine.tsv", {None: 2}, split="all")
    ]
    assert pair_table(parts)["dataset"].unique(maintain_order=True).to_list() == [
        "sts-benchmark:train",
        "sts-benchmark",
        "mine.tsv",
    ]


def test_pair_keys_depend_on_order_and_boundary() -> None:
    frame = pl.DataFrame({"sentence1": ["a", "b", "a b", "a"], "sentence2": ["b", "a", "", " b"]})
    assert pair_keys(frame).n_unique() == 4
    assert pair_keys(frame).to_list() == [int(pair_key(*row)) for row in frame.iter_rows()]


def test_two_pairs_share_no_key_whatever_their_texts_hold_and_ordinary_ones_keep_theirs() -> None:
    frame = pl.DataFrame(
        {"sentence1": ["a\x1fb", "a", "A dog."], "sentence2": ["c", "b\x1fc", "A cat."]}
    )
    one, other, ordinary = pair_keys(frame)
    assert one != other
    assert ordinary == int.from_bytes(
        hashlib.blake2b(b"A dog.\x1fA cat.", digest_size=8).digest(), "little"
    )


def test_score_file_round_trip_keeps_rows_and_facts(tmp_path: Path) -> None:
    file = score_file({2**64 - 1: 0.25, 3: -1.0})
    file.write(tmp_path / "deep" / "scores.parquet")
    found = ScoreFile.read(tmp_path / "deep" / "scores.parquet")
    assert found.facts == file.facts
    assert found.scores.equals(file.scores)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["scores.parquet"]


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "foreign", "columns"])
def test_unusable_score_file_is_one_clear_error(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    score_file({1: 0.5}).write(path)
    content = path.read_bytes()
    path.write_bytes(
        {"empty": b"", "cut": content[: len(content) // 2], "text": b"hello"}.get(damage, content)
    )
    if damage == "foreign":
        pl.DataFrame({"pair_key": [1], "similarity": [1.0]}).write_parquet(path)
    if damage == "columns":
        pl.DataFrame({"key": [1]}).write_parquet(path, metadata={"embedlab": "{}"})
    with pytest.raises(MissingError, match=r"score file.*is unusable") as caught:
        ScoreFile.read(path)
    assert "delete it" in caught.value.hint


def test_absent_score_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="no score file"):
        ScoreFile.read(tmp_path / "scores.parquet")


def test_merging_keeps_old_rows_and_new_rows_win(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    merge_scores(path, score_file({1: 0.25, 2: 0.5}))
    merged = merge_scores(path, score_file({2: 0.75, 3: 1.0}))
    assert as_dict(merged) == as_dict(ScoreFile.read(path)) == {1: 0.25, 2: 0.75, 3: 1.0}


def test_merging_drops_the_scores_of_another_model(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    merge_scores(path, score_file({1: 0.25}))
    assert as_dict(merge_scores(path, score_file({2: 0.5}, fingerprint="retrained"))) == {2: 0.5}


def merge_one(path: Path, key: int) -> None:
    merge_scores(path, score_file({key: 0.5}))


def test_processes_that_merge_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=merge_one, args=(tmp_path / "scores.parquet", key))
        for key in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=120)
    assert set(as_dict(ScoreFile.read(tmp_path / "scores.parquet"))) == set(range(3))


def test_with_scores_keeps_the_order_and_leaves_unscored_pairs_null(table: pl.DataFrame) -> None:
    half = table.sample(fraction=0.5, seed=0)
    scores = half.select("pair_key", similarity=pl.col("gold").cast(pl.Float32))
    found = with_scores(table, {"sbert@1": scores, "other": scores.head(0)})
    assert found.select(table.columns).equals(table)
    expected = [
        gold if key in set(half["pair_key"]) else None
        for key, gold in table.select("pair_key", "gold").iter_rows()
    ]
    assert found["sbert@1"].to_list() == [
        None if gold is None else float(np.float32(gold)) for gold in expected
    ]
    assert found["other"].null_count() == table.height


def test_the_dice_model_is_the_tables_own_column_and_no_other_may_be_called_like_one(
    table: pl.DataFrame,
) -> None:
    scores = table.select("pair_key", similarity=pl.lit(0.5, dtype=pl.Float32))
    assert with_scores(table, {"dice": scores}).equals(table)
    with pytest.raises(UsageError, match="a model cannot be called 'gold'"):
        with_scores(table, {"gold": scores})


@pytest.mark.parametrize("count", [0, 1, 7, 60])
def test_with_scores_equals_a_dictionary_whatever_was_scored_and_how_often(
    table: pl.DataFrame, count: int
) -> None:
    rng = np.random.default_rng(count)
    strangers = [0, 2**64 - 1]  # keys before and after all others
    keys = [
        *rng.choice(table["pair_key"].to_numpy(), count).tolist(),
        *strangers[: 2 * (count > 0)],
    ]
    values = rng.uniform(-1, 1, len(keys)).astype(np.float32).tolist()
    scores = pl.DataFrame({"pair_key": keys, "similarity": values}, schema=SCORE_COLUMNS)
    last = dict(zip(keys, values, strict=True))  # of a key that comes twice, the last
    found = with_scores(table, {"a": scores, "b": scores.head(len(keys) // 2)})
    assert found["a"].to_list() == [last.get(key) for key in table["pair_key"]]
    assert found.columns == [*table.columns, "a", "b"]


@pytest.mark.parametrize(
    "facts",
    [
        "[]",
        '{"fingerprint": 3}',
        "[" * 100_000,
        '{"max_tokens": "many"}',
        '{"model": "\\ud800"}',
        "9" * 5000,
    ],
)
def test_facts_of_a_wrong_shape_make_a_score_file_unusable(facts: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    pl.DataFrame(schema=SCORE_COLUMNS).write_parquet(path, metadata={"embedlab": facts})
    with pytest.raises(MissingError, match="unusable"):
        ScoreFile.read(path)


def test_the_first_scores_of_a_model_make_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "scores" / "sbert" / "scores.parquet"
    merge_scores(path, score_file({1: 0.25}))
    assert as_dict(ScoreFile.read(path)) == {1: 0.25}


def test_a_member_is_behind_itself_unless_runs_are_named_for_each() -> None:
    runs = (frozenset({"x@1"}), frozenset({"x@2", "y@1"}))
    assert ModelColumns(name="x", members=("a", "b"), runs=runs).behind == runs
    assert ModelColumns(name="x", members=("a", "b"), runs=runs[:1]).behind == (
        frozenset({"a"}),
        frozenset({"b"}),
    )
    assert ModelColumns(name="x", members=("a", "b")).behind == (frozenset({"a"}), frozenset({"b"}))


def test_only_seeds_of_a_name_are_draws_of_a_recipe() -> None:
    assert ModelColumns(name="x", members=("x@1", "x@2"), seeds=(1, 2)).is_recipe
    assert not ModelColumns(name="x@1", members=("x@1",), seeds=(1,)).is_recipe
    assert not ModelColumns(name="x", members=("a", "b")).is_recipe


def test_a_damaged_score_file_is_called_what_it_is_and_says_how_it_is_made_again(
    tmp_path: Path,
) -> None:
    (tmp_path / "scores.parquet").write_bytes(b"hello")
    for read in (ScoreFile.read, ScoreFile.read_facts):
        with pytest.raises(MissingError, match=r"^score file ") as error:
            read(tmp_path / "scores.parquet")
        assert error.value.hint == "delete it; `embedlab evaluate MODEL` makes it again"
