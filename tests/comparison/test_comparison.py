from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchmarks.pair_frames import pair_table
from embedlab.analysis.evidence import ModelColumns, weakest_reach
from embedlab.analysis.named_selections import store_selection
from embedlab.analysis.seed_tests import holm
from embedlab.comparison.comparison import WHOLE, Slicing
from embedlab.core.errors import UsageError
from embedlab.data.dataset import Part
from tests.analysis.made import recipe, single
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
GOOD, BAD = recipe("good", 3), recipe("bad", 2)
(TWIN,) = single(["twin"])


@pytest.fixture
def scored(table: pl.DataFrame, add_model: Callable[..., pl.DataFrame]) -> pl.DataFrame:
    for seed, (name, noise) in enumerate(NOISE.items()):
        table = add_model(table, name, noise, seed)
    return table


@pytest.mark.parametrize("swapped", [1, 3])
def test_models_that_are_shown_as_equal_are_not_distinguished(
    swapped: int, make_part: Callable[..., Part]
) -> None:
    """Neighbours in the order of gold scores are exchanged, everywhere: a small, sure difference of
    6 / n² x 100 points, or twelve times as much.
    """
    order = np.arange(600.0)
    near = order.reshape(-1, 2 * swapped)[:, ::-1].ravel()
    table = pair_table([make_part("mine", {None: 600})]).with_columns(
        gold=order, exact=order, near=near
    )
    (one,) = compare_models(table, single(["exact", "near"])).slices
    difference = one.differences["near"]
    is_shown = swapped > 1
    assert (abs(100 * difference.delta) > 0.005) == is_shown
    assert difference.p_holm < 0.05
    assert difference.significant == is_shown
    assert (one.scores["exact"].letters != one.scores["near"].letters) == is_shown


def test_fifths_are_compared_like_any_slice(scored: pl.DataFrame) -> None:
    found = compare_models(scored, [TWIN, BAD], by="dice")
    assert [one.items for one in found.slices] == [20] * 5 + [6] * 5
    with pytest.raises(UsageError, match="not aggregated over sources: 'wmean'"):
        compare_models(scored, [TWIN], by="dice", aggregate="wmean")


def test_p_is_corrected_over_the_differences_from_the_reference_on_all_slices(
    scored: pl.DataFrame,
) -> None:
    found = compare_models(scored, [TWIN, GOOD, BAD], by="source").slices
    alone = {
        other.name: compare_models(scored, [TWIN, other], by="source").slices
        for other in (GOOD, BAD)
    }
    p = [alone[name][place].differences[name].p for place in range(3) for name in alone]
    shown = [difference.p_holm for one in found for difference in one.differences.values()]
    assert shown == pytest.approx(holm(p), abs=1e-9)


def test_a_difference_that_hangs_on_one_topic_is_noted(make_part: Callable[..., Part]) -> None:
    """Rows that one model ranks far off, and that a chain of sentences connects."""
    part, linked = make_part("mine", {None: 40}), [0, 1, 39]
    right = np.arange(40.0)
    odd = right.copy()
    odd[linked] = odd[linked][::-1]
    chain = pl.Series(["x", "x", "y"]), pl.Series(["a", "y", "b"])
    columns = {
        f"sentence{side}": part.frame[f"sentence{side}"].scatter(linked, own)
        for side, own in enumerate(chain, 1)
    }
    frame = part.frame.with_columns(**columns, gold=right / 8)
    table = pair_table([replace(part, frame=frame)]).with_columns(odd=odd, right=right)
    found = compare_models(table, single(["right", "odd"]))
    (one,) = found.slices
    assert one.largest_topic.rows == 3
    # The other rows are in the order of the gold scores.
    assert one.largest_topic.score_without == pytest.approx(0, abs=1e-12)
    assert one.differences["odd"].topic == one.largest_topic
    assert any(note.startswith("§: one topic decides: mine odd") for note in found.remarks)


def test_a_star_reaches_as_far_as_the_seeds_of_both_models(scored: pl.DataFrame) -> None:
    published = replace(TWIN, is_published=True)
    run = ModelColumns(name="bad@1", members=("bad@1",), seeds=(1,))
    assert weakest_reach([BAD, published]) == "models"
    for weak in ([BAD, run], [published, run], [published, TWIN]):
        assert weakest_reach(weak) == "checkpoints"
    found = compare_models(scored, [published, BAD, run])
    reaches = {name: difference.reach for name, difference in found.slices[0].differences.items()}
    assert reaches == {"bad": "models", "bad@1": "checkpoints"}
    assert found.slices[0].reach == "checkpoints"
    assert any(note.startswith("this checkpoint:") for note in found.remarks)


@pytest.mark.parametrize("slicing", [Slicing(where="-@far"), Slicing(by="@far")])
def test_the_named_selections_of_what_is_picked_and_grouped_are_said(slicing: Slicing) -> None:
    store_selection("far", "dice<0.3")
    assert (slicing.meanings, WHOLE.meanings) == ({"far": "dice<0.3"}, {})
