"""A grid on the starter set, and names that no file can have."""

from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.paths import STARTER, STARTER_FOLDER
from embedlab.core.settings import Settings
from embedlab.experiments.grid_file import load_grid
from embedlab.experiments.plan import LONGEST_NAME, GridFolder, GridPlace
from embedlab.experiments.planner import source_of
from embedlab.runs import store
from embedlab.runs.store import RunFolder


def test_a_stored_plan_finds_the_starter_set_again(tmp_path: Path) -> None:
    place = GridPlace.of(Settings(runs=tmp_path / "runs", data=STARTER_FOLDER))
    again = GridPlace.from_values(place.to_values(), tmp_path / "moved" / "runs")
    assert again.data == STARTER
    assert source_of(again).folder == STARTER_FOLDER


@pytest.mark.parametrize("length", [300, LONGEST_NAME + 1])
def test_a_grid_with_a_name_that_is_too_long_is_refused_when_it_is_typed(
    length: int, tmp_path: Path
) -> None:
    name = "g" * length
    for typed in (name, f"{name}.toml"):
        with pytest.raises(UsageError, match=f"{length} characters"):
            load_grid(typed)
        with pytest.raises(UsageError, match=f"{length} characters"):
            GridFolder.find(tmp_path, typed)


def test_a_run_with_a_name_that_is_too_long_is_refused_when_it_is_typed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="300 characters"):
        RunFolder.of(tmp_path, "r" * 300, 1)
    longest = RunFolder.of(tmp_path, "r" * store.LONGEST_NAME, 1)
    longest.path.mkdir(parents=True)
