import os
import shutil
import signal
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from embedlab.encoders import vector_cache as cache_module
from embedlab.encoders.encoder import sentence_keys
from embedlab.encoders.vector_cache import SEGMENT_FILES, EmbeddingCache
from tests.encoders.cache_writer import DIM, vectors_of

WRITER = Path(__file__).with_name("cache_writer.py")


def open_cache(
    folder: Path, fingerprint: str = "f", limit_bytes: int = 2**30, dim: int = DIM
) -> EmbeddingCache:
    return EmbeddingCache(folder, fingerprint, dim=dim, limit_bytes=limit_bytes)


def keys_of(numbers: np.ndarray) -> np.ndarray:
    return sentence_keys([f"sentence {number}" for number in numbers])


def put(cache: EmbeddingCache, numbers: np.ndarray) -> None:
    cache.store(keys_of(numbers), vectors_of(numbers), numbers % 2 == 0)


def test_what_was_stored_is_found_and_nothing_else(tmp_path: Path) -> None:
    put(open_cache(tmp_path), np.arange(0, 50))
    put(open_cache(tmp_path), np.arange(100, 150))
    selected = np.random.default_rng(0).permutation(200)
    known, vectors, cut = open_cache(tmp_path).find(keys_of(selected))
    assert set(selected[known]) == {*range(50), *range(100, 150)}
    assert (vectors[known] == vectors_of(selected[known])).all()
    assert (cut[known] == (selected[known] % 2 == 0)).all()


def test_another_fingerprint_or_dimension_is_never_served(tmp_path: Path) -> None:
    put(open_cache(tmp_path, "one"), np.arange(5))
    assert not open_cache(tmp_path, "two").find(keys_of(np.arange(5)))[0].any()
    assert not open_cache(tmp_path, "one", dim=7).find(keys_of(np.arange(5)))[0].any()


@pytest.mark.parametrize(
    ("part", "damage"),
    [
        *product(SEGMENT_FILES, ["half", "empty", "gone"]),
    ],
)
def test_a_damaged_segment_is_ignored_and_removed(tmp_path: Path, part: str, damage: str) -> None:
    put(open_cache(tmp_path), np.arange(0, 50))
    (file,) = tmp_path.glob(f"embeddings/f/*.{part}.npy")
    put(open_cache(tmp_path), np.arange(50, 60))
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2] if damage == "half" else b"")
    if damage == "gone":
        file.unlink()
    cache = open_cache(tmp_path)
    known, _, _ = cache.find(keys_of(np.arange(60)))
    assert np.flatnonzero(known).tolist() == list(range(50, 60))
    put(cache, np.arange(0, 50))
    assert cache.find(keys_of(np.arange(60)))[0].all()
    assert len(list(tmp_path.glob("embeddings/f/*.keys.npy"))) == 2


@pytest.mark.parametrize("part", SEGMENT_FILES)
def test_a_flipped_bit_is_never_served_and_what_it_hit_can_be_stored_again(
    tmp_path: Path, part: str
) -> None:
    numbers = np.arange(6)
    put(open_cache(tmp_path / "whole"), numbers)
    (whole,) = tmp_path.glob(f"whole/embeddings/f/*.{part}.npy")
    content, is_noticed = whole.read_bytes(), False
    for byte in (
        8,
        *range(20, len(content), 1 + len(content) // 12),
    ):  # 8: the length of the header, which moves all that follows
        folder = tmp_path / str(byte)
        shutil.copytree(tmp_path / "whole", folder)
        (folder / "embeddings/f" / whole.name).write_bytes(
            content[:byte] + bytes([content[byte] ^ 4]) + content[byte + 1 :]
        )
        for _ in range(2):
            known, vectors, cut = open_cache(folder).find(keys_of(numbers))
            assert (vectors[known] == vectors_of(numbers[known])).all()
            assert (cut[known] == (numbers[known] % 2 == 0)).all()
            is_noticed |= not known.all()
            put(open_cache(folder), numbers)
        assert open_cache(folder).find(keys_of(numbers))[0].all()
    assert is_noticed


def test_a_merge_leaves_damaged_rows_out(tmp_path: Path) -> None:
    cache = open_cache(tmp_path)
    put(cache, np.arange(0, 5))
    (vectors,) = tmp_path.glob("embeddings/f/*.vectors.npy")
    content = bytearray(vectors.read_bytes())
    content[-1] ^= 1
    vectors.write_bytes(content)
    put(cache, np.arange(5, 10))
    assert cache.find(keys_of(np.arange(10)))[0].sum() == 9
    for start in range(10, 10 + 5 * cache_module.MOST_SEGMENTS, 5):
        put(cache, np.arange(start, start + 5))
    assert len(list(tmp_path.glob("embeddings/f/*.keys.npy"))) < cache_module.MOST_SEGMENTS
    known, found, _ = cache.find(keys_of(np.arange(10)))
    assert known.sum() == 9
    assert (found[known] == vectors_of(np.arange(10)[known])).all()


def test_many_small_segments_become_one(tmp_path: Path) -> None:
    cache = open_cache(tmp_path)
    for start in range(0, 200, 5):
        put(cache, np.arange(start, start + 8))
    assert len(list(tmp_path.glob("embeddings/f/*.keys.npy"))) <= cache_module.MOST_SEGMENTS
    known, vectors, _ = cache.find(keys_of(np.arange(203)))
    assert known.all()
    assert (vectors == vectors_of(np.arange(203))).all()


def test_the_encoder_used_least_recently_is_dropped_first(tmp_path: Path) -> None:
    size = 100 * DIM * 4
    for age, name in enumerate(("old", "used", "new")):
        put(open_cache(tmp_path, name), np.arange(100))
        os.utime(tmp_path / "embeddings" / name, (1000 + age, 1000 + age))
    os.utime(tmp_path / "embeddings/used", (500, 500))
    open_cache(tmp_path, "used").find(keys_of(np.arange(1)))  # use makes it young again
    put(open_cache(tmp_path, "last", limit_bytes=int(3.5 * size)), np.arange(100))
    assert sorted(path.name for path in (tmp_path / "embeddings").iterdir()) == [
        "last",
        "new",
        "used",
    ]


def test_parts_that_a_killed_process_left_are_removed_when_old(tmp_path: Path) -> None:
    put(open_cache(tmp_path), np.arange(5))
    old_s = 2 * cache_module.STALE_S
    dead, unfinished, live = (
        f"{'d' * 32}.vectors.npy",
        f".{'d' * 32}.keys.npy.tmp-{'0' * 32}",
        f"{'a' * 32}.vectors.npy",
    )
    for name, age_s in (
        (dead, old_s),
        (unfinished, old_s),
        (live, 0),
    ):
        file = tmp_path / "embeddings/f" / name
        file.touch()
        os.utime(file, (file.stat().st_mtime - age_s,) * 2)
    put(open_cache(tmp_path), np.arange(5, 10))
    names = {path.name for path in (tmp_path / "embeddings/f").iterdir()}
    assert live in names
    assert not {dead, unfinished} & names


def start_writer(folder: Path, first: int, step: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(folder), str(first), str(step), str(count)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


@pytest.mark.parametrize("lines", [1, 7, 40])
def test_a_writer_that_is_killed_anywhere_loses_only_what_was_not_stored(
    tmp_path: Path, lines: int
) -> None:
    writer = start_writer(tmp_path, 0, 200, 100_000)
    assert writer.stdout is not None
    for _ in range(lines):
        done = int(writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    numbers = np.arange(done + 200 + 2_000)
    known, vectors, _ = open_cache(tmp_path).find(keys_of(numbers))
    assert known[: done + 200].all()
    assert (vectors[known] == vectors_of(numbers[known])).all()


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    writers = [
        start_writer(tmp_path, first, 100, 45) for first in (0, 50)
    ]  # overlapping sentences, and merges on the way
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0]
    numbers = np.arange(50 + 44 * 100 + 200)
    known, vectors, _ = open_cache(tmp_path).find(keys_of(numbers))
    assert known.all()
    assert (vectors == vectors_of(numbers)).all()


def test_the_encoder_in_use_stays_under_the_limit_by_losing_its_oldest_segments(
    tmp_path: Path,
) -> None:
    size = 100 * DIM * 4
    put(open_cache(tmp_path, "other"), np.arange(10))
    cache = open_cache(tmp_path, limit_bytes=int(3.5 * size))
    for number in range(5):
        put(cache, np.arange(100 * number, 100 * number + 100))
        for age, file in enumerate(
            sorted(
                (tmp_path / "embeddings/f").glob("*.keys.npy"),
                key=lambda file: file.stat().st_mtime,
            )
        ):
            os.utime(file, (1000 * number + age, 1000 * number + age))
    known = cache.knows(keys_of(np.arange(500)))
    assert known[-100:].all()
    assert not known[:100].any()
    assert sum(file.stat().st_size for file in (tmp_path / "embeddings/f").iterdir()) <= 3.5 * size
    assert not (tmp_path / "embeddings/other").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_what_belongs_to_another_user_is_read_and_left() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        put(open_cache(root), np.arange(10))
        (root / "embeddings/closed").mkdir(mode=0o700)
        (root / "embeddings").chmod(0o777)
        root.chmod(0o777)
        code = f"""
import os, sys
from pathlib import Path
import numpy as np
from tests.encoders.test_vector_cache import keys_of, open_cache, put
root, own = Path({folder!r}), np.arange(20, 30)
open_cache(root).find(keys_of(own))  # so that everything is imported before Python's own folder is closed to us
os.setuid(65534)
put(open_cache(root, "own"), own)
found = open_cache(root).find(keys_of(np.arange(10)))[0].all() and open_cache(root, "own").find(keys_of(own))[0].all()
sys.exit(not found)
"""
        selected = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            cwd=WRITER.parents[2],
        )
        assert selected.returncode == 0, selected.stderr
