"""A grid on the starter set, and names that no file can have."""

from pathlib import Path

from embedlab.core.paths import STARTER, STARTER_FOLDER
from embedlab.core.settings import Settings
from embedlab.experiments.plan import GridEnvironment
from embedlab.experiments.planner import source_of


def test_a_stored_plan_finds_the_starter_set_again(tmp_path: Path) -> None:
    place = GridEnvironment.of(Settings(runs=tmp_path / "runs", data=STARTER_FOLDER))
    again = GridEnvironment.from_values(place.to_values(), tmp_path / "moved" / "runs")
    assert again.data == STARTER
    assert source_of(again).folder == STARTER_FOLDER
