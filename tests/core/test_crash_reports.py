"""Bugs become two lines and a report file."""

import errno
import threading
from pathlib import Path

import pytest

from embedlab.core.crash_reports import (
    UnforeseenError,
    cause_of,
    report_unforeseen,
    reports_folder,
    run_guarded,
    show_in_log,
)
from embedlab.core.errors import MEMORY, EmbedlabError


def _raise(error: BaseException) -> int:
    raise error


class Panic(BaseException):
    """As Rust's panics arrive: no Exception."""


@pytest.mark.parametrize(
    "error",
    [TypeError("no\nway"), Panic("index out of bounds"), RecursionError("deep")],
)
def test_a_bug_is_two_lines_and_a_file_with_its_traceback(error: BaseException) -> None:
    shown: list[EmbedlabError] = []
    assert run_guarded(lambda: _raise(error), shown.append) == 1
    (known,) = shown
    assert isinstance(known, UnforeseenError)
    assert type(error).__name__ in known.message
    (report,) = reports_folder().iterdir()
    assert known.hint.endswith(str(report))
    assert not {"\n"} & set(known.message + known.hint)
    text = report.read_text()
    assert "Traceback (most recent call last)" in text
    assert "in _raise" in text


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(0)])
def test_what_ends_a_program_on_purpose_is_not_a_bug(error: BaseException) -> None:
    with pytest.raises(type(error)):
        run_guarded(lambda: _raise(error), lambda _: None)
    assert not reports_folder().exists()


def test_a_bug_in_a_thread_is_reported_too(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        thread = threading.Thread(target=_raise, args=(TypeError("in a thread"),))
        thread.start()
        thread.join()
        return 0

    assert run_guarded(work, show_in_log) == 0
    said = capsys.readouterr().err
    assert said.count("\n") == 2
    assert "TypeError: in a thread" in said


def test_a_report_that_cannot_be_written_leaves_the_two_lines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(blocked))
    known = report_unforeseen(TypeError("x"))
    assert "cannot be written" in known.hint
    assert "--debug shows it" in known.hint


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (MemoryError("cannot allocate 4 TiB"), MEMORY),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), MEMORY),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), MEMORY),
        (RuntimeError("shapes do not match"), ""),
        (ValueError("out of memory is a word here"), ""),
    ],
)
def test_a_bug_says_whether_memory_ran_out(error: Exception, cause: str) -> None:
    assert cause_of(error) == cause
    assert report_unforeseen(error).cause == cause
    assert cause_of(report_unforeseen(error)) == cause
