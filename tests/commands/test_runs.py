"""Runs followed, stopped and tidied."""

import threading
from contextlib import ExitStack, nullcontext
from types import SimpleNamespace
from typing import NoReturn, cast

import pytest

from embedlab.api import NotebookSession
from embedlab.commands import evaluate, runs
from embedlab.commands.evaluate import EvaluateOptions
from embedlab.core.errors import UsageError
from embedlab.core.session import Session
from embedlab.core.settings import Settings
from embedlab.runs import events
from embedlab.runs.status import is_being_scored
from embedlab.runs.store import RunFolder
from tests.stored_scores import say

STARTED = events.Started(time=1.0, pid=1, host="here", steps=9)


def test_events_of_a_running_run_are_followed_until_it_ends(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "FOLLOW_S", 0.01)
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
        found = [event.kind for group in runs.read_events(run, follows=True) for event in group]
        ends.join()
    assert found == ["started", "finished"]


@pytest.mark.parametrize(
    ("ending", "state"), [([events.Finished(time=2.0, step=9)], "finished"), ([], "silent")]
)
def test_a_run_that_is_finished_or_running_has_no_seed_to_continue(
    ending: list[events.Event], state: str, session: NotebookSession
) -> None:
    run = RunFolder.of(session.settings.runs, "mine", 1)
    with run.lock() if not ending else nullcontext():
        say(run, STARTED, *ending)
        with pytest.raises(UsageError, match=f"no seed to continue: mine@1 is {state}"):
            runs.resume(runs.RunOptions(run="mine"), session)


def test_an_evaluation_shows_its_runs_as_being_scored(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    run = RunFolder.of(settings.runs, "mine", 1)
    run.model.mkdir(parents=True)
    (run.model / "config.json").write_text("{}")

    def evaluated(*_of_evaluation: object) -> NoReturn:
        seen.append(is_being_scored(run))
        raise UsageError("enough")

    monkeypatch.setattr(evaluate, "_evaluate_selected", evaluated)
    session = cast("Session", SimpleNamespace(settings=settings, note=print))
    for names in (("mine",), ("m=mine@1", "dice", "no-such-model")):
        with pytest.raises(UsageError, match="enough"):
            evaluate.evaluate(EvaluateOptions(models=names), session)
    assert seen == [True, True]
    assert not is_being_scored(run)
