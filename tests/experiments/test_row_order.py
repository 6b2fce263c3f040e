"""Our numbers next to the published values: units, spreads, which pairs are evaluated, and how
probable their order is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_ind

from benchmarks.pair_frames import pair_outcomes
from embedlab.experiments.item_ties import ScoredItems
from embedlab.experiments.matching_runs import Member, RowMembers
from embedlab.experiments.paper_file import select_tables
from embedlab.experiments.paper_table import PaperMeasure, PaperTable
from embedlab.experiments.row_order import MeasuredTable, find_score, numbers_frame
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import StoredOutcomes, items_frame
from embedlab.tasks.multitask import METRICS
from tests.stored_scores import evaluation, outcomes, score

YEARS = ("sts12", "sts13", "sts14", "sts15", "sts16")
# rows of table 6 that are there: the noise of their predictions, and their score by seed; 0.3 is
# the best, as printed
ROWS = {"0.1": (3.0, (0.40, 0.42)), "0.3": (0.5, (0.60, 0.62)), "0.5": (1.0, (0.50, 0.54))}


def measured_of(
    table: PaperTable,
    names: Mapping[str, Sequence[str]],
    evaluations: Mapping[tuple[str, str], Evaluation],
    items: ScoredItems | None = None,
) -> MeasuredTable:
    """A table with the models called NAMES of each row, one a seed, in every column."""
    members = {
        row: RowMembers(
            own=[Member(name=name, seed=seed) for seed, name in enumerate(of_row, start=1)]
        )
        for row, of_row in names.items()
    }
    return MeasuredTable(
        table=table, members=members, evaluations=evaluations, items=items or ScoredItems()
    )


def scored_pairs(
    noise: Mapping[str, float], sources: Sequence[str], years: Sequence[str] = YEARS
) -> pl.DataFrame:
    """A pair of each of the SOURCES in each year, and what models say of them, with this NOISE."""
    rng = np.random.default_rng(0)
    count = len(sources) * len(years)
    gold = rng.uniform(0, 5, count)
    text = {f"sentence{side}": [f"{side} {row}" for row in range(count)] for side in (1, 2)}
    facts = {
        "dataset": [year for year in years for _ in sources],
        "source": [*sources] * len(years),
        "pair": [*range(len(sources))] * len(years),
        "dice": [0.0] * count,
    }
    said = {name: gold + rng.normal(0, own, count) for name, own in noise.items()}
    return pl.DataFrame({**facts, **text, "gold": gold, **said})


@pytest.fixture
def measured() -> MeasuredTable:
    """Three rows of liao's table 6 with two seeds each."""
    (table,) = select_tables("liao", "table6")
    evaluations = {
        (f"{row}@{seed}", "sts"): evaluation(
            "sts", *(score(year, own[seed - 1], setting="wmean") for year in YEARS)
        )
        for row, (_, own) in ROWS.items()
        for seed in (1, 2)
    }
    noise = {f"{row}@{seed}": own for row, (own, _) in ROWS.items() for seed in (1, 2)}
    pairs = scored_pairs(noise, ["a"] * 30)
    scored = {"sts": pair_outcomes(pairs, [*noise], task="sts", averages={})}
    names = {row: (f"{row}@1", f"{row}@2") for row in ROWS}
    return measured_of(table, names, evaluations, ScoredItems(tasks=scored))


def test_numbers_have_the_papers_units_next_to_the_published_values(
    measured: MeasuredTable,
) -> None:
    numbers = numbers_frame(measured.table, measured.values()).filter(column="STS12")
    (found,) = numbers.filter(row="0.5").select("published", "ours", "sd", "difference").rows()
    assert found == pytest.approx((64.89, 52.0, 4 / np.sqrt(2), 52.0 - 64.89))
    (absent,) = numbers.filter(row="0.9").select("published", "ours", "sd", "difference").rows()
    assert absent == (64.47, None, None, None)


def test_neighbours_and_claims_are_evaluated_once_each_by_pairs_and_seeds(
    measured: MeasuredTable,
) -> None:
    found = measured.order()
    # Printed: 0.3 (70.44) before 0.5 (70.05) before 0.1 (69.18); only neighbours and claims.
    pairs = [pair.claim for pair in found.pairs]
    assert [(pair.first, pair.second, bool(pair.text)) for pair in pairs] == [
        ("0.3", "0.5", True),
        ("0.5", "0.1", False),
        ("0.3", "0.1", True),
    ]
    # the paper's own averages
    assert measured.table.printed_difference(pairs[0]) == pytest.approx(70.44 - 70.05)
    claims = measured.claims()
    for pair in found.pairs:
        if pair.claim.text:
            (name,) = (
                name
                for name, claim in measured.table.claims.items()
                if {claim.first, claim.second} == {pair.claim.first, pair.claim.second}
            )
            own = claims[name]
            assert own.scale * abs(own.delta) == abs(pair.difference)
            assert own.p == pytest.approx(2 * min(pair.probability, 1 - pair.probability))
    # Of two seeds each, all spreads are far smaller than the differences.
    assert all(pair.probability > 0.8 for pair in found.pairs)
    widest = max(found.pairs, key=lambda pair: pair.high - pair.low).claim
    assert "0.1" in {widest.first, widest.second}  # the noisiest row
    (ranking,) = found.rankings
    assert (ranking.rows, ranking.kendall.tau) == (3, 1.0)


def test_a_row_that_lacks_a_compared_column_is_not_put_in_order(measured: MeasuredTable) -> None:
    lacking = evaluation("sts", score("sts12", 0.4, setting="wmean"))
    one_year = {**measured.evaluations, ("0.1@1", "sts"): lacking}
    found = replace(measured, evaluations=one_year).order()
    assert [(pair.claim.first, pair.claim.second) for pair in found.pairs] == [("0.3", "0.5")]


def test_groups_are_ranked_apart() -> None:
    (table,) = select_tables("sedghamiz", "table1")
    measures = {"CoLA": ("glue-cola", "matthews"), "RTE": ("glue-rte", "accuracy")}
    evaluations = {}
    for at, row in enumerate(table.sources):
        name, metric = measures[table.group(row)]
        found = score(name, 0.01 * at, metric, setting="validation", split="dev")
        evaluations[f"{row}@1", "glue"] = evaluation("glue", found)
    order = measured_of(table, {row: [f"{row}@1"] for row in table.sources}, evaluations).order()
    pairs = [pair.claim for pair in order.pairs]
    assert all(table.group(pair.first) == table.group(pair.second) for pair in pairs)
    assert [ranking.group for ranking in order.rankings] == ["CoLA", "RTE"]
    # Without items nothing is known of how far a score could be another one.
    assert np.isnan([pair.probability for pair in order.pairs]).all()


@pytest.mark.parametrize("is_varying", [True, False])
def test_rows_without_items_are_compared_over_their_seeds(is_varying: bool) -> None:
    (table,) = select_tables("tsukagoshi", "table2_mean_cosines")
    column = table.ranked_by[0][0]
    first, second, *_ = [point.row for point in table.points if point.column == column]
    values = {first: (0.30, 0.34, 0.39), second: (0.20, 0.21, 0.29)}
    evaluations = {}
    for row, of_row in values.items():
        measures = [point.measure for point in table.points if point.row == row]
        for seed, own in enumerate(of_row, start=1):
            value = own if is_varying else of_row[0]
            scores = [score(one.slice, value, one.metric, setting=one.setting) for one in measures]
            evaluations[f"{row}@{seed}", "geometry"] = evaluation("geometry", *scores)
    names = {row: [f"{row}@{seed}" for seed in (1, 2, 3)] for row in values}
    (pair,) = measured_of(table, names, evaluations).order().pairs
    if is_varying:
        claim = pair.claim
        expected = ttest_ind(values[claim.first], values[claim.second], equal_var=False)
        assert pair.p == pytest.approx(expected.pvalue)
        assert (pair.low, pair.high) == pytest.approx(expected.confidence_interval())
    else:
        assert np.isnan([pair.p, pair.low]).all()


def answered(dataset: str) -> StoredOutcomes:
    """What a model predicts of 100 items: classes of sentiment, or scores."""
    numbers = np.arange(100) % 5
    items = items_frame(np.arange(100), numbers, (numbers + (np.arange(100) % 3 == 0)) % 5)
    classes = {"sentiment": tuple("01234"), "paraphrases": ("0", "1")}.get(dataset, ())
    if dataset == "paraphrases":
        numbers = numbers % 2
    return outcomes(dataset, items, task="multitask", classes=classes)


@pytest.mark.parametrize("lacking", [(), ("Shared Heads",)])
def test_rows_are_compared_item_by_item_where_each_of_them_has_items(
    lacking: tuple[str, ...],
) -> None:
    (table,) = select_tables("chen", "table3")
    rows = ("All Different", "Shared Heads")
    scores = [score(name, 0.6, metric) for name, metric in METRICS.items()]
    answers = {
        (row, "multitask"): [answered(name) for name in METRICS][: 3 - (row in lacking)]
        for row in rows
    }
    evaluations = {(row, "multitask"): evaluation("multitask", *scores) for row in rows}
    names = {row: [row] for row in rows}
    found = measured_of(table, names, evaluations, ScoredItems.of(answers))
    (pair,) = found.order().pairs
    # Two rows that predict the same: their difference is certain but for one more item of each
    # that could be right.
    assert pair.difference == pytest.approx(0)
    assert pair.p == pytest.approx(1) or lacking
    assert np.isnan(pair.high) == bool(lacking)


def test_of_two_accuracies_the_one_that_counts_is_taken_unless_a_split_is_named() -> None:
    measure = PaperMeasure(
        task="transfer", slice="trec", metric="accuracy", setting="literature", split=None
    )
    splits = {"dev": 0.8, "test": 0.9}
    scores = [
        score("trec", value, "accuracy", setting="literature", split=split)
        for split, value in splits.items()
    ]
    both, alone = evaluation("transfer", *scores), evaluation("transfer", scores[0])
    found, on_dev = find_score(both, measure), find_score(alone, measure)
    assert found is not None
    assert on_dev is not None
    assert (found.value, on_dev.value) == (0.9, 0.8)
    assert find_score(both, replace(measure, slice="mr")) is None


def test_an_ensemble_takes_the_best_row_of_each_column_seed_by_seed() -> None:
    (chen,) = select_tables("chen", "table2")
    values = {"NLI": (0.5, 0.4), "3 Given": (0.3, 0.6)}  # of every column
    evaluations = {}
    for row, own in values.items():
        for seed, value in enumerate(own, start=1):
            scores = [score(name, value, metric) for name, metric in METRICS.items()]
            mean = score("mean", value, "of the three")
            evaluations[f"{row}@{seed}", "multitask"] = evaluation("multitask", *scores, mean)
    names = {row: (f"{row}@1", f"{row}@2") for row in values}
    found = measured_of(chen, names, evaluations).values()
    for column in chen.columns:
        assert found["Ensemble (dev)", column] == pytest.approx((0.5, 0.6))
    overall = numbers_frame(chen, found).filter(row="Ensemble (dev)", column="overall")
    assert overall["published"].item() == chen.printed["Ensemble (dev)"]["overall"]
    alone = measured_of(chen, {"NLI": names["NLI"]}, evaluations).values()
    assert alone["Ensemble (dev)", "overall"] == ()
