"""The differences behind claims: of years by their sources, of slices that years share, and of
classified items.
"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from benchmarks.pair_frames import pair_outcomes
from embedlab.analysis.claims import Claim
from embedlab.experiments.item_ties import ScoredItems
from embedlab.experiments.matching_runs import Member
from embedlab.experiments.paper_file import select_tables
from embedlab.experiments.paper_table import PaperTable
from embedlab.experiments.row_order import MeasuredTable
from embedlab.runs.outcomes import StoredOutcomes, items_frame
from tests.experiments.test_row_order import evaluation, score

ROWS = {"0.3": ("a", "b"), "0.1": ("c", "d")}  # two seeds each
YEARS = ("sts12", "sts13", "sts14", "sts15", "sts16")


def scored_pairs(years: tuple[str, ...] = YEARS) -> pl.DataFrame:
    """Forty pairs of each year, of two sources of unequal size."""
    rng = np.random.default_rng(0)
    count = 40 * len(years)
    gold = rng.uniform(0, 5, count)
    noise = {"a": 0.5, "b": 1.0, "c": 2.0, "d": 3.0}
    return pl.DataFrame(
        {
            "dataset": [year for year in years for _ in range(40)],
            "source": (["headlines"] * 25 + ["OnWN"] * 15) * len(years),
            "pair": list(range(40)) * len(years),
            "sentence1": [f"first {place}" for place in range(count)],
            "sentence2": [f"second {place}" for place in range(count)],
            "gold": gold,
            "dice": np.zeros(count),
            **{name: gold + rng.normal(0, own, count) for name, own in noise.items()},
        }
    )


def members(columns: tuple[str, ...]) -> dict[tuple[str, str], tuple[Member, ...]]:
    own = {
        row: tuple(Member(name=name, seed=seed) for seed, name in enumerate(names, start=1))
        for row, names in ROWS.items()
    }
    return {(row, column): found for row, found in own.items() for column in ("", *columns)}


def test_a_claim_is_about_the_mean_of_the_columns_in_the_papers_aggregation() -> None:
    (table,) = select_tables("liao", "table6")
    pairs = scored_pairs()
    outcomes = pair_outcomes(pairs, ["a", "b", "c", "d"], task="sts", averages={})
    found = MeasuredTable(
        table=table,
        members=members(table.columns),
        items=ScoredItems(tasks={"sts": outcomes}),
        evaluations={},
    ).claims()
    assert [*found] == ["lambda-sts-01"]  # no other row has a model
    own = found["lambda-sts-01"]
    by_member = {
        name: np.mean(
            [
                np.average(
                    [spearmanr(part["gold"], part[name])[0] for _, part in parts],
                    weights=[part.height for _, part in parts],
                )
                for _, year in pairs.group_by("dataset")
                for parts in [list(year.group_by("source"))]
            ]
        )
        for name in "abcd"
    }
    assert own.value == pytest.approx(
        np.mean([by_member["a"], by_member["b"]]) - np.mean([by_member["c"], by_member["d"]])
    )
    assert own.low < own.value < own.high
    assert own.reach == "models"
    assert own.scale == 100


def test_a_slice_without_its_year_is_that_of_every_year() -> None:
    (table,) = select_tables("tsukagoshi", "figure2_sources")
    claims = {
        name: Claim(
            table=table.name, first="SBERT", second="DefSent", direction="above", columns=(column,)
        )
        for name, column in {"every": "OnWN", "one": "sts13/OnWN", "none": "images"}.items()
    }
    own = {("SBERT", ""): (Member(name="a", seed=1),), ("DefSent", ""): (Member(name="c", seed=1),)}
    pairs = scored_pairs(("sts12", "sts13"))
    outcomes = pair_outcomes(pairs, ["a", "c"], task="sts", averages={})
    found = MeasuredTable(
        table=_with(table, claims),
        members=own,
        items=ScoredItems(tasks={"sts": outcomes}),
        evaluations={},
    ).claims()
    differences = []
    for year in ("sts12", "sts13"):
        part = pairs.filter(dataset=year, source="OnWN")
        differences.append(
            spearmanr(part["gold"], part["a"])[0] - spearmanr(part["gold"], part["c"])[0]
        )
    assert {name: one.value for name, one in found.items()} == pytest.approx(
        {"every": np.mean(differences), "one": differences[1]}
    )
    assert {one.reach for one in found.values()} == {"checkpoints"}
    published = ScoredItems(tasks={"sts": outcomes}, published=frozenset("ac"))
    assert {
        one.reach
        for one in MeasuredTable(
            table=_with(table, claims), members=own, items=published, evaluations={}
        )
        .claims()
        .values()
    } == {"models"}


def test_a_claim_on_classified_items_is_tested_and_one_on_scores_alone_is_not() -> None:
    (table,) = select_tables("sedghamiz", "table3")
    names = {"SupCL-Seq": "s", "Self-supervised-CL": "u"}
    own = {
        (row, column): (Member(name=name, seed=1),)
        for row, name in names.items()
        for column in ("RTE_acc", "CoLA_mcc")
    }
    right = {"s": 80, "u": 60}
    answers = {(name, "glue"): [answered(name, count)] for name, count in right.items()}
    values = {"s": 0.5, "u": 0.3}
    scores = {
        (name, "glue"): evaluation(
            "glue", score("glue-cola", value, metric="matthews", setting="validation", split="dev")
        )
        for name, value in values.items()
    }
    found = MeasuredTable(
        table=table, members=own, items=ScoredItems.of(answers), evaluations=scores
    ).claims()
    tested, untested = found["over-self-supervised-rte-acc"], found["over-self-supervised-cola-mcc"]
    assert (tested.value, untested.value) == pytest.approx((0.2, 0.2))
    assert tested.p < 0.05
    assert np.isnan(untested.p)
    assert len(found) == 2


def answered(name: str, right: int) -> StoredOutcomes:
    """A hundred items of RTE, of which the first RIGHT are answered well."""
    gold = np.arange(100) % 2
    said = np.where(np.arange(100) < right, gold, 1 - gold)
    items = items_frame(np.arange(100), gold, said)
    return StoredOutcomes(
        task="glue",
        dataset="glue-rte",
        split="dev",
        model=name,
        fingerprint="f",
        data=(),
        marks=(),
        classes=("0", "1"),
        items=items,
    )


def _with(table: PaperTable, claims: dict[str, Claim]) -> PaperTable:
    return replace(table, claims=claims)
