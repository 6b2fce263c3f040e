"""A resolved recipe and the folder of a run that follows it."""

from pathlib import Path

import pytest

from embedlab.core.recipe import Recipe, from_table
from embedlab.runs import events
from embedlab.runs.environment import Environment, collect_environment
from embedlab.runs.events import EventLog
from embedlab.runs.store import RunFolder


def recipe_of(lr: float = 2e-5) -> Recipe:
    stage = {
        "data": {"datasets": ["snli"]},
        "objective": {"name": "nli_softmax"},
        "optim": {"lr": lr, "batch_size": 8},
    }
    encoder = {"model": "tiny", "pooling": "mean"}
    values = {"summary": "A test.", "encoder": encoder, "stage": [stage]}
    return from_table(values, name="mine", where="test")


@pytest.fixture
def recipe() -> Recipe:
    return recipe_of()


def say(run: RunFolder, *logged: events.Event) -> None:
    """Let the run record events."""
    with EventLog(run.events_file) as log:
        for event in logged:
            log.append(event)


@pytest.fixture
def circumstances() -> Environment:
    return collect_environment(
        seed=1,
        device="cpu",
        precision="float32",
        threads=1,
        data=[{"name": "snli", "rows": 3, "partial": True}],
    )


@pytest.fixture
def run(tmp_path: Path, recipe: Recipe, circumstances: Environment) -> RunFolder:
    folder = RunFolder.of(tmp_path / "runs", "mine", 1)
    folder.write_once(recipe, circumstances)
    return folder
