"""The models with scores on disk."""

import os

import polars as pl

from embedlab.core.settings import Settings
from embedlab.runs.store import RunFolder
from embedlab.tui.pair_table.data import load_pairs
from embedlab.tui.stored_models import oldest_run, one_seed, stored_models
from tests.tui.driving import Open, until, write_scores


def test_the_oldest_run_is_the_one_whose_recipe_was_written_first(own_world: Settings) -> None:
    models, _ = stored_models(own_world)
    names = [model.name for model in models]
    assert oldest_run(models, names) is None  # these runs have no recipe
    for name, seed, time_s in (("far", 1, 2000), ("near", 1, 3000), ("near", 2, 1000)):
        file = RunFolder.of(own_world.runs, name, seed).recipe_file
        file.write_text("")
        os.utime(file, (time_s, time_s))
    assert oldest_run(models, names) == "near"
    assert oldest_run(models, ["far", "dice"]) == "far"
    assert oldest_run(models, ["dice", "published"]) is None


async def test_models_that_were_chosen_on_other_data_do_not_come_back_as_columns_of_dots(
    opened: Open, own_world: Settings
) -> None:
    others = load_pairs(own_world).table.with_columns(pair_key=pl.col("pair_key") + 1)
    write_scores(
        others,
        own_world.cache / "models" / "fedcba9876543210" / "scores.parquet",
        noise=0.3,
        model="elsewhere",
    )
    async with opened(own_world) as pilot:
        pilot.app.choose_models(
            ["elsewhere", "near"]
        )  # in this session they are shown, as they were chosen
        await until(pilot, lambda: pilot.app.chosen == ["elsewhere", "near"])
    async with opened(own_world) as pilot:
        assert pilot.app.chosen == ["near"]
        assert pilot.app.memory.state.pairs.models == (
            "elsewhere",
            "near",
        )  # for the data that they were chosen on


def test_one_seed_of_a_run_is_a_model_of_its_own(own_world: Settings) -> None:
    models, _ = stored_models(own_world)
    run = next(model for model in models if model.name == "near")
    found = one_seed(models, "near@2")
    assert found is not None
    assert (dict(found.files), found.seeds) == ({"near@2": run.files["near@2"]}, (2,))
    assert [one_seed(models, name) for name in ("near@9", "near", "far@x", "no@1")] == [None] * 4
