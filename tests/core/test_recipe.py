"""Recipes: strict reading, overrides, the resolved file and the hash."""

import shlex
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.names import recipe_names
from embedlab.core.paths import place_files
from embedlab.core.recipe import (
    MixSection,
    from_table,
    load_recipe,
    recipe_differences,
    recipe_to_table,
    to_toml,
)
from embedlab.core.schema import read_toml


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_reads_back_from_its_resolved_file(name: str, tmp_path: Path) -> None:
    recipe = load_recipe(name)
    resolved = tmp_path / "recipe.toml"
    resolved.write_text(to_toml(recipe))
    again = from_table(read_toml(resolved), name=name, where="resolved")
    assert again == recipe
    assert again.hash == recipe.hash


def test_a_set_objective_that_lacks_options_of_the_former_names_what_works() -> None:
    with pytest.raises(UsageError, match="unknown key") as refused:
        load_recipe("sbert", ["objective.name=classification"])
    words = shlex.split(refused.value.hint)
    override = words[words.index("--set") + 1]
    objective = load_recipe("sbert", [override]).stages[0].objective
    assert objective.name == "classification"


def test_files_are_beside_the_recipe_also_behind_a_stage_without_data(tmp_path: Path) -> None:
    stages = {"stage": [{}, {"data": {"files": ["rows.tsv"]}}]}  # --set may name the first one's
    assert place_files(stages, tmp_path)["stage"][1]["data"]["files"] == [
        str(tmp_path / "rows.tsv")
    ]


def test_the_hash_changes_with_the_training_and_not_with_its_description() -> None:
    plain = load_recipe("snli-supcl")
    assert load_recipe("snli-supcl", ["optim.lr=1e-5"]).hash != plain.hash
    assert load_recipe("snli-supcl", ["summary=other words"]).hash == plain.hash
    assert load_recipe("snli-supcl", ['evaluate.tasks=["sts"]']).hash == plain.hash


def test_differences_name_key_old_and_new_value() -> None:
    old, new = load_recipe("snli-supcl"), load_recipe("snli-supcl", ["objective.weight=0.1"])
    assert recipe_differences(old, new) == [("stage.0.objective.weight", 0.3, 0.1)]
    assert recipe_differences(old, old) == []


def test_stages_sets_a_key_of_every_stage() -> None:
    recipe = load_recipe(
        "sbert-defsent-multi", ["stages.optim.lr=3e-5", "stages.data.rows=7", "stage.1.optim.lr=1"]
    )
    assert [(stage.optim.lr, stage.data.rows) for stage in recipe.stages] == [(3e-5, 7), (1, 7)]
    with pytest.raises(UsageError, match="the recipe has 2 stages") as error:
        load_recipe("sbert-defsent-multi", ["optim.lr=3e-5"])
    assert "stages.optim.lr" in error.value.hint


def test_a_task_may_set_what_belongs_to_no_stage() -> None:
    recipe = load_recipe("multitask-single", ["data.task=paraphrase"])
    assert recipe.evaluate.dev == "paraphrases"
    assert recipe.stages[0].objective.name == "paraphrase_head"


@pytest.mark.parametrize("task", ["sentiment", "rte"])
def test_a_task_of_a_joined_recipe_sets_the_stages_of_its_own_recipe_alone(task: str) -> None:
    name = "multitask-single" if task == "sentiment" else "supcl-seq"
    first, alone = load_recipe("snli-ce"), load_recipe(name, [f"data.task={task}"])
    joined = load_recipe(f"snli-ce+{name}", [f"data.task={task}"])
    assert joined.stages == (*first.stages, *alone.stages)
    assert joined.evaluate == alone.evaluate


@pytest.mark.parametrize(
    ("recipe", "change", "message"),
    [
        (
            "multitask",
            "stage.1.optim.lr=2e-5",
            r"'stage.1.optim.lr' must be 1e-05: with mix.combine 'average' it is one for all",
        ),
        ("multitask", "stage.2.optim.turn=2", r"'stage.2.optim.turn' must be 1"),
        ("multitask", "stage.2.optim.clip=2.0", r"'stage.0.optim.clip' must be 2.0"),
        ("multitask", "mix.combine=together", r"'mix.combine' is 'together'"),
        ("sbert", "mix.combine=average", "'mix' needs two or more stages with a turn"),
    ],
)
def test_a_mix_that_cannot_be_is_refused(recipe: str, change: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        load_recipe(recipe, [change])
    if "must be" in message:
        key = message.split("'")[1]
        assert error.value.hint.startswith(f"--set {key}=")


def test_a_resolved_mix_comes_back(tmp_path: Path) -> None:
    recipe = load_recipe("multitask", ["mix.combine=surgery"])
    assert recipe.mix == MixSection(combine="surgery", until="smallest")
    assert from_table(recipe_to_table(recipe), name="multitask", where="test") == recipe
    assert recipe.hash != load_recipe("multitask").hash
    assert "mix" not in recipe_to_table(load_recipe("sbert-defsent-multi"))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("optim.lrr=1e-5", "unknown key 'stage.0.optim.lrr'"),
        ("encodr.pooling=cls", "unknown key 'encodr'"),
        ("optim.lr=fast", "'stage.0.optim.lr' is 'fast'"),
        ("optim.lr=0", "'stage.0.optim.lr' is 0"),
        ("optim.batch_size=6.5", "'stage.0.optim.batch_size' is 6.5"),
        ("objective.name=nli-softmax", "no objective named 'nli-softmax'"),
        ("optim.lr", "'optim.lr' is not KEY=VALUE"),
        ("data=snli", "'stage.0.data' is 'snli': not a table"),
        ("optim..lr=1", "'optim..lr=1' is not KEY=VALUE"),
        ("data.datasets=[]", "'stage.0.data.datasets' is missing"),
        ("optim.epochs=nan", "'stage.0.optim.epochs' is nan"),
        ("optim.epochs=1e308", "'stage.0.optim.epochs' is 1e+308: must be at most 10000"),
        ("optim.lr=1e9", "'stage.0.optim.lr' is"),
        ("optim.batch_size=1e12", "'stage.0.optim.batch_size' is"),
        (f"optim.batch_size={'9' * 5000}", "optim.batch_size: an integer of 5000 digits"),
        (f"data.task=[0x{'f' * 5000}]", "--set: 'data.task.0' is an integer of 20000 bits"),
        ("optim.lr=1\noptim.epochs=2", "'stage.0.optim.lr' is '1\\noptim.epochs=2'"),
        ("data.split=\udcff", "'stage.0.data.split' is not valid text"),
        (f"{'a.' * 5000}b=1", "a key of 5001 parts"),
        ("stage=3", "'stage' is 3: must be a list"),
        ("stage=[3]", "'stage.0' is 3: not a table"),
        ("stage=[]", "'stage' is []: list should have at least 1 item"),
        ("stage.0=3", "'stage' is not a table"),
        ("encoder=3", "'encoder' is 3: not a table"),
        ("objective.name=3", "'stage.0.objective.name' is 3: not a name"),
        ("stage.1.optim.lr=1", "there is no stage '1'"),
        ("stage.٣.optim.lr=1", "there is no stage"),
    ],
)
def test_no_typed_value_is_more_than_a_line_that_names_its_key(override: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_recipe("snli-ce", [override], encoder="x")
    assert message in caught.value.message
    assert caught.value.hint
    assert len(caught.value.message) < 600
