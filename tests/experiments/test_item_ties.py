"""Ties of a grid's table by what its cells got on each item, beside the comparison of the same
models.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import pearsonr, spearmanr

from benchmarks.pair_frames import pair_table
from embedlab.analysis.evidence import ModelColumns
from embedlab.commands.grid import ScoresOptions, grid_scores
from embedlab.core.paths import TINY_FOLDER
from embedlab.data.source import Source, open_parts
from embedlab.experiments.item_ties import ItemTies
from embedlab.experiments.pivot import Pivot, ScoreFilter, pivot
from embedlab.experiments.plan import GridPlan
from embedlab.runs.outcomes import StoredOutcomes, items_frame
from tests.experiments.conftest import plan_of
from tests.pair_tables import compare_models
from tests.stored_scores import evaluation, finish_run, outcomes, score

SAMPLE = Source(folder=TINY_FOLDER)
MEASURE = ScoreFilter(by=("dataset",))
ONE_DATASET = """
summary = "A test."
base = "snli-ce"
seeds = [1, 2, 3]
tasks = ["sts"]

[set]
encoder = "nobody/nothing"

[axes]
"optim.lr" = [1e-5, 2e-5]
"encoder.pooling" = ["cls", "mean"]
"""


@pytest.fixture
def scored(tmp_path: Path, small_world: None) -> tuple[GridPlan, pl.DataFrame]:
    """A grid whose cells have scored the pairs of STS12: of each learning rate "mean" is a little
    better, by pairs, than "cls".
    """
    plan, rng = plan_of(tmp_path, ONE_DATASET), np.random.default_rng(0)
    plan.save()
    table = pair_table(open_parts(SAMPLE, ["sts12"])[0])
    noise = rng.normal(size=table.height)
    for cell in plan.cells:
        noisy = 0.6 if cell.variant.labels["encoder.pooling"] == "mean" else 0.9
        own = noisy * noise + 0.1 * rng.normal(size=table.height)
        similar = (table["gold"] / 5 + own).cast(pl.Float32)
        table = table.with_columns(similar.cast(pl.Float64).alias(cell.id))
        finish_run(cell, dev=50.0 + cell.seed)
        items = items_frame(np.arange(table.height), table["gold"], similar, table)
        facts = {"task": "sts", "base_task": "sts", "split": "test", "measures": ("spearman",)}
        outcomes("sts12", items, model=cell.id, **facts).save(cell.run.evaluations)
        scores = [
            score("sts12", float(method(table["gold"], similar)[0]), metric)
            for metric, method in (("spearman", spearmanr), ("pearson", pearsonr))
        ]
        evaluation("sts", *scores, model=cell.id).save(cell.run.evaluations)
    return plan, table


def found_of(plan: GridPlan) -> Pivot:
    return pivot(plan, MEASURE, score="sts12")


def test_p_of_two_places_is_that_of_the_comparison_of_their_runs(
    scored: tuple[GridPlan, pl.DataFrame],
) -> None:
    plan, table = scored
    found = found_of(plan)
    differences = ItemTies.of(plan, found, MEASURE, {})
    assert differences is not None
    first, second = (found.spreads[("1e-05", pooling), "sts12"] for pooling in ("mean", "cls"))
    models = [
        ModelColumns(name=name, members=place.cells, seeds=(1, 2, 3))
        for name, place in (("mean", first), ("cls", second))
    ]
    expected = compare_models(table, models).slices[0].differences["cls"]
    found_apart = differences.test_pair("sts12", first, second)
    assert found_apart.p == pytest.approx(expected.p, rel=1e-6)
    assert found_apart.variance == pytest.approx(
        100**2 * (expected.uncertainty.variance_of_rows + expected.uncertainty.seeds), rel=1e-6
    )
    assert first.mean - second.mean == pytest.approx(-100 * expected.delta, abs=1e-3)


def test_the_table_says_whether_ties_are_over_items_or_over_seeds_alone(
    scored: tuple[GridPlan, pl.DataFrame],
) -> None:
    plan, _ = scored
    options = ScoresOptions(grid="mine", by=MEASURE.by, score="sts12")
    settings = plan.place
    by_pairs = grid_scores(options, settings)
    assert any("over items and seeds" in note for note in by_pairs.table.notes)
    assert all("test:dyadic" in line for line in by_pairs.table.signatures.values())
    with_dev = grid_scores(replace(options, score=None), settings)
    assert any(
        "over items and seeds" in note and "dev: over" in note for note in with_dev.table.notes
    )
    (next(iter(plan.cells)).run.evaluations / "sts" / "sts12.parquet").unlink()
    by_seeds = grid_scores(options, settings)
    assert any("over seeds alone" in note for note in by_seeds.table.notes)
    for place, spread in by_seeds.pivot.spreads.items():
        assert spread.mean == by_pairs.pivot.spreads[place].mean


def test_items_that_give_other_scores_are_not_used(scored: tuple[GridPlan, pl.DataFrame]) -> None:
    plan, _ = scored
    run = next(iter(plan.cells)).run
    other = StoredOutcomes.load(run.evaluations / "sts" / "sts12.parquet")
    items = other.items.with_columns(predicted=-pl.col("predicted"))
    replace(other, items=items).save(run.evaluations)
    assert ItemTies.of(plan, found_of(plan), MEASURE, {}) is None


def test_averages_over_an_axis_are_tested_over_seeds_and_another_measure_over_items(
    scored: tuple[GridPlan, pl.DataFrame],
) -> None:
    plan, _ = scored
    averaged = pivot(plan, MEASURE, rows=["optim.lr"], score="sts12")
    assert ItemTies.of(plan, averaged, MEASURE, {}) is None
    pearson = ScoreFilter(metric="pearson", by=("dataset",))
    assert ItemTies.of(plan, pivot(plan, pearson, score="sts12"), pearson, {}) is not None
