"""The screens say how models were trained and what of a dataset they scored, as the command line
does.
"""

import subprocess
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from textual.widgets import Static

from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.runs.environment import ENVIRONMENT, collect_environment
from embedlab.runs.events import Finished
from embedlab.runs.launch import Detached
from embedlab.runs.store import RunFolder
from embedlab.store.entries import Store
from embedlab.tui.compare.screen import CompareScreen
from embedlab.tui.model_marks import marks_by_model
from embedlab.tui.pair_table.data import load_pairs, with_models
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.plots.screen import PlotsScreen
from embedlab.tui.runs.board import RunFollower
from embedlab.tui.scoring_processes import ScoringProcesses
from embedlab.tui.stored_models import stored_models
from tests.tui.driving import Open, make_run, on_top, until, write_scores

SHORT = "shortened training: short"


def shortened_run(settings: Settings) -> None:
    """A scored run of 60 steps of a recipe of 17,000, on data of which rows are missing."""
    run = RunFolder.of(settings.runs, "short", 1)
    data = [{"name": "snli", "split": "train", "partial": True, "rows": 5, "expected_rows": 9}]
    facts = collect_environment(
        seed=1, device="cpu", precision="float32", threads=1, data=data, shortened=(60, 17_000)
    )
    run.write_once(load_recipe("snli-ce", []), facts)
    run.model.mkdir()  # it is finished
    write_scores(load_pairs(settings).table, run.scores_file, noise=0.2)


async def test_pairs_compare_and_plots_mark_a_shortened_training(
    opened: Open, own_world: Settings
) -> None:
    shortened_run(own_world)
    assert marks_by_model(["short", "dice", "gone"], own_world) == (
        "trained on partial data: short",
        SHORT,
    )
    async with opened(own_world, size=(140, 45)) as pilot:
        app = pilot.app
        app.choose_models(["short", "far"])
        screen = await on_top(pilot, PairsScreen)
        await until(pilot, lambda: SHORT in str(screen.query_one("#pair-marks", Static).content))
        for key, kind, place in (
            ("2", CompareScreen, "#compare-status"),
            ("5", PlotsScreen, "#plot-status"),
        ):
            await pilot.press(key)
            shown = await on_top(pilot, kind)  # type: ignore[type-abstract]
            await until(
                pilot,
                lambda shown=shown, place=place: (
                    SHORT in str(shown.query_one(place, Static).content)
                ),
            )  # type: ignore[misc]


def test_a_dataset_that_a_model_scored_in_part_is_named_with_its_count(own_world: Settings) -> None:
    table = load_pairs(own_world).table
    first = table["dataset"].unique(maintain_order=True)[0]
    partly = table.filter((pl.col("dataset") != first) | (pl.col("pair") < 40))
    whole = table.filter(dataset=first)
    write_scores(partly, own_world.runs / "partly" / "seed-1" / "scores.parquet", noise=0.1)
    models = [model for model in stored_models(own_world)[0] if model.name in {"partly", "far"}]
    data = with_models(load_pairs(own_world), models)
    scored = whole.filter(pl.col("pair_key").is_in(partly["pair_key"].implode())).height
    assert data.coverage == (f"scored in part by partly: {scored} of {whole.height} {first}",)
    assert data.coverage[0] in data.marks
    assert with_models(data, [model for model in models if model.name == "far"]).coverage == ()


@pytest.mark.parametrize(
    "name",
    [
        "/a/long/path/to/the/models/of/many/trainings/checkpoint-of-step-1000-of-the-best-run",
        "short",
    ],
)
def test_the_count_of_a_scoring_process_is_seen_behind_a_long_path(
    own_world: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    log = tmp_path / "log"
    log.write_text(f"scoring {name}: 983 of 29,521 sentences\n")
    process = subprocess.Popen(["true"])
    processes = ScoringProcesses(own_world)
    monkeypatch.setattr("embedlab.models.catalog.resolve", lambda *_: None)
    monkeypatch.setattr(
        "embedlab.runs.launch.start_detached",
        lambda *_: Detached(process=process, log=log, errors=log, offset=0),
    )
    processes.start(name, ["sts"])
    monkeypatch.setattr(
        processes, "_running", [replace(one, start=0) for one in processes._running]
    )
    process.wait()
    assert "983 of 29,521 sentences" in processes.progress[:80]
    assert processes.progress.count("scoring ") == 1


def test_a_shortened_run_and_one_on_partial_data_are_marked_on_runs(tmp_path: Path) -> None:
    settings = Settings(runs=tmp_path / "runs")
    shortened, partial, _ = (
        make_run(settings, name, 1, Finished(step=20)) for name in ("short", "partly", "whole")
    )
    facts = shortened.environment()
    for run, changed in (
        (shortened, replace(facts, steps=60, whole_steps=503)),
        (partial, replace(facts, data=({"name": "snli", "split": "train", "partial": True},))),
    ):
        Store(run.path).put(ENVIRONMENT, run.environment_file.stem, changed)
    follower = RunFollower(settings.runs)
    notes = dict(follower.look().frame().select("run", "note").iter_rows())
    assert notes == {
        "partly@1": "partial data",
        "short@1": "shortened to 60 of 503 steps",
        "whole@1": "",
    }
    assert dict(follower.look().frame().select("run", "note").iter_rows()) == notes
