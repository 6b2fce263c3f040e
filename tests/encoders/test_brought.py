"""Scores and vectors that another program computed, brought as files."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import RefusedTextsError
from tests.encoders.opening import assert_refused, fingerprint, opened, scorer_of

PAIRS = pl.DataFrame(
    {"sentence1": ["a man", "a dog", "snow"], "sentence2": ["a woman", "two dogs", "rain"]}
)
SCORED = PAIRS.with_columns(mine=pl.Series([0.1, 0.9, -2.5]))


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_scores_are_matched_by_text_in_either_order(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"mine.{ending}"
    table = pl.concat([SCORED, SCORED[2:]]).with_columns(gold=pl.Series([1.0, 2.0, 3.0, 3.0]))
    if ending in {"csv", "tsv"}:
        table.write_csv(file, separator="\t" if ending == "tsv" else ",")
    else:
        getattr(table, {"jsonl": "write_ndjson"}.get(ending, f"write_{ending}"))(file)
    scorer = scorer_of(f"scores:{file}#mine")
    wanted = {"sentence1": ["two dogs", "snow", "snow"], "sentence2": ["a dog", "rain", "sun"]}
    expected = np.array([0.9, -2.5, np.nan])
    np.testing.assert_array_equal(scorer.score(*wanted.values()), expected)
    np.testing.assert_array_equal(scorer.score_frame(pl.DataFrame(wanted)), expected)
    assert np.isnan(scorer.score(["\ud800", "a man"], ["a dog", "\udc80"])).all()


@pytest.mark.parametrize(
    ("separator", "column", "expected"),
    [
        (",", [0.1, None, -2.5], [0.1, np.nan, -2.5]),  # an empty score is none
        (";", ["0,9", "-2,5", "1"], [0.9, -2.5, 1]),  # with a decimal comma
    ],
)
def test_scores_of_a_file_are_its_numbers(
    tmp_path: Path, separator: str, column: list[object], expected: list[float]
) -> None:
    file = tmp_path / "mine.csv"
    SCORED.with_columns(mine=pl.Series(column)).write_csv(file, separator=separator)
    scores = scorer_of(f"scores:{file}").score(PAIRS["sentence1"], PAIRS["sentence2"])
    np.testing.assert_array_equal(scores, expected)


def test_a_column_is_chosen_by_name_and_is_part_of_the_fingerprint(tmp_path: Path) -> None:
    file = tmp_path / "both.csv"
    SCORED.with_columns(other=pl.Series([1.0, 2.0, 3.0])).write_csv(file)
    first, second = f"scores:{file}#mine", f"scores:{file}#other"
    assert scorer_of(second).score(["snow"], ["rain"]).tolist() == [3]
    assert fingerprint(first) != fingerprint(second)


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        (SCORED.with_columns(b=pl.lit(2.0)), "", "several columns of numbers: mine, b"),
        (PAIRS, "", "no column of numbers"),
        (SCORED, "#mnie", "no column 'mnie'"),
        (
            PAIRS.with_columns(mine=pl.Series(["1", "2,500", "2"])),
            "",
            "row 2: 'mine' is '2,500', not",
        ),
        (
            pl.concat([SCORED, SCORED.with_columns(mine=1.0)]),
            "",
            "row 4: 'mine' gives a pair a second",
        ),
        (PAIRS.with_columns(mine=pl.Series([None] * 3)), "#mine", "'mine' is empty in every row"),
        (PAIRS.with_columns(mine=None), "", "no column of numbers; it has mine"),
        (PAIRS.with_columns(mine=1e39), "", "row 1: 'mine' is 1e\\+39, not a number up to 3.4e"),
        (PAIRS.with_columns(mine=pl.Series([[1.0]] * 3)), "#mine", "mine holds lists"),
        (PAIRS.with_columns(cos_distance=0.5), "", "'cos_distance' may be the opposite of a"),
        (SCORED.drop("sentence2"), "", "no column 'sentence2'"),
        (SCORED.clear(), "", "no rows"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_one_line(
    tmp_path: Path, table: pl.DataFrame, column: str, words: str
) -> None:
    file = tmp_path / "mine.parquet"
    table.write_parquet(file)
    with pytest.raises(EmbedlabError, match=words) as refused:
        scorer_of(f"scores:{file}{column}")
    for name in re.findall(r"scores:\S+#(\S+)", str(refused.value.hint)):
        assert name in table.columns


def array(folder: Path, vectors: np.ndarray, sentences: str) -> str:
    """The name of vectors beside their sentences."""
    np.save(folder / "mine.npy", vectors)
    (folder / "mine.txt").write_text(sentences)
    return f"vectors:{folder / 'mine.npy'}"


@pytest.mark.parametrize("ending", ["parquet", "npy"])
def test_vectors_are_matched_by_sentence_and_those_that_lack_one_are_refused_alone(
    tmp_path: Path, cpu: Machine, ending: str
) -> None:
    vectors = np.array([[0, 1], [2, 3], [4, 5], [np.nan, 6]], np.float32)
    rows = [*vectors.tolist(), None]
    table = pl.DataFrame({"sentence": ["a", "b", "c d", "x", "f"], "vector": rows})
    table.write_parquet(tmp_path / "mine.parquet")
    array(tmp_path, vectors, "a\nb\nc d\nx\n")
    encoder = opened(f"vectors:{tmp_path}/mine.{ending}", cpu)
    assert encoder.encode(["c d", "a", "c d"]).tolist() == [[4, 5], [0, 1], [4, 5]]
    with pytest.raises(MissingError, match="has no vector for 'e' or any other"):
        encoder.encode(["e", "f"])
    with pytest.raises(RefusedTextsError, match=r"not all finite.*'x'") as refused:
        encoder.encode(["x", "a", "f"])
    assert "refuses 2 texts" in refused.value.message
    assert refused.value.vectors.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("vectors", "sentences", "words"),
    [
        (np.zeros((3, 2)), "a\nb", "2 sentences, but an array of shape (3, 2)"),
        # a header would move every vector by one
        (np.zeros((2, 2)), "sentence\na\nb\n", "3 sentences, but an array of shape (2, 2)"),
        (np.eye(2), "a\na\n", "'a' has two different vectors, rows 1 and 2"),
        (np.eye(2) * 1j, "a\nb\n", "complex"),
        (np.eye(2) * 1e300, "a\na\n", "not finite"),
    ],
)
def test_an_array_that_does_not_fit_its_sentences_is_refused(
    tmp_path: Path, cpu: Machine, vectors: np.ndarray, sentences: str, words: str
) -> None:
    name = array(tmp_path, vectors, sentences)
    assert_refused(name, cpu, words)
    (tmp_path / "mine.txt").unlink()
    assert_refused(name, cpu, "no file '", "mine.txt'")
