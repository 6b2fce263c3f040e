"""Columns and lines in the room that there is: nothing is wrapped to the edge, and nothing is cut
while there is room.
"""

import polars as pl
import pytest
from textual.content import Content

from embedlab.analysis.pairing import Pairing
from embedlab.core.settings import Settings
from embedlab.tui.pair_table.data import load_pairs
from embedlab.tui.pairs.columns import longest_origin, pair_columns
from embedlab.tui.pairs.pair_detail import PairDetail
from embedlab.tui.widgets.bars import signed_bar
from embedlab.tui.widgets.frame_lines import GAP, GUTTER, FrameColumn, shared_widths
from embedlab.tui.widgets.text import fitted_lines
from tests.tui.driving import Open, until

FIXED = FrameColumn(key="name", title="name", width=8, needs=12)
GROWING = FrameColumn(key="text", title="text", width=10, grows=True)


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (10, [8, 10]),  # too narrow: the table scrolls
        (GUTTER + 18 + 2 * GAP, [8, 10]),
        (GUTTER + 21 + 2 * GAP, [11, 10]),  # first what the names need
        (GUTTER + 40 + 2 * GAP, [12, 28]),
    ],
)
def test_columns_take_what_they_need_before_others_grow(room: int, expected: list[int]) -> None:
    assert shared_widths([FIXED, GROWING], room) == expected


def test_the_origin_of_a_pair_is_whole_where_there_is_room() -> None:
    table = pl.DataFrame(
        {"dataset": ["sts-benchmark", "sts12"], "source": ["a", None], "pair": [7, 1234]}
    )
    assert longest_origin(table) == max(len("sts-benchmark a 7"), len("sts12 1234"))
    columns = pair_columns(["one"], origin_needs=longest_origin(table))
    widths = dict(zip([column.key for column in columns], shared_widths(columns, 200), strict=True))
    assert widths["dataset"] == len("sts-benchmark a 7")


def test_two_models_face_to_face_fit_into_80_cells() -> None:
    columns = pair_columns(
        ["near", "far"], pairing=Pairing(reference="near", other="far"), is_stacked=True
    )
    last = [column.key for column in columns].index("right")
    assert GUTTER + sum(column.width + GAP for column in columns[: last + 1]) <= 79


def test_a_long_line_breaks_between_its_parts() -> None:
    parts = [
        Content("75.61"),
        Content("[58.4, 86.3]"),
        Content("sd 1.50 over 2 seeds"),
        Content("group a"),
    ]
    assert [str(line) for line in fitted_lines(parts, 45)] == [
        "75.61  [58.4, 86.3]  sd 1.50 over 2 seeds",
        "group a",
    ]
    assert [str(line) for line in fitted_lines(parts, 4)] == [str(part) for part in parts]


def test_a_negative_value_has_a_bar_that_differs_in_shape() -> None:
    assert signed_bar(0.5, 8) == "━━━━"
    assert signed_bar(-0.5, 8) == "╍╍╍╍"
    assert signed_bar(None, 8) == ""


def test_one_reason_for_the_absence_of_all_pairs_is_said_once() -> None:
    missing = load_pairs(Settings(offline=True)).missing
    assert len(missing) > 1
    assert set(missing) == {
        "no data folder is set",
        "no data folder is set and --offline forbids the hub",
    }


async def test_the_details_of_four_models_fit_below_the_table(opened: Open) -> None:
    async with opened(size=(120, 40)) as pilot:
        app, detail = pilot.app, pilot.app.screen.query_one(PairDetail)
        app.choose_models(["far", "near", "published", "dice"])
        await until(pilot, lambda: "dice" in str(detail.query_one("#pair-scores").content))
        scores = detail.query_one("#pair-scores")
        # The facts beside them, which come later, may be longer than the pane.
        await until(
            pilot, lambda: scores.size.height == 6
        )  # gold, four models and the gap, each on one line
        await until(pilot, lambda: scores.region.bottom <= detail.content_region.bottom)
        assert detail.scroll_y == 0
