"""Profiles of a recipe: the paper's, and that of its authors' code; what the file declares of its
keys.
"""

from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.names import recipe_names, recipe_path
from embedlab.core.overrides import profiles_of
from embedlab.core.recipe import Recipe, load_recipe, recipe_table

CODED = [name for name in recipe_names() if "code" in profiles_of(recipe_table(name))]


def optim(recipe: Recipe, stage: int = 0) -> tuple[float, int | None, float | None, float]:
    own = recipe.stages[stage].optim
    return own.epochs, own.warmup_steps, own.clip, own.weight_decay


def declared(recipe: Recipe) -> dict[str, str]:
    return {key: one.paper for one in recipe.deviations for key in one.keys}


def test_a_profile_comes_before_a_task_and_explicit_keys_win_over_both() -> None:
    plain, coded = load_recipe("supcl-seq"), load_recipe("supcl-seq", ["profile=code"])
    assert (coded.encoder.pooling, plain.encoder.pooling) == ("pooler", "cls")
    assert optim(coded) == (3, 50, 1.0, 0.01)  # the notebook's epochs on CoLA, chosen or not
    assert optim(load_recipe("supcl-seq", ["data.task=cola", "profile=code"])) == optim(coded)
    assert optim(load_recipe("supcl-seq", ["data.task=rte", "profile=code"]))[0] == 5
    assert (
        optim(
            load_recipe("supcl-seq", ["stage.0.optim.epochs=2", "data.task=cola", "profile=code"])
        )[0]
        == 2
    )
    scores = (
        load_recipe("supcl-seq", ["profile=code", "data.task=stsb"]).stages[0].objective.options
    )
    assert (scores.classes, scores.joint) == ("exact", True)


@pytest.mark.parametrize("name", CODED)
def test_a_run_of_another_profile_has_another_name_and_training(name: str) -> None:
    coded = load_recipe(name, ["profile=code"])
    assert coded.name == f"{name}-code"
    assert coded.hash != load_recipe(name).hash


def test_a_profile_declares_its_own_deviations_in_place_of_those_it_settles() -> None:
    paper, coded = (
        declared(load_recipe("supcl-seq")),
        declared(load_recipe("supcl-seq", ["profile=code"])),
    )
    assert "stage.0.optim.clip" in paper
    assert "stage.0.optim.clip" not in coded  # set by it
    assert "stage.0.optim.schedule" not in coded  # named among what agrees
    assert coded["stage.1.objective.frozen"] != paper["stage.1.objective.frozen"]


def with_lines(tmp_path: Path, lines: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(
        recipe_path("snli-ce").read_text(encoding="utf-8").split("# Where the paper")[0] + lines,
        encoding="utf-8",
    )
    return str(path)


SAID = '{ paper = "not stated", source = "§4" }'


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (f'"optim.clipp" = {SAID}', "names 'stage.0.optim.clipp', which is not a key"),
        (f'"nothing.at" = {SAID}', "names 'nothing.at', which is not a key"),
        ('"optim.clip" = { paper = "x" }', "'deviations.optim.clip.source' is missing"),
        (
            '"optim.clip" = { paper = "x", source = "y", heer = "z" }',
            "unknown key 'deviations.optim.clip.heer'",
        ),
        ('"optim.clip" = "x"', "'deviations.optim.clip' is 'x': not a table"),
        ("nested = 3", "'deviations.nested' is 3: not a table"),
    ],
)
def test_what_is_declared_of_no_key_or_in_another_form_is_refused(
    lines: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as error:
        load_recipe(with_lines(tmp_path, f"[deviations]\n{lines}\n"))
    assert message in error.value.message
    assert error.value.hint


@pytest.mark.parametrize(
    ("lines", "override", "message"),
    [
        ("", "profile=code", "no profile of the recipe named 'code'"),
        ('[profiles.code]\nsource = "x"\n', "profile=cod", "no profile of the recipe named 'cod'"),
        ("[profiles.code]\n", "profile=code", "'profiles.code.source' is missing"),
        (
            '[profiles.code]\nsource = "x"\nagrees = ["optim.clip"]\n',
            "profile=code",
            "'profiles.code.agrees' names 'optim.clip', of which",
        ),
        (
            '[profiles.code]\nsource = "x"\n[profiles.code.tasks.cola]\n"optim.lr" = 1\n',
            "profile=code",
            "names 'cola', which the recipe",
        ),
        (
            '[profiles.code]\nsource = "x"\n[profiles.code.set]\n"optim.rate" = 1\n',
            "profile=code",
            "unknown key 'stage.0.optim.rate'",
        ),
    ],
)
def test_a_profile_that_cannot_be_is_refused(
    lines: str, override: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as error:
        load_recipe(with_lines(tmp_path, lines), [override])
    assert message in error.value.message


def test_a_task_may_set_a_table(tmp_path: Path) -> None:
    shares = '[tasks.half]\n"data.shares" = { snli = 0.5 }\n'
    recipe = load_recipe(with_lines(tmp_path, shares), ["data.task=half"])
    assert recipe.stages[0].data.shares == {"snli": 0.5}
