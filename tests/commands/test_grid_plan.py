"""The plan of a grid as the command line and the dashboard make it."""

import dataclasses
from pathlib import Path

import pytest

from embedlab.commands.grid_plan import (
    GridOptions,
    PlannedGrid,
    plan_grid,
)
from embedlab.commands.grid_run import planned_grid
from embedlab.core.settings import Settings
from tests.experiments.conftest import SHORT

OPEN = SHORT.replace('encoder = "nobody/nothing"\n', "")


@pytest.fixture(autouse=True)
def _grid_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(OPEN)


def runs(planned: PlannedGrid) -> list[str]:
    return [cell.id for cell in planned.plan.cells]


def test_a_plan_writes_nothing_and_names_the_runs_of_the_grid_once_the_sample_encoder_is_built(
    settings: Settings, tmp_path: Path
) -> None:
    options = GridOptions(grid="mine.toml")
    before = plan_grid(options, settings)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
    prepared = planned_grid(options, settings)
    assert runs(plan_grid(options, settings)) == runs(prepared)
    assert len(runs(before)) == len(runs(prepared))
    assert not set(runs(before)) & set(runs(prepared))  # another encoder, another run
    assert Path(prepared.plan.cell(1).variant.recipe["encoder"]["model"]).is_relative_to(
        settings.cache
    )


def test_seeds_threads_and_overrides_of_a_plan(settings: Settings) -> None:
    options = GridOptions(grid="mine.toml", overrides=("optim.epochs=2.0",), seeds=3)
    plan = plan_grid(options, dataclasses.replace(settings, threads=2)).plan
    assert (len(plan), plan.seeds, plan.threads) == (9, (1, 2, 3), 2)
    assert {variant.recipe["stage"][0]["optim"]["epochs"] for variant in plan.variants} == {2.0}
