import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

from embedlab.analysis.choosing import optimism
from embedlab.experiments.pivot import (
    DEV_SCORE,
    CellSpread,
    ScoreFilter,
    marked_best,
    pivot,
    seed_test,
    usual_measure,
)
from embedlab.experiments.plan import Cell, GridPlan
from embedlab.reports.grids import pivot_table
from embedlab.runs.events import Dev, Finished, Started
from embedlab.runs.signature import Signature
from embedlab.runs.status import last_dev
from embedlab.runs.store import RunFolder
from tests.experiments.conftest import GRID, plan_of
from tests.refusal import refused
from tests.stored_scores import evaluation, finish_run, say, score

SCORES = ("sts12", "sts13")


def value_of(cell: Cell) -> float:
    """A made-up score that depends on the axes and, a little, on the seed."""
    optim = cell.variant.recipe["stage"][0]["optim"]
    better = cell.variant.labels.get("encoder.pooling") == "mean"
    return 0.5 + optim["lr"] * 1000 + 0.2 * better + 0.001 * cell.seed


def write_results(plan: GridPlan, cells: Sequence[Cell], *, is_evaluated: bool = True) -> None:
    for cell in cells:
        finish_run(cell, dev=100 * value_of(cell))
        values = {**dict.fromkeys(SCORES, value_of(cell)), "sts12-16": value_of(cell) - 0.1}
        scores = [
            score(
                name,
                value,
                metric,
                setting=setting,
                by="average" if name == "sts12-16" else "dataset",
            )
            for name, value in values.items()
            for metric in ("spearman", "pearson")
            for setting in ("all", "mean", "wmean")
        ]
        if is_evaluated:
            found = evaluation("sts", *scores, model=cell.id, marks=("generated",))
            found.save(cell.run.evaluations)


@pytest.fixture
def scored(plan: GridPlan) -> GridPlan:
    """A plan whose cells have all been trained and scored."""
    write_results(plan, list(plan.cells))
    return plan


def values_of(plan: GridPlan, **labels: str) -> list[float]:
    """The scores of the cells with these LABELS: the last parts of their axes."""
    keys = {"lr": "optim.lr", "pooling": "encoder.pooling"}
    wanted = {keys[name]: value for name, value in labels.items()}
    return [
        100 * value_of(cell) for cell in plan.cells if wanted.items() <= cell.variant.labels.items()
    ]


def test_rows_are_axes_and_columns_are_scores(scored: GridPlan) -> None:
    found = pivot(scored, ScoreFilter())
    assert found.row_axes == ("optim.lr", "encoder.pooling")
    assert found.columns == (DEV_SCORE, *SCORES, "sts12-16")
    assert found.rows[:2] == (("1e-05", "cls"), ("1e-05", "mean"))
    expected = values_of(scored, lr="2e-05", pooling="mean")
    spread = found.spreads[("2e-05", "mean"), "sts12"]
    assert (spread.mean, spread.sd) == pytest.approx((fmean(expected), stdev(expected)))
    assert found.marks == ("generated",)
    assert (found.missing, found.averaged) == (0, ())


def test_each_row_is_signed_with_all_that_decides_its_cells(scored: GridPlan) -> None:
    found = pivot(scored, ScoreFilter(metric="pearson"), rows=["encoder.pooling"])
    shown = pivot_table(scored, found, "pearson")
    assert list(shown.signatures) == ["cls", "mean"]
    signature = Signature.parse(shown.signatures["mean"])
    assert (signature.metric, signature.aggregation) == (("pearson",), ("all",))
    assert (signature.by, signature.test) == (("dataset",), ("welch",))
    assert signature.seeds == ("1", "2")
    assert "signatures" in json.loads(shown.to_json())
    alone = pivot(scored, ScoreFilter(), rows=[], columns="optim.lr")
    assert list(pivot_table(scored, alone, "spearman").signatures) == [scored.name]


def test_what_has_units_of_its_own_is_shown_as_it_is_and_has_no_best(scored: GridPlan) -> None:
    for cell in scored.cells:
        close = score("sts12", value_of(cell), "alignment", setting="gold > 4", scale=1)
        evaluation("geometry", close, model=cell.id).save(cell.run.evaluations)
    measure = usual_measure(
        scored, "geometry", metric=None, setting=None, by=("dataset", "average")
    )
    assert measure == ScoreFilter(task="geometry", metric="alignment", setting="gold > 4")
    spreads = pivot(scored, measure, score="sts12").spreads.values()
    values = [100 * value for spread in spreads for value in spread.values]
    assert sorted(values) == pytest.approx(sorted(values_of(scored)))
    assert not any(spread.is_best or spread.is_tied for spread in spreads)
    by_mean = usual_measure(scored, "sts", metric=None, setting="mean", by=("dataset",))
    assert by_mean == ScoreFilter(setting="mean", by=("dataset",))


def test_a_grid_that_is_not_scored_on_sts_shows_its_own_task_an_axis_of_tasks_is_not_averaged(
    tmp_path: Path,
) -> None:
    plan = plan_of(tmp_path, GRID.replace('["sts"]', '["geometry"]'))
    for cell in plan.cells:
        finish_run(cell)
        task = score(cell.variant.labels["optim.lr"], value_of(cell), "alignment", setting="")
        evaluation("geometry", task, model=cell.id).save(cell.run.evaluations)
    measure = usual_measure(plan, None, metric=None, setting=None, by=("dataset",))
    assert measure == ScoreFilter(task="geometry", metric="alignment", setting="", by=("dataset",))
    assert pivot(plan, measure, rows=["encoder.pooling"]).averaged == ()


def test_an_axis_in_neither_place_is_averaged_and_named(scored: GridPlan) -> None:
    found = pivot(scored, ScoreFilter(), rows=["optim.lr"], score="sts12")
    assert found.averaged == ("encoder.pooling",)
    poolings = [values_of(scored, lr="1e-05", pooling=pooling) for pooling in ("cls", "mean")]
    of_seeds = tuple(map(fmean, zip(*poolings, strict=True)))
    assert found.spreads[("1e-05",), "sts12"].values == pytest.approx(of_seeds)


@pytest.mark.parametrize(
    ("measure", "places", "message", "there"),
    [
        ({"metric": "foo"}, {}, "--metric foo", "spearman"),
        ({"setting": "foo"}, {}, "--aggregate foo", "all"),
        ({"by": ("foo",)}, {}, "--by foo", "dataset"),
        ({}, {"where": {"optim.lr": "7"}}, "has no value '7'", "1e-05, 2e-05, 5e-05"),
        ({}, {"rows": ["optim.l"]}, "has no axis 'optim.l'", "optim.lr"),
        ({}, {"score": "sts1"}, "no score 'sts1'", "sts12"),
        ({}, {"rows": ["optim.lr"], "columns": "optim.lr"}, "rows and columns at once", ""),
    ],
)
def test_a_measure_and_places_that_are_not_there_are_named_with_those_that_are(
    plan: GridPlan, measure: dict[str, Any], places: dict[str, Any], message: str, there: str
) -> None:
    write_results(plan, list(plan.cells)[:2])
    with refused(message, there):
        pivot(plan, ScoreFilter(**measure), **places)


def test_where_takes_a_number_in_any_spelling(scored: GridPlan) -> None:
    typed, usual = (
        pivot(scored, ScoreFilter(), where={"optim.lr": text}) for text in ("0.00001", "1e-05")
    )
    assert typed == usual


def test_the_best_is_as_much_too_high_as_what_may_be_the_best_varies() -> None:
    spreads = {
        "good": CellSpread(values=(80.0, 81.0, 82.5)),
        "best": CellSpread(values=(80.5, 81.0, 83.0)),
        "as good": CellSpread(values=(79.0, 82.0, 81.5)),
        "failed": CellSpread(values=(1.0, 1.2, 0.9)),
    }
    marked = marked_best(spreads, seed_test)
    assert {name: (one.is_best, one.is_tied) for name, one in marked.items()} == {
        "good": (False, True),
        "best": (True, False),
        "as good": (False, True),
        "failed": (False, False),
    }
    own = [stdev(spreads[name].values) ** 2 / 3 for name in ("best", "good", "as good")]
    noise = (own[0] + (own[1] + own[2]) / 2) / 2  # half the variance of a difference from the best
    means = [fmean(spreads[name].values) for name in ("best", "good", "as good")]
    assert marked["best"].optimism == pytest.approx(optimism(means, noise))
    assert [marked[name].optimism for name in ("good", "as good", "failed")] == [None] * 3


def test_the_best_of_one_seed_is_too_high_by_an_unknown_amount(plan: GridPlan) -> None:
    write_results(plan, [cell for cell in plan.cells if cell.seed == 1])
    found = pivot(plan, ScoreFilter(), score="sts12")
    notes = "\n".join(pivot_table(plan, found, "sts spearman (all)").notes)
    assert "was chosen by one seed, which makes it too high by an unknown amount" in notes
    assert "too high for it" not in notes


def test_a_grid_of_dev_scores_alone_has_a_table(plan: GridPlan) -> None:
    write_results(plan, list(plan.cells), is_evaluated=False)
    found = pivot(plan, ScoreFilter(), rows=["optim.lr"], columns="encoder.pooling")
    assert (found.shown, found.columns) == ((DEV_SCORE,), ("cls", "mean"))
    assert (found.missing, found.evaluations) == (0, ())
    for (row, column), spread in found.spreads.items():
        assert spread.values == pytest.approx(values_of(plan, lr=row[0], pooling=column))
        assert spread.is_best == ((row, column) == (("5e-05",), "mean"))
    table = pivot_table(plan, found, "last dev score")
    assert not table.signatures
    assert any("Welch's t over seeds" in note for note in table.notes)


def test_dev_scores_are_those_of_finished_trainings_with_or_without_an_evaluation(
    plan: GridPlan,
) -> None:
    first, second, third, *others = plan.cells
    write_results(plan, [first])
    write_results(plan, [second, third], is_evaluated=False)
    log = third.run.events_file
    log.write_text(log.read_text().splitlines(keepends=True)[0])  # it is not finished
    dev = pivot(plan, ScoreFilter(), score=DEV_SCORE)
    cells = {cell for spread in dev.spreads.values() for cell in spread.cells}
    assert cells == {first.id, second.id}
    assert dev.missing == len(others) + 1
    whole = pivot(plan, ScoreFilter())
    assert {cell for spread in whole.spreads.values() for cell in spread.cells} == {first.id}
    assert whole.missing == len(others) + 2
    assert pivot(plan, ScoreFilter(task="transfer")).rows == ()


def test_a_dev_score_that_a_resumed_process_dropped_is_not_the_last(tmp_path: Path) -> None:
    run = RunFolder.of(tmp_path, "again", 1)
    run.path.mkdir(parents=True)
    resumed = Started(pid=1, host="lab", steps=9, step=4)
    say(run, Dev(step=4, score=50.0), Dev(step=8, score=90.0), resumed)
    found = last_dev(run)
    assert found is not None
    assert (found.step, found.score) == (4, 50.0)


def test_places_that_are_equal_as_they_are_shown_are_said_to_be_equal() -> None:
    spreads = {value: CellSpread(values=(value,)) for value in (75.1201, 75.1241, 75.11)}
    marked = marked_best(spreads, seed_test)
    assert not any(one.is_best for one in marked.values())
    assert [value for value, one in marked.items() if one.is_tied] == [75.1201, 75.1241]
    alone = {"alone": CellSpread(values=(75.0,))}
    assert marked_best(alone, seed_test) == alone


def test_a_training_that_failed_to_learn_is_never_the_best(scored: GridPlan) -> None:
    (best,) = best_rows(scored)
    flawed = next(cell for cell in scored.cells if tuple(cell.variant.labels.values()) == best)
    again = Started(pid=1, host="here", steps=1, step=0)
    say(flawed.run, again, Finished(step=1, flaw="the loss was 0 at every step"))
    (now,) = best_rows(scored)
    assert now != best
    notes = pivot_table(scored, pivot(scored, ScoreFilter(), score="sts12"), "scores").notes
    assert any(flawed.id in note and "0 at every step" in note for note in notes)


def best_rows(plan: GridPlan) -> list[tuple[str, ...]]:
    spreads = pivot(plan, ScoreFilter(), score="sts12").spreads
    return [row for (row, _), spread in spreads.items() if spread.is_best]
