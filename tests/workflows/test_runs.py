"""Runs followed, stopped and tidied."""

import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.workflows import runs as workflow

STARTED = events.Started(time=1.0, pid=1, host="here", steps=9)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(runs=tmp_path / "runs")


def test_events_of_a_running_run_are_followed_until_it_ends(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workflow, "FOLLOW_S", 0.01)
    run = RunFolder.of(settings.runs, "mine", 1)
    run.path.mkdir(parents=True)
    with ExitStack() as held, events.EventLog(run.events_file) as log:
        held.enter_context(run.lock())
        log.append(STARTED)

        def end() -> None:
            log.append(events.Finished(time=2.0, step=9))
            held.close()

        ends = threading.Timer(0.1, end)
        ends.start()
        found = [event.kind for group in workflow.read_events(run, follows=True) for event in group]
        ends.join()
    assert found == ["started", "finished"]


def test_nothing_unfinished_cannot_be_resumed(settings: Settings) -> None:
    run = RunFolder.of(settings.runs, "mine", 1)
    with events.EventLog(run.events_file) as log:
        log.append(STARTED)
        log.append(events.Finished(time=2.0, step=9))
    with pytest.raises(UsageError, match="no unfinished seed"):
        workflow.unfinished_runs("mine", settings)
    assert workflow.prune_runs((), settings).freed == {}
