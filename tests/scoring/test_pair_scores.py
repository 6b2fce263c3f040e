import numpy as np
import polars as pl
import pytest
import scipy.stats

from embedlab.analysis.evidence import Evidence
from embedlab.choices import Aggregate
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.outcomes.pairs import measured_by, pair_outcomes
from embedlab.scoring.pair_scores import BYS, pair_scores
from tests.pair_tables import correlate


def evidence(frame: pl.DataFrame, aggregate: Aggregate, method: str = "spearman") -> Evidence:
    """The evidence of all pairs of FRAME as one dataset, whose sources are named with their
    datasets.
    """
    texts = [f"sentence {row}" for row in range(frame.height)]
    table = frame.with_columns(
        dataset=pl.lit("all"),
        source=pl.concat_str("dataset", "source", separator=" "),
        pair=pl.int_range(pl.len(), dtype=pl.UInt32),
        sentence1=pl.Series(texts),
        sentence2=pl.Series(texts),
        dice=pl.lit(0.5),
    )
    outcomes = measured_by(pair_outcomes(table, ["model"], task="sts", averages={}), method)
    (one,) = outcome_evidence(outcomes, ["model"], aggregate=aggregate, is_tested=False)
    return one


def score(frame: pl.DataFrame, aggregate: Aggregate, method: str = "spearman") -> float:
    """The score of the model on all pairs of FRAME."""
    return float(evidence(frame, aggregate, method).points[0])


def pairs() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    sizes = {("sts13", "headlines"): 30, ("sts13", "OnWN"): 12, ("sts14", "headlines"): 7}
    frames = [
        pl.DataFrame(
            {"gold": rng.integers(0, 6, n) * 1.0, "model": rng.normal(size=n)}
        ).with_columns(dataset=pl.lit(dataset), source=pl.lit(source))
        for (dataset, source), n in sizes.items()
    ]
    return pl.concat(frames).sample(fraction=1, shuffle=True, seed=0)


@pytest.mark.parametrize("method", ["spearman", "pearson"])
def test_the_three_aggregations_equal_a_loop(method: str) -> None:
    frame = pairs()
    statistic = getattr(scipy.stats, f"{method}r")
    each, sizes = [], []
    for dataset, source in [("sts13", "headlines"), ("sts13", "OnWN"), ("sts14", "headlines")]:
        part = frame.filter(pl.col("dataset") == dataset, pl.col("source") == source)
        each.append(statistic(part["gold"], part["model"]).statistic)
        sizes.append(part.height)
    assert score(frame, "all", method) == pytest.approx(
        statistic(frame["gold"], frame["model"]).statistic
    )
    assert score(frame, "mean", method) == pytest.approx(sum(each) / 3)
    assert score(frame, "wmean", method) == pytest.approx(
        sum(r * n for r, n in zip(each, sizes, strict=True)) / sum(sizes)
    )


def test_aggregating_over_sources_needs_sources() -> None:
    frame = pairs().with_columns(source=pl.lit(None, dtype=pl.String))
    assert np.isnan(score(frame, "mean"))
    assert np.isnan(score(frame, "wmean"))
    assert score(frame, "all") == pytest.approx(score(pairs(), "all"))


def test_a_model_that_did_not_score_every_pair_has_no_correlation() -> None:
    frame = pairs().with_columns(model=pl.when(pl.int_range(pl.len()) > 0).then("model"))
    assert np.isnan(score(frame, "all"))


@pytest.mark.parametrize(
    ("gold", "scores", "sources", "aggregate", "note"),
    [
        ([1, 2, 3, 4], [4, 3, 2, 1], "aabb", "all", ""),
        ([1, 2, 3, 4], [4, 3, 2, 1], "aabb", "mean", ""),
        ([1, 2, 3, 4], [4, 3, 2, 1], None, "all", ""),
        ([1, 2, 3, 4], [4, 3, 2, 1], None, "mean", "no mean: its pairs name no source"),
        ([3], [4], "a", "all", "no number: a correlation needs two pairs, and it has 1"),
        (
            [1, 2, 3],
            [4, 3, 2],
            "aab",
            "wmean",
            "no number: a correlation needs two pairs, and it has 1 in source 'all b'",
        ),
        ([2.5, 2.5, 2.5], [4, 3, 2], "aab", "all", "no number: all gold scores are 2.5"),
        (
            [1, 2, 3, 3],
            [4, 3, 2, 1],
            "aabb",
            "mean",
            "no number: all gold scores are 3 in source 'all b'",
        ),
        (
            [1, 2, 3, 4],
            [7, 7, 7, 7],
            "aabb",
            "all",
            "no number of model: all its pairs have the same similarity",
        ),
        (
            [1, 2, 3, 4],
            [7, 8, 7, 7],
            "aabb",
            "wmean",
            "no number of model: all its pairs have the same similarity in source 'all b'",
        ),
    ],
)
def test_a_note_says_why_a_correlation_is_undefined(
    gold: list[float], scores: list[float], sources: str | None, aggregate: Aggregate, note: str
) -> None:
    frame = pl.DataFrame(
        {
            "dataset": ["all"] * len(gold),
            "source": pl.Series(list(sources) if sources else [None] * len(gold), dtype=pl.String),
            "gold": pl.Series(gold, dtype=pl.Float64),
            "model": pl.Series(scores, dtype=pl.Float64),
        }
    )
    assert evidence(frame, aggregate).notes == ((note,) if note else ())
    assert np.isnan(score(frame, aggregate)) == bool(note)


def test_stored_scores_are_those_of_an_independent_loop_in_every_aggregation_and_slice(
    table: pl.DataFrame,
) -> None:
    scored = table.with_columns(
        pl.Series("model", np.random.default_rng(3).normal(size=table.height))
    )
    outcomes = pair_outcomes(scored, ["model"], task="sts", averages={"both": ("sts12", "mine")})
    slices = {by: slices_of(outcomes, ["model"], by=by) for by in BYS}
    found = pair_scores(outcomes, slices, ["model"])["model"]
    for one in found:
        names = ["sts12", "mine"] if one.by == "average" else [one.slice]
        parts = {
            part.key: scored[part.rows]
            for part in slices["dataset" if one.by == "average" else one.by]
        }
        expected = np.mean(
            [correlate(parts[name], "model", one.setting, one.metric) for name in names]
        )
        assert one.value == pytest.approx(expected, nan_ok=True), one
        assert one.items == sum(parts[name].height for name in names)
    kinds = [(one.by, one.metric, one.setting) for one in found]
    assert kinds[:3] == [("dataset", "spearman", "all")] * 2 + [("average", "spearman", "all")]
    assert {one.by for one in found} == {"dataset", "average", "source", "dice"}
    assert all(one.title for one in found if one.by == "dice")


def test_without_members_there_are_no_scores(table: pl.DataFrame) -> None:
    outcomes = pair_outcomes(table, [], task="sts", averages={})
    assert pair_scores(outcomes, {by: slices_of(outcomes, [], by=by) for by in BYS}, []) == {}
