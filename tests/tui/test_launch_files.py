"""The form says before the start what is missing, and opens recipes and grids of the user's own."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList, Static

from embedlab.cli.app import main
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.names import recipe_path
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings, load_settings
from embedlab.experiments.cell import cell_environment
from embedlab.tui.dialogs import Confirm, TextDialog
from embedlab.tui.launch.form import (
    OTHERS,
    PARTIAL,
    choice_of_file,
    choices_of_files,
    grid_fields,
    grid_launch,
    recipe_fields,
    recipe_launch,
)
from embedlab.tui.launch.screen import LaunchScreen
from embedlab.workflows.train.missing import missing_evaluation, missing_to_train
from tests.tui.driving import Open, on_top, until
from tests.tui.test_launch_screen import Started, line, started

__all__ = ["started"]

GRID = 'summary = "mine"\nbase = "own.toml"\nseeds = [1]\n[axes]\n"optim.lr" = [1e-5, 2e-5]\n'


@pytest.fixture
def own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recipe of the user's own, and a grid over it, in the folder of work."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("embedlab.workflows.train.missing.is_reachable", lambda: False)
    (tmp_path / "own.toml").write_text(recipe_path("snli-ce").read_text())
    (tmp_path / "over.toml").write_text(GRID)
    return tmp_path


def test_pairs_of_the_hub_are_not_a_missing_file(own_files: Path) -> None:
    def missing(dataset: str) -> list[str]:
        recipe = load_recipe(
            "own-scored-pairs",
            ["data.files=[]", f"data.datasets='{dataset}'"],
            encoder="dice-less/encoder",
        )
        settings = Settings(runs=own_files / "runs")
        hints = [*missing_to_train(recipe, settings), *missing_evaluation(recipe, settings)]
        return [
            text for text in map(str, hints) if not text.startswith(("encoder", "dataset 'sts"))
        ]

    assert missing("hub:owner/pairs") == [
        "dataset 'hub:owner/pairs' is not on this machine, and the hub cannot be reached"
    ]
    assert missing(f"hub:{own_files}") == []
    assert missing(f"hub:{own_files}/gone")[0].startswith(f"no folder '{own_files}/gone'")


def test_data_and_encoders_that_are_missing_are_named(own_files: Path) -> None:
    values = {field.key: field.value for field in recipe_fields("snli-ce")}
    missing = recipe_launch("snli-ce", values, Settings(runs=own_files / "runs")).missing
    assert [line.partition(" is not on this machine")[0] for line in missing] == [
        "dataset 'snli' (train)",
        "encoder 'google/bert_uncased_L-8_H-512_A-8'",
        "dataset 'sts-benchmark' (dev)",
    ]
    offline = recipe_launch(
        "snli-ce", values, Settings(runs=own_files / "runs", offline=True)
    ).missing
    assert "dataset 'snli' (train) is missing: no data folder is set" in offline[0]
    assert "--offline is set" in offline[1]
    assert (
        recipe_launch(
            "snli-ce", values, Settings(runs=own_files / "runs", cache=own_files, data=TINY_FOLDER)
        ).missing
        == ()
    )


def test_missing_data_of_the_evaluation_is_named_as_the_training_names_it(own_files: Path) -> None:
    sick = own_files / "SICK"
    sick.mkdir()
    row = "1\tA dog runs.\tA cat sleeps.\t1.2\tN\n"
    for name in ("SICK_trial.txt", "SICK_test_annotated.txt"):
        (sick / name).write_text(
            "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n" + row
        )
    settings = Settings(runs=own_files / "runs", data=own_files, offline=True, allow_partial=True)
    values = {field.key: field.value for field in recipe_fields("snli-ce")}

    def missing(**changed: str) -> list[str]:
        return [
            text
            for text in recipe_launch("snli-ce", values | changed, settings).missing
            if "'snli'" not in text and "encoder" not in text
        ]

    assert [text.partition(":")[0] for text in missing()] == [
        "dataset 'sts-benchmark' (dev) is missing"
    ]  # the training refuses to begin
    others = missing(**{"evaluate.dev": "sick-r"})
    assert others[0].startswith("dataset 'sts12' (test) is missing: no file")
    assert others[0].endswith("(the evaluation goes on without it)")
    assert others[1:] == ["7 more datasets of the evaluation are missing"]
    with pytest.raises(UsageError, match="classifier"):
        missing(**{"evaluate.dev": "none", "evaluate.tasks": '["glue"]'})


def test_rows_that_cannot_be_trained_on_are_refused_before_the_start(
    own_files: Path, world: Settings
) -> None:
    (own_files / "pairs.csv").write_text("anchor,other\na,b\n")
    values = {field.key: field.value for field in recipe_fields("own-pairs")} | {
        "data.files": '["pairs.csv"]'
    }
    found = recipe_launch(
        "own-pairs", values, replace(world, runs=own_files / "runs", cache=own_files)
    )
    assert found.missing == ()
    with pytest.raises(EmbedlabError, match="'positive'"):
        found.check()


def test_incomplete_data_is_refused_before_a_grid_starts_and_taken_by_its_line(
    own_files: Path, world: Settings
) -> None:
    (own_files / "SNLI").mkdir()
    row = (
        '{"gold_label": "entailment", "sentence1": "A dog runs.", "sentence2": "A dog '
        'moves.", "captionID": "1", "pairID": "1"}\n'
    )
    rows = row + row.replace("entailment", "contradiction").replace("A dog moves", "A cat moves")
    (own_files / "SNLI" / "snli_1.0_train.jsonl").write_text(rows * 20)
    settings = replace(
        world, data=own_files, runs=own_files / "runs", cache=own_files, offline=True
    )
    values = {field.key: field.value for field in grid_fields("over.toml")} | {
        OTHERS: "evaluate.dev=none evaluate.tasks=[]"
    }
    found = grid_launch("over.toml", values, settings, own_files / "edited")
    with pytest.raises(EmbedlabError, match="truncated or odd") as refused:
        found.check()
    assert "use these rows with yes in the line 'allow partial'" in refused.value.hint
    assert "--" not in refused.value.hint, "an option of the command line is not a line of the form"
    partial = grid_launch("over.toml", {**values, PARTIAL: "yes"}, settings, own_files / "edited")
    partial.check()
    assert "--allow-partial" in partial.arguments
    assert "--allow-partial" not in found.arguments
    for launch, fields in (
        (grid_launch, grid_fields("over.toml")),
        (recipe_launch, recipe_fields("snli-ce")),
    ):
        typed = {field.key: field.value for field in fields} | {PARTIAL: "perhaps"}
        more = (own_files / "edited",) if launch is grid_launch else ()
        with pytest.raises(UsageError, match="allow partial is 'perhaps'"):
            launch("over.toml" if more else "snli-ce", typed, settings, *more)  # type: ignore[operator]


def test_a_file_is_a_recipe_or_a_grid_and_anything_else_is_refused(
    own_files: Path, world: Settings
) -> None:
    assert choice_of_file("own.toml").kind == "recipe"
    grid = choice_of_file("over.toml")
    assert (grid.kind, grid.summary) == ("grid", "mine")
    values = {field.key: field.value for field in grid_fields("over.toml")}
    assert grid_launch("over.toml", values, world, own_files / "edited").arguments[:3] == (
        "grid",
        "run",
        "over.toml",
    )
    edited = grid_launch(
        "over.toml", {**values, "axis optim.lr": "[5e-5]"}, world, own_files / "edited"
    )
    assert edited.title == "over-edited with 1 cells"
    for text in ("none.toml", "own.xls", str(own_files)):
        with pytest.raises(UsageError):
            choice_of_file(text)
    with pytest.raises(MissingError, match=r"no file 'own\.txt'"):
        choice_of_file("own.txt")


def test_a_file_of_rows_is_a_recipe_with_what_was_detected(
    own_files: Path, world: Settings, tiny_encoder: Path
) -> None:
    lines = [f"what is number {number},it is {number} and no more" for number in range(60)]
    (own_files / "faq.csv").write_text("frage,antwort\n" + "\n".join(lines) + "\n")
    choice = choice_of_file("faq.csv")
    assert (choice.kind, choice.name, choice.summary) == (
        "recipe",
        "faq.csv",
        "pairs of anchor and positive of your own",
    )
    values = {field.key: field.value for field in recipe_fields("faq.csv")}
    assert values["run name"] == "faq"
    assert (values["data.columns.anchor"], values["data.columns.positive"]) == ("frage", "antwort")
    assert values["evaluate.dev"].endswith("faq.csv?anchor=frage&positive=antwort&held-out=0.1")
    values["encoder.model"] = str(tiny_encoder)
    launch = recipe_launch("faq.csv", values, world)
    assert launch.arguments[:2] == ("train", "faq.csv")
    assert launch.missing == ()
    assert (
        launch.notes[0]
        == "faq.csv: 60 pairs of anchor and positive: anchor = frage, positive = antwort"
    )
    launch.check()
    turned = recipe_launch(
        "faq.csv",
        values | {"data.columns.anchor": "antwort", "data.columns.positive": "frage"},
        world,
    )
    assert turned.notes[0].endswith("anchor = antwort, positive = frage")
    assert "data.columns.anchor=antwort" in turned.arguments
    (own_files / "odd.csv").write_text("a,b,votes\nx y,z w,3\np q,r s,9\nt u,v w,4\n")
    with pytest.raises(UsageError, match="'votes' may be their score"):
        choice_of_file("odd.csv")


async def test_an_own_recipe_is_opened_by_its_path_and_started(
    opened: Open, own_files: Path, started: Started
) -> None:
    async with opened(size=(100, 40)) as pilot:
        await pilot.press("4")
        screen = await on_top(pilot, LaunchScreen)
        await until(pilot, lambda: screen.model.launch is not None)
        await pilot.press("O")
        dialog = await on_top(pilot, TextDialog)
        dialog.query_one(Input).value = "none.toml"
        await pilot.press("enter")
        await until(
            pilot,
            lambda: (
                "no recipe file 'none.toml'"
                in str(dialog.query_one(".dialog-error", Static).content)
            ),
        )
        dialog.query_one(Input).value = "own.toml"
        await pilot.press("enter")
        await on_top(pilot, LaunchScreen)
        await until(
            pilot, lambda: screen.model.launch is not None and screen.model.launch.title == "own"
        )
        assert screen.query_one(OptionList).highlighted_option.id == "recipe own.toml"  # type: ignore[union-attr]
        (own_files / "gone.toml").write_text((own_files / "own.toml").read_text())
        remembered = (*pilot.app.memory.state.own_files, str(own_files / "gone.toml"))  # type: ignore[attr-defined]
        assert remembered[0] == str(own_files / "own.toml")
        assert [choice.name for choice in choices_of_files(remembered)] == list(remembered)
        (own_files / "gone.toml").unlink()
        assert [choice.name for choice in choices_of_files(remembered)] == [
            remembered[0]
        ]  # a deleted one is left out
        own = own_files / "own.toml"
        own.write_text(own.read_text().replace("\nlr = 2e-5 ", "\nlr = 0.125 "))
        await pilot.press("O")
        dialog = await on_top(pilot, TextDialog)
        dialog.query_one(Input).value = "own.toml"
        await pilot.press("enter")
        await on_top(pilot, LaunchScreen)
        await until(
            pilot, lambda: line(screen, "optim.lr").value == "0.125"
        )  # the file is read again
        line(screen, "data.datasets").value = '["mine.tsv"]'
        await until(
            pilot,
            lambda: (
                "! no file 'mine.tsv'" in str(screen.query_one("#launch-notes", Static).content)
            ),
        )
        await pilot.press("ctrl+s")
        confirm = await on_top(pilot, Confirm)
        assert "no file 'mine.tsv'" in str(confirm.query_one(".dialog-title", Static).content)
        await pilot.press("y")
        await until(pilot, lambda: started)
        assert started[0][0][:2] == ("train", "own.toml")


@pytest.mark.parametrize(
    "named", [({"data": Path("starter")}, {}), ({}, {"EMBEDLAB_DATA": "starter"})]
)
def test_a_grid_is_launched_on_the_starter_set_however_that_was_named(
    named: tuple[dict[str, Path], dict[str, str]], own_files: Path, tiny_encoder: Path
) -> None:
    flags, environment = named
    settings, _ = load_settings(
        {**flags, "runs": own_files / "runs", "offline": True}, environment=environment
    )
    (own_files / "pairs.csv").write_text(
        "\n".join(["anchor,positive", *(f"question {row},answer {row}" for row in range(8))])
    )
    (own_files / "over.toml").write_text(GRID.replace("own.toml", "own-pairs"))
    values = {field.key: field.value for field in grid_fields("over.toml")} | {
        OTHERS: f"data.files=pairs.csv evaluate.dev=stsb evaluate.tasks=['stsb'] "
        f"encoder.model={tiny_encoder}"
    }
    launch = grid_launch("over.toml", values, settings, own_files / "edited")
    launch.check()
    assert launch.missing == ()
    assert launch.plan is not None
    assert cell_environment(launch.plan, None)["EMBEDLAB_DATA"] == "starter"
    words = [*launch.arguments]
    assert words[words.index("--data") + 1] == "starter"
    assert main([*words, "--dry-run"]) == 0
