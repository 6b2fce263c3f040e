"""The forest plot and the map of fifths show the differences that the comparison has, each at its
place.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from textual.content import Content

from embedlab.analysis.weighing import Topic
from embedlab.comparison.comparison import Comparison
from embedlab.core.settings import Settings
from embedlab.tui.compare.fifths_map import FifthsMap, draw_map, fifths_map
from embedlab.tui.compare.forest_plot import draw_forest, forest
from embedlab.tui.compare.model import slice_columns, slice_frame
from embedlab.tui.compare.slice_detail import ModelFacts, _content
from embedlab.tui.pair_table.data import load_pairs, with_models
from embedlab.tui.stored_models import stored_models
from embedlab.tui.widgets.frame_lines import GAP, GUTTER
from tests.pair_tables import compare_models
from tests.tui.conftest import fix_catalog


@pytest.fixture(scope="module")
def comparisons(world: Settings) -> dict[str, Comparison]:
    with pytest.MonkeyPatch.context() as patch:
        fix_catalog(patch)
        data = with_models(load_pairs(world), stored_models(world)[0][:2])
    margins = {"dataset": 0.6, "dice": None}
    return {
        by: compare_models(data.table, data.models, by=by, margin=margin)
        for by, margin in margins.items()
    }  # type: ignore[arg-type]


def line_of(drawn: Content, start: str) -> str:
    return next(line for line in drawn.plain.splitlines() if line.startswith(start))


@pytest.mark.parametrize("width", [60, 118, 180])
def test_every_slice_is_on_one_axis_with_its_interval_and_marks(
    comparisons: dict[str, Comparison], width: int
) -> None:
    comparison = comparisons["dataset"]
    shown = forest(comparison, "near")
    drawn = draw_forest(shown, width)
    low = min(-60.0, *(100 * one.differences["near"].low for one in comparison.slices))
    high = max(60.0, *(100 * one.differences["near"].high for one in comparison.slices))
    axis = drawn.plain.splitlines()[1 + len(shown.rows)]
    cells = len(axis) - 7
    marks = {match.group(): match.span() for match in re.finditer(r"\S+", axis[7:])}
    assert "0" in marks
    for text, (left, right) in marks.items():  # round values at their places
        assert float(text) % 10 == 0
        assert left <= round((float(text) - low) / (high - low) * (cells - 1)) <= right
    for one in comparison.slices:
        found, line = one.differences["near"], line_of(drawn, one.title)
        plot = line[7 : 7 + cells]
        places = [
            round((100 * end - low) / (high - low) * (cells - 1))
            for end in (found.low, found.delta, found.high)
        ]
        assert [plot[place] for place in places] == ["├", "●", "┤"]
        assert plot[round((0 - low) / (high - low) * (cells - 1))] == "│"
        assert (
            f"{100 * found.delta:+.1f}▲°{'=' if found.equivalent else ' '}{found.topic_sign}"
            in line
        )
        if width > 100:
            assert f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}]" in line
            assert f" {one.letters('near')}/{one.letters('far')} " in line
            assert one.letters("near").endswith("°")
            assert f"deff {found.uncertainty.design_effect:.2f}" in line
    assert any(one.differences["near"].equivalent for one in comparison.slices)
    assert "smaller than ±60" in drawn.plain
    assert "° these checkpoints only" in drawn.plain
    assert all(
        len(line) <= width or not line.startswith("sts12") for line in drawn.plain.splitlines()
    )


def hanging(comparison: Comparison) -> Comparison:
    """The comparison, as if its first difference hung on one topic."""
    first, *others = comparison.slices
    found = replace(first.differences["near"], topic=Topic(rows=7, share=0.9, without=-0.021))
    return replace(comparison, slices=(replace(first, differences={"near": found}), *others))


def test_a_difference_that_hangs_on_one_topic_has_its_sign_everywhere(
    comparisons: dict[str, Comparison],
) -> None:
    comparison = hanging(comparisons["dataset"])
    first = comparison.slices[0]
    assert "§" in line_of(draw_forest(forest(comparison, "near"), 118), first.title)
    assert "§ hangs on one topic" in draw_forest(forest(comparison, "near"), 118).plain
    assert (
        "§ hangs on one topic" not in draw_forest(forest(comparisons["dataset"], "near"), 118).plain
    )
    drawn = draw_map(fifths_map(hanging(comparisons["dice"]), "near"), 118).plain
    assert drawn.count("§") == 2  # in its cell, and where it is explained
    texts = slice_frame(comparison, with_intervals=False)["text:near"].to_list()
    assert [text.endswith("§") for text in texts] == [True, *[False] * (len(texts) - 1)]
    assert len({len(text) for text in texts}) == 1
    wide, narrow = (
        slice_columns(one, with_intervals=False)[-1].width
        for one in (comparison, comparisons["dataset"])
    )
    assert wide == narrow + 1
    details = _content(first, ModelFacts(reference="far"), 100).plain
    assert "§ near: -2.10 without the 7 pairs of one topic" in details
    assert details.count("° these checkpoints only") == 1


def test_the_scores_of_all_models_are_visible_next_to_long_titles(
    comparisons: dict[str, Comparison],
) -> None:
    long = [
        replace(one, title=f"sts-benchmark:train, all {one.title}")
        for one in comparisons["dice"].slices
    ]
    comparison = replace(comparisons["dice"], slices=long)
    for room, with_intervals in ((60, False), (80, False), (140, True), (200, True)):
        columns = slice_columns(comparison, with_intervals=with_intervals, room=room)
        frame = slice_frame(comparison, with_intervals=with_intervals, room=room)
        assert GUTTER + sum(column.width + GAP for column in columns) < room
        assert frame["title"].str.len_chars().max() <= columns[0].width  # type: ignore[operator]
        assert frame["title"].n_unique() == frame.height
        assert (
            len({column.bar is None for column in columns[2:]}) == 1
        )  # bars of all models or of none
        assert with_intervals or columns[2].bar is None  # intervals first


def test_a_cell_of_the_map_is_the_difference_on_a_fifth(comparisons: dict[str, Comparison]) -> None:
    shown = fifths_map(comparisons["dice"], "near")
    deltas = {one.key: 100 * one.differences["near"].delta for one in comparisons["dice"].slices}
    assert {
        f"{name}/fifth-{place}": cell.delta
        for name, cells in shown.rows
        for place, cell in enumerate(cells, start=1)
        if cell
    } == deltas
    assert shown.largest == pytest.approx(np.abs(list(deltas.values())).max())
    lines = draw_map(shown, 80).plain.splitlines()
    assert lines[2].startswith("sts12")
    numbers = [float(number) for number in re.findall(r"[-+]\d+\.\d", lines[2])]
    assert numbers == pytest.approx(
        [round(deltas[f"sts12/fifth-{place}"], 1) for place in range(1, 6)]
    )
    assert "█" in "".join(lines[2:4])
    wide = draw_map(shown, 200).plain.splitlines()
    first = comparisons["dice"].slices[0].differences["near"]
    assert f"[{100 * first.low:+.1f}, {100 * first.high:+.1f}]" in wide[2]
    assert max(len(line) for line in wide) <= 200
    assert "·" in draw_map(FifthsMap(model="a", reference="b", rows=[("x", [None] * 5)]), 40).plain
