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
from embedlab.experiments.paper_file import select_tables
from embedlab.runs.outcomes import StoredOutcomes, items_frame
from tests.experiments.test_row_order import measured_of, scored_pairs
from tests.stored_scores import evaluation, outcomes, score

SOURCES = ["headlines"] * 25 + ["OnWN"] * 15
NOISE = {"a": 0.5, "b": 1.0, "c": 2.0, "d": 3.0}  # of models


def rho(pairs: pl.DataFrame, model: str) -> float:
    return float(spearmanr(pairs["gold"], pairs[model])[0])


def test_a_claim_is_about_the_mean_of_the_columns_in_the_papers_aggregation() -> None:
    (table,) = select_tables("liao", "table6")
    pairs = scored_pairs(NOISE, SOURCES)
    scored = pair_outcomes(pairs, [*NOISE], task="sts", averages={})
    names = {"0.3": ("a", "b"), "0.1": ("c", "d")}
    found = measured_of(table, names, {}, ScoredItems(tasks={"sts": scored})).claims()
    assert [*found] == ["lambda-sts-01"]  # no other row has a model
    own = found["lambda-sts-01"]
    sources = pairs.partition_by("dataset", "source")  # as many of each source in every year
    sizes = [part.height for part in sources]
    means = {name: np.average([rho(p, name) for p in sources], weights=sizes) for name in NOISE}
    assert own.delta == pytest.approx((means["a"] + means["b"] - means["c"] - means["d"]) / 2)
    assert own.low < own.delta < own.high
    assert own.reach == "models"
    assert own.scale == 100


def test_a_slice_without_its_year_is_that_of_every_year() -> None:
    (table,) = select_tables("tsukagoshi", "figure2_sources")
    claim = Claim(table=table.name, first="SBERT", second="DefSent", direction="above", columns=())
    columns = {"every": "OnWN", "one": "sts13/OnWN", "none": "images"}
    claims = {name: replace(claim, columns=(column,)) for name, column in columns.items()}
    pairs = scored_pairs(NOISE, SOURCES, ("sts12", "sts13"))
    scored = {"sts": pair_outcomes(pairs, ["a", "c"], task="sts", averages={})}
    names, claimed = {"SBERT": "a", "DefSent": "c"}, replace(table, claims=claims)
    measured = measured_of(claimed, names, {}, ScoredItems(tasks=scored))
    parts = pairs.filter(source="OnWN").partition_by("dataset")
    differences = [rho(part, "a") - rho(part, "c") for part in parts]
    found = measured.claims()
    assert {name: one.delta for name, one in found.items()} == pytest.approx(
        {"every": np.mean(differences), "one": differences[1]}
    )
    assert {one.reach for one in found.values()} == {"checkpoints"}
    published = replace(measured, items=ScoredItems(tasks=scored, published=frozenset("ac")))
    assert {one.reach for one in published.claims().values()} == {"models"}


def test_a_claim_on_classified_items_is_tested_and_one_on_scores_alone_is_not() -> None:
    (table,) = select_tables("sedghamiz", "table3")
    matthews = {"s": 0.5, "u": 0.3}
    scores = {
        (name, "glue"): evaluation(
            "glue", score("glue-cola", value, "matthews", setting="validation", split="dev")
        )
        for name, value in matthews.items()
    }
    right = {"s": 80, "u": 60}
    answers = {(name, "glue"): [answered(name, count)] for name, count in right.items()}
    names = {"SupCL-Seq": "s", "Self-supervised-CL": "u"}
    found = measured_of(table, names, scores, ScoredItems.of(answers)).claims()
    tested, untested = found["over-self-supervised-rte-acc"], found["over-self-supervised-cola-mcc"]
    assert (tested.delta, untested.delta) == pytest.approx((0.2, 0.2))
    assert tested.p < 0.05
    assert np.isnan(untested.p)
    assert len(found) == 2


def answered(name: str, right: int) -> StoredOutcomes:
    """A hundred items of RTE, of which the first RIGHT are answered well."""
    gold = np.arange(100) % 2
    said = np.where(np.arange(100) < right, gold, 1 - gold)
    items = items_frame(np.arange(100), gold, said)
    return outcomes("glue-rte", items, model=name, classes=("0", "1"))
