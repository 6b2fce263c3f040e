from collections.abc import Callable
from itertools import combinations

import numpy as np
import polars as pl
import pytest
import scipy.stats

from embedlab.analysis.comparison import STS_YEARS, compare
from embedlab.analysis.correlations import correlate
from embedlab.analysis.scores import ModelColumns, pair_table
from embedlab.data.dataset import Part
from embedlab.errors import UsageError

NOISE = {"good@1": 1.0, "good@2": 1.0, "good@3": 1.2, "twin": 1.0, "bad@1": 6.0, "bad@2": 9.0}
GOOD = ModelColumns(name="good", members=("good@1", "good@2", "good@3"), seeds=(1, 2, 3))
TWIN = ModelColumns(name="twin", members=("twin",))
BAD = ModelColumns(name="bad", members=("bad@1", "bad@2"), seeds=(1, 2))


@pytest.fixture
def scored(table: pl.DataFrame, add_model: Callable[..., pl.DataFrame]) -> pl.DataFrame:
    for seed, (name, noise) in enumerate(NOISE.items()):
        table = add_model(table, name, noise, seed)
    return table


def test_scores_are_the_mean_over_members_of_each_slice(scored: pl.DataFrame) -> None:
    found = compare(scored, [GOOD, BAD], resamples=50)
    assert [(one.key, one.pairs) for one in found.slices] == [("sts12", 100), ("mine", 30)]
    for one in found.slices:
        part = scored.filter(dataset=one.key)
        expected = [scipy.stats.spearmanr(part["gold"], part[name]).statistic for name in GOOD.members]
        assert one.scores["good"].members == pytest.approx(expected)
        assert one.scores["good"].value == pytest.approx(sum(expected) / 3)
        assert one.scores["good"].sd == pytest.approx(np.std(expected, ddof=1))
        assert one.scores["good"].low < one.scores["good"].value < one.scores["good"].high
        assert one.differences["bad"].delta == pytest.approx(one.scores["bad"].value - one.scores["good"].value)


def test_models_that_differ_are_told_apart_and_twins_tie(scored: pl.DataFrame) -> None:
    one = compare(scored, [TWIN, GOOD, BAD], resamples=2000).slices[0]
    letters = {name: set(score.letters) for name, score in one.scores.items()}
    assert letters == {"twin": {"a"}, "good": {"a"}, "bad": {"b"}}
    assert not one.differences["good"].significant
    assert one.differences["bad"].significant
    assert one.differences["bad"].high < 0
    assert np.isnan(one.scores["twin"].sd)


def test_a_model_compared_with_itself_does_not_differ(scored: pl.DataFrame) -> None:
    again = ModelColumns(name="again", members=GOOD.members, seeds=GOOD.seeds)
    for one in compare(scored, [GOOD, again], resamples=200).slices:
        difference = one.differences["again"]
        assert (difference.delta, difference.low, difference.high, difference.p) == (0, 0, 0, 1)


def test_seeds_widen_the_interval(scored: pl.DataFrame) -> None:
    apart = ModelColumns(name="apart", members=("good@1", "bad@2"))
    widths = {}
    for model in (apart, ModelColumns(name="one", members=("good@1",))):
        score = compare(scored, [model], resamples=1000).slices[0].scores[model.name]
        widths[model.name] = score.high - score.low
    assert widths["apart"] > 2 * widths["one"]


@pytest.mark.parametrize("aggregate", ["mean", "wmean"])
def test_sources_are_aggregated_and_a_dataset_without_them_is_not(aggregate: str, scored: pl.DataFrame) -> None:
    years, mine = compare(scored, [TWIN, BAD], aggregate=aggregate, resamples=300).slices
    assert years.scores["twin"].value == pytest.approx(correlate(scored.filter(dataset="sts12"), "twin", aggregate))
    assert years.scores["twin"].low < years.scores["twin"].value < years.scores["twin"].high
    assert np.isnan([mine.scores["twin"].value, mine.differences["bad"].p_holm]).all()
    assert mine.scores["twin"].letters == ""
    assert not mine.differences["bad"].significant
    assert mine.notes == (f"no {aggregate}: its pairs name no source",)


def test_a_rows_numbers_do_not_depend_on_the_rows_and_models_beside_it(scored: pl.DataFrame) -> None:
    both = compare(scored, [TWIN, GOOD, BAD], resamples=100).slices[1]
    alone = compare(scored.filter(dataset="mine"), [TWIN, GOOD], resamples=100).slices[0]
    assert both.scores["good"].low == alone.scores["good"].low
    assert both.differences["good"].p == alone.differences["good"].p


def test_seed_decides_the_resamples(scored: pl.DataFrame) -> None:
    first, same, other = (compare(scored, [GOOD], resamples=100, seed=seed).slices[0].scores["good"] for seed in (0, 0, 1))
    assert first == same
    assert first.low != other.low


def test_differences_are_corrected_over_all_slices_and_models(scored: pl.DataFrame) -> None:
    found = compare(scored, [TWIN, GOOD, BAD], by="source", resamples=500)
    tests = [difference for one in found.slices for difference in one.differences.values()]
    assert len(tests) == 6
    running = 0.0
    for step, difference in enumerate(sorted(tests, key=lambda test: test.p)):
        running = max(running, min(1.0, (6 - step) * difference.p))
        assert difference.p_holm == pytest.approx(running)


def test_the_reference_can_be_chosen(scored: pl.DataFrame) -> None:
    one = compare(scored, [GOOD, TWIN, BAD], reference="bad", resamples=50).slices[0]
    assert list(one.differences) == ["good", "twin"]
    assert one.differences["good"].delta == one.scores["good"].value - one.scores["bad"].value


def test_averages_stand_where_all_their_datasets_are(make_part: Callable[..., Part], add_model: Callable[..., pl.DataFrame]) -> None:
    names = [*STS_YEARS, "sts-benchmark", "sick-r"]
    parts = [make_part(name, {"one": 20 + 5 * seed}, seed=seed) for seed, name in enumerate(names)]
    scored = add_model(add_model(pair_table(parts), "twin", 1.0, 0), "other", 2.0, 1)
    models = [TWIN, ModelColumns(name="other", members=("other",))]
    found = {one.key: one for one in compare(scored, models, resamples=400).slices}
    assert list(found) == [*names, "sts12-16", "average of seven"]
    for key, members in (("sts12-16", STS_YEARS), ("average of seven", tuple(names))):
        average = found[key]
        assert average.average_of == members
        assert average.pairs == sum(found[name].pairs for name in members)
        assert average.scores["twin"].value == pytest.approx(np.mean([found[name].scores["twin"].value for name in members]))
        widths = [found[name].scores["twin"].high - found[name].scores["twin"].low for name in members]
        assert average.scores["twin"].high - average.scores["twin"].low < min(widths)
    five = compare(scored.filter(pl.col("dataset") != "sick-r"), models, resamples=10).slices
    assert [one.key for one in five][-2:] == ["sts-benchmark", "sts12-16"]


def test_fifths_are_compared_like_any_slice(scored: pl.DataFrame) -> None:
    found = compare(scored, [TWIN, BAD], by="dice", resamples=20)
    assert [one.pairs for one in found.slices] == [20] * 5 + [6] * 5
    with pytest.raises(UsageError, match="not aggregated over sources: 'wmean'"):
        compare(scored, [TWIN], by="dice", aggregate="wmean")


def test_pairs_that_a_model_did_not_score_are_left_out_for_all(scored: pl.DataFrame) -> None:
    holes = scored.with_columns(
        pl.when(pl.col("pair") > 9).then("bad@2"), twin=pl.when(pl.col("pair") == 50).then(float("nan")).otherwise("twin")
    )
    one = compare(holes, [TWIN, BAD], resamples=10).slices[0]
    kept = scored.filter(pl.col("dataset") == "sts12", pl.col("pair") > 9, pl.col("pair") != 50)
    assert one.pairs == 89
    assert one.scores["twin"].value == pytest.approx(correlate(kept, "twin", "all"))
    assert one.notes == ("11 of 100 pairs left out, not scored by twin, bad@2",)


def test_a_slice_that_nobody_scored_is_undefined(scored: pl.DataFrame) -> None:
    one = compare(scored.with_columns(twin=pl.lit(None, dtype=pl.Float64)), [TWIN, BAD], resamples=10).slices[0]
    assert one.pairs == 0
    assert np.isnan(one.scores["bad"].value)


def test_without_resamples_there_are_scores_only(scored: pl.DataFrame) -> None:
    found = compare(scored, [TWIN, BAD], resamples=0)
    assert found.slices[0].scores["twin"].letters == ""
    assert np.isnan([found.slices[0].scores["twin"].low, found.slices[0].differences["bad"].p]).all()
    assert found.slices[0].scores["twin"].value > found.slices[0].scores["bad"].value


def test_too_few_resamples_are_said(scored: pl.DataFrame) -> None:
    assert compare(scored, [TWIN, BAD], resamples=79).notes == ("79 resamples are too few for any of 2 differences to be significant",)
    assert compare(scored, [TWIN, BAD], resamples=80).notes == ()
    assert compare(scored, [TWIN], resamples=5).notes == ()


def test_progress_is_told_slice_by_slice(scored: pl.DataFrame) -> None:
    seen: list[tuple[int, int]] = []
    compare(scored, [TWIN], by="source", resamples=5, watch=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_bad_questions_are_usage_errors(scored: pl.DataFrame) -> None:
    with pytest.raises(UsageError, match="no model named 'goood'") as caught:
        compare(scored, [GOOD, BAD], reference="goood")
    assert "'good'" in caught.value.hint
    with pytest.raises(UsageError, match="'good' is named twice"):
        compare(scored, [GOOD, GOOD])
    with pytest.raises(UsageError, match="no models"):
        compare(scored, [])


def test_paired_interval_equals_an_explicit_bootstrap(scored: pl.DataFrame) -> None:
    one = compare(scored, [TWIN, ModelColumns(name="bad", members=("bad@1",))], resamples=3000).slices[0]
    part = scored.filter(dataset="sts12")
    gold, twin, bad = (part[name].to_numpy() for name in ("gold", "twin", "bad@1"))
    rng, deltas = np.random.default_rng(9), []
    for _ in range(1000):
        rows = rng.integers(0, 100, 100)
        first, second = (scipy.stats.spearmanr(gold[rows], scores[rows]).statistic for scores in (bad, twin))
        deltas.append(first - second)
    difference = one.differences["bad"]
    assert (difference.low, difference.high) == pytest.approx(tuple(np.quantile(deltas, [0.025, 0.975])), abs=0.03)


def test_letters_follow_the_pairwise_tests(scored: pl.DataFrame) -> None:
    models = [ModelColumns(name=name, members=(name,)) for name in NOISE]
    for one in compare(scored, models, resamples=300).slices:
        ranked = sorted(one.scores.values(), key=lambda score: -score.value)
        assert ranked[0].letters.startswith("a")
        for first, second, third in combinations(ranked, 3):
            assert set(first.letters) & set(third.letters) <= set(second.letters)
