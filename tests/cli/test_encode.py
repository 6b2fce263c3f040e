from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from embedlab.core.disk import sole_holder
from embedlab.encoders import partial_vectors
from embedlab.encoders.partial_vectors import PartialVectors
from tests.processes import embedlab_on_a_small_disk

if TYPE_CHECKING:
    from tests.cli.conftest import Embedlab

SENTENCES = [f"sentence number {number} runs" for number in range(10)]


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(partial_vectors, "CHUNK", 4)
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{sentence}\n" for sentence in SENTENCES))
    return path


@pytest.fixture
def model(tiny_encoder: Path) -> str:
    return f"{tiny_encoder}?pooling=mean"


def test_npy_and_parquet_hold_the_same_vectors_in_order(
    embedlab: Embedlab, lines: Path, model: str
) -> None:
    for out in ("v.npy", "v.parquet"):
        answer = embedlab("encode", model, "lines.txt", "-o", out, "--threads", "1")
        assert answer.code == 0, answer.err
        assert answer.out == ""
    vectors, frame = np.load("v.npy"), pl.read_parquet("v.parquet")
    assert vectors.dtype == np.float32
    assert frame["sentence"].to_list() == SENTENCES
    np.testing.assert_array_equal(frame["vector"].to_numpy(), vectors)
    made = embedlab("encode", model, "lines.txt", "-o", "v.npy", "--force", "--json").json
    assert (made["file"], made["model"], made["pooling"]) == ("v.npy", model, "mean")
    assert (made["rows"], made["dim"]) == vectors.shape


def test_a_killed_encoding_goes_on_from_its_last_chunk(
    embedlab: Embedlab, lines: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines.write_text("long " * 200 + "\n \n" + lines.read_text())
    whole = embedlab("encode", model, "lines.txt", "-o", "whole.npy")
    assert "1 empty sentence" in whole.err
    assert "1 sentence was cut at" in whole.err
    done, write = [], PartialVectors.write

    def interrupted(*arguments: Any) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(arguments)
        write(*arguments)

    monkeypatch.setattr(PartialVectors, "write", interrupted)
    stopped = embedlab("encode", model, "lines.txt", "-o", "v.npy")
    assert stopped.code == 130
    assert "goes on from there" in stopped.err
    monkeypatch.setattr(PartialVectors, "write", write)
    chunks = sorted(Path("v.npy.partial").glob("*.parquet"))
    assert len(chunks) == 2
    resumed = embedlab("encode", model, "lines.txt", "-o", "v.npy")
    assert "resuming" in resumed.err
    assert "1 sentence was cut at" in resumed.err
    np.testing.assert_array_equal(np.load("v.npy"), np.load("whole.npy"))


@pytest.fixture
def words(tmp_path: Path) -> str:
    """A model that needs no torch: a process that encodes with it can be forked."""
    lines = [
        f"{word} {number} 1 0.5\n"
        for number, word in enumerate(["sentence", "number", "runs", "1", "2", "3"])
    ]
    (tmp_path / "words.txt").write_text("".join(lines))
    return "word-vectors:words.txt"


@pytest.fixture
def interrupted(
    embedlab: Embedlab, lines: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The folder of an encoding into `v.npy` that was stopped when all its chunks were there;
    `whole.npy` is undisturbed.
    """
    assert embedlab("encode", words, "lines.txt", "-o", "whole.npy").code == 0
    with monkeypatch.context() as patch:
        patch.setattr(
            PartialVectors, "assemble", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        assert embedlab("encode", words, "lines.txt", "-o", "v.npy").code == 130
    return Path("v.npy.partial")


@pytest.mark.parametrize("removed", [0, 2])
def test_an_encoding_that_is_killed_while_it_tidies_up_is_there(
    embedlab: Embedlab, words: str, interrupted: Path, monkeypatch: pytest.MonkeyPatch, removed: int
) -> None:
    done, unlink = [], Path.unlink

    def killed(path: Path, missing_ok: bool = False) -> None:
        if path.parent == interrupted.absolute() or path.parent == interrupted:
            if len(done) == removed:
                raise KeyboardInterrupt
            done.append(path)
        unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        assert embedlab("encode", words, "lines.txt", "-o", "v.npy").code == 130
    np.testing.assert_array_equal(np.load("v.npy"), np.load("whole.npy"))
    again = embedlab("encode", words, "lines.txt", "-o", "v.npy")
    assert (again.code, "exists already" in again.err) == (2, True)
    np.testing.assert_array_equal(np.load("v.npy"), np.load("whole.npy"))
    assert embedlab("encode", words, "lines.txt", "-o", "v.npy", "--force").code == 0
    assert not interrupted.exists()


@pytest.mark.parametrize(
    ("held", "message"),
    [
        ("v.npy.partial", "another process is writing 'v.npy'"),
        ("v.npy.shard-1-of-2.partial", "wait until every shard has ended"),
    ],
)
def test_a_second_encoding_and_joining_wait_for_another_process(
    embedlab: Embedlab, lines: Path, words: str, held: str, message: str
) -> None:
    command = ("encode", words, "lines.txt", "-o", "v.npy")
    if "shard" in held:
        assert embedlab(*command, "--shard", "1/2").code == 0
    Path(held).mkdir(exist_ok=True)
    with sole_holder(Path(held) / "lock"):
        refused = embedlab(*command)
    assert (refused.code, message in refused.err) == (1, True)


def test_a_damaged_chunk_is_encoded_again(
    embedlab: Embedlab, interrupted: Path, words: str
) -> None:
    rng, copy = np.random.default_rng(0), Path("copy")
    shutil.copytree(interrupted, copy)
    for damage in ("flip", "cut", "another chunk"):
        shutil.copytree(copy, interrupted, dirs_exist_ok=True)
        first, second, _ = sorted(interrupted.glob("*.parquet"))
        content = bytearray(first.read_bytes())
        content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        damaged = {
            "flip": content,
            "cut": content[: len(content) // 2],
            "another chunk": second.read_bytes(),
        }
        first.write_bytes(damaged[damage])
        answer = embedlab("encode", words, "lines.txt", "-o", "v.npy", "--force")
        assert answer.code == 0, answer.err
        assert Path("v.npy").read_bytes() == Path("whole.npy").read_bytes()
        assert not interrupted.exists()


def test_a_chunk_that_is_lost_before_the_end_is_said_and_never_zeros(
    embedlab: Embedlab, lines: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assemble = PartialVectors.assemble

    def lose(partial: PartialVectors, *rest: Any) -> int:
        next(partial.folder.glob("000000000004.*")).unlink()
        return assemble(partial, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(PartialVectors, "assemble", lose)
        lost = embedlab("encode", words, "lines.txt", "-o", "v.npy")
    assert lost.code == 3
    assert "the sentences from number 5 on are missing or damaged" in lost.err
    assert not Path("v.npy").exists()
    assert embedlab("encode", words, "lines.txt", "-o", "v.npy").code == 0
    assert np.load("v.npy").any(axis=1).all()


@pytest.mark.parametrize("name", ["notes.txt", "000000000000.parquet"])
def test_a_folder_that_embedlab_did_not_make_is_refused_and_left_alone(
    embedlab: Embedlab, lines: Path, words: str, name: str
) -> None:
    mine = Path("v.npy.partial") / name
    mine.parent.mkdir()
    mine.write_text("mine")
    refused = embedlab("encode", words, "lines.txt", "-o", "v.npy", "--force")
    assert (refused.code, "did not write" in refused.err) == (2, True)
    assert [path.read_text() for path in Path("v.npy.partial").iterdir()] == ["mine"]


def test_a_full_disk_is_one_error_and_the_chunks_stay(
    embedlab: Embedlab, lines: Path, words: str
) -> None:
    numbers = np.random.default_rng(0).integers(2**32, size=16_384, dtype="u4")
    lines.write_text("\n".join(f"{number:08x}" for number in numbers))
    ended = embedlab_on_a_small_disk(("encode", words, "lines.txt", "-o", "v.npy"), 85_000)
    assert ended.code == 3, ended.err
    assert "embedlab: error: cannot write 'v.npy': File too large" in ended.err
    assert not Path("v.npy").exists()
    assert len(list(Path("v.npy.partial").glob("*.parquet"))) == 2


@pytest.mark.parametrize(
    ("name", "content", "more", "code", "message"),
    [
        ("a.txt", b"", (), 3, "holds no sentence"),
        ("a.txt", b"good\n", ("-o", "v.bin"), 2, "neither .npy nor .parquet"),
        ("a.txt", b"good\n", ("-o", "nowhere/v.npy"), 2, "there is no folder 'nowhere'"),
        ("a.txt", b"good\n", ("--shard", "3/2"), 2, "--shard"),
        ("a.txt", b"good\n", ("--shard", "a/b"), 2, "--shard"),
        ("a.txt", b"good\n", (), 2, "no vectors"),
        ("/dev/zero", b"", (), 2, "can be read only once"),
    ],
)
def test_what_cannot_be_encoded_is_refused_with_its_place(
    embedlab: Embedlab,
    name: str,
    content: bytes,
    more: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    if name.startswith("a."):
        Path(name).write_bytes(content)
    answer = embedlab("encode", "dice", name, "-o", "v.npy", *more)
    assert answer.code == code
    assert message in answer.err
    assert len(answer.err.splitlines()) == 2


def test_a_file_that_changes_while_it_is_read_gives_no_vectors(
    embedlab: Embedlab, lines: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = partial_vectors._begin

    def shortened(*rest: Any) -> tuple[str, ...]:
        lines.write_text("one\ntwo\n")
        return begin(*rest)

    monkeypatch.setattr(partial_vectors, "_begin", shortened)
    answer = embedlab("encode", model, lines.name, "-o", "v.npy")
    assert answer.code == 3
    assert "was changed while it was read" in answer.err
    assert not Path("v.npy").exists()


def test_shards_are_joined_to_the_bytes_of_one_process(
    embedlab: Embedlab, lines: Path, words: str
) -> None:
    command = ("encode", words, "lines.txt", "-o")
    assert embedlab(*command, "whole.npy").code == 0
    for shard in ("1/2", "2/2"):
        answer = embedlab(*command, "v.npy", "--shard", shard)
        assert answer.code == 0, answer.err
        assert not Path("v.npy").exists()
    chunk = next(Path("v.npy.shard-2-of-2.partial").glob("0*.parquet"))
    chunk.write_bytes(chunk.read_bytes()[:-9])  # as a kill or a bad disk leaves it
    answer = embedlab(*command, "v.npy")
    assert answer.code == 0, answer.err
    assert Path("v.npy").read_bytes() == Path("whole.npy").read_bytes()
    assert not list(Path().glob("*.partial"))


def test_shards_of_another_job_are_not_joined(embedlab: Embedlab, lines: Path, words: str) -> None:
    command = ("encode", words, "lines.txt", "-o", "v.npy")
    assert embedlab(*command, "--shard", "1/2").code == 0
    lines.write_text(lines.read_text().upper())
    answer = embedlab(*command)
    assert "another input, model or version: its 2 chunks are encoded again" in answer.err
    assert embedlab("encode", words, "lines.txt", "-o", "w.npy").code == 0
    assert Path("v.npy").read_bytes() == Path("w.npy").read_bytes()
