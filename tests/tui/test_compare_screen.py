import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from textual.content import Content
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widgets import Input, Static

from embedlab.analysis.another_dataset import Elsewhere
from embedlab.analysis.correlations import spearman
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from embedlab.tui.compare.difference_pane import DifferencePane
from embedlab.tui.compare.disagreement_list import DisagreementList
from embedlab.tui.compare.fifths_map import FifthsMap
from embedlab.tui.compare.forest_plot import Forest
from embedlab.tui.compare.model import SlicedComparison, compare_slices, slice_order
from embedlab.tui.compare.screen import CompareScreen
from embedlab.tui.compare.slice_detail import SliceDetail
from embedlab.tui.dialogs import TextDialog
from embedlab.tui.pair_table.data import load_pairs
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.stored_models import StoredModel, best_covering
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.tui.widgets.pair_plot import LEFT, PairPlot
from tests.pair_tables import compare_models
from tests.tui.driving import NARROW, WIDE, Open, noticed, on_top, type_text, until, write_scores


async def when_tested(pilot: Pilot[None]) -> CompareScreen:
    screen = await on_top(pilot, CompareScreen)
    await until(
        pilot,
        lambda: (
            screen.model.result is not None
            and not screen.model.is_preview
            and screen.model.result.comparison.by == screen.requested.by
        ),
        patience_s=60,
    )
    await pilot.pause()
    return screen


async def test_the_table_shows_the_comparison_that_the_command_line_shows(opened: Open) -> None:
    async with opened(size=WIDE) as pilot:  # with room for intervals
        await pilot.press("2")
        screen = await when_tested(pilot)
        data = screen.model.data
        expected = compare_models(data.table, data.models)
        assert repr(screen.model.result.comparison) == repr(expected)  # nan differs from nan
        first = expected.slices[0]
        text = screen.query_one(FrameTable).render_line(1).text
        assert (
            f"{100 * first.scores['near'].value:.1f} [{100 * first.scores['near'].low:.1f}" in text
        )
        assert f"{100 * first.scores['near'].value:.2f}" in str(
            screen.query_one(SliceDetail).query_one(Static).content
        )
        assert "300" not in first.title


async def test_intervals_are_shown_as_long_as_they_fit(opened: Open) -> None:
    for width, has_intervals in ((101, True), (98, False)):
        async with opened(size=(width, 30)) as pilot:
            await pilot.press("2")
            screen = await when_tested(pilot)
            table = screen.query_one(FrameTable)
            assert len(screen.model.result.comparison.models) == 3
            assert ("[" in str(table.frame["text:near"][0])) == has_intervals
            assert all(column.bar is None for column in table.columns)


async def test_an_average_says_where_another_dataset_is_expected(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compared(*given: Any, **options: Any) -> SlicedComparison:
        found = compare_slices(*given, **options).comparison
        another = Elsewhere(
            task="sts",
            metric="spearman",
            model=found.models[1],
            reference=found.reference,
            datasets=("sts12", "sick-r"),
            shared_pairs=0,
            mean=0.01,
            low=-0.02,
            high=0.04,
            new_low=-0.081,
            new_high=0.123,
        )
        first = replace(found.slices[0], average_of=("sts12",))
        rows = {one.key: np.arange(9) for one in found.slices}
        return SlicedComparison(
            comparison=replace(found, slices=(first, *found.slices[1:]), elsewhere=(another,)),
            rows=rows,
        )

    monkeypatch.setattr("embedlab.tui.compare.comparer.compare_slices", compared)
    async with opened(size=WIDE) as pilot:
        await pilot.press("2")
        screen = await when_tested(pilot)
        detail = screen.query_one(SliceDetail).query_one(Static)
        assert "on another dataset Δ -8.1 to +12.3" in str(detail.content)
        assert "random effects over sts12, sick-r" in str(detail.content)
        await pilot.press("down")  # a dataset alone says nothing of another one
        await until(pilot, lambda: "another" not in str(detail.content))


async def test_cut_aggregation_and_reference_are_keys_and_are_remembered(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("2")
        screen = await when_tested(pilot)
        await pilot.press("A")
        await until(pilot, lambda: screen.model.result.comparison.aggregate == "mean")
        await pilot.press("l", "l", "l", "p")
        await until(pilot, lambda: screen.model.result.comparison.reference == "near")
        await pilot.press("b", "b")
        await until(pilot, lambda: screen.model.result.comparison.by == "dice")
        assert "fifth" in screen.query_one(FrameTable).render_line(1).text
        await pilot.press("A")
        await noticed(pilot, "Dice fifths are not aggregated")
    async with opened() as pilot:
        screen = await when_tested(pilot)
        assert (screen.model.result.comparison.by, screen.model.result.comparison.reference) == (
            "dice",
            "near",
        )


async def test_enter_opens_exactly_the_pairs_behind_the_cell(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("2")
        screen = await when_tested(pilot)
        await pilot.press("b", "b")
        await until(pilot, lambda: screen.model.result.comparison.by == "dice")
        await pilot.press("j", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, PairsScreen))
        await pilot.pause()
        table = pilot.app.screen.query_one(FrameTable)
        expected = screen.model.result.rows[screen.model.result.comparison.slices[1].key]
        assert sorted(table.rows.tolist()) == sorted(expected.tolist())
        assert table.sorted_by == "gap"
        await pilot.press("escape")
        assert len(table.rows) == table.frame.height


async def test_models_sort_by_their_score(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("2")
        screen = await when_tested(pilot)
        await pilot.press("l", "l", "s")
        table = screen.query_one(FrameTable)
        assert table.frame[table.rows]["value:far"].is_sorted(descending=True)
        await pilot.press("s", "s")
        assert table.rows.tolist() == list(range(table.frame.height))


async def the_cursor_stays_in_sight(pilot: Pilot[None], shown: DisagreementList) -> None:
    """Walk through pairs of which many take more lines than the pane has room beside."""
    names = ["a-model-with-a-name", "another-with-one", "third", "fourth-of-them"]
    pair = {"gold": 2.0, "size": 50.0, "sentence2": "short", **dict.fromkeys(names, 0.5)}
    shown.show(
        [
            {**pair, "row": row, "sentence1": "many words " * (1 + 9 * (row % 3))}
            for row in range(8)
        ],
        names,
    )
    shown.focus()
    for index in range(8):
        await pilot.pause()
        drawn = shown.query_one(Static).content
        assert isinstance(drawn, Content)
        lines = [line.plain for line in drawn.wrap(shown.scrollable_content_region.width)]
        [line] = [number for number, line in enumerate(lines) if line.startswith("▸ ")]
        assert 0 <= line - shown.scroll_offset.y < shown.scrollable_content_region.height, index
        assert not [
            line for line in lines if re.match(r"\s*0\.50", line)
        ]  # a score is beside its name
        shown.action_move_rows(1)
    shown.screen.query_one(FrameTable).focus()


async def test_the_plot_changes_and_the_largest_disagreements_are_shown(opened: Open) -> None:
    async with opened(size=NARROW) as pilot:
        await pilot.press("2")
        screen = await when_tested(pilot)
        plot = screen.query_one(PairPlot)
        assert [plot.picture.x.title, plot.picture.y.title] == ["gold", "near"]
        await pilot.press("d")
        await pilot.pause()
        assert [plot.picture.x.title, plot.picture.y.title] == ["far", "near"]
        screen.set_focus(plot)
        expected = plot.drawing.points_in(plot.box)
        await pilot.press("enter")  # the pairs of the slice in the cell under the cursor
        pairs = await on_top(pilot, PairsScreen)
        await until(pilot, lambda: len(pairs.query_one(FrameTable).rows) == len(expected))
        assert set(pairs.query_one(FrameTable).rows.tolist()) == set(
            plot.picture.points.rows[expected].tolist()
        )
        assert pairs.view.selection.within.title == "sts12"
        await pilot.press("escape")  # back to the comparison of all pairs
        assert await on_top(pilot, CompareScreen) is screen
        await until(pilot, lambda: "sick-r" in screen.model.result.rows)
        await pilot.press("d")
        assert screen.query_one(DisagreementList).display
        worst = (
            screen.model.data.table[screen.model.result.rows["sts12"]]
            .sort("gap", descending=True)
            .row(0, named=True)
        )
        assert f"{worst['gap']:.0f} gold {worst['gold']:.1f}" in str(
            screen.query_one(DisagreementList).query_one(Static).content
        )
        await the_cursor_stays_in_sight(pilot, screen.query_one(DisagreementList))
        pane = screen.query_one(DifferencePane)
        await pilot.press("d")
        await until(pilot, lambda: isinstance(pane.shown, Forest))
        assert [row.title for row in pane.shown.rows] == ["sts12", "sick-r"]
        assert pane.size.width == NARROW[0] - 2
        await pilot.press("equals_sign")
        await on_top(pilot, TextDialog)
        await type_text(pilot, "60")
        await pilot.press("enter")
        await until(
            pilot,
            lambda: (
                screen.model.result.comparison.margin == 0.6
                and getattr(pane.shown, "margin", None) == 60
            ),
        )
        assert any(row.is_equivalent for row in pane.shown.rows)
        await pilot.press("d")
        await until(pilot, lambda: isinstance(pane.shown, FifthsMap))
        assert [name for name, _ in pane.shown.rows] == ["sts12", "sick-r"]
        assert screen.model.result.comparison.by == "dataset"  # the table remains


async def test_the_comparison_is_written_at_full_precision(opened: Open, tmp_path: Path) -> None:
    async with opened() as pilot:
        await pilot.press("2")
        screen = await when_tested(pilot)
        for ending in ("csv", "json", "md"):
            path = tmp_path / f"out.{ending}"
            await pilot.press("e")
            await on_top(pilot, TextDialog)
            pilot.app.screen.query_one(Input).value = str(path)
            await pilot.press("enter")
            await until(pilot, path.exists)
            await on_top(pilot, CompareScreen)
        value = screen.model.result.comparison.slices[0].scores["far"].value
        assert pl.read_csv(tmp_path / "out.csv")["spearman"][0] == value
        assert json.loads((tmp_path / "out.json").read_text())[0]["marks"] == "generated"


async def test_without_models_it_says_how_to_get_one(tmp_path: Path, world: Settings) -> None:
    app = Dashboard(Settings(data=TINY_FOLDER, cache=world.cache, runs=tmp_path / "nothing"))
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: app.data is not None)
        app.choose_models([])
        await pilot.press("2")
        await until(pilot, lambda: app.data is not None and not app.data.models)
        await pilot.pause()
        assert "press a to score one" in str(app.screen.query_one("#no-models", Static).content)
        await pilot.press("enter", "p", "A", "b", "d", "e", "s", "j")


def test_the_first_models_shown_are_those_that_scored_most(
    own_world: Settings, tmp_path: Path
) -> None:
    table = load_pairs(own_world).table
    write_scores(table.head(50), tmp_path / "few.parquet", noise=0.1)
    write_scores(table, tmp_path / "all.parquet", noise=0.1)
    names = ["few", *(f"all-{number}" for number in range(3))]
    models = [
        StoredModel(name=name, files={name: tmp_path / f"{name[:3]}.parquet"}) for name in names
    ]
    assert [model.name for model in best_covering(models, table["pair_key"], 3)] == [
        "all-0",
        "all-1",
        "all-2",
    ]
    assert best_covering(models, table["pair_key"], 4) == models
    assert (
        best_covering(models, table["pair_key"].head(9) + 1, 4) == []
    )  # other pairs: columns of dots would say nothing


async def test_plain_word_overlap_is_a_model_to_compare_with(opened: Open) -> None:
    async with opened() as pilot:
        pilot.app.choose_models(["near", "dice"])
        await pilot.press("2")
        await until(
            pilot, lambda: [model.name for model in pilot.app.data.models] == ["near", "dice"]
        )
        screen = await when_tested(pilot)
        await until(pilot, lambda: screen.model.result.comparison.models == ("near", "dice"))
        pairs = screen.model.data.table.filter(pl.col("dataset") == "sts12")
        expected = spearman(pairs["dice"].to_numpy(), pairs["gold"].to_numpy())
        assert screen.model.result.comparison.slices[0].scores["dice"].value == pytest.approx(
            expected
        )


@pytest.mark.parametrize(("is_descending", "expected"), [(True, [2, 0, 1]), (False, [0, 2, 1])])
def test_a_score_that_is_undefined_is_never_the_best(
    is_descending: bool, expected: list[int]
) -> None:
    frame = pl.DataFrame({"value:far": [0.1, float("nan"), 0.7], "text:far": ["10.0", "·", "70.0"]})
    assert slice_order(frame, "text:far", is_descending=is_descending).tolist() == expected


async def test_a_model_that_scored_none_of_the_pairs_leaves_the_others_to_be_compared(
    opened: Open, tmp_path: Path, own_world: Settings
) -> None:
    path = tmp_path / "mine.tsv"
    rows = [f"a b {number}\ta c {number}\t{number}\n" for number in range(9)]
    path.write_text("sentence1\tsentence2\tscore\n" + "".join(rows), encoding="utf-8")
    async with opened(own_world, pair_file=path) as pilot:
        await pilot.press("2")
        screen = await on_top(pilot, CompareScreen)
        await until(
            pilot,
            lambda: (
                "no model with scores is chosen"
                in str(screen.query_one("#no-models", Static).content)
            ),
        )
        pilot.app.choose_models(["far", "near", "published"])
        await until(
            pilot,
            lambda: (
                "no chosen model has scored these pairs"
                in str(screen.query_one("#no-models", Static).content)
            ),
        )
        write_scores(
            pilot.app.data.table,
            own_world.runs / "far" / "seed-1" / "scores.parquet",
            noise=0.1,
        )
        pilot.app.choose_models(["far", "near", "published"])
        await when_tested(pilot)
        assert screen.model.result.comparison.models == ("far",)
        assert screen.model.result.comparison.slices[0].pairs == 9
        assert "not scored by near, published" in str(
            screen.query_one("#compare-status", Static).content
        )


async def test_a_model_that_scores_part_of_a_dataset_is_compared_on_common_pairs_with_a_key(
    opened: Open, own_world: Settings
) -> None:
    scores = own_world.runs / "far" / "seed-1" / "scores.parquet"
    table = load_pairs(own_world).table
    write_scores(
        table.filter((pl.col("dataset") != "sts12") | (pl.col("pair") < 40)),
        scores,
        noise=0.6,
        seed=4,
    )
    async with opened(own_world) as pilot:
        await pilot.press("2")
        screen = await when_tested(pilot)
        whole = table.filter(dataset="sts12").height
        first, second = screen.model.result.comparison.slices[:2]
        assert (first.pairs, first.scores["far"].value == first.scores["far"].value) == (
            whole,
            False,
        )
        assert (
            first.scores["near"].value
            == compare_models(screen.model.data.table, [screen.model.data.models[1]])
            .slices[0]
            .scores["near"]
            .value
        )
        assert f"no number of far@1: 40 of {whole} pairs scored" in str(
            screen.query_one(SliceDetail).query_one(Static).content
        )
        await pilot.press("C")
        await until(pilot, lambda: screen.model.result.comparison.common)
        first = screen.model.result.comparison.slices[0]
        assert (first.pairs, first.title) == (40, f"sts12, 40 of {whole}")
        assert len(screen.model.result.rows["sts12"]) == 40
        assert (
            screen.model.result.comparison.slices[1].scores["far"].value
            == second.scores["far"].value
        )
        assert "common pairs" in str(screen.query_one("#compare-status", Static).content)
        assert first.scores["far"].value == first.scores["far"].value


async def test_the_cursor_stays_on_its_pair_where_a_plot_is_drawn_before_its_new_size_is_announced(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(size=WIDE) as pilot:
        await pilot.press("2")
        plot = (await when_tested(pilot)).query_one(PairPlot)
        named, whole = plot.pair, plot.content_size
        monkeypatch.setattr(
            PairPlot, "content_size", Size(whole.width * 2 // 3, whole.height * 2 // 3)
        )
        plot.show(plot.picture)
        assert plot.drawing.size < (whole.width - LEFT - 1, whole.height)
        assert plot.pair == named
