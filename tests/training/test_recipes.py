"""Every shipped recipe on `--data tiny`: all its stages, and a loss that falls."""

import math
from pathlib import Path

import pytest

from embedlab.core.names import recipe_names
from embedlab.core.recipe import Recipe, load_recipe
from embedlab.runs import events
from embedlab.runs.status import run_status
from tests.training.small_runs import Train, events_of


def shortened(name: str, encoder: Path, profile: str = "paper") -> Recipe:
    """A recipe with few rows in each stage, so that it takes seconds."""
    changes = [f"profile={profile}", "evaluate.keep=last", "encoder.max_tokens=32"]
    recipe = load_recipe(name)
    for index, stage in enumerate(recipe.stages):
        rows, size = (40, 40) if recipe.mix else (64, 32)  # enough for two classes of sentiment
        together = [stage]
        if stage.optim.turn == "batch":
            together = [other for other in recipe.stages if other.optim.turn == "batch"]
        rows //= max(len(other.data.datasets) for other in together)
        own = {"data.rows": rows, "optim.batch_size": size, "optim.epochs": 1}
        if isinstance(stage.optim.turn, int):
            own["optim.turn"] = 1
        changes += [f"stage.{index}.{key}={value}" for key, value in own.items()]
    return load_recipe(name, changes, encoder=str(encoder))


RECIPES = {
    name: load_recipe(name) for name in recipe_names() if not name.startswith("own-")
}  # those are in test_own_rows


CODE = [(name, "code") for name in ("snli-supcl", "sbert-defsent", "supcl-seq")]  # of the authors


@pytest.mark.parametrize(("name", "profile"), [*((name, "paper") for name in RECIPES), *CODE])
def test_every_recipe_trains_all_its_stages(
    name: str, profile: str, train: Train, tiny_encoder: Path
) -> None:
    run = train(shortened(name, tiny_encoder, profile))
    assert run_status(run).state == "finished"
    steps = events_of(run, events.Step)
    assert {event.stage for event in steps} == set(range(len(RECIPES[name].stages)))
    assert all(math.isfinite(event.loss) for event in steps)
