"""The cache folder is ours alone, and what was used least recently goes first."""

import os
from pathlib import Path

import pytest

from embedlab.core.cache import TAG, cache_entries, cache_folder, read_cached, trim
from embedlab.core.disk import read_sealed_json, write_json

KEYS = [f"{number:016x}" for number in range(6)]


def fill(cache: Path) -> None:
    """Four entries of 1000 bytes, the oldest first, and what is never trimmed."""
    for age, name in enumerate(
        (
            f"embeddings/{KEYS[0]}/a.npy",
            f"training-text/{KEYS[1]}.parquet",
            f"tokens/{KEYS[2]}/deep/flat.npy",
            f"embeddings/{KEYS[3]}/a.npy",
            f"models/{KEYS[4]}/evaluations/sts.json",
            f"tiny-encoder/{KEYS[5]}/config.json",
        )
    ):
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).write_bytes(b"x" * 1000)
        entry = cache.joinpath(*Path(name).parts[:2])
        os.utime(entry, (10 + age, 10 + age))


def test_the_least_recently_used_goes_first_and_scores_stay(tmp_path: Path) -> None:
    fill(tmp_path)
    read_cached(tmp_path / "embeddings" / KEYS[0], lambda path: path)  # used now
    trim(tmp_path, limit_bytes=2500)
    assert {entry.name.split(".")[0] for entry in cache_entries(tmp_path)} == {
        KEYS[number] for number in (0, 3, 4, 5)
    }
    newest = tmp_path / "embeddings" / KEYS[3]
    trim(tmp_path, limit_bytes=0, newest=newest)
    left = {entry.name for entry in cache_entries(tmp_path)}
    assert left == {KEYS[3], KEYS[4], KEYS[5]}


def test_a_link_in_the_cache_is_deleted_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis").write_text("all of it")
    (tmp_path / "cache" / "tokens").mkdir(parents=True)
    (tmp_path / "cache" / "tokens" / KEYS[0]).symlink_to(tmp_path / "mine")
    trim(tmp_path / "cache", limit_bytes=0)
    assert cache_entries(tmp_path / "cache") == []
    assert (tmp_path / "mine" / "thesis").read_text() == "all of it"


def test_what_is_absent_or_damaged_is_a_miss(tmp_path: Path) -> None:
    path = tmp_path / "entry.json"
    assert read_cached(path, lambda path: read_sealed_json(path, hint="")) is None
    write_json(path, {"a": 1})
    assert read_cached(path, lambda path: read_sealed_json(path, hint="")) == {"a": 1}
    path.write_text(path.read_text().replace("1", "2", 1))
    assert read_cached(path, lambda path: read_sealed_json(path, hint="")) is None


@pytest.mark.parametrize(
    "name",
    [
        "thesis.tex",
        "embeddings/word2vec/vectors.txt",
        "models/bert-base/config.json",
        f"models/{KEYS[0]}/scores.json mine/table.csv",
        "tokens",
        TAG,
    ],
)
def test_a_folder_that_others_use_is_used_through_one_in_it(tmp_path: Path, name: str) -> None:
    if name.startswith(f"models/{KEYS[0]}"):
        fill(tmp_path)  # ours of before, and something else beside it
        name = "table.csv"
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("theirs")
    ours = cache_folder(tmp_path)
    assert ours == tmp_path / "embedlab"
    fill(ours)
    trim(ours, limit_bytes=0)
    assert (tmp_path / name).read_text() == "theirs"
    assert cache_folder(ours) == ours
    assert cache_folder(tmp_path) == ours


def test_a_folder_that_is_absent_empty_ours_or_tagged_is_used_itself(tmp_path: Path) -> None:
    assert cache_folder(tmp_path / "absent") == tmp_path / "absent"
    assert cache_folder(tmp_path) == tmp_path
    fill(tmp_path)
    assert cache_folder(tmp_path) == tmp_path  # as it was made before there was a tag
    trim(tmp_path, limit_bytes=10**6)
    assert (tmp_path / TAG).read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    (tmp_path / "notes.txt").write_text("put there later")
    assert cache_folder(tmp_path) == tmp_path
