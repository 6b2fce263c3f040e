"""A row is its place in its dataset and never its text: the same pair twice in a dataset, and again
in another one.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from embedlab.tui.compare.disagreement_list import DisagreementList
from embedlab.tui.compare.screen import CompareScreen
from embedlab.tui.pair_table.data import PairData, load_pairs, with_models
from embedlab.tui.pair_table.identity import RowIdentity, identified_rows, identities
from embedlab.tui.pair_table.view import PairView
from embedlab.tui.pairs.facts import FactFinder
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.stored_models import WORD_OVERLAP
from embedlab.tui.why.screen import ReasonTable, WhyScreen
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import Open, on_top, until

COPIES = 25  # pairs that are there three times


def with_copies(data: PairData) -> PairData:
    """DATA whose first pairs are there again at the end of their dataset, and at the end of another
    one.
    """
    first, second = (data.table.filter(pl.col("dataset") == name) for name in ("sts12", "sick-r"))

    def again(of: pl.DataFrame) -> pl.DataFrame:
        place = pl.lit(of.height, pl.UInt32) + pl.int_range(COPIES, dtype=pl.UInt32)
        return pl.concat(
            [of, first.head(COPIES).with_columns(pair=place, dataset=pl.lit(of["dataset"][0]))]
        )

    return replace(data, table=pl.concat([again(first), again(second)]))


def copies_of(table: pl.DataFrame, row: int) -> list[int]:
    """The rows with the text of ROW."""
    return (table["pair_key"] == table["pair_key"][row]).arg_true().to_list()


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> PairData:
    """Pairs that are there several times, and which dashboards open."""
    copied = with_copies(load_pairs(Settings(data=TINY_FOLDER)))
    monkeypatch.setattr("embedlab.tui.app.read_cached", lambda _path: None)
    monkeypatch.setattr("embedlab.tui.app.store", lambda *_: None)
    monkeypatch.setattr("embedlab.tui.app.open_pairs", lambda *_: copied)
    return copied


def moved(table: pl.DataFrame, rows: Sequence[int]) -> pl.DataFrame:
    """TABLE without the first of sts12, and with ROWS swapped to its end: later pairs have other
    places.
    """
    others = [row for row in range(table.height) if row not in rows]
    return table[[*others, *rows]].with_columns(
        pair=pl.int_range(pl.len(), dtype=pl.UInt32).over("dataset")
    )


def test_a_row_is_found_by_its_place_and_a_moved_one_by_a_text_that_it_alone_has(
    copied: PairData,
) -> None:
    table = copied.table
    alone = next(row for row in range(COPIES, table.height) if len(copies_of(table, row)) == 1)
    _, second, other = copies_of(table, 0)
    assert [table["dataset"][row] for row in (second, other)] == ["sts12", "sick-r"]
    marked = identities(table, "", [second, alone])
    assert identified_rows(table, "", marked) == ([alone, second], [])
    in_other_order = moved(table, [3, alone])
    rows, absent = identified_rows(in_other_order, "", marked)
    assert in_other_order["sentence1"][rows].to_list() == [table["sentence1"][alone]]
    assert absent == [marked[0]]  # of its two copies none is the one that was marked
    lacking = table.filter(pl.col("dataset") == "sick-r")
    assert identified_rows(lacking, "", marked) == ([], marked)  # the copy there was never marked
    assert identified_rows(table, "sick-e", marked) == (
        [],
        marked,
    )  # items of a task with the same texts


async def test_a_mark_is_on_one_of_three_copies_also_after_a_restart(
    opened: Open, copied: PairData
) -> None:
    second = copies_of(copied.table, 2)[1]
    async with opened() as pilot:
        app = pilot.app
        assert isinstance(app, Dashboard)
        table = app.screen.query_one(FrameTable)
        table.cursor_row = int(np.flatnonzero(table.rows == second)[0])
        await pilot.press("space", "m")
        await until(pilot, lambda: table.rows.tolist() == [second])
        assert app.selected.view is not None
        assert app.selected.view.expression == f"dataset:sts12 pair={copied.table['pair'][second]}"
        alone = PairView(data=app.selected.view.data)
        alone.refine(app.selected.view.expression)
        assert alone.rows().tolist() == [second]
        await pilot.press("m")
        app.choose_models(["near"])  # the same rows with other columns
        await until(
            pilot,
            lambda: (
                [model.name for model in app.data.models] == ["near"]
                and app.selected.view.marks == {second}
            ),
        )
    async with opened() as pilot:
        assert pilot.app.selected.view.marks == {second}
        assert pilot.app.memory.state.pairs.marks == (
            RowIdentity(
                dataset="sts12",
                item=copied.table["pair"][second],
                key=copied.table["pair_key"][second],
            ),
        )


async def test_enter_on_a_disagreement_goes_to_its_own_row_and_esc_returns(
    opened: Open, copied: PairData
) -> None:
    async with opened() as pilot:
        app = pilot.app
        app.selected.type(f"dataset:sts12 {copied.table['sentence1'][5].split()[0]}")
        await pilot.press("2")
        compare = await on_top(pilot, CompareScreen)
        await until(
            pilot, lambda: compare.model.result is not None and not compare.model.is_preview
        )
        await pilot.press("d", "d")
        shown = compare.query_one(DisagreementList)
        of_copies = [
            index
            for index, pair in enumerate(shown.pairs)
            if len(copies_of(copied.table, pair["row"])) > 1
        ]
        assert of_copies
        shown.cursor = of_copies[-1]
        row, selected = shown.pairs[shown.cursor]["row"], app.selected.view.selection
        shown.action_open()
        pairs = await on_top(pilot, PairsScreen)
        await until(pilot, lambda: pairs.query_one(FrameTable).current_row == row)
        assert pairs.shown_pair(row).row["pair"] == copied.table["pair"][row]
        await pilot.press("escape")
        await until(
            pilot, lambda: app.screen is compare and app.selected.view.selection == selected
        )


async def test_a_typical_pair_opens_its_own_row(opened: Open, copied: PairData) -> None:
    async with opened() as pilot:
        app = pilot.app
        await pilot.press("6")
        why = await on_top(pilot, WhyScreen)
        await until(pilot, lambda: why.model.reasons is not None)
        typical = why.model.reasons.panes["typical"].rows
        index = next(
            index
            for index, line in enumerate(typical)
            if len(copies_of(copied.table, int(line.rows[0]))) > 1
        )
        await pilot.press("d", "d")
        why.query_one("#reasons-typical", ReasonTable).cursor_row = index
        await pilot.press("enter")
        pairs = await on_top(pilot, PairsScreen)
        [row] = typical[index].rows.tolist()
        await until(pilot, lambda: pairs.query_one(FrameTable).rows.tolist() == [row])
        assert typical[index].cells[1:] == tuple(copied.table.row(row)[3:5])
        await pilot.press("escape")
        assert await on_top(pilot, WhyScreen) is why
        await until(pilot, lambda: app.selected.view.is_whole)


def test_copies_are_named_in_the_details_and_are_not_neighbours_of_each_other(
    copied: PairData,
) -> None:
    settings = Settings(data=TINY_FOLDER)
    found = []
    for data in (load_pairs(settings), copied):
        *_, facts = FactFinder(with_models(data, [WORD_OVERLAP]), [WORD_OVERLAP], settings).find(2)
        found.append(facts)
    assert found[1].appearances is not None
    assert found[1].appearances.of_pair == tuple(copies_of(copied.table, 2)[1:])
    before, after = (facts.neighbours[WORD_OVERLAP.name].of_sentences for facts in found)
    assert found[0].corpus is not None
    assert found[1].corpus is not None
    assert found[0].corpus.sentences == found[1].corpus.sentences
    assert before == after


async def test_the_cursor_stays_on_its_pair_and_on_its_slice_when_other_data_are_read(
    opened: Open, copied: PairData, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = next(
        row for row in range(COPIES, copied.table.height) if len(copies_of(copied.table, row)) == 1
    )
    async with opened() as pilot:
        app = pilot.app
        table = app.screen.query_one(FrameTable)
        table.cursor_row = int(np.flatnonzero(table.rows == alone)[0])
        monkeypatch.setattr(
            "embedlab.tui.app.open_pairs",
            lambda *_: replace(copied, table=moved(copied.table, [0, 7])),
        )
        before = app.data
        await pilot.press("r")
        await until(
            pilot, lambda: app.data is not before and table.frame.height == copied.table.height
        )
        await until(
            pilot,
            lambda: table.frame["sentence1"][table.current_row] == copied.table["sentence1"][alone],
        )
        assert table.current_row == alone - 2  # two pairs before it are gone to the end
        await pilot.press("2")
        compare = await on_top(pilot, CompareScreen)
        await until(
            pilot, lambda: compare.model.result is not None and not compare.model.is_preview
        )
        slices = compare.query_one(FrameTable)

        def slice_title() -> str:
            return compare.model.result.comparison.slices[slices.current_row].title

        await pilot.press("j")
        title = slice_title()
        app.selected.type(f"dataset:{title}")  # the only slice that is left
        await until(pilot, lambda: len(slices.rows) == 1)
        assert slice_title() == title
        app.selected.clear()
        await until(pilot, lambda: len(slices.rows) > 1)
        assert slice_title() == title
