"""What sentences, names and messages can do to a terminal: nothing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from embedlab.commands.terminal import Terminal
from embedlab.core.settings import Settings
from tests.cli.conftest import Embedlab

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\x7f"
SHOWN = "\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202egnp.exe\\u007f"
OBEYED = {"\x1b", "\x07", "\x9b", "\u202e", "\x7f", "\r", "\x85"}


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    path = tmp_path / "sentences.txt"
    path.write_text(f"a dog {EVIL}\n=HYPERLINK(1) dog\n-negated\tdog\n", encoding="utf-8")
    return path


@pytest.fixture
def own_pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    row = {"sentence1": f"a dog {EVIL}\nsecond line", "sentence2": "@dog", "score": 1}
    path.write_text(json.dumps(row | {"source": EVIL}) + "\n")
    return path


def test_a_progress_bar_shows_names_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    for name in ("a[/b].txt", "[bold]b", "[red", "c\\[d]", "{task}"):
        with Terminal(Settings()).progress(f"scoring {name}") as tick:
            tick(1, 2, f"at {name}")
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
        assert f"scoring {name}" in shown
        assert f"at {name}" in shown


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "json"])
def test_no_format_lets_an_escape_sequence_out(
    embedlab: Embedlab, sentences: Path, form: str
) -> None:
    answer = embedlab("nearest", f"dog {EVIL}", str(sentences), "-m", "dice", "--format", form)
    assert answer.code == 0
    assert SHOWN in answer.out.replace("\\\\", "\\")
    assert not OBEYED & set(answer.out + answer.err)


def test_headings_sources_and_columns_are_shown_harmlessly(
    embedlab: Embedlab, own_pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    shown = embedlab("pairs", "dice", "--dataset", str(own_pairs))
    assert f"a dog {SHOWN} second line" in shown.out  # one line a sentence
    assert not OBEYED & set(shown.out + shown.err)
    scored = embedlab("score", f"one\n{EVIL}", "two\ttoo", "-m", "dice")
    assert scored.out.splitlines()[0] == f"one {SHOWN} / two too"


@pytest.mark.parametrize(
    "words",
    [
        ["score", "a", "b", "-m", f"no{EVIL}"],
        ["recipes", f"no\n{EVIL}"],
        [f"x{EVIL}"],
    ],
)
def test_an_error_is_two_harmless_lines(embedlab: Embedlab, words: list[str]) -> None:
    answer = embedlab(*words)
    assert answer.code in {2, 3}
    assert len(answer.err.splitlines()) == 2
    assert not OBEYED & set(answer.err)


def test_a_locale_of_ascii_alone_ends_no_command(sentences: Path) -> None:
    ascii_alone = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    words = ["nearest", "caf\u00e9 dog", str(sentences), "-m", "dice"]
    code = f"from embedlab.cli.app import main; exit(main({words!a}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | ascii_alone | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"caf\\u00e9 dog" in done.stdout


def test_progress_in_a_pipe_becomes_rarer_over_all_pieces_of_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("embedlab.commands.terminal.time.monotonic", lambda: now[0])
    terminal = Terminal(Settings())
    shown: list[float] = []
    for label in ("training", "scoring"):
        with terminal.progress(label) as tick:
            for second in range(0, 400, 10):
                now[0] += 10
                tick(second, 400, "left")
                shown += [now[0]] * capsys.readouterr().err.count(f"{label}: {second} of 400")
    assert shown == [30, 90, 210, 450]
