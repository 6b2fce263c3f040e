from collections.abc import Callable

import polars as pl
import pytest
import scipy.stats

from embedlab.analysis.evidence import ModelColumns
from embedlab.analysis.rank_errors import with_rank_errors


def points(values: pl.Series) -> list[float]:
    return [100 * (rank - 0.5) / len(values) for rank in scipy.stats.rankdata(values)]


def test_rank_errors_and_gap_equal_a_loop_within_each_dataset(
    table: pl.DataFrame, add_model: Callable[..., pl.DataFrame]
) -> None:
    table = add_model(
        add_model(add_model(table, "a@1", 1, 1), "a@2", 1, 2), "b", 3, 3
    ).with_columns(pl.col("b").round(0))
    found = with_rank_errors(
        table,
        [ModelColumns(name="a", members=("a@1", "a@2")), ModelColumns(name="b", members=("b",))],
    )
    assert found["a"].to_list() == pytest.approx(((table["a@1"] + table["a@2"]) / 2).to_list())
    for part in found.partition_by("dataset"):
        a, b, gold = points(part["a"]), points(part["b"]), points(part["gold"])
        assert part["error(a)"].to_list() == pytest.approx(
            [x - y for x, y in zip(a, gold, strict=True)]
        )
        assert part["error(b)"].to_list() == pytest.approx(
            [x - y for x, y in zip(b, gold, strict=True)]
        )
        assert part["gap"].to_list() == pytest.approx(
            [abs(x - y) for x, y in zip(a, b, strict=True)]
        )
        assert part["error(a)"].is_between(-100, 100).all()


def test_an_unscored_pair_has_no_rank_error_and_the_others_are_ranked_among_themselves(
    table: pl.DataFrame, add_model: Callable[..., pl.DataFrame]
) -> None:
    table = add_model(table, "a", 1, 1).with_columns(
        pl.when(pl.col("pair") > 0).then("a").alias("a")
    )
    found = with_rank_errors(table, [ModelColumns(name="a", members=("a",))]).filter(dataset="mine")
    assert found["error(a)"][0] is None
    assert found["error(a)"][1:].to_list() == pytest.approx(
        [x - y for x, y in zip(points(found["a"][1:]), points(found["gold"][1:]), strict=True)]
    )


def test_a_model_that_agrees_with_gold_has_no_error_whichever_pairs_it_scored(
    table: pl.DataFrame,
) -> None:
    """The twelve pairs of the highest gold scores are no worse ranked among themselves than all
    pairs are.
    """
    best = pl.col("gold").rank("ordinal", descending=True).over("dataset") <= 12
    found = with_rank_errors(
        table.with_columns(a=pl.when(best).then("gold")), [ModelColumns(name="a", members=("a",))]
    )
    assert found["error(a)"].drop_nulls().unique().to_list() == [0.0]
    assert found["error(a)"].count() == 12 * found["dataset"].n_unique()


def test_a_gap_is_between_models_that_score_the_dataset_on_the_pairs_of_all_of_them(
    table: pl.DataFrame, add_model: Callable[..., pl.DataFrame]
) -> None:
    is_mine = pl.col("dataset") == "mine"
    table = add_model(add_model(add_model(table, "a", 1, 1), "b", 1, 2), "c", 1, 3).with_columns(
        pl.when(is_mine | (pl.col("pair") > 4)).then("b").alias("b"),
        pl.when(is_mine & (pl.col("pair") > 2)).then("c").alias("c"),
    )
    found = with_rank_errors(table, [ModelColumns(name=name, members=(name,)) for name in "abc"])
    for part in found.partition_by("dataset"):
        is_of_three = part["dataset"][0] == "mine"
        left = part.filter(pl.col("pair") > (2 if is_of_three else 4))
        ranks = [points(left[name]) for name in ("abc" if is_of_three else "ab")]
        assert left["gap"].to_list() == pytest.approx(
            [max(own) - min(own) for own in zip(*ranks, strict=True)]
        )
        assert part["gap"].null_count() == part.height - left.height
    alone = with_rank_errors(
        table.with_columns(b=pl.lit(None, pl.Float64)),
        [ModelColumns(name=name, members=(name,)) for name in "ab"],
    )
    assert alone["gap"].count() == 0  # one of two models alone differs from nothing


def test_a_single_model_has_no_gap(
    table: pl.DataFrame, add_model: Callable[..., pl.DataFrame]
) -> None:
    found = with_rank_errors(add_model(table, "a", 1, 1), [ModelColumns(name="a", members=("a",))])
    assert found["gap"].unique().to_list() == [0.0]
