"""What remains when the data folder is absent for a moment: pairs, marks, the chosen dataset, and
the remembered state.
"""

from dataclasses import replace

import polars as pl
import pytest

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard
from embedlab.tui.pair_table.data import PairData, load_pairs, lost_datasets
from embedlab.tui.pair_table.identity import identities
from embedlab.tui.pair_table.view import PairSelection, PairView
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import Open, notices, until


@pytest.fixture(scope="module")
def pairs() -> PairData:
    return load_pairs(Settings(data=TINY_FOLDER))


def without(data: PairData, name: str) -> PairData:
    """DATA as it is read while the files of one dataset are absent."""
    ranges = {other: span for other, span in data.gold_ranges.items() if other != name}
    return replace(data, table=data.table.filter(pl.col("dataset") != name), gold_ranges=ranges)


def test_a_reload_that_reads_less_says_which_datasets_are_absent(pairs: PairData) -> None:
    assert lost_datasets(pairs, pairs) is None
    assert lost_datasets(without(pairs, "sts12"), pairs) is None
    error = lost_datasets(pairs, without(pairs, "sts12"))
    assert error is not None
    assert "sts12" in error.message


def test_marks_of_absent_pairs_and_an_absent_dataset_come_back_with_their_data(
    pairs: PairData,
) -> None:
    ends = identities(pairs.table, "", [0, pairs.table.height - 1])
    view = PairView(data=without(pairs, "sts12"), selection=PairSelection(dataset="sts12"))
    view.mark(ends)
    assert len(view.marks) == 1
    assert sorted(view.marked(), key=ends.index) == ends
    assert len(view.rows()) == view.data.table.height  # all, for the chosen dataset is absent
    whole = PairView(data=pairs, selection=view.selection)
    whole.mark(view.marked())
    assert whole.marks == {0, pairs.table.height - 1}
    assert set(pairs.table["dataset"][whole.rows()]) == {"sts12"}
    view.clear_marks()
    assert view.marked() == []


async def test_a_failed_reload_keeps_what_was_loaded(
    opened: Open, pairs: PairData, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as pilot:
        app = pilot.app
        assert isinstance(app, Dashboard)
        await pilot.press("right_square_bracket", "space")
        before = app.memory.state.pairs
        monkeypatch.setattr("embedlab.tui.app.read_cached", lambda _path: None)
        monkeypatch.setattr(
            "embedlab.tui.app.open_pairs", lambda *_: without(without(pairs, "sts12"), "sick-r")
        )
        for times in (1, 2):  # every failed reload says so
            await pilot.press("r")
            await until(
                pilot,
                lambda times=times: (
                    len([one for one in notices(app) if "cannot read sts12, sick-r again" in one])
                    == times
                ),
            )  # type: ignore[misc]
        await pilot.pause()
        table = app.screen.query_one(FrameTable)
        assert table.marks == {0}
        assert set(table.frame["dataset"][table.rows]) == {"sts12"}
        assert app.memory.state.pairs == before
        assert before.dataset == "sts12"
        assert len(before.marks) == 1


def test_a_pair_that_two_datasets_share_can_be_shown_once(pairs: PairData) -> None:
    twice = replace(
        pairs, table=pl.concat([pairs.table, pairs.table.with_columns(dataset=pl.lit("copy"))])
    )
    view = PairView(data=twice)
    assert len(view.rows()) == twice.table.height
    view.select(PairSelection(once=True))
    assert len(view.rows()) == pairs.table["pair_key"].n_unique()
    assert "copy" not in set(twice.table["dataset"][view.rows()])
