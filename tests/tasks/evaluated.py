"""What a task gives for a model, and models whose training takes a moment."""

from pathlib import Path

from embedlab.choices import SettingName
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.session import unseen
from embedlab.core.settings import Settings
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.runs.store import RunFolder
from embedlab.scoring.results import evaluate_task
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


def trained(folder: Path, encoder: Path, recipe: str, *changes: str, name: str = "") -> ModelSpec:
    """A run of RECIPE with these CHANGES, on few rows and without a dev score, in FOLDER/runs."""
    run = RunFolder.of(folder / "runs", name or recipe, 1)
    few = ["encoder.max_tokens=32", "stages.data.rows=32", "evaluate.dev=none"]
    changed = load_recipe(recipe, [*few, "evaluate.keep=last", *changes], encoder=str(encoder))
    train_run(changed, SAMPLE, MACHINE, run, 1)
    return spec_of(run.id, folder / "runs")
