from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from textual.widgets import Input, Static

from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from embedlab.tui.dialogs import Choose, Confirm, TextDialog
from embedlab.tui.help_screen import HelpScreen
from embedlab.tui.pair_table.identity import RowIdentity
from embedlab.tui.pair_table.view import PairSelection, ShownSlice
from embedlab.tui.pairs.pair_detail import PairDetail
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.pairs.what_if import WhatIf
from embedlab.tui.pairs.what_if_screen import WhatIfScreen
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import NARROW, Open, noticed, notices, on_top, type_text, until, write_scores


def table_of(app: object) -> FrameTable:
    assert isinstance(app, Dashboard)
    return app.screen.query_one(FrameTable)


def count_of(app: Dashboard) -> str:
    parts = [
        str(app.screen.query_one(part, Static).content) for part in ("#pair-count", "#pair-marks")
    ]
    return " · ".join(part for part in parts if part)


def detail_text(app: Dashboard) -> str:
    detail = app.screen.query_one(PairDetail)
    return "\n".join(str(part.content) for part in detail.query(Static))


async def test_every_model_with_scores_has_a_column_and_the_gap_is_beside_them(
    opened: Open,
) -> None:
    async with opened() as pilot:
        titles = [column.title for column in table_of(pilot.app).columns]
        assert titles == [
            "sentences",
            "gold",
            "Dice",
            "far",
            "near",
            "published",
            "gap",
            "dataset source pair",
        ]
        assert "generated" in count_of(pilot.app)


async def test_the_filter_narrows_with_each_key_and_escape_takes_it_away(opened: Open) -> None:
    async with opened() as pilot:
        table, everything = table_of(pilot.app), len(table_of(pilot.app).rows)
        await pilot.press("slash")
        await type_text(pilot, "dice>0.8")
        shown = table.frame[table.rows]
        assert 0 < len(table.rows) < everything
        assert shown["dice"].min() > 0.8
        await type_text(pilot, " gold<4")
        assert table.frame[table.rows]["gold"].max() < 4
        await pilot.press("escape")
        assert len(table.rows) == everything


async def test_a_filter_that_is_wrong_keeps_the_view_and_says_where(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("slash")
        bar = pilot.app.screen.query_one(FilterBar)
        bar.value = "dice>0.8"
        await pilot.pause()
        count = len(table_of(pilot.app).rows)
        bar.value = "dice>0.8 dise>1"
        await pilot.pause()
        assert len(table_of(pilot.app).rows) == count
        assert count_of(pilot.app) == "column 10: unknown field 'dise' · rows of 'dice>0.8'"
        assert "known: pair, gold, dice, far" in str(
            pilot.app.screen.query_one("#filter-hint", Static).content
        )
        assert pilot.app.screen.query_one(FilterBar).has_class("-wrong")


async def test_a_column_sorts_down_then_up_and_a_click_on_its_title_does_too(opened: Open) -> None:
    async with opened() as pilot:
        table = table_of(pilot.app)
        await pilot.press("l", "s")
        gold = table.frame[table.rows]["gold"]
        assert gold.is_sorted(descending=True)
        await pilot.press("S")
        assert table.frame[table.rows]["gold"].is_sorted()
        await pilot.click(table, offset=(4, 0))
        assert table.frame[table.rows]["sentence1"].is_sorted()


async def test_the_keys_of_movement_reach_both_ends(opened: Open) -> None:
    async with opened() as pilot:
        table = table_of(pilot.app)
        await pilot.press("j", "down", "k")
        assert table.cursor_row == 1
        await pilot.press("G")
        assert table.cursor_row == len(table.rows) - 1
        await pilot.press("ctrl+u", "pageup")
        assert table.cursor_row < len(table.rows) - 12
        await pilot.press("g", "pagedown")
        assert table.cursor_row > 5
        await pilot.press("home", "end", "h", "right")
        assert (table.cursor_row, table.cursor_column) == (len(table.rows) - 1, 1)


async def test_the_detail_shows_the_pair_under_the_cursor(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("j", "j")
        table = table_of(pilot.app)
        row = table.frame.row(table.current_row or 0, named=True)
        await until(pilot, lambda: row["sentence1"] in detail_text(pilot.app))
        text = detail_text(pilot.app)
        assert f"pair {row['pair']}" in text
        assert f"{row['near']:.3f}" in text
        assert f"rank error {row['error(near)']:+4.0f}" in text
        await pilot.press("enter")
        assert pilot.app.focused is pilot.app.screen.query_one(PairDetail)
        await pilot.press("escape")
        assert table.has_focus


async def test_marks_are_saved_shown_alone_and_found_again(opened: Open) -> None:
    async with opened() as pilot:
        table = table_of(pilot.app)
        everything = len(table.rows)
        await pilot.press("space", "j", "j", "space")
        assert table.marks == {0, 3}
        assert "● 2" in count_of(pilot.app)
        await pilot.press("g", "n")
        assert table.cursor_row == 3
        await pilot.press("N", "m")
        assert table.rows.tolist() == [0, 3]
        await pilot.press("escape")
        assert len(table.rows) == everything
        await pilot.press("M")
        assert not table.marks


async def test_brackets_go_through_the_datasets_and_back_to_all(opened: Open) -> None:
    async with opened() as pilot:
        table = table_of(pilot.app)
        everything = len(table.rows)
        await pilot.press("right_square_bracket")
        assert table.frame[table.rows]["dataset"].unique().to_list() == ["sts12"]
        await pilot.press("left_square_bracket")
        assert len(table.rows) == everything
        await pilot.press("left_square_bracket")
        assert table.frame[table.rows]["dataset"].unique().to_list() == ["sick-r"]


async def test_models_and_columns_are_chosen_in_a_list(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("c")
        await on_top(pilot, Choose)
        await pilot.press(
            "space", *["down"] * 5, "space", "enter"
        )  # far and gold off; the seeds of near are folded
        await until(
            pilot, lambda: "far" not in [column.title for column in table_of(pilot.app).columns]
        )
        titles = [column.title for column in table_of(pilot.app).columns]
        assert titles[2:6] == ["Dice", "near", "published", "gap"]


async def test_the_view_is_copied_with_its_columns_and_order(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("slash")
        await type_text(pilot, "gold>4.9")
        await pilot.press("enter", "Y")
        lines = pilot.app.clipboard.splitlines()
        assert lines[0].split("\t")[:3] == ["sentence1", "sentence2", "gold"]
        assert len(lines) == len(table_of(pilot.app).rows) + 1
        await pilot.press("y")
        assert "sentence1\t" in pilot.app.clipboard


async def test_the_view_is_written_as_each_format(opened: Open, tmp_path: Path) -> None:
    async with opened() as pilot:
        await pilot.press("slash")
        await type_text(pilot, "gold>4.9")
        await pilot.press("enter")
        rows = len(table_of(pilot.app).rows)
        for ending in ("csv", "parquet", "md", "svg"):
            path = tmp_path / f"view.{ending}"
            await pilot.press("e")
            await on_top(pilot, TextDialog)
            pilot.app.screen.query_one(Input).value = str(path)
            await pilot.press("enter")
            await until(pilot, path.exists)
            await on_top(pilot, PairsScreen)
        assert pl.read_csv(tmp_path / "view.csv").height == rows
        assert pl.read_parquet(tmp_path / "view.parquet").height == rows
        assert len((tmp_path / "view.md").read_text().splitlines()) == rows + 2
        assert (tmp_path / "view.svg").read_text().startswith("<svg")


async def test_an_export_is_refused_in_words_and_asks_before_it_replaces(
    opened: Open, tmp_path: Path
) -> None:
    path = tmp_path / "old.csv"
    path.write_text("mine")
    async with opened() as pilot:
        await pilot.press("e")
        dialog = await on_top(pilot, TextDialog)
        dialog.query_one(Input).value = "view.xls"
        await pilot.press("enter")
        await until(
            pilot,
            lambda: "no known format" in str(dialog.query_one(".dialog-error", Static).content),
        )
        pilot.app.screen.query_one(Input).value = str(path)
        await pilot.press("enter")
        await on_top(pilot, Confirm)
        await pilot.press("n")
        assert path.read_text() == "mine"


async def test_help_names_every_key_of_the_screen(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("question_mark")
        await on_top(pilot, HelpScreen)
        text = "\n".join(str(part.content) for part in pilot.app.screen.query(Static))
        assert "Edit the pair's sentences" in text
        assert "To the last row" in text
        await pilot.press("escape")
        await on_top(pilot, PairsScreen)


async def test_a_typed_pair_shows_its_overlap_at_once(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("i")
        await on_top(pilot, WhatIfScreen)
        pilot.app.screen.query_one("#first", Input).value = "a cat sleeps"
        pilot.app.screen.query_one("#second", Input).value = "a dog sleeps"
        await pilot.pause()
        assert "Dice 0.667" in str(pilot.app.screen.query_one("#typed-overlap", Static).content)
        await pilot.press("escape")


async def test_a_rule_edits_the_sentence_under_the_cursor_or_the_other_one_and_the_pair_comes_back(
    opened: Open,
) -> None:
    pair = WhatIf(sentences=("cats sleep", "two dogs are running"), dataset="pets")
    async with opened() as pilot:
        pilot.app.push_screen(WhatIfScreen(pair))
        dialog = await on_top(pilot, WhatIfScreen)
        first, second = dialog.query_one("#first", Input), dialog.query_one("#second", Input)
        first.focus()
        await pilot.press("ctrl+n", "ctrl+r")  # no auxiliary and no number in the first
        assert (first.value, second.value) == ("cats sleep", "three dogs are not running")
        assert "rule: number, in sentence 2" in str(dialog.query_one("#edit-note", Static).content)
        await pilot.press("ctrl+o")
        assert (first.value, second.value) == pair.sentences
        second.value = "dogs run"
        await pilot.press("ctrl+n")
        assert "not safe in either sentence" in str(dialog.query_one("#edit-note", Static).content)
        assert second.value == "dogs run"


async def test_the_view_is_as_it_was_left(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("slash")
        await type_text(pilot, "dice>0.5")
        await pilot.press("enter", "right_square_bracket", "l", "s", "space", "2")
        left = table_of_mode(pilot.app).rows.tolist()
    async with opened() as pilot:
        assert pilot.app.current_mode == "compare"
        await pilot.press("1")
        table = table_of(pilot.app)
        assert table.rows.tolist() == left
        assert table.sorted_by == "gold"
        assert len(table.marks) == 1


def table_of_mode(app: object) -> FrameTable:
    assert isinstance(app, Dashboard)
    return app._screen_stacks["pairs"][0].query_one(FrameTable)


async def test_a_users_own_pairs_open_like_a_dataset(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text(
        "sentence1\tsentence2\tscore\na \u001b[31mred cat\ta cat\t3\n猫が寝る\te\u0301tude\t1\n",
        encoding="utf-8",
    )
    async with opened(pair_file=path) as pilot:
        table = table_of(pilot.app)
        assert len(table.rows) == 2
        lines = [table.render_line(y).text for y in range(6)]
        assert not any("\u001b" in line for line in lines)
        assert any("猫が寝る" in line for line in lines)
        assert {strip.cell_length for strip in (table.render_line(y) for y in range(6))} == {
            table.size.width
        }


async def test_a_wrong_pair_file_is_reported_in_two_lines(world: Settings, tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text("a\tb\n1\t2\n")
    app = Dashboard(world, pair_file=path)
    async with app.run_test() as pilot:
        await until(pilot, lambda: notices(app))
        assert "has no column of texts: found a, b" in notices(app)[0]
        assert "hint: " in notices(app)[0]
        await until(pilot, lambda: app.data is not None)
        await pilot.pause()
        assert "has no column of texts: found a, b" in str(
            app.screen.query_one("#no-pairs", Static).content
        )  # also without the notice


@pytest.mark.parametrize("is_own_file", [False, True])
async def test_why_there_are_no_pairs_is_on_every_screen_of_them(
    world: Settings, tmp_path: Path, is_own_file: bool
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("sentence1,sentence2,score\na b,a c,nan\nx y,x z,2\n")
    without_data = replace(world, data=tmp_path / "absent")
    app = Dashboard(world, pair_file=path) if is_own_file else Dashboard(without_data)
    why = (
        ("line 2: score is not a number: 'nan'", "correct the line")
        if is_own_file
        else (f"no data folder '{without_data.data}'",)
    )
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: app.data is not None)
        for key, empty in (
            ("1", "#no-pairs"),
            ("2", "#no-models"),
            ("5", "#no-plot"),
            ("6", "#no-reasons"),
        ):
            await pilot.press(key)
            await until(pilot, lambda empty=empty: app.screen.query(empty))
            line = app.screen.query_one(empty, Static)
            await until(
                pilot,
                lambda line=line: (
                    line.display and "start again with --data DIR" in str(line.content)
                ),
            )
            assert all(text in str(line.content) for text in why)


async def test_without_data_the_screen_says_what_to_do(tmp_path: Path) -> None:
    app = Dashboard(Settings(cache=tmp_path / "cache", runs=tmp_path / "runs"))
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: app.data is not None)
        await pilot.pause()
        assert "--data starter" in str(app.screen.query_one("#no-pairs", Static).content)
        marks = (RowIdentity(dataset="sts12", item=5, key=6),)
        app.memory.state = replace(
            app.memory.state, pairs=replace(app.memory.state.pairs, dataset="sts12", marks=marks)
        )
        await pilot.press(
            "r",
            "s",
            "space",
            "m",
            "n",
            "Y",
            "y",
            "enter",
            "right_square_bracket",
            "e",
            "escape",
            "c",
            "escape",
        )
        await pilot.press("3", "1", "4")
        assert app.current_mode == "launch"  # the filter did not take the digit
        # A start without --data takes nothing away from how the pairs were left.
        assert (app.memory.state.pairs.dataset, app.memory.state.pairs.marks) == ("sts12", marks)


async def test_a_damaged_score_file_is_a_notification_and_the_others_stay(
    opened: Open, own_world: Settings
) -> None:
    (own_world.runs / "far" / "seed-1" / "scores.parquet").write_bytes(b"PAR1 not really")
    (own_world.cache / "models" / "0123456789abcdef" / "scores.parquet").write_bytes(b"")
    async with opened(own_world) as pilot:
        assert [model.name for model in pilot.app.data.models] == ["near"]
        text = "\n".join(notices(pilot.app))
        assert "far/seed-1/scores.parquet' is unusable" in text
        assert "0123456789abcdef/scores.parquet' is unusable" in text


async def test_a_model_that_appears_is_taken_in_by_a_reload(
    opened: Open, own_world: Settings
) -> None:
    async with opened(own_world) as pilot:
        app = pilot.app
        write_scores(
            app.data.table, own_world.runs / "newer" / "seed-1" / "scores.parquet", noise=0.2
        )
        await pilot.press("r")
        await until(pilot, lambda: "newer" in [model.name for model in app.data.models])


async def test_a_narrow_terminal_and_its_resize_keep_the_cursor_in_sight(opened: Open) -> None:
    async with opened(size=NARROW) as pilot:
        await pilot.press("G")
        table = table_of(pilot.app)
        for size in ((200, 60), NARROW, (100, 30)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            row = table.frame.row(table.current_row or 0, named=True)
            shown = [
                table.render_line(y).text for y in range(1, table.scrollable_content_region.height)
            ]
            assert row["sentence1"][:20] in shown[-1] or row["sentence1"][:20] in shown[-2]


async def test_a_filter_for_a_model_that_is_gone_shows_the_pairs_without_it_and_says_so(
    opened: Open,
) -> None:
    async with opened() as pilot:
        pilot.app.screen.query_one(FilterBar).value = "far>0.5"
        await pilot.pause()
        table_of(pilot.app).post_message(FrameTable.SortRequested(table_of(pilot.app), "far"))
        await until(pilot, lambda: table_of(pilot.app).sorted_by == "far")
        pilot.app.choose_models(["near"])
        await until(pilot, lambda: [model.name for model in pilot.app.data.models] == ["near"])
        await until(
            pilot, lambda: "far" not in [column.key for column in table_of(pilot.app).columns]
        )
        assert "unknown field 'far'" in count_of(pilot.app)
        assert table_of(pilot.app).sorted_by is None
        assert (np.diff(table_of(pilot.app).rows) > 0).all()  # the pairs are in their own order
        await noticed(pilot, "'far' is no longer shown")
    async with opened() as pilot:  # and so at the next start
        assert len(table_of(pilot.app).rows) == pilot.app.data.table.height
        assert "unknown field 'far'" in count_of(pilot.app)


async def test_a_reload_keeps_the_marked_pairs_and_the_slice_that_are_shown_alone(
    opened: Open,
) -> None:
    async with opened() as pilot:
        app, table = pilot.app, table_of(pilot.app)
        await on_top(pilot, PairsScreen)
        app.selected.select(PairSelection(within=ShownSlice(title="some", rows=np.arange(7))))
        await pilot.press("space", "space", "m")
        shown = table.rows.tolist()
        assert len(shown) == 2
        before = app.data
        await pilot.press("r")
        await until(pilot, lambda: app.data is not before)
        await pilot.pause()
        assert table.rows.tolist() == shown
        await pilot.press("m")
        assert len(table.rows) == 7


async def test_one_of_two_equal_pairs_keeps_its_mark_alone_through_a_reload(
    opened: Open, world: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "twice.tsv"
    file.write_text("sentence1\tsentence2\tscore\na b\tc d\t1\ne f\tg h\t2\na b\tc d\t1\n")
    async with opened(world, pair_file=file) as pilot:
        app, table = pilot.app, table_of(pilot.app)
        await pilot.press("space")
        before = app.data
        await pilot.press("r")
        await until(pilot, lambda: app.data is not before)
        await pilot.pause()
        assert table.marks == {0}


async def test_the_list_of_models_names_one_that_was_scored_meanwhile(
    opened: Open, own_world: Settings
) -> None:
    async with opened(own_world) as pilot:
        write_scores(
            pilot.app.data.table,
            own_world.runs / "newer" / "seed-1" / "scores.parquet",
            noise=0.2,
        )
        await pilot.press("c")
        await on_top(pilot, Choose)
        assert "newer" in [model.name for model in pilot.app.stored]
        lines = [
            "".join(segment.text for segment in strip)
            for strip in pilot.app.screen._compositor.render_strips()
        ]
        assert any("[ ] newer" in line for line in lines)  # signs, not shades
        assert any("[x] near " in line for line in lines)


async def test_a_name_that_no_file_can_have_is_refused_and_the_dashboard_stays(
    opened: Open,
) -> None:
    async with opened() as pilot:
        for key, name in (
            ("e", "~nobody-at-all/pairs.csv"),
            ("e", "a" * 300 + ".csv"),
            ("e", "/tmp"),
            ("a", "a" * 300),
        ):
            await pilot.press(key)
            dialog = await on_top(pilot, TextDialog)
            dialog.query_one(Input).value = name
            await pilot.press("enter")
            await pilot.pause()
            assert str(dialog.query_one(".dialog-error", Static).content), name
            await pilot.press("escape")
            await on_top(pilot, PairsScreen)


async def test_the_detail_of_no_pair_stays_empty_when_the_terminal_changes(opened: Open) -> None:
    async with opened() as pilot:
        detail = pilot.app.screen.query_one(PairDetail)
        await until(pilot, lambda: "shared words" in detail_text(pilot.app))
        detail.show(None)
        detail.on_resize()
        assert detail_text(pilot.app).strip() == "no pair"


async def test_models_that_have_not_scored_a_users_own_pairs_are_named(
    opened: Open, tmp_path: Path
) -> None:
    path = tmp_path / "sts12:mine.tsv"
    path.write_text(
        "sentence1\tsentence2\tscore\na red cat\ta cat\t90\na dog\ta cat\t-10\n", encoding="utf-8"
    )
    async with opened(pair_file=path) as pilot:
        assert pilot.app.data.gold_ranges == {
            "sts12:mine.tsv": (-10.0, 90.0)
        }  # its own scale, whatever it is called
        assert any(
            "not scored yet by far, near, published" in notice for notice in notices(pilot.app)
        )
        assert not pilot.app.data.models  # no column of dots
