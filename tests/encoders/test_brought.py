"""Scores and vectors that another program computed, brought as files."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import RefusedTextsError
from embedlab.encoders.loading import load_encoder, load_scorer
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.models.location import spec_fingerprint

PAIRS = pl.DataFrame(
    {"sentence1": ["a man", "a dog", "snow"], "sentence2": ["a woman", "two dogs", "rain"]}
)


def spec_of(name: str) -> ModelSpec:
    """The one member of a typed name."""
    return resolve(name, Path("none")).members[0]


def written(path: Path, table: pl.DataFrame) -> Path:
    """TABLE in the format that the ending of PATH names."""
    writers = {
        ".csv": table.write_csv,
        ".parquet": table.write_parquet,
        ".jsonl": table.write_ndjson,
    }
    table.write_csv(path, separator="\t") if path.suffix == ".tsv" else writers[path.suffix](path)
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_scores_are_matched_by_text_in_either_order(
    tmp_path: Path, cpu: Machine, ending: str
) -> None:
    file = written(
        tmp_path / f"mine.{ending}",
        PAIRS.with_columns(mine=pl.Series([0.1, 0.9, -2.5]), gold=pl.Series([1.0, 2.0, 3.0])),
    )
    found = load_scorer(spec_of(f"scores:{file}"), cpu).score(
        ["two dogs", "snow", "snow"], ["a dog", "rain", "sun"]
    )
    np.testing.assert_allclose(found, [0.9, -2.5, np.nan])


def test_the_pairs_of_a_frame_are_scored_as_texts_are_and_what_no_file_can_hold_has_none(
    tmp_path: Path, cpu: Machine
) -> None:
    twice = pl.concat([PAIRS, PAIRS[2:]]).with_columns(mine=pl.Series([0.1, 0.9, -2.5, -2.5]))
    scorer = load_scorer(spec_of(f"scores:{written(tmp_path / 'mine.tsv', twice)}"), cpu)
    assert hasattr(scorer, "score_frame")
    wanted = pl.DataFrame(
        {"sentence1": ["two dogs", "snow", "snow"], "sentence2": ["a dog", "rain", "sun"]}
    )
    np.testing.assert_array_equal(
        scorer.score_frame(wanted), np.array([0.9, -2.5, np.nan], np.float32)
    )
    assert np.isnan(scorer.score(["\ud800", "a man"], ["a dog", "\udc80"])).all()


def test_a_column_is_chosen_by_name_and_is_part_of_the_fingerprint(
    tmp_path: Path, cpu: Machine
) -> None:
    file = written(
        tmp_path / "both.csv",
        PAIRS.with_columns(a=pl.Series([0.1, 0.2, 0.3]), b=pl.Series([1.0, 2.0, 3.0])),
    )
    first, second = spec_of(f"scores:{file}#a"), spec_of(f"scores:{file}#b")
    assert load_scorer(second, cpu).score(["snow"], ["rain"]).tolist() == [3]
    assert spec_fingerprint(first, precision="float32") != spec_fingerprint(
        second, precision="float32"
    )
    before = spec_fingerprint(first, precision="float32")
    written(file, PAIRS.with_columns(a=pl.Series([0.1, 0.2, 0.4])))
    assert spec_fingerprint(first, precision="float32") != before


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        (PAIRS.with_columns(a=pl.lit(1.0), b=pl.lit(2.0)), "", "several columns of numbers: a, b"),
        (PAIRS, "", "no column of numbers"),
        (PAIRS.with_columns(mine=pl.lit(1.0)), "#mnie", "no column 'mnie'"),
        (
            PAIRS.with_columns(mine=pl.Series(["1", "many", "2"])),
            "#mine",
            "row 2: 'mine' is 'many', not a number",
        ),
        (
            pl.concat([PAIRS, PAIRS]).with_columns(mine=pl.Series(range(6))),
            "",
            "row 4: 'mine' gives a pair a second",
        ),
        (
            PAIRS.with_columns(mine=pl.Series([" 1", "2,5", "3"])),
            "",
            "row 2: 'mine' is '2,5', not a number",
        ),
        (PAIRS.with_columns(mine=pl.Series([1.0, None, 3.0])), "", "row 2: 'mine' is empty"),
        (
            PAIRS.with_columns(mine=pl.lit(1e39)),
            "",
            "row 1: 'mine' is 1e\\+39, larger than 3.4e\\+38",
        ),
        (PAIRS.with_columns(mine=pl.Series([[1.0]] * 3)), "#mine", "mine holds lists"),
        (PAIRS.drop("sentence2").with_columns(mine=pl.lit(1.0)), "", "no column 'sentence2'"),
        (PAIRS.clear().with_columns(mine=pl.Series([], dtype=pl.Float64)), "", "no rows"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_one_line(
    tmp_path: Path, cpu: Machine, table: pl.DataFrame, column: str, words: str
) -> None:
    file = written(tmp_path / "mine.parquet", table)
    with pytest.raises(EmbedlabError, match=words):
        load_scorer(spec_of(f"scores:{file}{column}"), cpu)


@pytest.mark.parametrize("ending", ["parquet", "npy"])
def test_vectors_are_matched_by_sentence(tmp_path: Path, cpu: Machine, ending: str) -> None:
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    if ending == "npy":
        np.save(tmp_path / "mine.npy", vectors)
        (tmp_path / "mine.txt").write_text("a\nb\nc d\n")
    else:
        pl.DataFrame({"sentence": ["a", "b", "c d"], "vector": vectors.tolist()}).write_parquet(
            tmp_path / "mine.parquet"
        )
    encoder = load_encoder(spec_of(f"vectors:{tmp_path / 'mine'}.{ending}"), cpu)
    assert encoder.encode(["c d", "a", "c d"]).tolist() == [[4, 5], [0, 1], [4, 5]]
    with pytest.raises(MissingError, match="has no vector for 'e' or any other"):
        encoder.encode(["e", "f"])
    with pytest.raises(RefusedTextsError, match="refuses 2 texts") as refused:
        encoder.encode(["e", "a", "f"])
    assert refused.value.vectors.tolist() == [[0, 1]]


def test_a_sentence_whose_vector_is_not_finite_is_refused_alone(
    tmp_path: Path, cpu: Machine
) -> None:
    np.save(tmp_path / "mine.npy", np.array([[1, 2], [np.nan, 0], [3, 4]], np.float32))
    (tmp_path / "mine.txt").write_text("a\nb\nc\n")
    encoder = load_encoder(spec_of(f"vectors:{tmp_path / 'mine.npy'}"), cpu)
    with pytest.raises(RefusedTextsError, match=r"its numbers are not all finite.*'b'") as refused:
        encoder.encode(["a", "b", "c"])
    assert refused.value.vectors.tolist() == [[1, 2], [3, 4]]


def test_an_array_without_its_text_and_one_of_another_length_are_refused(
    tmp_path: Path, cpu: Machine
) -> None:
    np.save(tmp_path / "mine.npy", np.zeros((3, 2), np.float32))
    with pytest.raises(MissingError, match=r"no file '.*mine\.txt'"):
        load_encoder(spec_of(f"vectors:{tmp_path / 'mine.npy'}"), cpu)
    (tmp_path / "mine.txt").write_text("a\nb")
    for text, count in (
        ("a\nb", 2),
        ("a\nb\n", 2),
        ("sentence\na\nb\nc\n", 4),
    ):  # a header would move every vector by one
        (tmp_path / "mine.txt").write_text(text)
        with pytest.raises(
            MissingError, match=rf"{count} sentences, but an array of shape \(3, 2\)"
        ):
            load_encoder(spec_of(f"vectors:{tmp_path / 'mine.npy'}"), cpu)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.eye(2), "'a' has two different vectors, rows 1 and 2"),
        (np.eye(2) * 1j, "complex"),
        (np.eye(2) * 1e300, "not finite"),
    ],
)
def test_vectors_that_are_ambiguous_or_no_float32_are_refused(
    tmp_path: Path, cpu: Machine, array: np.ndarray, words: str
) -> None:
    np.save(tmp_path / "mine.npy", array)
    (tmp_path / "mine.txt").write_text("a\na\n")
    with pytest.raises(MissingError, match=words):
        load_encoder(spec_of(f"vectors:{tmp_path / 'mine.npy'}"), cpu)
