import json
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev

import pytest

from embedlab.analysis.choosing import optimism
from embedlab.core.errors import UsageError
from embedlab.core.recipe import from_table
from embedlab.experiments.pivot import (
    DEV_SCORE,
    ScoreFilter,
    Spread,
    apart_over_seeds,
    marked_best,
    pivot,
    usual_measure,
)
from embedlab.experiments.plan import Cell, GridPlan
from embedlab.reports.grids import pivot_table
from embedlab.runs.environment import Environment
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.events import Dev, EventLog, Finished, Started
from embedlab.runs.signature import Signature
from embedlab.runs.status import last_dev
from embedlab.runs.store import RunFolder

SCORES = ("sts12", "sts13")


def value_of(cell: Cell) -> float:
    """A made-up score that depends on the axes and, a little, on the seed."""
    optim = cell.variant.recipe["stage"][0]["optim"]
    better = cell.variant.labels.get("encoder.pooling") == "mean"
    return 0.5 + optim["lr"] * 1000 + 0.2 * better + 0.001 * cell.seed


def write_results(plan: GridPlan, cells: list[Cell]) -> None:
    for cell in cells:
        run = cell.run
        run.recipe_file.unlink(missing_ok=True)  # of the program that stands in for trainings
        run.write_once(
            from_table(cell.variant.recipe, name="mine", where="test"),
            Environment(seed=cell.seed, device="cpu", precision="float32", threads=1, data=()),
        )
        with EventLog(run.events_file) as log:
            log.append(Dev(step=1, score=100 * value_of(cell)))
            log.append(Finished(step=1))
        values = {**dict.fromkeys(SCORES, value_of(cell)), "sts12-16": value_of(cell) - 0.1}
        scores = tuple(
            StoredScore(
                by="average" if name == "sts12-16" else "dataset",
                slice=name,
                metric=metric,
                setting=setting,
                value=value,
                items=9,
            )
            for name, value in values.items()
            for metric in ("spearman", "pearson")
            for setting in ("all", "mean", "wmean")
        )
        Evaluation(
            task="sts", model=cell.id, fingerprint="f", precision="float32", pooling="mean", max_tokens=9, truncated=0,
            data=(), marks=("generated",), scores=scores,
        ).save(run.evaluations)  # fmt: skip


def test_rows_are_axes_and_columns_are_scores(plan: GridPlan) -> None:
    write_results(plan, list(plan.cells))
    found = pivot(plan, ScoreFilter())
    assert found.row_axes == ("optim.lr", "encoder.pooling")
    assert found.columns == (DEV_SCORE, *SCORES, "sts12-16")
    assert found.rows[:2] == (("1e-05", "cls"), ("1e-05", "mean"))
    expected = [
        100 * value_of(cell)
        for cell in plan.cells
        if cell.variant.labels == {"optim.lr": "2e-05", "encoder.pooling": "mean"}
    ]
    spread = found.spreads[("2e-05", "mean"), "sts12"]
    assert spread.mean == pytest.approx(fmean(expected))
    assert spread.sd == pytest.approx(stdev(expected))
    assert found.marks == ("generated",)
    assert (found.missing, found.averaged) == (0, ())


def test_each_row_is_signed_with_all_that_decides_its_cells(plan: GridPlan) -> None:
    write_results(plan, list(plan.cells))
    shown = pivot_table(
        plan, pivot(plan, ScoreFilter(metric="pearson"), rows=["encoder.pooling"]), "pearson"
    )
    assert list(shown.signatures) == ["cls", "mean"]
    signature = Signature.parse(shown.signatures["mean"])
    assert (signature.metric, signature.aggregation, signature.by, signature.test) == (
        ("pearson",),
        ("all",),
        ("dataset",),
        ("welch",),
    )
    assert signature.seeds == tuple(str(seed) for seed in plan.seeds)
    assert "signatures" in json.loads(shown.to_json())
    alone = pivot_table(plan, pivot(plan, ScoreFilter(), rows=[], columns="optim.lr"), "spearman")
    assert list(alone.signatures) == [plan.name]


def test_what_has_units_of_its_own_is_shown_as_it_is_and_has_no_best(plan: GridPlan) -> None:
    cells = list(plan.cells)
    write_results(plan, cells)
    for cell in cells:
        made = Evaluation.load(cell.run.evaluations / "sts.json")
        close = StoredScore(
            by="dataset",
            slice="sts12",
            metric="alignment",
            setting="gold > 4",
            scale=1,
            value=value_of(cell),
            items=9,
        )
        replace(made, task="geometry", scores=(close,)).save(cell.run.evaluations)
    measure = usual_measure(plan, "geometry", metric=None, setting=None, by=("dataset", "average"))
    assert measure == ScoreFilter(task="geometry", metric="alignment", setting="gold > 4")
    assert usual_measure(plan, "sts", metric=None, setting="mean", by=("dataset",)) == ScoreFilter(
        setting="mean", by=("dataset",)
    )
    found = pivot(plan, measure, score="sts12")
    values = [spread.values for spread in found.spreads.values()]
    assert sorted(value for of_seeds in values for value in of_seeds) == pytest.approx(
        sorted(value_of(cell) for cell in cells)
    )
    assert not any(spread.is_best or spread.is_tied for spread in found.spreads.values())


def test_two_axes_make_a_square_of_one_score(plan: GridPlan) -> None:
    write_results(plan, list(plan.cells))
    found = pivot(plan, ScoreFilter(), rows=["optim.lr"], columns="encoder.pooling", score="sts13")
    assert found.rows == (("1e-05",), ("2e-05",), ("5e-05",))
    assert found.columns == ("cls", "mean")
    best = [place for place, spread in found.spreads.items() if spread.is_best]
    assert best == [(("5e-05",), "mean")]


def test_an_axis_in_neither_place_is_averaged_and_named(plan: GridPlan) -> None:
    write_results(plan, list(plan.cells))
    found = pivot(plan, ScoreFilter(), rows=["optim.lr"], score="sts12")
    assert found.averaged == ("encoder.pooling",)
    of_seed = [
        fmean(
            100 * value_of(cell)
            for cell in plan.cells
            if cell.seed == seed and cell.variant.labels["optim.lr"] == "1e-05"
        )
        for seed in (1, 2)
    ]
    assert found.spreads[("1e-05",), "sts12"].values == pytest.approx(tuple(of_seed))


def test_an_axis_is_rows_or_columns(plan: GridPlan) -> None:
    with pytest.raises(UsageError, match="rows and columns at once"):
        pivot(plan, ScoreFilter(), rows=["optim.lr"], columns="optim.lr")


def test_where_takes_a_number_in_any_spelling(plan: GridPlan) -> None:
    write_results(plan, list(plan.cells))
    assert pivot(plan, ScoreFilter(), where={"optim.lr": "0.00001"}) == pivot(
        plan, ScoreFilter(), where={"optim.lr": "1e-05"}
    )
    with pytest.raises(UsageError, match=r"has no value '7'") as caught:
        pivot(plan, ScoreFilter(), where={"optim.lr": "7"})
    assert "1e-05, 2e-05, 5e-05" in caught.value.hint


@pytest.mark.parametrize(
    ("measure", "message", "there"),
    [
        (ScoreFilter(metric="foo"), "--metric foo", "spearman"),
        (ScoreFilter(setting="foo"), "--aggregate foo", "all"),
        (ScoreFilter(by=("foo",)), "--by foo", "dataset"),
    ],
)
def test_a_measure_that_no_score_has_is_named_with_those_that_are_there(
    plan: GridPlan, measure: ScoreFilter, message: str, there: str
) -> None:
    write_results(plan, list(plan.cells)[:2])
    with pytest.raises(UsageError, match=message) as caught:
        pivot(plan, measure)
    assert there in caught.value.hint


def test_unfinished_cells_are_counted(plan: GridPlan) -> None:
    write_results(plan, list(plan.cells)[:4])
    assert pivot(plan, ScoreFilter()).missing == 8
    assert pivot(plan, ScoreFilter(task="transfer")).rows == ()


def test_wrong_axes_and_scores_are_named(plan: GridPlan) -> None:
    write_results(plan, list(plan.cells))
    with pytest.raises(UsageError, match=r"has no axis 'optim.l'") as caught:
        pivot(plan, ScoreFilter(), rows=["optim.l"])
    assert "optim.lr" in caught.value.hint
    with pytest.raises(UsageError, match="no score 'sts1'"):
        pivot(plan, ScoreFilter(), score="sts1")


def test_the_best_is_as_much_too_high_as_what_may_be_the_best_varies() -> None:
    spreads = {
        "good": Spread(values=(80.0, 81.0, 82.5)),
        "best": Spread(values=(80.5, 81.0, 83.0)),
        "as good": Spread(values=(79.0, 82.0, 81.5)),
        "failed": Spread(values=(1.0, 1.2, 0.9)),
    }
    marked = marked_best(spreads, apart_over_seeds)
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
    write_results(plan, [cell for cell in plan.cells if cell.seed == plan.seeds[0]])
    found = pivot(plan, ScoreFilter(), score="sts12")
    notes = pivot_table(plan, found, "sts spearman (all)").notes
    assert (
        "the best of sts12 was chosen by one seed, which makes it too high by an unknown amount"
        in notes
    )
    assert not any("too high for it" in note for note in notes)


def without_evaluations(plan: GridPlan, cells: list[Cell]) -> None:
    write_results(plan, cells)
    for cell in cells:
        (cell.run.evaluations / "sts.json").unlink()


def test_a_grid_of_dev_scores_alone_has_a_table(plan: GridPlan) -> None:
    without_evaluations(plan, list(plan.cells))
    for score in (None, DEV_SCORE):
        found = pivot(
            plan, ScoreFilter(), rows=["optim.lr"], columns="encoder.pooling", score=score
        )
        assert (found.shown, found.columns, found.missing, found.made) == (
            (DEV_SCORE,),
            ("cls", "mean"),
            0,
            (),
        )
        for cell in plan.cells:
            place = (cell.variant.labels["optim.lr"],), cell.variant.labels["encoder.pooling"]
            expected = [
                100 * value_of(one)
                for one in plan.cells
                if one.variant.labels == cell.variant.labels
            ]
            assert found.spreads[place].values == pytest.approx(expected)
        assert found.spreads[("5e-05",), "mean"].is_best
        table = pivot_table(plan, found, "last dev score")
        assert not table.signatures
        assert any("Welch's t over seeds" in note for note in table.notes)


def test_dev_scores_are_those_of_finished_trainings_with_or_without_an_evaluation(
    plan: GridPlan,
) -> None:
    first, second, third, *others = plan.cells
    write_results(plan, [first])
    without_evaluations(plan, [second])
    run = third.run
    without_evaluations(plan, [third])
    run.events_file.write_text(
        run.events_file.read_text().splitlines(keepends=True)[0]
    )  # it is not finished
    dev = pivot(plan, ScoreFilter(), score=DEV_SCORE)
    assert sorted(cell for spread in dev.spreads.values() for cell in spread.cells) == sorted(
        [first.id, second.id]
    )
    assert dev.missing == len(others) + 1
    whole = pivot(plan, ScoreFilter())
    assert {cell for spread in whole.spreads.values() for cell in spread.cells} == {first.id}
    assert (
        pivot(plan, ScoreFilter(task="transfer")).rows == ()
    )  # another task's evaluation is there


def test_a_dev_score_that_a_resumed_process_dropped_is_not_the_last(tmp_path: Path) -> None:
    run = RunFolder.of(tmp_path, "again", 1)
    run.path.mkdir(parents=True)
    with EventLog(run.events_file) as log:
        for event in (
            Dev(step=4, score=50.0),
            Dev(step=8, score=90.0),
            Started(pid=1, host="lab", steps=9, step=4),
        ):
            log.append(event)
    found = last_dev(run)
    assert found is not None
    assert (found.step, found.score) == (4, 50.0)


def test_places_that_are_equal_as_they_are_shown_are_said_to_be_equal() -> None:
    spreads = {
        "one": Spread(values=(75.1201,)),
        "other": Spread(values=(75.1241,)),
        "worse": Spread(values=(75.11,)),
    }
    marked = marked_best(spreads, apart_over_seeds)
    assert {name: (one.is_best, one.is_tied) for name, one in marked.items()} == {
        "one": (False, True),
        "other": (False, True),
        "worse": (False, False),
    }


def test_a_training_that_failed_to_learn_is_never_the_best(plan: GridPlan) -> None:
    write_results(plan, list(plan.cells))
    best = next(
        row
        for (row, _), spread in pivot(plan, ScoreFilter(), score="sts12").spreads.items()
        if spread.is_best
    )
    flawed = next(cell for cell in plan.cells if tuple(cell.variant.labels.values()) == best)
    with EventLog(flawed.run.events_file) as log:
        log.append(Started(pid=1, host="here", steps=1, step=0))
        log.append(Finished(step=1, flaw="the loss was 0 at every step"))
    found = pivot(plan, ScoreFilter(), score="sts12")
    (now,) = [row for (row, _), spread in found.spreads.items() if spread.is_best]
    assert now != best
    notes = pivot_table(plan, found, "scores").notes
    assert any(flawed.id in note and "0 at every step" in note for note in map(str, notes))
