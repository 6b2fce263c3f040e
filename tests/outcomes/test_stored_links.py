"""Links between sentences are found once and then read, whatever process finds them."""

import os
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.analysis.near_duplicates import Links, similar_pairs
from embedlab.core.cache_files import own_files
from embedlab.core.checksums import KEY, UNSEALED, seal
from embedlab.outcomes import stored_links as tested
from embedlab.outcomes.stored_links import KIND, stored_links


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as a process of its own would."""
    monkeypatch.setattr(tested, "stored_links", stored_links.__wrapped__)
    monkeypatch.setattr(tested, "_FEWEST", 10)


def sentences(count: int, seed: int = 0) -> tuple[str, ...]:
    words = np.random.default_rng(seed).integers(0, 30, (count, 6))
    return tuple(f"{row} " + " ".join(f"w{word}" for word in own) for row, own in enumerate(words.tolist()))


def equal(one: Links, other: Links) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("first", "second", "cosine"))


def test_links_are_found_once_and_then_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = sentences(40)
    found = tested.stored_links(texts, tmp_path)
    assert equal(found, similar_pairs(texts))
    assert len(found.first) > 3
    monkeypatch.setattr(tested, "links_of", lambda _: pytest.fail("found again"))
    assert equal(tested.stored_links(texts, tmp_path), found)
    (path,) = (tmp_path / KIND).iterdir()
    assert own_files(KIND, path) == [path]


def test_other_sentences_another_order_and_another_method_are_found_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = sentences(20)
    tested.stored_links(texts, tmp_path)
    for others in (texts[::-1], texts[1:], (texts[0] + texts[1], *texts[2:])):
        assert equal(tested.stored_links(others, tmp_path), similar_pairs(others))
    monkeypatch.setattr(tested, "METHOD", "another")
    tested.stored_links(texts, tmp_path)
    assert len(list((tmp_path / KIND).iterdir())) == 5


@pytest.mark.parametrize("damage", ["cut", "changed", "of another dataset"])
def test_a_damaged_file_is_found_and_written_again(tmp_path: Path, damage: str) -> None:
    texts = sentences(30)
    found = tested.stored_links(texts, tmp_path)
    (path,) = (tmp_path / KIND).iterdir()
    if damage == "of another dataset":
        tested.stored_links(sentences(90, seed=1), tmp_path)
        (other,) = (one for one in (tmp_path / KIND).iterdir() if one != path)
        path.write_bytes(other.read_bytes())
    else:
        content = path.read_bytes()
        path.write_bytes(content[:-20] if damage == "cut" else content[:30] + bytes([content[30] ^ 1]) + content[31:])
    assert equal(tested.stored_links(texts, tmp_path), found)
    assert equal(tested.stored_links(texts, tmp_path), found)


def test_a_few_sentences_are_not_stored_and_a_folder_that_cannot_be_written_costs_time_alone(tmp_path: Path) -> None:
    few = sentences(9)
    assert equal(tested.stored_links(few, tmp_path), similar_pairs(few))
    assert not (tmp_path / KIND).exists()
    (tmp_path / "file").write_text("")
    assert equal(tested.stored_links(sentences(12), tmp_path / "file"), similar_pairs(sentences(12)))


def test_the_oldest_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested, "_FILE_LIMIT", 2)
    for seed in range(4):
        tested.stored_links(sentences(12, seed), tmp_path)
    assert len(list((tmp_path / KIND).iterdir())) == 2


def table_of(rows: list[tuple[int | None, int, float]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"first": pl.Int32, "second": pl.Int32, "cosine": pl.Float32}, orient="row")


def store(table: pl.DataFrame, path: Path) -> None:
    """Write TABLE as a whole file of links, whatever it says."""
    content = BytesIO()
    table.write_parquet(content, metadata={KEY: UNSEALED})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(seal(content.getvalue()))


@pytest.mark.parametrize("rows", [[(0, 11, 0.5)], [(0, 1, 0.5), (9, 10, 0.75), (0, 11, 1.0)], []])
def test_links_that_can_be_of_so_many_sentences_are_read(tmp_path: Path, rows: list[tuple[int, int, float]]) -> None:
    store(table_of(rows), tmp_path / "links.parquet")  # type: ignore[arg-type]
    found = tested._read(tmp_path / "links.parquet", 12)
    assert found is not None
    assert list(zip(found.first.tolist(), found.second.tolist(), found.cosine.tolist(), strict=True)) == rows


@pytest.mark.parametrize(
    "wrong",
    [
        table_of([(0, 11, 0.5), (-1, 3, 0.5)]),
        table_of([(0, 11, 0.5), (4, 4, 0.5)]),
        table_of([(0, 11, 0.5), (5, 4, 0.5)]),
        table_of([(0, 12, 0.5), (1, 2, 0.5)]),
        table_of([(0, 11, 0.5), (None, 4, 0.5)]),
        table_of([(0, 11, 0.5)]).cast({"first": pl.Int64}),
        table_of([(0, 11, 0.5)]).rename({"cosine": "similarity"}),
    ],
)
def test_links_that_cannot_be_of_so_many_sentences_are_none(tmp_path: Path, wrong: pl.DataFrame) -> None:
    store(wrong, tmp_path / "links.parquet")
    assert tested._read(tmp_path / "links.parquet", 12) is None


def test_a_file_that_is_read_is_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "links.parquet"
    store(table_of([(0, 1, 0.5)]), path)
    os.utime(path, (1, 1))
    assert tested._read(path, 12) is not None
    assert path.stat().st_mtime > 1


def test_links_are_written_with_the_types_that_are_read(tmp_path: Path) -> None:
    wide = Links(first=np.array([0], np.int64), second=np.array([1], np.int64), cosine=np.array([0.5]))
    tested._write(wide, tmp_path / "links.parquet")  # type: ignore[arg-type]
    assert tested._read(tmp_path / "links.parquet", 2) is not None


def test_of_two_hundred_sentences_links_are_stored_and_of_the_last_sixty_four_datasets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    limits: list[int] = []
    monkeypatch.setattr(tested, "keep_newest", lambda _folder, _ending, most: limits.append(most))
    for count in (199, 200):
        stored_links.__wrapped__(sentences(count), tmp_path)
        assert (tmp_path / KIND).exists() == (count == 200)
    assert limits == [64]
