"""How a command ends when its answer is undefined, its disk is full, or it is stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from embedlab.cli.app import main, program


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_stdout_is_one_clear_line() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "embedlab", "recipes"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 3
    assert ended.stderr.startswith("embedlab: error: no space left to write the answer")


# Typer is loaded before the program is built, numpy by a command that is at work.
@pytest.mark.parametrize(
    ("number", "loaded", "word"),
    [
        (signal.SIGTERM, b"numpy", b"embedlab: stopped by SIGTERM"),
        (signal.SIGINT, b"typer.", b"embedlab: interrupted"),
    ],
)
def test_a_stop_outside_training_ends_with_130_and_a_word(
    tmp_path: Path, tiny_encoder: Path, number: signal.Signals, loaded: bytes, word: bytes
) -> None:
    words = ["evaluate", str(tiny_encoder), "--suite", "geometry", "--data", "tiny"]
    environment = {**os.environ, "EMBEDLAB_CACHE": str(tmp_path / "cache")}
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "embedlab", *words],
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if loaded in line:
            break
    time.sleep(0.2 if loaded == b"numpy" else 0)
    process.send_signal(number)
    rest = process.stderr.read()
    # Python itself ends by the signal, with 130 for a shell, where Ctrl-C met code that is made of
    # text, as of a dataclass.
    assert process.wait(timeout=60) in {130, -signal.SIGINT}
    assert word in rest
    assert b"Traceback" not in rest


def test_memory_that_is_not_there_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def large() -> list[str]:
        raise MemoryError("Unable to allocate 3 TiB")

    monkeypatch.setattr("embedlab.commands.recipes.recipe_names", large)
    assert main(["recipes"]) == 3
    assert capsys.readouterr().err.startswith(
        "embedlab: error: not enough memory: Unable to allocate 3 TiB\nhint: "
    )


def test_the_end_of_a_file_is_not_an_interruption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def short() -> list[str]:
        raise EOFError("no data left in file")

    monkeypatch.setattr("embedlab.commands.recipes.recipe_names", short)
    assert main(["recipes"]) == 1
    assert capsys.readouterr().err.startswith(
        "embedlab: error: unforeseen: EOFError: no data left in file\nhint: "
    )


def test_a_closed_stdout_or_stderr_or_stdin_is_no_error(tmp_path: Path) -> None:
    line = f"{sys.executable} -m embedlab recipes"
    for closed, says in ((">&-", False), ("2>&-", True), ("<&-", True)):
        ended = subprocess.run(
            ["bash", "-c", f"{line} {closed}"],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ("snli-supcl" in ended.stdout) == says
    refused = subprocess.run(["bash", "-c", f"{line} nosuch >&- 2>&-"], cwd=tmp_path, check=False)
    assert refused.returncode == 2


def test_a_cache_that_cannot_be_written_costs_no_answer(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the cache folder should be")
    monkeypatch.setenv("EMBEDLAB_CACHE", str(blocked))
    monkeypatch.setattr("embedlab.tasks.task.TaskResult.save", _full)
    answer = CliRunner().invoke(
        program(),
        ["evaluate", str(tiny_encoder), "--task", "sts12", "--data", "tiny", "--json"],
        catch_exceptions=False,
    )
    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["rows"][0]["score"] > 0


def _full(*_: object) -> None:
    from embedlab.core.errors import MissingError

    raise MissingError("no space left to write 'scores.parquet'")
