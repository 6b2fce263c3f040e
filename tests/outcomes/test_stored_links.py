"""Links between sentences are found once and then read, whatever process finds them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.analysis import near_duplicates
from embedlab.analysis.near_duplicates import Links, links_key, similar_pairs
from embedlab.core.frame_files import write_table
from embedlab.outcomes import stored as tested
from embedlab.outcomes.stored import stored_links

IN_ORDER = [(0, 11, 0.5)]


@pytest.fixture(autouse=True)
def _stores_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store the links of few sentences too."""
    monkeypatch.setattr(tested, "_FEWEST", 10)


def sentences(count: int, seed: int = 0) -> pl.Series:
    words = np.random.default_rng(seed).integers(0, 30, (count, 6))
    return pl.Series(
        [f"{row} " + " ".join(f"w{word}" for word in own) for row, own in enumerate(words.tolist())]
    )


def table_of(rows: list[tuple[int | None, int, float]]) -> pl.DataFrame:
    return pl.DataFrame(
        rows, schema={"first": pl.Int32, "second": pl.Int32, "cosine": pl.Float32}, orient="row"
    )


def equal(one: Links, other: Links) -> bool:
    return all(map(np.array_equal, vars(one).values(), vars(other).values()))


def test_other_sentences_another_order_and_another_method_are_found_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = sentences(20)
    joined = pl.Series([texts[0] + texts[1], *texts[2:]])
    for others in (texts, texts.reverse(), texts[1:], joined):
        assert equal(stored_links(others, tmp_path), similar_pairs(others))
    monkeypatch.setattr(near_duplicates, "METHOD", "another")
    stored_links(texts, tmp_path)
    assert len([*(tmp_path / "similar-sentences").iterdir()]) == 5


@pytest.mark.parametrize("damage", ["cut", "changed", "of another dataset"])
def test_a_damaged_file_is_found_and_written_again(tmp_path: Path, damage: str) -> None:
    texts, folder = sentences(30), tmp_path / "similar-sentences"
    found = stored_links(texts, tmp_path)
    (path,) = folder.iterdir()
    content = path.read_bytes()
    stored_links(sentences(90, seed=1), tmp_path)
    (other,) = {*folder.iterdir()} - {path}
    damaged = {
        "cut": content[:-20],
        "changed": content[:30] + bytes([content[30] ^ 1]) + content[31:],
        "of another dataset": other.read_bytes(),
    }
    path.write_bytes(damaged[damage])
    assert equal(stored_links(texts, tmp_path), found)
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_written_costs_time_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    texts = sentences(12)
    assert equal(stored_links(texts, tmp_path / "file"), similar_pairs(texts))


@pytest.mark.parametrize(
    ("table", "is_read"),
    [
        (table_of([(0, 1, 0.5), (9, 10, 0.75), (0, 11, 1.0)]), True),
        (table_of([]), True),
        (table_of([(0, 12, 0.5)]), False),  # of more sentences
        (table_of([*IN_ORDER, (-1, 3, 0.5)]), False),
        (table_of([*IN_ORDER, (4, 4, 0.5)]), False),
        (table_of([*IN_ORDER, (5, 4, 0.5)]), False),
        (table_of([*IN_ORDER, (None, 4, 0.5)]), False),
        (table_of(IN_ORDER).cast({"first": pl.Int64}), False),
        (table_of(IN_ORDER).rename({"cosine": "similarity"}), False),
    ],
)
def test_stored_links_count_where_they_can_be_of_so_many_sentences(
    table: pl.DataFrame, is_read: bool, tmp_path: Path
) -> None:
    texts = sentences(12)
    write_table(tmp_path / "similar-sentences" / f"{links_key(texts)}.parquet", table)
    found = stored_links(texts, tmp_path)
    if is_read:
        columns = [getattr(found, name).tolist() for name in table.columns]
        assert columns == [column.to_list() for column in table]
    else:
        assert equal(found, similar_pairs(texts))


def test_from_two_hundred_sentences_on_links_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    for count in (199, 200):
        stored_links(sentences(count), tmp_path)
        assert (tmp_path / "similar-sentences").exists() == (count == 200)
