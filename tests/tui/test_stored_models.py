"""The models with scores on disk."""

import os

from embedlab.core.settings import Settings
from embedlab.runs.store import RunFolder
from embedlab.tui.stored_models import oldest_run, stored_models


def test_the_oldest_run_is_the_one_whose_recipe_was_written_first(own_world: Settings) -> None:
    models, _ = stored_models(own_world)
    names = [model.name for model in models]
    assert oldest_run(models, names) is None  # these runs have no recipe
    for name, seed, time_s in (("far", 1, 2000), ("near", 1, 3000), ("near", 2, 1000)):
        file = RunFolder.of(own_world.runs_folder, name, seed).recipe_file
        file.write_text("")
        os.utime(file, (time_s, time_s))
    assert oldest_run(models, names) == "near"
    assert oldest_run(models, ["far", "dice"]) == "far"
    assert oldest_run(models, ["dice", "published"]) is None
