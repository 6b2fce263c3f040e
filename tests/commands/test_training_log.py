"""The log of a run that is trained in a terminal."""

from pathlib import Path

import pytest

from embedlab.commands.terminal import Terminal
from embedlab.commands.training import event_reporter, note_to_log
from embedlab.core.settings import Settings
from embedlab.reports.tables import Table, columns_of
from embedlab.runs import events


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_log_that_cannot_be_written_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Path("/dev/full").open("ab", buffering=0) as full:
        monkeypatch.setattr("embedlab.commands.training.open_own", lambda _: full)
        note_to_log(tmp_path / "log.txt", Terminal(Settings(quiet=True)))("finished")
    assert "embedlab: warning: no space left" in capsys.readouterr().err


def test_people_see_the_last_dev_score_and_the_log_has_all() -> None:
    shown: list[str] = []
    kept: list[str] = []
    report = event_reporter("a@1", shown.append, lambda *_: None, log=kept.append)
    for step, score in ((1, 51.7), (2, 51.9)):
        report(events.Dev(step=step, score=score))
    assert shown == []
    report(events.Finished(step=2))
    assert shown == ["a@1: dev 51.90 after step 2"]
    assert kept == ["a@1: dev 51.70 after step 1", "a@1: finished after 2 steps"]


def test_quiet_tables_have_no_notes(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(columns=columns_of("a"), rows=[{"a": 1}], notes=["a note"])
    for quiet in (False, True):
        Terminal(Settings(quiet=quiet, notes=True)).show(table)
        assert ("a note" in capsys.readouterr().out) != quiet
