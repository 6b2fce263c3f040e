"""Pairs of the hub by their own name, wherever a dataset is named: a small copy of a repository,
never the hub itself.
"""

from pathlib import Path

import polars as pl

from tests.cli.conftest import Embedlab

NAME = "hub:./pairs?s1=a&s2=b&score=rating&scale=0-5"
ROWS = {
    "a": ["one man runs", "two dogs play", "a girl sings"],
    "b": ["a man runs", "cats sleep", "a girl is singing"],
    "rating": [5.0, 0.5, 4.0],
}


def test_a_copy_of_a_repository_is_a_dataset_of_every_command(
    embedlab: Embedlab, tmp_path: Path
) -> None:
    (tmp_path / "pairs").mkdir()
    pl.DataFrame(ROWS).write_parquet(tmp_path / "pairs" / "test.parquet")
    (listed,) = embedlab("data", "ls", NAME, "--json").rows
    assert (listed["dataset"], listed["kind"], listed["from"]) == (NAME, "sts", "hub")
    (checked,) = embedlab("data", "check", NAME, "--json").rows
    assert (checked["rows"], checked["state"]) == (3, "not counted")
    compared = embedlab("compare", "dice", "--task", NAME, "--json")
    assert {row["slice"] for row in compared.rows} == {NAME}
    pairs = embedlab("pairs", "dice", "--dataset", NAME, "--json").rows
    assert {row["sentence1"] for row in pairs} == set(ROWS["a"])
    for absent in (NAME.replace("rating", "stars"), f"{NAME}&where=stars:5"):
        refused = embedlab("evaluate", "dice", "--task", absent)
        assert refused.code == 2
        assert "has no column 'stars': found a, b, rating" in refused.err
