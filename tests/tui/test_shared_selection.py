"""One selection of pairs on every screen: what it is, what models score on it, and how to go in and
return.
"""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr
from textual.widgets import Input, Static

from embedlab.analysis.named_selections import named_selections, store_selection
from embedlab.analysis.pairing import Pairing
from embedlab.comparison.evidence import CHOSEN
from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.tui.compare.difference_pane import DifferencePane
from embedlab.tui.compare.disagreement_list import DisagreementList
from embedlab.tui.compare.fifths_map import FifthsMap
from embedlab.tui.compare.forest_plot import Forest
from embedlab.tui.compare.screen import CompareScreen
from embedlab.tui.compare.slice_difference import CURSOR
from embedlab.tui.named_selections import NamedSelections
from embedlab.tui.pair_table.data import load_pairs, with_models
from embedlab.tui.pair_table.numbers import BY_RESULTS, count_selection, score_selection
from embedlab.tui.pair_table.view import PairSelection, PairView, ShownSlice
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.plots.screen import PlotsScreen
from embedlab.tui.runs.screen import RunsScreen
from embedlab.tui.stored_models import stored_models
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.tui.widgets.pair_plot import PairPlot
from embedlab.tui.widgets.selection_line import SelectionLine, selection_line
from tests.tui.conftest import fix_catalog
from tests.tui.driving import NARROW, USUAL, WIDE, Open, on_top, type_text, until


@pytest.fixture(scope="module")
def view(world: Settings) -> PairView:
    with pytest.MonkeyPatch.context() as patch:
        fix_catalog(patch)
        return PairView(data=with_models(load_pairs(world), stored_models(world)[0][:3]))


def selected(view: PairView, selection: PairSelection) -> PairView:
    found = replace(view)
    found.select(selection)
    return found


def line_of(app: object) -> str:
    line = app.screen.query_one(SelectionLine)  # type: ignore[attr-defined]
    return str(line.content) if line.display else ""


def is_scored(app: object) -> bool:
    numbers = app.selected.numbers  # type: ignore[attr-defined]
    return numbers is not None and numbers.is_complete


@pytest.mark.parametrize(
    ("expression", "is_by_results"),
    [
        ("dice>0.5 negation:one", False),
        ("gold>3 length<2", False),
        ("trained:*", False),
        ("near>0.5", True),
        ("error(far)>10", True),
        ("gap>30", True),
        ("note:*", True),
        ("pair=3", True),
        ("-gap>30", True),
    ],
)
def test_what_reads_results_is_chosen_by_results(
    view: PairView, expression: str, is_by_results: bool
) -> None:
    assert selected(view, PairSelection(expression=expression)).is_by_results is is_by_results


def test_marks_and_opened_disagreements_are_chosen_by_results_and_cells_are_not(
    view: PairView,
) -> None:
    cell = ShownSlice(title="a cell", rows=np.arange(5))
    assert not selected(view, PairSelection(within=cell)).is_by_results
    assert selected(view, PairSelection(only_marked=True)).is_by_results
    assert selected(view, PairSelection(within=replace(cell, is_by_results=True))).is_by_results


def test_what_is_selected_is_an_expression_of_the_command_line_that_picks_the_same_pairs(
    view: PairView,
) -> None:
    dice = ShownSlice(
        title="low overlap",
        rows=np.flatnonzero((view.data.table["dice"] <= 0.5).to_numpy()),
        expression="dice<=0.5",
    )
    marked = replace(view, marks=frozenset({3, 700}))
    for one, of in (
        (PairSelection(expression="gold>3 or gold<1", dataset="sts12"), view),
        (PairSelection(expression="gold>3", within=dice), view),
        (PairSelection(only_marked=True), marked),
    ):
        narrowed = selected(of, one)
        assert narrowed.expression
        again = selected(view, PairSelection(expression=narrowed.expression))
        assert 0 < again.holds.sum() < view.data.table.height
        assert np.array_equal(again.holds, narrowed.holds)
    assert selected(view, PairSelection(within=replace(dice, expression=""))).expression is None
    assert selected(view, PairSelection(once=True)).expression is None


def test_what_cannot_be_read_is_refused_and_leaves_the_selection(view: PairView) -> None:
    narrowed = selected(view, PairSelection(expression="gold>3"))
    before = narrowed.holds.copy()
    with pytest.raises(UsageError):
        narrowed.select(PairSelection(expression="nothing>3"))
    assert np.array_equal(narrowed.holds, before)
    assert narrowed.selection.expression == "gold>3"


def test_scores_are_means_over_datasets_of_what_is_selected_and_intervals_need_no_results(
    view: PairView,
) -> None:
    narrowed = selected(view, PairSelection(expression="dice>0.4"))
    found = score_selection(narrowed, count_selection(narrowed), "far", is_tested=True)
    table = view.data.table.filter(pl.col("dice") > 0.4)
    assert found.pairs == table.height
    assert found.score is not None
    for model in view.data.models:
        values = [
            np.mean(
                [spearmanr(own["gold"], own[member])[0] for own in table.partition_by("dataset")]
            )
            for member in model.members
        ]
        assert found.score.found.scores[model.name].value == pytest.approx(np.mean(values))
    difference = found.score.found.differences["near"]
    assert difference.low < difference.delta < difference.high
    assert not np.isnan(difference.low)
    chosen = selected(view, PairSelection(expression="dice>0.4 near>0"))
    numbers = score_selection(chosen, count_selection(chosen), "far", is_tested=True)
    assert numbers.score is not None
    assert np.isnan(numbers.score.found.differences["near"].low)
    assert BY_RESULTS in selection_line(numbers, 200).plain
    untested = score_selection(narrowed, count_selection(narrowed), "far", is_tested=False)
    assert untested.score is not None
    assert untested.score.found.scores["near"].value == found.score.found.scores["near"].value


def test_the_line_names_the_datasets_that_its_scores_are_on_and_their_pairs_where_others_are_selected_too(
    view: PairView,
) -> None:
    scores = {
        name: pl.when(pl.col("dataset") == "sick-r").then(pl.col(name))
        for model in view.data.models
        for name in model.members
    }
    pairs = PairView(data=replace(view.data, table=view.data.table.with_columns(**scores)))
    on_one = score_selection(pairs, count_selection(pairs), "far", is_tested=False)
    count = (view.data.table["dataset"] == "sick-r").sum()
    line = selection_line(on_one, 160).plain
    assert line.startswith(f"{view.data.table.height:,} pairs ")
    assert line.endswith(f"  on sick-r, {count:,} pairs")
    assert selection_line(on_one, 80).plain.endswith(f"  on sick-r, {count:,} pairs")
    pairs.select(PairSelection(dataset="sick-r"))
    assert (
        "on sick-r"
        not in selection_line(
            score_selection(pairs, count_selection(pairs), "far", is_tested=False), 160
        ).plain
    )
    on_both = score_selection(view, count_selection(view), "far", is_tested=False)
    assert selection_line(on_both, 160).plain.endswith("  mean of 2 datasets")
    more = replace(on_both, pairs=on_both.pairs + 500)
    assert selection_line(more, 160).plain.endswith(
        f"  mean of 2 datasets, {on_both.pairs:,} pairs"
    )


@pytest.mark.parametrize("width", [60, 78, 100, 160])
def test_the_line_fits_and_says_all_that_has_room(view: PairView, width: int) -> None:
    narrowed = selected(view, PairSelection(expression="dice>0.4"))
    numbers = score_selection(narrowed, count_selection(narrowed), "far", is_tested=True)
    lines = selection_line(numbers, width, path=("Compare: sts12 × near",)).plain.splitlines()
    assert len(lines) <= 2
    assert all(len(line) <= width for line in lines)
    assert numbers.score is not None
    difference = numbers.score.found.differences["near"]
    assert f"[{100 * difference.low:+.1f} {100 * difference.high:+.1f}]" in " ".join(lines)
    assert f"{numbers.pairs:,}" in lines[0]


@pytest.mark.parametrize("width", [50, 60, 70, 78, 100])
def test_a_difference_without_room_for_its_interval_is_left_out_with_a_mark(
    view: PairView, width: int
) -> None:
    numbers = score_selection(view, count_selection(view), "far", is_tested=True)
    assert numbers.score is not None
    lines = selection_line(numbers, width).plain.splitlines()
    assert all(len(line) <= width for line in lines)
    assert len(lines) == 1 + (
        width == 50
    )  # of all pairs one, unless the scores themselves have no room
    line = "  ".join(lines)
    assert "  mean of 2" in line
    assert all(f" {100 * score.value:.1f}" in line for score in numbers.score.found.scores.values())
    differences = numbers.score.found.differences
    for difference in differences.values():
        whole = (
            f"{100 * difference.delta:+.1f} [{100 * difference.low:+.1f} "
            f"{100 * difference.high:+.1f}]"
        )
        assert f"{100 * difference.delta:+.1f}" not in line.replace(whole, "")
    assert line.count("[") + line.count(" …") == len(differences)
    if width < 78:
        assert " …" in line
    assert selection_line(numbers, 24).plain.splitlines()[1].startswith("far ")
    by_results = selected(view, PairSelection(expression="near>0"))
    untested = selection_line(
        score_selection(by_results, count_selection(by_results), "far", is_tested=True), 160
    ).plain
    assert "…" not in untested
    assert "[" not in untested


def test_models_whose_names_differ_in_the_middle_have_different_names_in_the_line(
    view: PairView,
) -> None:
    names = ("sentences-of-nli@1", "sentences@1", "sentences-of-wikipedia@1")
    models = tuple(
        replace(model, name=name) for model, name in zip(view.data.models, names, strict=True)
    )
    table = view.data.table.with_columns(
        view.data.table[model.name].alias(name)
        for model, name in zip(view.data.models, names, strict=True)
    )
    renamed = PairView(data=replace(view.data, table=table, models=models))
    numbers = score_selection(renamed, count_selection(renamed), names[0], is_tested=False)
    shown = re.findall(r"(\S+) \d+\.\d", selection_line(numbers, 60).plain)
    assert len(set(shown)) == len(names)


async def test_a_filter_is_the_selection_of_every_screen_until_it_is_cleared(opened: Open) -> None:
    async with opened(size=WIDE) as pilot:
        app = pilot.app
        await pilot.press("slash")
        await type_text(pilot, "dice>0.6")
        await pilot.press("enter")
        pairs = await on_top(pilot, PairsScreen)
        table = pairs.query_one(FrameTable)
        await until(pilot, lambda: is_scored(app) and 0 < len(table.rows) < table.frame.height)
        count = f"{len(table.rows):,} of {table.frame.height:,} pairs"
        await until(
            pilot,
            lambda: count in line_of(app) and re.search(r"near \d.* [-+]\d.*\[", line_of(app)),
        )
        await pilot.press("2")
        compare = await on_top(pilot, CompareScreen)
        await until(
            pilot, lambda: compare.model.result is not None and not compare.model.is_preview
        )
        rows = np.concatenate([compare.model.result.rows[name] for name in ("sts12", "sick-r")])
        assert set(rows.tolist()) == set(table.rows.tolist())
        assert not np.isnan(compare.model.result.comparison.slices[0].differences["near"].low)
        assert count in line_of(app)
        await pilot.press("5")
        plots = await on_top(pilot, PlotsScreen)
        await until(pilot, lambda: plots.query_one(PairPlot).picture is not None)
        assert len(plots.query_one(PairPlot).picture.points.rows) == len(rows)
        assert count in line_of(app)
        await pilot.press("3")
        await on_top(pilot, RunsScreen)
        assert "not of the selection" in line_of(app)
        await pilot.press("backslash")
        await until(pilot, lambda: app.selected.view.is_whole)
        await until(pilot, lambda: line_of(app) == "")
        await pilot.press("2")
        await until(
            pilot, lambda: sum(map(len, compare.model.result.rows.values())) >= table.frame.height
        )
        assert pairs.query_one(FilterBar).value == ""


async def test_a_selection_by_results_is_compared_without_intervals(opened: Open) -> None:
    async with opened() as pilot:
        app = pilot.app
        await pilot.press("slash")
        await type_text(pilot, "gap>10")
        await pilot.press("enter", "2")
        compare = await on_top(pilot, CompareScreen)
        await until(
            pilot, lambda: compare.model.result is not None and not compare.model.is_preview
        )
        assert all(
            np.isnan(found.low)
            for one in compare.model.result.comparison.slices
            for found in one.differences.values()
        )
        assert CHOSEN in str(compare.query_one("#compare-status", Static).content)
        await until(pilot, lambda: is_scored(app))
        assert BY_RESULTS in line_of(app)


async def test_a_selection_gets_a_name_that_the_command_line_reads(opened: Open) -> None:
    store_selection("far-off", "gold<1")
    async with opened(size=USUAL) as pilot:
        app = pilot.app
        await pilot.press("right_square_bracket", "slash")
        await type_text(pilot, "dice>0.6")
        await pilot.press("enter")
        await until(pilot, lambda: app.selected.view.expression == "dice>0.6 dataset:sts12")
        rows = app.selected.view.rows()
        await pilot.press("asterisk")
        dialog = await on_top(pilot, NamedSelections)
        dialog.set_focus(dialog.query_one(Input))
        await type_text(pilot, "no name")
        await pilot.press("enter")
        assert "cannot name a selection" in str(dialog.query_one(".dialog-error", Static).content)
        dialog.query_one(Input).value = "alike"
        await pilot.press("enter")
        await until(pilot, lambda: named_selections().get("alike") == "dice>0.6 dataset:sts12")
        await until(
            pilot, lambda: app.selected.view.selection == PairSelection(expression="@alike")
        )
        assert np.array_equal(np.sort(app.selected.view.rows()), np.sort(rows))
        await until(pilot, lambda: line_of(app).startswith("@alike"))
        await pilot.press("asterisk")
        dialog = await on_top(pilot, NamedSelections)
        await pilot.press("j", "enter")  # in the order of their names: far-off is the second
        await until(pilot, lambda: app.selected.view.selection.expression == "@far-off")
        assert (app.selected.view.data.table["gold"][app.selected.view.rows()] < 1).all()
        await pilot.press("asterisk")
        await on_top(pilot, NamedSelections)
        await pilot.press("delete", "y")
        await until(pilot, lambda: "alike" not in named_selections())


async def test_enter_opens_the_pairs_of_every_number_of_compare_and_esc_returns(
    opened: Open,
) -> None:
    async with opened(size=WIDE) as pilot:
        app = pilot.app
        await pilot.press("slash")
        await type_text(pilot, "gold>1")
        await pilot.press("enter", "2")
        compare = await on_top(pilot, CompareScreen)
        await until(
            pilot, lambda: compare.model.result is not None and not compare.model.is_preview
        )

        async def opened_rows(title: str) -> set[int]:
            pairs = await on_top(pilot, PairsScreen)
            await until(pilot, lambda: title in line_of(app))
            return set(pairs.query_one(FrameTable).rows.tolist())

        async def back() -> None:
            await pilot.press("escape")
            assert await on_top(pilot, CompareScreen) is compare
            assert app.selected.view.selection == PairSelection(expression="gold>1")
            assert app.data.pairing is None
            await until(
                pilot,
                lambda: (
                    compare.model.result is not None
                    and len(compare.model.result.comparison.models) == 3
                ),
            )

        await pilot.press("j", "enter")  # a slice
        assert await opened_rows("Compare: sick-r ›") == set(
            compare.model.result.rows["sick-r"].tolist()
        )
        assert app.selected.view.expression == "gold>1 dataset:sick-r"
        await pilot.press("slash", "end")
        await type_text(pilot, " dice>0.5")
        await pilot.press("enter", "escape")  # what was typed since then goes first
        await until(pilot, lambda: app.selected.view.expression == "gold>1 dataset:sick-r")
        await back()
        await pilot.press("d", "d", "d")  # the forest plot
        pane = compare.query_one(DifferencePane)
        await until(pilot, lambda: isinstance(pane.shown, Forest) and pane.shown.rows)
        compare.set_focus(pane)
        await pilot.press("j")
        assert str(pane.query_one(Static).content).splitlines()[2].startswith(f"sick-r{CURSOR}")
        expected = set(compare.model.result.rows["sick-r"].tolist())
        await pilot.press("enter")
        assert await opened_rows("Compare: sick-r × near ›") == expected
        assert app.data.pairing == Pairing(reference="far", other="near")
        await back()
        await pilot.press("d")  # the map
        await until(pilot, lambda: isinstance(pane.shown, FifthsMap))
        compare.set_focus(pane)
        expected = set(
            compare.comparer.known(compare.fifths_request).rows["sts12/fifth-3"].tolist()
        )
        await pilot.press("k", "l", "l", "enter")
        assert await opened_rows("Compare: sts12 fifth 3") == expected
        assert (app.data.table["gold"][list(expected)] > 1).all()
        await back()
        await pilot.press("D", "D")  # the disagreements
        found = compare.query_one(DisagreementList)
        await until(pilot, lambda: found.display and found.pairs)
        compare.set_focus(found)
        await pilot.press("j", "enter")
        assert await opened_rows("Compare: sick-r ›") == set(
            compare.model.result.rows["sick-r"].tolist()
        )
        assert app.screen.query_one(FrameTable).current_row == found.pairs[1]["row"]
        await back()


async def test_a_box_of_a_plot_opens_its_pairs_and_esc_returns_to_the_plot(opened: Open) -> None:
    async with opened() as pilot:
        app = pilot.app
        await pilot.press("5")
        plots = await on_top(pilot, PlotsScreen)
        plot = plots.query_one(PairPlot)
        await until(pilot, lambda: plot.drawing is not None and plot.pair is not None)
        expected = plot.picture.points.rows[plot.drawing.points_in(plot.box)]
        await pilot.press("enter")
        pairs = await on_top(pilot, PairsScreen)
        await until(
            pilot, lambda: set(pairs.query_one(FrameTable).rows.tolist()) == set(expected.tolist())
        )
        assert app.selected.view.is_by_results
        await pilot.press("escape")
        assert await on_top(pilot, PlotsScreen) is plots
        await until(pilot, lambda: app.selected.view.is_whole)


async def test_what_is_selected_on_another_screen_is_remembered(opened: Open) -> None:
    async with opened(size=NARROW) as pilot:
        await pilot.press("slash")
        await type_text(pilot, "gold>4")
        await pilot.press("enter", "2")
        await on_top(pilot, CompareScreen)
    async with opened(
        size=NARROW
    ) as pilot:  # Compare is the first screen, and Pairs was never shown
        compare = await on_top(pilot, CompareScreen)
        assert pilot.app.selected.view.selection.expression == "gold>4"
        await until(
            pilot, lambda: compare.model.result is not None and not compare.model.is_preview
        )
        assert (pilot.app.data.table["gold"][compare.model.result.rows["sick-r"]] > 4).all()
        await pilot.press("backslash")
        await until(pilot, lambda: pilot.app.memory.state.pairs.filter == "")
