"""What a task gives for a model, and models whose training takes a moment."""

from pathlib import Path

import polars as pl

from embedlab.choices import SettingName
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.session import unseen
from embedlab.core.settings import Settings
from embedlab.data.overlaps import KnownText
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.outcomes.frame import whole_blocks
from embedlab.outcomes.stored import join_members
from embedlab.runs.store import RunFolder
from embedlab.scoring.results import evaluate_task
from embedlab.scoring.training_text import keyed_items
from embedlab.tasks.task import TaskResult
from embedlab.training.stages import train_run
from tests.training.small_runs import MACHINE, SAMPLE

SETTINGS = Settings(data=TINY_FOLDER, device="cpu", threads=1, cache_gib=0)
DICE = ModelSpec(name="dice", kind="dice")


def spec_of(name: str | Path, runs: Path = Path("runs")) -> ModelSpec:
    """The only member of the model called NAME."""
    (spec,) = resolve(str(name), runs).members
    return spec


def evaluated(
    name: str,
    spec: ModelSpec,
    *datasets: str,
    settings: Settings = SETTINGS,
    setting: SettingName = "literature",
) -> TaskResult:
    """What the task called NAME gives for a model on these DATASETS, on all without."""
    return evaluate_task(name, spec, settings, unseen, datasets, setting)


def shares_alike(result: TaskResult, *known: str) -> bool:
    """Whether the items of RESULT share as much with KNOWN training text as what its task read."""
    text = KnownText.of([pl.DataFrame({"sentence": known})])
    frame = join_members({"": result.outcomes}, [""])
    assert frame is not None
    of_items = [text.overlap(keyed_items(frame, part)) for part in whole_blocks(frame)]
    of_read = [text.overlap(part.frame) for part in result.tested]
    assert all(of_read)
    return of_items == of_read


def trained(folder: Path, encoder: Path, recipe: str, *changes: str, name: str = "") -> ModelSpec:
    """A run of RECIPE with these CHANGES, on few rows and without a dev score, in FOLDER/runs."""
    run = RunFolder.of(folder / "runs", name or recipe, 1)
    few = ["encoder.max_tokens=32", "stages.data.rows=32", "evaluate.dev=none"]
    changed = load_recipe(recipe, [*few, "evaluate.keep=last", *changes], encoder=str(encoder))
    train_run(changed, SAMPLE, MACHINE, run, 1)
    return spec_of(run.id, folder / "runs")
