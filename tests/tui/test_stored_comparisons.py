"""Comparisons are stored between starts, by everything that decides their numbers; scores are shown
before intervals.
"""

from dataclasses import replace
from math import isnan
from pathlib import Path

import polars as pl
import pytest

from embedlab.comparison import stored_comparisons
from embedlab.comparison.comparison import Comparison
from embedlab.comparison.stored_comparisons import COMPARISONS
from embedlab.core.settings import Settings
from embedlab.tui.compare import model
from embedlab.tui.compare.model import ComparisonRequest, SlicedComparison, compare_slices
from embedlab.tui.pair_table.data import PairData, load_pairs, with_models
from embedlab.tui.stored_models import stored_models

REQUEST = ComparisonRequest(by="dataset", aggregate="all", reference="near")


@pytest.fixture(scope="module")
def data(world: Settings) -> PairData:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("embedlab.data.pair_parts.shipped_names", lambda _kind: ["sts12", "sick-r"])
        return with_models(load_pairs(world), stored_models(world)[0])


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Comparison]:
    """The comparisons that are computed from now on."""
    found: list[Comparison] = []
    compute = model.compare_outcomes

    def compare(*arguments: object, **options: object) -> Comparison:
        found.append(compute(*arguments, **options))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(model, "compare_outcomes", compare)
    return found


def test_the_same_comparison_is_read_and_not_computed_again(
    data: PairData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = counted(monkeypatch)
    first, second = (compare_slices(data, REQUEST, cache=tmp_path) for _ in range(2))
    assert len(computed) == 1
    assert repr(second.comparison) == repr(first.comparison)
    assert {key: rows.tolist() for key, rows in second.rows.items()} == {
        key: rows.tolist() for key, rows in first.rows.items()
    }
    (file,) = tmp_path.glob("comparisons/*.json")

    file.write_bytes(file.read_bytes().replace(b"0.9", b"0.8"))
    damaged = compare_slices(data, REQUEST, cache=tmp_path)
    assert len(computed) == 2
    assert repr(damaged.comparison) == repr(first.comparison)
    file.write_text("{}")
    compare_slices(data, REQUEST, cache=tmp_path)
    file.unlink()
    compare_slices(data, REQUEST, cache=tmp_path)
    assert len(computed) == 4


def test_anything_that_decides_a_number_makes_it_another_comparison(
    data: PairData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = counted(monkeypatch)
    places = pl.arange(pl.len())
    for column, value in (
        ("near@1", 0.123),
        ("gold", 1.0),
        ("source", "other"),
        ("dice", None),
        ("pair_key", 7),
    ):
        table = data.table.with_columns(
            pl.when(places == 3)
            .then(pl.lit(value))
            .otherwise(pl.col(column))
            .cast(data.table.schema[column])
            .alias(column)
        )
        compare_slices(replace(data, table=table), REQUEST, cache=tmp_path)
    compare_slices(data, replace(REQUEST, reference="far"), cache=tmp_path)
    compare_slices(replace(data, models=data.models[:2]), REQUEST, cache=tmp_path)
    published = [
        replace(one, is_published=True) for one in data.models
    ]  # it decides how far letters reach
    compare_slices(replace(data, models=tuple(published)), REQUEST, cache=tmp_path)
    monkeypatch.setattr(stored_comparisons, "COMPARISON_METHOD", "another")
    compare_slices(data, REQUEST, cache=tmp_path)
    assert len(computed) == 9
    monkeypatch.setattr(model, "COMPARISONS", replace(COMPARISONS, most_entries=3))
    compare_slices(data, replace(REQUEST, reference="published"), cache=tmp_path)
    assert len(list(tmp_path.glob("comparisons/*.json"))) == 3
    (tmp_path / "file").touch()
    assert repr(compare_slices(data, REQUEST, cache=tmp_path / "file").comparison) == repr(
        computed[-1]
    )  # a disk that refuses


def test_scores_come_first_and_intervals_from_the_top(
    data: PairData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "PREVIEW_EVERY_S", 0.0)
    previews: list[SlicedComparison] = []
    found = compare_slices(data, REQUEST, preview=previews.append)

    def known(shown: SlicedComparison) -> list[bool]:
        return [not isnan(one.scores["near"].low) for one in shown.comparison.slices]

    assert [known(shown) for shown in previews] == [[False, False], [True, False]]
    assert previews[-1].comparison.slices[0].sentences == found.comparison.slices[0].sentences > 0
    for shown in previews:
        values = [[score.value for score in one.scores.values()] for one in shown.comparison.slices]
        assert values == [
            [score.value for score in one.scores.values()] for one in found.comparison.slices
        ]
        assert shown.rows.keys() == found.rows.keys()
