import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.stats

from benchmarks.pair_frames import pair_table
from embedlab.analysis.evidence import ModelColumns, weakest
from embedlab.core.errors import UsageError
from embedlab.data.dataset import DatasetState, Part
from tests.pair_tables import compare_models

NOISE = {
    "good@1": 1.0,
    "good@2": 1.0,
    "good@3": 1.2,
    "twin": 1.0,
    "bad@1": 6.0,
    "bad@2": 9.0,
    "bad@3": 7.0,
}
GOOD = ModelColumns(name="good", members=("good@1", "good@2", "good@3"), seeds=(1, 2, 3))
TWIN = ModelColumns(name="twin", members=("twin",))
BAD = ModelColumns(name="bad", members=("bad@1", "bad@2"), seeds=(1, 2))


@pytest.fixture
def scored(table: pl.DataFrame, add_model: Callable[..., pl.DataFrame]) -> pl.DataFrame:
    for seed, (name, noise) in enumerate(NOISE.items()):
        table = add_model(table, name, noise, seed)
    return table


def test_scores_are_the_mean_over_members_of_each_slice(scored: pl.DataFrame) -> None:
    found = compare_models(scored, [GOOD, BAD])
    assert [(one.key, one.items) for one in found.slices] == [("sts12", 100), ("mine", 30)]
    for one in found.slices:
        part = scored.filter(dataset=one.key)
        expected = [
            scipy.stats.spearmanr(part["gold"], part[name]).statistic for name in GOOD.members
        ]
        assert one.scores["good"].members == pytest.approx(expected)
        assert one.scores["good"].value == pytest.approx(sum(expected) / 3)
        assert one.scores["good"].sd == pytest.approx(np.std(expected, ddof=1))
        assert one.scores["good"].low < one.scores["good"].value < one.scores["good"].high
        assert one.differences["bad"].delta == pytest.approx(
            one.scores["bad"].value - one.scores["good"].value
        )


def test_models_that_differ_are_distinguished_and_twins_tie(scored: pl.DataFrame) -> None:
    bad = ModelColumns(name="bad", members=("bad@1", "bad@2", "bad@3"), seeds=(1, 2, 3))
    one = compare_models(scored, [TWIN, GOOD, bad]).slices[0]
    letters = {name: set(score.letters) for name, score in one.scores.items()}
    assert letters == {"twin": {"a"}, "good": {"a"}, "bad": {"b"}}
    assert not one.differences["good"].significant
    assert one.differences["bad"].significant
    assert one.differences["bad"].high < 0
    assert np.isnan(one.scores["twin"].sd)


@pytest.mark.parametrize("swapped", [1, 3])
def test_models_that_are_shown_as_equal_are_not_distinguished(
    swapped: int, make_part: Callable[..., Part]
) -> None:
    """Neighbours in the order of gold scores are exchanged, everywhere: a small, sure difference of
    6 / n² x 100 points, or twelve times as much.
    """
    order = np.arange(600.0)
    table = pair_table([make_part("mine", {None: 600})]).with_columns(
        pl.Series("gold", order),
        pl.Series("exact", order),
        pl.Series("near", order.reshape(-1, 2 * swapped)[:, ::-1].ravel()),
    )
    models = [ModelColumns(name=name, members=(name,)) for name in ("exact", "near")]
    (one,) = compare_models(table, models).slices
    difference = one.differences["near"]
    is_shown = f"{100 * abs(difference.delta):.2f}" != "0.00"
    assert difference.p_holm < 0.05
    assert difference.significant == is_shown == (swapped > 1)
    assert (one.scores["exact"].letters == one.scores["near"].letters) == (not is_shown)


def test_a_model_compared_with_itself_does_not_differ(scored: pl.DataFrame) -> None:
    again = ModelColumns(name="again", members=GOOD.members, seeds=GOOD.seeds)
    for one in compare_models(scored, [GOOD, again]).slices:
        difference = one.differences["again"]
        assert (difference.delta, difference.low, difference.high, difference.p) == (0, 0, 0, 1)


def test_a_rows_numbers_do_not_depend_on_the_rows_and_models_beside_it(
    scored: pl.DataFrame,
) -> None:
    both = compare_models(scored, [TWIN, GOOD, BAD]).slices[1]
    alone = compare_models(scored.filter(dataset="mine"), [TWIN, GOOD]).slices[0]
    assert both.scores["good"].low == alone.scores["good"].low
    assert both.differences["good"].p == alone.differences["good"].p


def test_fifths_are_compared_like_any_slice(scored: pl.DataFrame) -> None:
    found = compare_models(scored, [TWIN, BAD], by="dice")
    assert [one.items for one in found.slices] == [20] * 5 + [6] * 5
    with pytest.raises(UsageError, match="not aggregated over sources: 'wmean'"):
        compare_models(scored, [TWIN], by="dice", aggregate="wmean")


def test_no_number_of_a_part_enters_an_average(scored: pl.DataFrame) -> None:
    holes = scored.with_columns(
        twin=pl.when((pl.col("dataset") != "mine") | (pl.col("pair") > 3)).then("twin")
    )
    averages = {"both": ("sts12", "mine")}
    both, alone = (
        compare_models(table, [GOOD, TWIN], averages=averages).slices[-1]
        for table in (holes, scored)
    )
    assert np.isnan(both.scores["twin"].value)
    assert both.scores["good"].value == alone.scores["good"].value


def test_p_is_corrected_over_the_differences_from_the_reference_on_all_slices(
    scored: pl.DataFrame,
) -> None:
    found = compare_models(scored, [TWIN, GOOD, BAD], by="source")
    tests = [compare_models(scored, [TWIN, other], by="source") for other in (GOOD, BAD)]
    p = [next(iter(one.differences.values())).p for test in tests for one in test.slices]
    assert len(p) == 6
    corrected = sorted(np.maximum.accumulate(np.minimum(1, np.sort(p) * np.arange(6, 0, -1))))
    shown = [difference.p_holm for one in found.slices for difference in one.differences.values()]
    assert sorted(shown) == pytest.approx(corrected, abs=1e-9)


@pytest.mark.parametrize("by", ["dataset", "source", "dice"])
def test_letters_never_contradict_stars_or_intervals(scored: pl.DataFrame, by: str) -> None:
    models = [ModelColumns(name=name, members=(name,)) for name in NOISE]
    for reference in NOISE:
        models.sort(key=lambda model: model.name != reference)
        for one in compare_models(scored, models, by=by).slices:
            for name, difference in one.differences.items():
                is_shared = bool(set(one.scores[name].letters) & set(one.scores[reference].letters))
                assert difference.significant or is_shared or np.isnan(difference.p)
                if not np.isnan(difference.low):
                    assert (difference.p < 0.05) == (not difference.low <= 0 <= difference.high)


@pytest.mark.parametrize(("size", "is_noted"), [(2, False), (3, True), (40, False)])
def test_a_difference_that_hangs_on_one_topic_is_noted_where_it_is_more_than_two_rows_and_not_all(
    size: int, is_noted: bool
) -> None:
    """Rows that one model ranks far off, and that a chain of sentences connects."""
    rows = 40
    linked = [
        *range(0, size // 2 + size % 2),
        *range(rows - size // 2, rows),
    ]  # at both ends of the gold scores
    predicted = np.arange(rows, dtype=float)
    predicted[linked] = predicted[linked][::-1]
    first, second = [f"left {row}" for row in range(rows)], [f"right {row}" for row in range(rows)]
    for before, after in itertools.pairwise(linked):
        first[after] = second[before]
    frame = pl.DataFrame(
        {
            "sentence1": first,
            "sentence2": second,
            "gold": np.arange(rows) / 8,
            "source": ["news"] * rows,
        }
    )
    state = DatasetState(name="mine", split="test", rows=rows, expected_rows=rows, origin="file")
    table = pair_table([Part(frame=frame, state=state)]).with_columns(
        pl.Series("odd", predicted), pl.Series("right", np.arange(rows))
    )
    models = [ModelColumns(name=name, members=(name,)) for name in ("right", "odd")]
    found = compare_models(table, models)
    one, difference = found.slices[0], found.slices[0].differences["odd"]
    if size == rows:
        assert one.notes == (
            "its rows form only one topic: no interval, not tested (rows with other sentences would "
            "help)",
        )
        assert np.isnan([difference.low, difference.p]).all()
        return
    assert one.largest_topic is not None
    assert (one.largest_topic.rows, one.largest_topic.share > 0.9) == (size, True)
    if is_noted:
        assert one.largest_topic.without == pytest.approx(
            0, abs=1e-12
        )  # the other rows are in the order of the gold scores
    assert (difference.topic is not None) == is_noted
    assert (
        any(note.startswith("§: one topic decides: mine odd") for note in found.remarks) == is_noted
    )


def test_a_star_reaches_as_far_as_the_seeds_of_both_models(scored: pl.DataFrame) -> None:
    recipe = ModelColumns(name="bad", members=BAD.members, seeds=(1, 2))
    published = replace(TWIN, is_published=True)
    run = ModelColumns(name="bad@1", members=("bad@1",), seeds=(1,))
    assert weakest([recipe, published]) == "models"
    assert (
        weakest([recipe, run])
        == weakest([published, run])
        == weakest([published, TWIN])
        == "checkpoints"
    )
    found = compare_models(scored, [published, recipe, run])
    reaches = {name: difference.reach for name, difference in found.slices[0].differences.items()}
    assert reaches == {"bad": "models", "bad@1": "checkpoints"}
    assert found.slices[0].reach == "checkpoints"
    assert any(note.startswith("this checkpoint:") for note in found.remarks)
    assert compare_models(scored, [published, recipe]).slices[0].reach == "models"
    assert not any(
        note.startswith("°") for note in compare_models(scored, [published, recipe]).remarks
    )


def test_five_datasets_say_what_is_expected_on_another_one(
    make_part: Callable[..., Part], add_model: Callable[..., pl.DataFrame], tmp_path: Path
) -> None:
    parts = [make_part(f"set{number}", {"one": 20, "two": 20}, seed=number) for number in range(5)]
    table = add_model(add_model(pair_table(parts), "twin", 1.0, 0), "lone", 4.0, 1)
    models = [TWIN, ModelColumns(name="lone", members=("lone",))]
    (found,) = compare_models(table, models, has_another=True).elsewhere
    assert (found.model, found.reference, found.shared_pairs) == ("lone", "twin", 0)
    assert found.datasets == tuple(part.state.name for part in parts)
    assert found.new_low < found.low < found.mean < found.high < found.new_high
    assert compare_models(table, models, by="source").elsewhere == (), "parts of datasets are none"
    assert compare_models(table.filter(pl.col("dataset") != "set0"), models).elsewhere == ()
