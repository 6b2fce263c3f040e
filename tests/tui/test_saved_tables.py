"""Cached pair tables are equal to newly read ones, and are not used after a file changed."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from embedlab.core.settings import Settings
from embedlab.tui.pair_table.data import PairData, load_pairs, with_models
from embedlab.tui.pair_table.saved_tables import cache_file, open_pairs, read_cached, store
from embedlab.tui.stored_models import StoredModel, stored_models
from tests.tui.driving import write_scores


def write_benchmark(folder: Path, split: str, rows: int) -> Path:
    """So many pairs in the layout of STS Benchmark."""
    path = folder / "STS" / "STSBenchmark" / f"sts-{split}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        f"captions\tMSRvid\t2012\t{row}\t{row % 6}\ta man rides horse {row}\tsomebody rides {row}\n"
        for row in range(rows)
    )
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A data folder with STS Benchmark's test split and a scored model."""
    monkeypatch.setattr("embedlab.data.pair_parts.shipped_names", lambda _kind: ["sts-benchmark"])
    write_benchmark(tmp_path / "data", "test", 40)
    settings = Settings(
        data=tmp_path / "data", cache=tmp_path / "cache", runs=tmp_path / "runs", allow_partial=True
    )
    for seed in (1, 2):
        write_scores(
            load_pairs(settings).table,
            settings.runs / "near" / f"seed-{seed}" / "scores.parquet",
            noise=0.1,
            seed=seed,
        )
    return settings


def models_of(settings: Settings) -> list[StoredModel]:
    return stored_models(settings)[0]


def assert_same(found: PairData | None, made: PairData) -> None:
    assert found is not None
    assert_frame_equal(found.table, made.table)
    assert (found.gold_ranges, found.models, found.marks, found.missing) == (
        made.gold_ranges,
        made.models,
        made.marks,
        made.missing,
    )


def test_a_cached_table_is_the_one_that_was_stored(settings: Settings) -> None:
    models = models_of(settings)
    made = with_models(load_pairs(settings), models)
    store(made, cache_file(settings, models), settings)
    assert_same(read_cached(cache_file(settings, models)), made)
    assert_same(open_pairs(settings), load_pairs(settings))


def test_a_dataset_that_comes_or_changes_is_seen(settings: Settings, tmp_path: Path) -> None:
    before = open_pairs(settings)
    assert read_cached(cache_file(settings)) is not None
    file = write_benchmark(tmp_path / "data", "dev", 10)
    assert read_cached(cache_file(settings)) is None
    after = open_pairs(settings)
    assert after.datasets != before.datasets
    os.utime(file, ns=(1, 1))
    assert read_cached(cache_file(settings)) is None


def test_a_model_that_is_scored_again_or_by_other_seeds_has_another_table(
    settings: Settings,
) -> None:
    models = models_of(settings)
    before = cache_file(settings, models)
    write_scores(
        load_pairs(settings).table,
        settings.runs / "near" / "seed-2" / "scores.parquet",
        noise=0.2,
        seed=9,
    )
    again = cache_file(settings, models)
    write_scores(
        load_pairs(settings).table,
        settings.runs / "near" / "seed-3" / "scores.parquet",
        noise=0.2,
        seed=9,
    )
    assert (
        len({before, again, cache_file(settings, models_of(settings)), cache_file(settings)}) == 4
    )


@pytest.mark.parametrize("damage", [b"", b"PAR1 nothing", None])
def test_a_damaged_table_is_made_anew(settings: Settings, damage: bytes | None) -> None:
    made = open_pairs(settings)
    path = cache_file(settings)
    path.write_bytes(path.read_bytes()[:-200] if damage is None else damage)
    assert read_cached(path) is None
    assert_same(open_pairs(settings), made)
    assert read_cached(path) is not None


def test_a_parquet_file_of_someone_else_is_not_a_table(settings: Settings) -> None:
    path = cache_file(settings)
    path.parent.mkdir(parents=True)
    pl.DataFrame({"a": np.arange(3)}).write_parquet(path)
    assert read_cached(path) is None


def test_only_a_few_tables_remain(settings: Settings) -> None:
    made = open_pairs(settings)
    folder = cache_file(settings).parent
    for number in range(8):
        store(made, folder / f"{number}.parquet", settings)
    assert sorted(path.name for path in folder.glob("*.parquet")) == [
        f"{number}.parquet" for number in (4, 5, 6, 7)
    ]
