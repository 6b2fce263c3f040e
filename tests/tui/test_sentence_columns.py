"""The sentences come first: they have at least 30 cells, the origin of a pair is one column, and
differing words are highlighted.
"""

from pathlib import Path

import polars as pl
import pytest
from textual.widgets import Input

from embedlab.core.settings import Settings
from embedlab.tui.dialogs import TextDialog
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.widgets.frame_lines import GAP, GUTTER
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import NARROW, WIDE, Open, noticed, on_top, until


def table_of(screen: object) -> FrameTable:
    assert isinstance(screen, PairsScreen)
    return screen.query_one(FrameTable)


@pytest.mark.parametrize("size", [NARROW, (140, 45), (200, 60)])
async def test_a_sentence_has_30_cells_at_least_and_dataset_source_and_pair_are_one_column(
    opened: Open, size: tuple[int, int]
) -> None:
    async with opened(size=size) as pilot:
        table = table_of(pilot.app.screen)
        widths = dict(
            zip([column.title for column in table.columns], table._lines.widths, strict=True)
        )
        texts = [width for title, width in widths.items() if title.startswith("sentence")]
        assert min(texts) >= 30
        assert [title for title in widths if "pair" in title] == ["dataset source pair"]
        used = GUTTER + sum(width + GAP for width in widths.values())
        assert used >= table.scrollable_content_region.width  # nothing is left unused
        numbers = used - widths["dataset source pair"] - GAP
        assert (
            len(texts) == 1 or numbers <= table.scrollable_content_region.width
        )  # two columns only where all numbers are beside them
        row = table.frame.row(table.current_row or 0, named=True)
        origin = f"{row['dataset']} {row['source']} {row['pair']}"
        strip = table._lines.row(
            0,
            table._line_styles("row"),
            (0, 400),
            is_marked=False,
            under_styles=table._line_styles("row"),
        )
        assert origin[:11] in "".join(segment.text for segment in strip)
        dim = table._line_styles("row").absent
        assert any(origin[:5] in segment.text and segment.style == dim for segment in strip)


async def test_the_origin_is_gone_while_one_dataset_is_shown_and_is_still_exported(
    opened: Open, world: Settings, tmp_path: Path
) -> None:
    async with opened(size=WIDE) as pilot:
        table = table_of(pilot.app.screen)
        await pilot.press("right_square_bracket")
        assert "dataset source pair" not in [column.title for column in table.columns]
        await pilot.press("T", "e")
        dialog = await on_top(pilot, TextDialog)
        dialog.query_one(Input).value = str(tmp_path / "view.csv")
        await pilot.press("enter")
        await noticed(pilot, "wrote")
        written = pl.read_csv(tmp_path / "view.csv")
        assert {"sentence1", "sentence2", "dataset", "source", "pair"} <= set(written.columns)
        assert written.height == len(table.rows)
        await pilot.press("right_square_bracket", "right_square_bracket")
        assert "dataset source pair" in [column.title for column in table.columns]


async def test_a_key_shows_a_pair_on_two_lines_with_the_words_that_differ(
    opened: Open, tmp_path: Path
) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text(
        "sentence1\tsentence2\tscore\nA dog sleeps.\ta Cat sleeps here\t3\nthe same\tthe same\t1\n",
        encoding="utf-8",
    )
    async with opened(pair_file=path, size=WIDE) as pilot:
        screen = await on_top(pilot, PairsScreen)
        table = table_of(screen)
        await until(pilot, lambda: len(table.rows) == 2)
        assert "A dog sleeps." in table.render_line(1).text
        assert "Cat sleeps here" in table.render_line(1).text
        await pilot.press("T", "j")
        assert [
            "A dog sleeps." in table.render_line(1).text,
            "a Cat sleeps here" in table.render_line(2).text,
        ] == [True, True]
        differs = table._line_styles("row").differs

        def highlighted(y: int) -> list[str]:
            return [segment.text for segment in table.render_line(y) if segment.style == differs]

        assert highlighted(1) == ["dog"]
        assert highlighted(2) == ["Cat", "here"]
        assert "3.00" in table.render_line(1).text
        assert "3.00" not in table.render_line(2).text  # numbers are on the first line alone
        await pilot.press("k")
        await pilot.click(table, offset=(6, 4))  # the second line of the second pair
        assert table.cursor_row == 1
        await pilot.press("T")
        assert "Cat sleeps here" in table.render_line(1).text


async def test_the_last_pair_is_in_sight_on_two_lines(opened: Open) -> None:
    async with opened(size=NARROW) as pilot:
        table = table_of(pilot.app.screen)
        await pilot.press("G")
        last = table.frame.row(int(table.rows[-1]), named=True)
        height = table.scrollable_content_region.height
        assert last["sentence2"][:20] in table.render_line(height - 1).text
        assert last["sentence1"][:20] in table.render_line(height - 2).text
