"""The table of detectable differences: how sure each figure is, and what few seeds leave
unknown.
"""

from dataclasses import replace

import numpy as np

from embedlab.analysis.evidence import ModelColumns
from embedlab.analysis.power import detectable
from embedlab.analysis.seed_notes import HANGS
from embedlab.analysis.weighing import Topic
from embedlab.reports.layout import plain_text
from embedlab.reports.power_table import power_table
from embedlab.reports.tables import Table
from embedlab.scoring.task_comparison import TaskComparison
from tests.analysis.made import recipe, scored
from tests.stored_scores import compared_items

A, B = recipe("a", 3), recipe("b", 3)
SINGLES = (recipe("a", 1), recipe("b", 1))


def compared_of(first: ModelColumns, second: ModelColumns) -> TaskComparison:
    noises = np.linspace(0.8, 1.4, len(first.members) + len(second.members))
    return compared_items([scored(300, noises.tolist(), key="sts12")], [first, second])


def table_of(
    first: ModelColumns, second: ModelColumns, seeds: int | None = None, detect: float | None = None
) -> Table:
    compared, wanted = compared_of(first, second), detect / 100 if detect is not None else None
    return power_table(
        detectable(compared.evidence, first, second, seeds=seeds, detect=wanted),
        compared,
        detect=detect,
        seeds=seeds,
    )


def test_each_figure_has_the_interval_that_few_seeds_leave() -> None:
    table = table_of(A, B, seeds=5)
    (row,) = table.frame.to_dicts()
    assert row["smallest_low"] < row["smallest"] < row["smallest_high"]
    assert row["planned_low"] < row["planned"] < row["planned_high"]
    assert row["items_needed"] is None  # seeds vary too
    text = plain_text(table, 100)
    for key in ("smallest", "planned"):
        assert f"{row[key]:.2f} [{row[f'{key}_low']:.2f}, {row[f'{key}_high']:.2f}]" in text
    assert any(note.startswith("[ ]: 95% interval") for note in table.notes)


def test_single_runs_have_no_figure_for_more_seeds() -> None:
    table = table_of(*SINGLES, seeds=3, detect=5.0)
    (row,) = table.frame.to_dicts()
    for key in ("planned", "planned_low", "planned_high", "seeds_needed"):
        assert row[key] is None or np.isnan(row[key])
    assert row["smallest"] > 0
    # of single checkpoints, items alone vary: their error goes with the root of their number
    assert row["items_needed"] == np.ceil(row["pairs"] * (row["smallest"] / 5) ** 2)
    notes = "\n".join(table.notes)
    assert "no model has two seeds: what 3 seeds detect is unknown" in notes
    assert "no model has two seeds: how many seeds a difference needs is unknown" in notes


def test_too_few_items_are_said_to_be_too_few_and_their_sentences_not_counted() -> None:
    compared = compared_items([scored(3, [0.8, 1.4], key="sts12")], [*SINGLES])
    table = power_table(detectable(compared.evidence, *SINGLES), compared, detect=None, seeds=None)
    assert table.frame["sentences"].item() is None
    assert "sts12: fewer than 10 rows: no interval, not tested" in table.notes


def test_a_recipe_of_one_seed_takes_the_spread_of_the_other_and_says_so() -> None:
    table = table_of(A, SINGLES[1], seeds=3)
    assert table.frame["planned"].item() > 0
    said = "b has one seed and is given the spread of the other recipe, equal spread assumed"
    assert said in table.notes
    assert said not in table_of(A, B, seeds=3).notes


def test_a_figure_that_one_topic_decides_is_marked_as_a_guess() -> None:
    (found,) = detectable(compared_of(A, B).evidence, A, B, seeds=5)
    for topic, is_guess in (
        (None, False),
        (Topic(rows=90, share=0.9, score_without=-0.0123), True),
    ):
        table = power_table([replace(found, topic=topic)], compared_of(A, B), detect=None, seeds=5)
        for key in ("smallest", "planned"):
            assert str(table.rows[0][key].text).endswith(HANGS if is_guess else "]")
        guessed = [note for note in table.notes if note.endswith("a guess")]
        assert len(guessed) == is_guess
        assert all("sts12 -1.23 without 90 rows" in note for note in guessed)
