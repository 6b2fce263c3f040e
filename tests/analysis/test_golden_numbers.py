"""Dice itself as the model on the real corpora, in all three aggregations, and the same numbers
from scipy.
"""

from pathlib import Path

import polars as pl
import pytest
import scipy.stats

from benchmarks.pair_frames import pair_outcomes, pair_table
from embedlab.analysis.evidence import ModelColumns
from embedlab.choices import Aggregate
from embedlab.comparison.comparison import Slicing, compare_outcomes
from embedlab.data.source import Source
from embedlab.outcomes.frame import join_splits
from tests.pair_tables import compare_models, correlate

AGGREGATES: tuple[Aggregate, ...] = ("all", "mean", "wmean")  # the means over sources, if any
GOLDEN = {
    "sts12": (49.14, 53.88, 54.65),
    "sts13": (50.33, 45.46, 52.50),
    "sts14": (56.22, 60.74, 61.94),
    "sts15": (69.75, 65.14, 67.26),
    "sts16": (60.03, 59.46, 60.62),
    "sts-benchmark": (56.48,),
    "sts-benchmark:dev": (65.30,),
    "sts-benchmark:train": (58.59,),
    "sick-r": (57.49,),
}


@pytest.fixture(scope="module")
def real(shared_data: Path) -> pl.DataFrame:
    source = Source(folder=shared_data, offline=True)
    return pair_table([source.open(*name.split(":")) for name in GOLDEN])


@pytest.mark.parametrize("name", GOLDEN)
def test_dice_as_the_model_gives_the_golden_numbers(name: str, real: pl.DataFrame) -> None:
    pairs = real.filter(dataset=name)
    for aggregate, golden in zip(AGGREGATES, GOLDEN[name], strict=False):
        assert 100 * correlate(pairs, "dice", aggregate) == pytest.approx(golden, abs=0.01)
    assert correlate(pairs, "dice", "all") == pytest.approx(
        scipy.stats.spearmanr(pairs["gold"], pairs["dice"]).statistic
    )


def test_averages_and_fifths_of_the_real_corpora(real: pl.DataFrame) -> None:
    dice = [ModelColumns(name="dice", members=("dice",))]
    by_dataset = {one.key: one.scores["dice"].value for one in compare_models(real, dice).slices}
    assert 100 * by_dataset["sts12-16"] == pytest.approx(57.1, abs=0.05)
    assert 100 * by_dataset["average of seven"] == pytest.approx(
        sum(GOLDEN[name][0] for name in GOLDEN if ":" not in name) / 7, abs=0.01
    )
    fifths = [
        one
        for one in compare_outcomes(
            join_splits(pair_outcomes(real, ["dice"], task="sts", averages={})),
            dice,
            Slicing(by="dice"),
        ).slices
        if one.key.startswith("sts-benchmark (all splits)/")
    ]
    assert [one.items for one in fifths] == [1726, 1726, 1726, 1725, 1725]
    assert [int(one.notes[0].split()[0]) for one in fifths[:4]] == [186, 487, 259, 194]
