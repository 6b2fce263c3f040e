"""Every shipped recipe on `--data tiny`: all its stages, and a loss that falls."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from embedlab.core.names import recipe_names
from embedlab.core.recipe import Recipe, load_recipe
from embedlab.runs import events
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder

Train = Callable[..., RunFolder]


def shortened(
    name: str,
    encoder: Path,
    *,
    rows: int,
    batch_size: int = 8,
    epochs: int = 1,
    profile: str = "paper",
    **optim: object,
) -> Recipe:
    """A recipe with few rows in each stage, so that it takes seconds."""
    # Each step has an event, so that the mean of many losses is tested, not the luck of one batch.
    changes = [
        f"profile={profile}",
        "evaluate.keep=last",
        "evaluate.log_every=1",
        "encoder.max_tokens=32",
    ]
    stages = load_recipe(name).stages
    for index, stage in enumerate(stages):
        is_one_class = rows < 10 and "sentiment" in stage.data.datasets
        many = 10 if is_one_class else 1  # enough for two classes
        own = {
            "batch_size": many * batch_size,
            "epochs": epochs,
            **({"turn": 1} if isinstance(stage.optim.turn, int) else {}),
            **optim,
        }
        if getattr(stage.objective.options, "frozen", False):
            own["lr"] = 5e-2  # a linear layer alone learns little at an encoder's rate
        together = (
            [other for other in stages if other.optim.turn == "batch"]
            if stage.optim.turn == "batch"
            else [stage]
        )
        changes += [
            f"stage.{index}.data.rows="
            f"{many * rows // max(len(other.data.datasets) for other in together)}"
        ]
        changes += [f"stage.{index}.optim.{key}={value}" for key, value in own.items()]
    return load_recipe(name, changes, encoder=str(encoder))


def steps_of(run: RunFolder) -> list[events.Step]:
    return [
        event for event in events.events_after(run.events_file)[0] if isinstance(event, events.Step)
    ]


RECIPES = {
    name: load_recipe(name) for name in recipe_names() if not name.startswith("own-")
}  # those are in test_own_rows


def one_for_each_objective() -> list[str]:
    """The recipes of fewest stages that train with every objective between them."""
    chosen, seen = [], set[str]()
    for name, recipe in sorted(RECIPES.items(), key=lambda item: len(item[1].stages)):
        objectives = {stage.objective.name for stage in recipe.stages}
        if not objectives <= seen:
            chosen.append(name)
            seen |= objectives
    return chosen


FIRST = one_for_each_objective()
OTHERS = [name for name in RECIPES if name not in FIRST]


@pytest.mark.parametrize("name", OTHERS)
def test_every_recipe_trains_all_its_stages(name: str, train: Train, tiny_encoder: Path) -> None:
    recipe = RECIPES[name]
    size = (
        {"rows": 4, "batch_size": 4, "epochs": 3}
        if recipe.mix
        else {"rows": 64, "batch_size": 32, "epochs": 1}
    )
    run = train(shortened(name, tiny_encoder, **size), name)
    assert run_status(run).state == "finished"
    assert {event.stage for event in steps_of(run)} == set(range(len(recipe.stages)))
    assert all(math.isfinite(event.loss) for event in steps_of(run))


@pytest.mark.parametrize("name", ["snli-supcl", "sbert-defsent", "supcl-seq"])
def test_the_code_of_the_authors_of_each_paper_trains(
    name: str, train: Train, tiny_encoder: Path
) -> None:
    recipe = shortened(name, tiny_encoder, rows=32, batch_size=16, profile="code")
    run = train(recipe, f"{name}-code")
    assert {event.stage for event in steps_of(run)} == set(range(len(recipe.stages)))
    assert all(math.isfinite(event.loss) for event in steps_of(run))
