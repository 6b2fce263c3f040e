"""A planned grid run through a session that is not a terminal."""

from pathlib import Path

import pytest

from embedlab.api import NotebookSession
from embedlab.commands.grid_plan import GridOptions, plan_grid
from embedlab.commands.grid_run import run_grid
from embedlab.core.errors import UsageError


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
