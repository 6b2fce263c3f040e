"""A planned grid run through a session that is not a terminal."""

import json
from functools import partial
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.grids.local import run_local
from embedlab.workflows.grid.plan import GridOptions, Hands, cancel_grid, plan_grid
from embedlab.workflows.grid.run import look_at_grid, run_grid
from embedlab.workflows.notebook import NotebookSession
from tests.grids.conftest import SHORT, STAND_IN


def test_a_grid_runs_in_a_notebook_and_gives_its_cells_as_they_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SHORT)
    monkeypatch.setattr("embedlab.workflows.grid.run.run_local", partial(run_local, program=STAND_IN))
    session = NotebookSession(settings=Settings(sample=True, runs=tmp_path / "runs", cache=tmp_path / "cache"))
    planned = plan_grid(GridOptions(grid="mine.toml", hands=Hands(workers=2)), session.settings)
    monkeypatch.setenv("FAULTS", json.dumps({planned.plan.cell(1).id: "diverge"}))
    result = run_grid(planned, session)
    assert result.has_failed
    assert [entry.state for entry in result.entries] == ["failed", "done", "done"]
    assert session.said[0].startswith("mine: 3 cells, 3 to do, 2 at once")
    seen = look_at_grid("mine", session.settings)
    assert (seen.ended, len(seen.entries)) == (3, 3)
    with pytest.raises(UsageError, match="is not running"):
        cancel_grid("mine", session.settings)
