"""A planned grid run through a session that is not a terminal."""

import json
from functools import partial
from pathlib import Path

import pytest

from embedlab.api import NotebookSession
from embedlab.commands.grid_plan import GridOptions, cancel_grid, plan_grid
from embedlab.commands.grid_run import look_at_grid, run_grid
from embedlab.core.errors import UsageError
from embedlab.experiments.executors.executor import LocalTasks
from tests.experiments.conftest import SHORT, STAND_IN


def test_a_grid_runs_in_a_notebook_and_gives_its_cells_as_they_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: NotebookSession
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SHORT)
    monkeypatch.setattr(
        "embedlab.commands.grid_run.LocalTasks", partial(LocalTasks, program=STAND_IN)
    )
    monkeypatch.setattr(
        "embedlab.commands.grid_plan.lost_encoders", lambda *_: []
    )  # the stand-in needs none
    planned = plan_grid(GridOptions(grid="mine.toml", workers=2), session.settings)
    monkeypatch.setenv("FAULTS", json.dumps({planned.plan.cell(1).id: "diverge"}))
    result = run_grid(planned, session)
    assert len(result.failed) == 1
    assert [entry.state for entry in result.entries] == ["failed", "done", "done"]
    assert session.said[0].startswith("mine: 3 cells, 3 to do, 2 at once")
    seen = look_at_grid("mine", session.settings)
    assert (seen.ended, len(seen.entries)) == (3, 3)
    with pytest.raises(UsageError, match="is not running"):
        cancel_grid("mine", session.settings)


def test_what_no_cell_can_start_from_or_be_evaluated_on_is_refused_before_one_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: NotebookSession
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "embedlab.commands.grid_run.LocalTasks",
        lambda *_, **__: pytest.fail("a cell was started"),
    )

    def run(tasks: str, encoders: str) -> None:
        Path("mine.toml").write_text(
            f'summary = "mine"\nbase = "snli-ce"\nseeds = [1]\ntasks = '
            f'["{tasks}"]\n[axes]\n"encoder.model" = {encoders}\n'
        )
        run_grid(plan_grid(GridOptions(grid="mine.toml"), session.settings), session)

    with pytest.raises(UsageError, match="'dice' is not a transformer"):
        run("sts", '["some/model", "dice"]')
    with pytest.raises(UsageError, match="classifier"):
        run("glue", '["some/model"]')
