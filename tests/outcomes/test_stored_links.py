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


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as a process of its own would."""
    monkeypatch.setattr(tested, "remembered", lambda _, find: find())
    monkeypatch.setattr(tested, "_FEWEST", 10)


def sentences(count: int, seed: int = 0) -> pl.Series:
    words = np.random.default_rng(seed).integers(0, 30, (count, 6))
    return pl.Series(
        [f"{row} " + " ".join(f"w{word}" for word in own) for row, own in enumerate(words.tolist())]
    )


def equal(one: Links, other: Links) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("first", "second", "cosine")
    )


def test_links_are_found_once_and_then_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = sentences(40)
    found = tested.stored_links(texts, tmp_path)
    assert equal(found, similar_pairs(texts))
    assert len(found.first) > 3
    monkeypatch.setattr(tested, "similar_pairs", lambda _: pytest.fail("found again"))
    assert equal(tested.stored_links(texts, tmp_path), found)


def test_other_sentences_another_order_and_another_method_are_found_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = sentences(20)
    tested.stored_links(texts, tmp_path)
    for others in (texts.reverse(), texts[1:], pl.Series([texts[0] + texts[1], *texts[2:]])):
        assert equal(tested.stored_links(others, tmp_path), similar_pairs(others))
    monkeypatch.setattr(near_duplicates, "METHOD", "another")
    tested.stored_links(texts, tmp_path)
    assert len(list((tmp_path / "similar-sentences").iterdir())) == 5


@pytest.mark.parametrize("damage", ["cut", "changed", "of another dataset"])
def test_a_damaged_file_is_found_and_written_again(tmp_path: Path, damage: str) -> None:
    texts = sentences(30)
    found = tested.stored_links(texts, tmp_path)
    (path,) = (tmp_path / "similar-sentences").iterdir()
    if damage == "of another dataset":
        tested.stored_links(sentences(90, seed=1), tmp_path)
        (other,) = (one for one in (tmp_path / "similar-sentences").iterdir() if one != path)
        path.write_bytes(other.read_bytes())
    else:
        content = path.read_bytes()
        path.write_bytes(
            content[:-20]
            if damage == "cut"
            else content[:30] + bytes([content[30] ^ 1]) + content[31:]
        )
    assert equal(tested.stored_links(texts, tmp_path), found)
    assert equal(tested.stored_links(texts, tmp_path), found)


def test_a_few_sentences_are_not_stored_and_a_folder_that_cannot_be_written_costs_time_alone(
    tmp_path: Path,
) -> None:
    few = sentences(9)
    assert equal(tested.stored_links(few, tmp_path), similar_pairs(few))
    assert not (tmp_path / "similar-sentences").exists()
    (tmp_path / "file").write_text("")
    assert equal(
        tested.stored_links(sentences(12), tmp_path / "file"), similar_pairs(sentences(12))
    )


def table_of(rows: list[tuple[int | None, int, float]]) -> pl.DataFrame:
    return pl.DataFrame(
        rows, schema={"first": pl.Int32, "second": pl.Int32, "cosine": pl.Float32}, orient="row"
    )


def links_in(frame: pl.DataFrame, folder: Path) -> Links:
    write_table(folder / "links.parquet", frame)
    return tested._read_links(folder / "links.parquet", 12)


@pytest.mark.parametrize("rows", [[(0, 11, 0.5)], [(0, 1, 0.5), (9, 10, 0.75), (0, 11, 1.0)], []])
def test_links_are_those_of_their_table(
    rows: list[tuple[int | None, int, float]], tmp_path: Path
) -> None:
    found = links_in(table_of(rows), tmp_path)
    assert (
        list(zip(found.first.tolist(), found.second.tolist(), found.cosine.tolist(), strict=True))
        == rows
    )


@pytest.mark.parametrize(
    "wrong",
    [
        table_of([(0, 11, 0.5), (-1, 3, 0.5)]),
        table_of([(0, 11, 0.5), (4, 4, 0.5)]),
        table_of([(0, 11, 0.5), (5, 4, 0.5)]),
        table_of([(0, 11, 0.5), (None, 4, 0.5)]),
        table_of([(0, 11, 0.5)]).cast({"first": pl.Int64}),
        table_of([(0, 11, 0.5)]).rename({"cosine": "similarity"}),
    ],
)
def test_a_table_that_links_cannot_make_is_refused(wrong: pl.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"not a table of links|not in order"):
        links_in(wrong, tmp_path)


@pytest.mark.parametrize(("last", "is_read"), [(11, True), (12, False)])
def test_stored_links_count_where_they_can_be_of_so_many_sentences(
    last: int, is_read: bool, tmp_path: Path
) -> None:
    texts = sentences(12)
    path = tmp_path / "similar-sentences" / f"{links_key(texts)}.parquet"
    write_table(path, table_of([(0, last, 0.5), (1, 2, 0.5)]))
    found = tested.stored_links(texts, tmp_path)
    assert found.second.tolist() == [last, 2] if is_read else equal(found, similar_pairs(texts))


def test_from_two_hundred_sentences_on_links_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    for count in (199, 200):
        stored_links(sentences(count), tmp_path)
        assert (tmp_path / "similar-sentences").exists() == (count == 200)
