import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from embedlab.encoders import vector_cache as cache_module
from embedlab.encoders.encoder import sentence_keys
from embedlab.encoders.vector_cache import EmbeddingCache
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


def found_of(cache: EmbeddingCache, numbers: np.ndarray) -> set[int]:
    """Which of these the cache has, all of them as they were stored."""
    known, vectors, cut = cache.find(keys_of(numbers))
    assert (vectors[known] == vectors_of(numbers[known])).all()
    assert (cut[known] == (numbers[known] % 2 == 0)).all()
    return set(numbers[known].tolist())


def segments_of(folder: Path) -> list[Path]:
    return [*folder.glob("embeddings/f/*.rows")]


def test_what_was_stored_is_found_and_nothing_else(tmp_path: Path) -> None:
    put(open_cache(tmp_path), np.arange(0, 50))
    put(open_cache(tmp_path), np.arange(100, 150))
    selected = np.random.default_rng(0).permutation(200)
    assert found_of(open_cache(tmp_path), selected) == {*range(50), *range(100, 150)}
    assert not found_of(open_cache(tmp_path, "another fingerprint"), selected)
    assert not open_cache(tmp_path, dim=7).find(keys_of(selected))[0].any()


def altered(content: bytes, damage: str) -> bytes | None:
    """CONTENT of a file with a damage, nothing where the file is gone."""
    if damage == "gone":
        return None
    if damage in {"half", "empty"}:
        return content[: len(content) // 2 if damage == "half" else 0]
    place = int(damage) * (len(content) - 1) // 29
    return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]


@pytest.mark.parametrize("damage", ["half", "empty", "gone", *map(str, range(30))])
def test_a_damaged_segment_or_row_is_ignored_and_can_be_stored_again(
    tmp_path: Path, damage: str
) -> None:
    put(open_cache(tmp_path), np.arange(0, 6))
    (file,) = segments_of(tmp_path)
    put(open_cache(tmp_path), np.arange(6, 10))
    content = altered(file.read_bytes(), damage)
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    for _ in range(2):
        assert found_of(open_cache(tmp_path), np.arange(10)) >= {*range(6, 10)}
        put(open_cache(tmp_path), np.arange(6))
    assert len(found_of(open_cache(tmp_path), np.arange(10))) == 10
    if damage in {"empty", "gone"}:
        assert len(segments_of(tmp_path)) == 3  # the damaged one was removed


def test_a_merge_leaves_damaged_rows_out(tmp_path: Path) -> None:
    cache = open_cache(tmp_path)
    put(cache, np.arange(0, 5))
    (segment,) = segments_of(tmp_path)
    content = bytearray(segment.read_bytes())
    content[-8] ^= 1  # of the last vector
    segment.write_bytes(content)
    put(cache, np.arange(5, 10))
    assert len(found_of(cache, np.arange(10))) == 9
    last = 10 + 5 * cache_module.MOST_SEGMENTS
    for start in range(10, last, 5):
        put(cache, np.arange(start, start + 8))
    assert len(segments_of(tmp_path)) < cache_module.MOST_SEGMENTS
    assert len(found_of(cache, np.arange(last + 3))) == last + 2


def test_the_encoder_used_least_recently_is_dropped_first(tmp_path: Path) -> None:
    size = 100 * DIM * 4
    for age, name in enumerate(("used", "old", "new")):
        put(open_cache(tmp_path, name), np.arange(100))
        os.utime(tmp_path / "embeddings" / name, (1000 + age, 1000 + age))
    open_cache(tmp_path, "used").find(keys_of(np.arange(1)))  # use makes it young again
    put(open_cache(tmp_path, "last", limit_bytes=int(3.5 * size)), np.arange(100))
    left = {path.name for path in (tmp_path / "embeddings").iterdir()}
    assert left == {"last", "new", "used"}


def test_what_a_killed_process_left_is_removed_when_old(tmp_path: Path) -> None:
    put(open_cache(tmp_path), np.arange(5))
    folder = tmp_path / "embeddings/f"
    names = [f".{letter * 32}.{DIM}.rows.tmp-{'0' * 32}" for letter in "da"]
    for name, age_s in zip(names, (2 * cache_module.STALE_S, 0), strict=True):
        (folder / name).touch()
        os.utime(folder / name, (time.time() - age_s,) * 2)
    put(open_cache(tmp_path), np.arange(5, 10))
    left = {path.name for path in folder.iterdir()}
    assert left & {*names} == {names[1]}


def start_writer(folder: Path, first: int, step: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(folder), str(first), str(step), str(count)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.parametrize("lines", [1, 40])
def test_a_writer_that_is_killed_anywhere_loses_only_what_was_not_stored(
    tmp_path: Path, lines: int
) -> None:
    writer = start_writer(tmp_path, 0, 200, 100_000)
    assert writer.stdout is not None
    for _ in range(lines):
        done = int(writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert found_of(open_cache(tmp_path), np.arange(done + 2_000)) >= {*range(done + 200)}


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    # overlapping sentences, and merges on the way
    writers = [start_writer(tmp_path, first, 100, 30) for first in (0, 50)]
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0]
    numbers = np.arange(50 + 29 * 100 + 200)
    assert len(found_of(open_cache(tmp_path), numbers)) == len(numbers)


def test_the_encoder_in_use_stays_under_the_limit_by_losing_its_oldest_segments(
    tmp_path: Path,
) -> None:
    limit = int(3.5 * 100 * DIM * 4)
    put(open_cache(tmp_path, "other"), np.arange(10))
    cache = open_cache(tmp_path, limit_bytes=limit)
    for number in range(5):
        put(cache, np.arange(100 * number, 100 * number + 100))
        for file in segments_of(tmp_path):
            os.utime(file, (file.stat().st_mtime - 1000,) * 2)
    known = cache.knows(keys_of(np.arange(500)))
    assert known[-100:].all()
    assert not known[:100].any()
    assert sum(file.stat().st_size for file in (tmp_path / "embeddings/f").iterdir()) <= limit
    assert not (tmp_path / "embeddings/other").exists()


AS_ANOTHER_USER = """
import os, sys
from pathlib import Path
import numpy as np
from tests.encoders.test_vector_cache import found_of, open_cache, put
root, own = Path(sys.argv[1]), np.arange(20, 30)
found_of(open_cache(root), own)  # so that everything is imported before Python's own folder is closed to us
os.setuid(65534)
put(open_cache(root, "own"), own)
sys.exit(len(found_of(open_cache(root), np.arange(10))) + len(found_of(open_cache(root, "own"), own)) != 20)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_what_belongs_to_another_user_is_read_and_left() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        put(open_cache(root), np.arange(10))
        (root / "embeddings/closed").mkdir(mode=0o700)
        (root / "embeddings").chmod(0o777)
        root.chmod(0o777)
        ended = subprocess.run(
            [sys.executable, "-c", AS_ANOTHER_USER, folder], check=False, cwd=WRITER.parents[2]
        )
        assert ended.returncode == 0
