"""The dialog of models finds, folds and takes models that are not listed."""

from pathlib import Path
from threading import Event, current_thread, main_thread
from time import sleep

import polars as pl
import pytest
from textual.widgets import Input, Static

from embedlab.core.errors import EmbedlabError
from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from embedlab.tui.dialogs import ChoiceList
from embedlab.tui.model_chooser import ChooseModels, ChooserLine, grid_of, lines_of, listed
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.stored_models import StoredModel
from tests.tui.driving import Open, on_top, send_at_once, type_text, until, write_scores

CELLS = ("lr-1e-05.3f7e8d3a", "lr-2e-05.2a293b6b", "lr-5e-05.c53f95a5")


def test_cells_of_a_grid_are_folded_and_found(world: Settings) -> None:
    names = ["far", *(f"sweep.{cell}" for cell in CELLS), "near", "other.lr-1e-05.3f7e8d3a"]
    entries = [ChooserLine(label=name, value=f"model:{name}", model=name) for name in names]
    shown = [entry.label for entry in listed(entries, "", (), {"model:sweep.lr-1e-05.3f7e8d3a"})]
    assert shown == ["far", "▸ sweep: 3 cells, 1 chosen", "near", "other.lr-1e-05.3f7e8d3a"]
    assert len(listed(entries, "", {"folded:sweep"}, ())) == 7
    assert [entry.label for entry in listed(entries, "5e SWEEP", (), ())] == [
        "sweep.lr-5e-05.c53f95a5"
    ]
    assert grid_of("a.b.lambda-0.5.3f7e8d3a") == "a"
    assert grid_of("model.v2") is None


def test_the_seeds_of_a_run_are_folded_below_it_and_found() -> None:
    stored = [
        StoredModel(name="near", files={}, seeds=(1, 3)),
        StoredModel(name="far", files={}, seeds=(1,)),
    ]
    entries = list(lines_of(stored))
    assert [entry.label for entry in listed(entries, "", (), {"model:near@3"})] == [
        "near",
        "▸ near@: 2 seeds, 1 chosen",
        "far",
    ]
    unfolded = [entry.value for entry in listed(entries, "", {"folded:near@"}, ())]
    assert unfolded == ["model:near", "folded:near@", "model:near@1", "model:near@3", "model:far"]
    assert [entry.label for entry in listed(entries, "near@3", (), ())] == ["near@3"]
    assert [entry.model for entry in lines_of(stored, has_seeds=False)] == ["near", "far"]


def test_the_cells_of_a_grid_count_without_their_seeds() -> None:
    entries = list(
        lines_of([StoredModel(name=f"sweep.{cell}", files={}, seeds=(1, 2)) for cell in CELLS])
    )
    assert [entry.label for entry in listed(entries, "", (), ())] == ["▸ sweep: 3 cells"]
    shown = [entry.label for entry in listed(entries, "", {"folded:sweep"}, ())]
    assert shown[1:3] == [f"sweep.{CELLS[0]}", f"▸ sweep.{CELLS[0]}@: 2 seeds"]
    assert len(shown) == 7


async def test_one_seed_is_chosen_beside_its_run(opened: Open) -> None:
    async with opened() as pilot:
        before = pilot.app.chosen  # type: ignore[attr-defined]
        await pilot.press("c")
        dialog = await on_top(pilot, ChooseModels)
        dialog.query_one(Input).value = "near@2"
        await until(pilot, lambda: dialog.query_one(ChoiceList).option_count == 1)
        dialog.query_one(ChoiceList).focus()
        await pilot.press("space", "enter")
        await on_top(pilot, PairsScreen)
        await until(pilot, lambda: "near@2" in pilot.app.chosen)  # type: ignore[attr-defined]
        assert pilot.app.chosen == [*before, "near@2"]  # type: ignore[attr-defined]
        (model,) = (one for one in pilot.app.data.models if one.name == "near@2")  # type: ignore[attr-defined]
        assert (model.members, model.seeds) == (("near@2",), (2,))


async def test_models_are_searched_unfolded_and_typed(
    opened: Open, own_world: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, cell in enumerate(CELLS):
        table = pl.read_parquet(next(own_world.runs.glob("far/*/scores.parquet")))
        path = own_world.runs / f"sweep.{cell}" / "seed-1" / "scores.parquet"
        write_scores(table.with_columns(gold=pl.lit(2.0)), path, noise=0.1, seed=number)
    brought = tmp_path / "mine.csv"
    brought.write_text("sentence1,sentence2,score\na,b,0.5\n")
    scored: list[str] = []
    monkeypatch.setattr(Dashboard, "score_model", lambda _, name: scored.append(name))
    looked: list[tuple[bool, str]] = []
    look = Dashboard._typed_model

    def look_slowly(app: Dashboard, name: str) -> ChooserLine:
        """As at a folder whose weights are read: keys wait for it, and the event loop does not."""
        sleep(0.1)
        entry = look(app, name)
        looked.append((current_thread() is main_thread(), entry.label))
        return entry

    monkeypatch.setattr(Dashboard, "_typed_model", look_slowly)
    async with opened(own_world, size=(140, 45)) as pilot:
        await on_top(pilot, PairsScreen)
        before = pilot.app.chosen  # type: ignore[attr-defined]
        await pilot.press("c")
        dialog = await on_top(pilot, ChooseModels)
        choices, line = dialog.query_one(ChoiceList), dialog.query_one(Input)
        assert pilot.app.focused is choices

        def labels() -> list[str]:
            return [
                str(choices.get_option_at_index(place).prompt)
                for place in range(choices.option_count)
            ]

        assert "▸ sweep: 3 cells" in "\n".join(labels())
        choices.highlighted = next(
            place for place, label in enumerate(labels()) if "sweep" in label
        )
        await pilot.press("space")
        assert sum("sweep." in label for label in labels()) == 3
        await pilot.press("down", "space", "slash")
        assert pilot.app.focused is line
        await type_text(pilot, "publi")
        await until(pilot, lambda: len(labels()) == 1 and "published" in labels()[0])
        await pilot.press("escape")
        assert (line.value, pilot.app.focused) == ("", choices)

        await pilot.press("slash")
        line.value = "no such model"
        await pilot.press("enter")
        await until(
            pilot,
            lambda: (
                "no model named 'no such model'"
                in str(dialog.query_one(".dialog-error", Static).content)
            ),
        )
        assert pilot.app.screen is dialog
        line.value = f"scores:{brought}"
        send_at_once(pilot, "\r\r")  # adds it, and takes the choice
        await on_top(pilot, PairsScreen)
        await until(pilot, lambda: scored)
        assert scored == [f"scores:{brought}"]
        assert looked == [(False, f"scores:{brought}  (will be scored)")]
        await until(pilot, lambda: {*pilot.app.chosen} == {*before} ^ {f"sweep.{CELLS[0]}"})  # type: ignore[attr-defined]


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_model_that_is_found_while_the_dialog_is_being_closed_ends_nothing(
    opened: Open, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    closing = Event()

    def look_late(_: Dashboard, name: str) -> ChooserLine:
        assert closing.wait(30)
        if not is_known:
            raise EmbedlabError(f"no model named {name!r}")
        return ChooserLine(label=name, value=name)

    monkeypatch.setattr(Dashboard, "_typed_model", look_late)
    async with opened() as pilot:
        await on_top(pilot, PairsScreen)
        await pilot.press("c")
        dialog = await on_top(pilot, ChooseModels)
        await pilot.press("slash")
        await type_text(pilot, "zzz")
        await pilot.press("enter")
        await until(pilot, lambda: dialog.is_opening)
        await dialog.remove_children()
        closing.set()
        await until(pilot, lambda: not dialog.is_opening)
        await pilot.app.pop_screen()
