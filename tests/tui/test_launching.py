"""The words that a form starts."""

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.schema import read_toml
from embedlab.core.settings import Settings
from embedlab.tui.runs.launching import (
    Choice,
    Form,
    arguments,
    choice_of_file,
    choices,
    dry_run,
    new_form,
    resume_grid,
    start_choice,
    toml_text,
)

RECIPE = Choice(kind="recipe", name="snli-supcl")
GRID = Choice(kind="grid", name="snli-supcl-tau")


def words(choice: Choice, form: Form, settings: Settings, tmp_path: Path) -> list[str]:
    return arguments(choice, form, settings, tmp_path / "grids")


def typed(form: Form, text: tuple[str, str] | None = None, **values: str) -> Form:
    changed = form.text if text is None else form.text.replace(*text)
    return Form(values={**form.values, **values}, text=changed)


def test_every_recipe_and_grid_has_a_form(settings: Settings) -> None:
    for choice in choices():
        form = new_form(choice, settings)
        assert "data" in form.values
        assert form.text


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"rows": "64"}, ["--set", "stages.data.rows=64"]),
        ({"steps": "5"}, ["--max-steps", "5"]),
        ({"name": "mine"}, ["--name", "mine"]),
        ({"seeds": "3"}, ["--seeds", "3"]),
        ({"text": ("lr = 2e-05", "lr = 1e-4")}, ["--set", "optim.lr=0.0001"]),
        ({"text": ('positives = "all"', "positives = 3")}, ["--set", "objective.positives=3"]),
    ],
)
def test_only_what_was_changed_is_set(
    settings: Settings, tmp_path: Path, change: dict[str, Any], expected: list[str]
) -> None:
    form = typed(new_form(RECIPE, settings), **change)
    said = words(RECIPE, form, settings, tmp_path)
    assert said[:2] == ["train", "snli-supcl"]
    place = said.index(expected[-1])
    assert said[place - 1 : place + 1] == expected
    assert said.count("--set") == (1 if "--set" in expected else 0)


def test_a_grid_runs_by_its_name_until_something_is_changed(
    settings: Settings, tmp_path: Path
) -> None:
    form = new_form(GRID, settings)
    assert words(GRID, form, settings, tmp_path)[:3] == ["grid", "run", "snli-supcl-tau"]
    axes = {"objective.temperature": [0.1, 1.0], "optim.lr": [1e-5, 2e-5]}
    values = {"axis objective.temperature": "[0.1, 1.0]", "name": "mine"}
    changed = typed(form, **values)
    changed = replace(changed, text=f'{form.text}\n[axes]\n"optim.lr" = [1e-5, 2e-5]\n')
    path = Path(words(GRID, changed, settings, tmp_path)[2])
    assert path.name == "mine.toml"
    table = read_toml(path)
    assert (table["axes"], table["set"]) == (axes, {"objective.weight": 0.5})
    assert "snli-supcl" in str(table["base"])


@pytest.mark.parametrize(
    "change",
    [
        {"text": ("lr = 2e-05", "lr = ")},
        {"text": ("lr = 2e-05\n", "")},
    ],
)
def test_toml_that_cannot_be_meant_is_refused(
    settings: Settings, tmp_path: Path, change: dict[str, Any]
) -> None:
    with pytest.raises(UsageError):
        words(RECIPE, typed(new_form(RECIPE, settings), **change), settings, tmp_path)


def test_a_name_that_is_taken_gets_a_number(settings: Settings) -> None:
    (settings.runs / "snli-supcl").mkdir(parents=True)
    (settings.runs / "grids" / "snli-supcl-tau").mkdir(parents=True)
    assert new_form(RECIPE, settings).values["name"] == "snli-supcl-2"
    assert new_form(GRID, settings).values["name"] == "snli-supcl-tau-2"


def test_files_of_ones_own_are_told_apart(tmp_path: Path) -> None:
    grid, recipe, other = (tmp_path / name for name in ("g.toml", "r.toml", "x.doc"))
    grid.write_text('summary = "x"\nbase = "sbert"\nseeds = [1]\n[axes]\n"optim.lr" = [1e-5]\n')
    recipe.write_text((Path("recipes") / "sbert.toml").read_text())
    other.write_text("")
    assert choice_of_file(str(grid)).kind == "grid"
    assert choice_of_file(str(recipe)).kind == "recipe"
    with pytest.raises(UsageError, match="not a"):
        choice_of_file(str(other))


def test_toml_text_is_read_back(settings: Settings) -> None:
    import tomllib

    table = {"a": [1, 2], "b": {"c.d": "x", "e": {"f": True}}, "g": [{"h": 1}, {"h": {"i": 2}}]}
    assert tomllib.loads(toml_text(table)) == table


def test_a_grid_goes_on_by_the_words_that_started_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(
        "embedlab.tui.runs.launching.start_detached", lambda words, log: started.append(list(words))
    )
    resume_grid("mine", settings)
    folder = settings.runs / "grids" / "mine"
    folder.mkdir(parents=True)
    (folder / "launch.json").write_text('["grid", "run", "mine.toml", "--set", "a=1"]')
    resume_grid("mine", settings)
    assert started[0][:3] == ["grid", "run", "mine"]
    assert started[1] == ["grid", "run", "mine.toml", "--set", "a=1"]


@pytest.mark.parametrize("code", [None, 0, 2])
def test_a_grid_that_goes_on_is_started_and_one_that_is_refused_is_an_error(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, code: int | None
) -> None:
    class Started:
        process = SimpleNamespace(poll=lambda: code)

        def error(self, work: str) -> EmbedlabError:
            return EmbedlabError(f"{work} ended with {code}")

    async def at_once(_: float) -> None:
        return None

    monkeypatch.setattr("embedlab.tui.runs.launching.start_detached", lambda *_: Started())
    monkeypatch.setattr("embedlab.tui.runs.launching.asyncio.sleep", at_once)
    work = start_choice(GRID, ["grid", "run", "mine.toml"], settings)
    if code:
        with pytest.raises(EmbedlabError, match="ended with 2"):
            asyncio.run(work)
    else:
        asyncio.run(work)
    assert (settings.runs / "grids" / "mine" / "launch.json").exists()


def test_the_dry_run_of_a_grid_that_was_never_measured_has_no_estimate(
    settings: Settings, tmp_path: Path
) -> None:
    form = new_form(GRID, replace(settings, data=STARTER_FOLDER))
    would_do = asyncio.run(dry_run(words(GRID, form, settings, tmp_path)))
    assert "18 cells, 18 to do" in would_do
    assert "nothing measured yet" in would_do
    assert would_do.splitlines()[2:4] == ["temperature 0.1", "temperature 0.3"]


def test_what_a_dry_run_refuses_is_its_error_with_its_hint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def communicate() -> tuple[bytes, bytes]:
        return b"", b"a warning\nembedlab: error: no recipe 'x'\n  hint: embedlab recipes ls\n"

    async def piped(*_: object, **options: object) -> SimpleNamespace:
        return SimpleNamespace(returncode=2, communicate=communicate)

    monkeypatch.setattr("embedlab.tui.runs.launching.start_piped", piped)
    with pytest.raises(EmbedlabError, match=r"no recipe 'x'$") as refused:
        asyncio.run(dry_run(["train", "x"]))
    assert refused.value.hint == "embedlab recipes ls"
