import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tomli_w
from safetensors.numpy import save_file

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.recipe import recipe_table
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.experiments.grid_file import grid_names, load_grid, with_fixed
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.planner import expand_grid
from tests.experiments.conftest import GRID, plan_of
from tests.refusal import refused


def test_cells_are_all_combinations_with_each_seed(plan: GridPlan) -> None:
    cells = list(plan.cells)
    assert len(plan) == len(cells) == 12
    assert [cell.number for cell in cells] == list(range(1, 13))
    assert len({cell.id for cell in cells}) == 12
    assert [plan.cell(cell.number) for cell in cells] == cells
    assert {cell.seed for cell in cells[:6]} == {1}
    first = cells[0].variant
    assert first.labels == {"optim.lr": "1e-05", "encoder.pooling": "cls"}
    assert first.recipe["stage"][0]["optim"]["lr"] == 1e-5
    assert first.run.startswith("mine.lr-1e-05_pooling-cls.")


def test_a_plan_reads_back_from_its_file(plan: GridPlan) -> None:
    plan.save()
    read = GridPlan.find(plan.place.runs, plan.name)
    assert (read, read.to_json()) == (plan, plan.to_json())
    plan.folder.plan_file.write_text("{")
    with pytest.raises(MissingError, match=r"plan\.json. is damaged"):
        GridPlan.load(plan.folder.plan_file)


def test_a_plan_goes_where_its_runs_folder_goes(plan: GridPlan, tmp_path: Path) -> None:
    former, now = plan.place.runs, tmp_path / "new" / "place"
    start = Path("start", "seed-1", "model")
    (former / start).mkdir(parents=True)
    recipe = {**plan.variants[0].recipe, "encoder": {"model": str(former / start)}}
    variants = tuple(replace(one, recipe=recipe) for one in plan.variants)
    inside = replace(plan.place, cache=former / "cache", data=tmp_path / "data")
    replace(plan, place=inside, variants=variants).save()
    now.parent.mkdir()
    former.rename(now)
    moved = GridPlan.find(now, plan.name)
    assert moved.place == replace(inside, runs=now, cache=now / "cache")
    assert moved.cell(1).run.path.is_relative_to(now)
    assert moved.variants[-1].recipe["encoder"]["model"] == str(now / start)
    assert str(former) not in moved.to_json()


def test_a_stored_plan_finds_the_starter_set_again_where_a_folder_has_its_name(
    plan: GridPlan,
) -> None:
    for data in (STARTER_FOLDER, plan.place.runs / "starter"):
        stored = replace(plan, place=replace(plan.place, data=data))
        stored.save()
        assert GridPlan.find(plan.place.runs, plan.name) == stored


@pytest.mark.parametrize("name", grid_names())
def test_every_shipped_grid_expands(name: str, place: Settings) -> None:
    assert len(expand_grid(load_grid(name), place)) > 1


def test_a_base_that_lacks_an_axis_has_one_cell_along_it(tmp_path: Path) -> None:
    text = GRID.replace('"snli-ce"', '["snli-ce", "snli-supcl"]').replace(
        '"encoder.pooling" = ["cls", "mean"]', '"objective.weight" = [0.1, 0.5]'
    )
    plan = plan_of(tmp_path, text)
    labels = [variant.labels for variant in plan.variants]
    assert len([label for label in labels if label["recipe"] == "snli-ce"]) == 3
    assert len([label for label in labels if label["recipe"] == "snli-supcl"]) == 6
    assert all("objective.weight" not in label for label in labels if label["recipe"] == "snli-ce")


def test_a_named_set_moves_several_keys_together(tmp_path: Path) -> None:
    named = """[axes.sets]
3p3n = { "objective.positives" = 3, "objective.negatives" = 3 }
all = { "objective.positives" = "all" }
"""
    text = GRID.replace('"snli-ce"', '"snli-supcl"').replace(
        '"encoder.pooling" = ["cls", "mean"]', named
    )
    plan = plan_of(tmp_path, text)
    first = next(variant for variant in plan.variants if variant.labels["sets"] == "3p3n")
    assert first.recipe["stage"][0]["objective"]["positives"] == 3
    assert len(plan) == 12


def test_a_task_is_an_axis_that_brings_its_settings(tmp_path: Path) -> None:
    text = """summary = "tasks"
base = ["supcl-seq", "glue-finetune", "sbert"]
[set]
"stages.data.rows" = 8
"stage.0.optim.lr" = 3e-5
[axes]
"data.task" = ["rte", "stsb"]
"""
    recipes = {
        tuple(variant.labels.values()): variant.recipe["stage"]
        for variant in plan_of(tmp_path, text).variants
    }
    tasks = {(base, task) for base in ("supcl-seq", "glue-finetune") for task in ("rte", "stsb")}
    assert set(recipes) == {*tasks, ("sbert",)}
    first, second = recipes["supcl-seq", "stsb"]
    assert (first["data"]["datasets"], first["optim"]["batch_size"]) == (["sts-benchmark"], 64)
    assert first["objective"]["dropout"] == [0.0, 0.05, 0.1, 0.2]
    assert first["objective"]["classes"] == "tenths"
    assert recipes["supcl-seq", "rte"][0]["optim"]["batch_size"] == 48
    # What the grid sets for all cells holds against a task's own settings.
    assert {stage["data"]["rows"] for stage in (first, second)} == {8}
    assert {stages[0]["optim"]["lr"] for stages in recipes.values()} == {3e-5}


def test_folders_of_one_name_are_values_of_an_axis(tmp_path: Path) -> None:
    folders, path = ["/a/model", "/b/model"], tmp_path / "mine.toml"
    axis = '"encoder.pooling" = ["cls", "mean"]'

    def labels(values: list[str], skip: str = "") -> list[str]:
        path.write_text(skip + GRID.replace(axis, f"encoder = {json.dumps(values)}"))
        return [*load_grid(str(path)).axes["encoder"]]

    assert labels(folders) == folders
    assert labels(folders[:1]) == ["model"]
    assert labels(folders, 'skip = [{ encoder = "/a/model" }]\n') == folders
    with pytest.raises(UsageError, match="'axis encoder' holds '/a/model' twice"):
        labels([*folders, "/a/model"])


def test_skips_remove_combinations(tmp_path: Path) -> None:
    skip = 'skip = [{ "optim.lr" = [1e-5, 5e-5], "encoder.pooling" = "cls" }]\n'
    plan = plan_of(tmp_path, skip + GRID)
    assert len(plan.variants) == 4
    assert {
        variant.labels["optim.lr"]
        for variant in plan.variants
        if variant.labels["encoder.pooling"] == "cls"
    } == {"2e-05"}


RECIPE = {**recipe_table("snli-ce"), "evaluate": 3}
MANY = "\n".join(
    f'"optim.{key}" = {list(range(1, 31))}' for key in ("epochs", "batch_size", "weight_decay")
)
POOLINGS = '["cls", "mean"]'


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        (f'"encoder.pooling" = {POOLINGS}', MANY, "162000 cells, more than 100000", ""),
        ('"snli-ce"', '"own.toml"', "own.toml: 'evaluate' is 3: not a table", ""),
        (
            '"optim.lr" =',
            '"optim.lrr" =',
            "axis 'optim.lrr' sets 'optim.lrr', which is not a key of snli-ce",
            "optim.lr",
        ),
        ('"mean"]', '"meen"]', "'encoder.pooling' is 'meen'", ""),
        ("2e-5", "1e-5", "'axis optim.lr' holds '1e-05' twice", "add seeds"),
        ("[1, 2]", "[]", "'seeds' is empty", ""),
        ('["sts"]', '["stss"]', "no task or dataset named 'stss'", "sts"),
        ("seeds", "sumary = 1\nseeds", "unknown key 'sumary'", "summary"),
        (
            "seeds",
            'skip = [{ "optim.lr" = [1e-5, 2e-5, 5e-5] }]\nseeds',
            "leave no cell",
            "remove",
        ),
        (
            "seeds",
            'skip = [{ "optim.l" = 1e-5 }]\nseeds',
            "skip names 'optim.l', which is not an axis",
            "optim.lr",
        ),
        ("seeds", 'skip = [{ "optim.lr" = 7e-5 }]\nseeds', "skip names '7e-05'", "1e-05"),
        (POOLINGS, '"cls"', "axis 'encoder.pooling' is 'cls': not a list", "for example"),
        (
            POOLINGS,
            '["cls"]\n"stage.0.optim.epochs" = [1.0]\n"stage.0.optim.epochz" = [1.0]',
            "'stage.0.optim.epochz'",
            "epochs",
        ),
    ],
)
def test_what_is_wrong_in_a_grid_file_is_named(
    old: str,
    new: str,
    message: str,
    hint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(tomli_w.dumps(RECIPE))
    with refused(message, hint):
        plan_of(tmp_path, GRID.replace(old, new))


def test_the_identity_follows_what_changes_a_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def runs(text: str) -> list[str]:
        return [variant.run for variant in plan_of(tmp_path, text).variants]

    same = runs(GRID)
    assert (
        runs(GRID.replace('encoder = "nobody/nothing"', 'encoder.model = "nobody/nothing"')) == same
    )
    assert runs(GRID.replace("A test.", "Another summary.")) == same
    assert runs(GRID.replace("[1, 2]", "[1, 2, 3]")) == same
    assert runs(GRID.replace('tasks = ["sts"]', "tasks = []")) == same
    assert not set(runs("threads = 2\n" + GRID)) & set(same)
    assert not set(runs(GRID.replace("[set]", '[set]\n"data.rows" = 10'))) & set(same)


def test_the_identity_follows_the_rows_of_a_pair_file(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    text = GRID.replace("[set]", f'[set]\ndata = ["{pairs}"]')
    found = []
    for label in ("entailment", "neutral"):
        pairs.write_text(f"premise\thypothesis\tlabel\na\tb\t{label}\n")
        found.append({variant.run for variant in plan_of(tmp_path, text).variants})
        from embedlab.experiments import planner

        planner.part_state.cache_clear()
    assert not found[0] & found[1]


def test_an_encoder_folder_counts_by_what_it_holds(tmp_path: Path) -> None:
    def runs(folder: str, weight: float) -> set[str]:
        path = tmp_path / folder
        path.mkdir(exist_ok=True)
        (path / "config.json").write_text("{}")
        save_file({"weight": np.array([weight])}, path / "model.safetensors")
        text = GRID.replace("nobody/nothing", str(path))
        return {variant.run for variant in plan_of(tmp_path, text).variants}

    assert runs("here", 1.0) == runs("there", 1.0)
    assert not runs("here", 1.0) & runs("there", 2.0)


def test_an_override_reaches_every_cell_and_not_an_axis(plan: GridPlan, tmp_path: Path) -> None:
    grid = load_grid(str(tmp_path / "mine.toml"))
    changed = expand_grid(with_fixed(grid, ["optim.epochs=2.0"]), plan.place)
    assert {variant.recipe["stage"][0]["optim"]["epochs"] for variant in changed.variants} == {2.0}
    with pytest.raises(UsageError, match=r"'optim.lr' is the axis"):
        with_fixed(grid, ["optim.lr=1"])


def test_a_plan_of_thousands_of_cells_reads_its_data_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
summary = "Large."
base = "snli-supcl"
set = { encoder = "nobody/nothing" }
[axes]
"objective.weight" = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
"optim.lr" = [1e-5, 2e-5, 3e-5, 4e-5, 5e-5, 6e-5, 7e-5, 8e-5, 9e-5, 1e-4]
"objective.temperature" = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
"""
    opened: list[tuple[str, str]] = []
    read = Source.open

    def record(source: Source, name: str, split: str, *words: object) -> object:
        opened.append((name, split))
        return read(source, name, split, *words)  # type: ignore[arg-type]

    monkeypatch.setattr(Source, "open", record)
    plan = plan_of(tmp_path, text)
    assert len(plan) == len({cell.id for cell in plan.cells}) == 1000
    assert len(opened) == len(set(opened))


def test_a_grid_without_a_summary_is_described_by_what_it_varies(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('base = "snli-ce"\n[axes]\n"optim.lr" = [1e-5, 2e-5]\n')
    assert load_grid(str(tmp_path / "mine.toml")).summary == "snli-ce by optim.lr"
