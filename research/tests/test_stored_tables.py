"""Tables from stored similarities are those of the comparison of the models, when the models are
gone.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from stored_runs import UNTRAINED
from stored_tables import (
    FIFTHS,
    NAMES,
    parser_of_tables,
    refreshed,
    score_all,
    shown,
    store,
    stored_pairs,
    texts_of_pairs,
    unseen_pairs,
)

from embedlab.analysis.overlap import dice_of_rows
from embedlab.api import NotebookSession
from embedlab.choices import By
from embedlab.commands.compare import CompareOptions, compare
from embedlab.commands.reproduce import reproduce
from embedlab.commands.reproduce_plan import ReproductionOptions
from embedlab.comparison.comparison import Slicing
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.reports.scores import comparison_table
from embedlab.runs.environment import collect_environment
from embedlab.runs.outcomes import SENTENCES
from embedlab.runs.store import RunFolder
from embedlab.training.blocks import open_stages
from tests.conftest import thin_out

RESULTS = Path(__file__).parents[1]


def finished(runs: Path, seed: int, changes: Sequence[str] = ("data.rows=40",)) -> None:
    """Make the run mine@SEED: an encoder with random weights that has the training text of a
    recipe.
    """
    recipe = load_recipe("snli-ce", changes)
    states = [
        vars(state)
        for data in open_stages(recipe, Source(folder=TINY_FOLDER), seed)
        for state in data.states
    ]
    plain = [
        {key: dict(value) if isinstance(value, Mapping) else value for key, value in state.items()}
        for state in states
    ]
    run = RunFolder.of(runs, "mine", seed)
    run.write_once(
        recipe,
        collect_environment(seed=seed, device="cpu", precision="float32", threads=1, data=plain),
    )
    run.events_file.touch()
    build_random_encoder(run.model, seed=seed)


def compared(settings: Settings, models: list[str], by: By) -> str:
    if by == "dice":  # of all splits, as in the paper's figure
        table = comparison_table(score_all(models, settings, NAMES[FIFTHS]).compare(Slicing(by=by)))
    else:
        (table,) = compare(
            CompareOptions(models=models, by=by), NotebookSession(settings=settings)
        ).tables
    return replace(table, is_signed=True, has_all_notes=True).to_markdown()


def brought_scores(settings: Settings, folder: Path) -> Path:
    """A file of similarities that another program wrote: near the gold scores."""
    parts = texts_of_pairs(settings, fifths=False).parts
    table = pl.concat([part.frame.select(*SENTENCES, "gold") for part in parts])
    table = table.unique(SENTENCES, maintain_order=True)
    brought = folder / "brought.csv"
    cosine = (pl.col("gold") / 5 + dice_of_rows(*table[SENTENCES])).round(4)  # stored in float32
    table.select(*SENTENCES, cosine=cosine).write_csv(brought)
    return brought


def again(file: Path, models: list[str], by: By, settings: Settings) -> str:
    return shown(
        parser_of_tables().parse_args([str(file), *models, "--by", by, "--signature", "--notes"]),
        settings,
    )


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A world whose STS datasets have one in fifty of their pairs."""
    thin_out(monkeypatch, 50)
    texts_of_pairs.cache_clear()  # other tests may have read more pairs
    return Settings(data=TINY_FOLDER, runs=tmp_path / "runs", cache=tmp_path / "cache", threads=1)


def test_a_table_of_brought_scores_is_made_again_without_them(
    settings: Settings, tmp_path: Path
) -> None:
    brought = brought_scores(settings, tmp_path)
    file, models = tmp_path / "page" / "scores" / "mine.parquet", [f"scores:{brought}", "dice"]
    before = compared(settings, models, "dataset")
    store(file, models, settings, fifths=False)
    assert pl.read_parquet(file).schema == {"pair_key": pl.UInt64, models[0]: pl.Float32}

    brought.unlink()
    shutil.rmtree(tmp_path / "cache")
    assert again(file, models, "dataset", settings) == before
    page = (
        f"Before.\n<!-- table scores/mine.parquet dice {models[0]} -->\nold\n<!-- end of "
        f"table -->\nAfter.\n"
    )
    made = refreshed(page, file.parents[1], settings)
    assert "old" not in made
    assert " − dice" in made
    assert refreshed(made, file.parents[1], settings) == made
    with pytest.raises(SystemExit, match="no model 'other'; it has scores:"):
        again(file, ["other"], "dataset", settings)


@pytest.mark.slow
def test_a_table_of_runs_is_made_again_without_their_weights(
    settings: Settings, tmp_path: Path
) -> None:
    for seed in (1, 2):
        finished(settings.runs, seed)
    file, models = tmp_path / "mine.parquet", ["mine", "dice"]
    before = {by: compared(settings, models, by) for by in ("dataset", "source", "dice")}
    store(file, models, settings, fifths=True)
    assert pl.read_parquet(file).schema == {
        "pair_key": pl.UInt64,
        "mine@1": pl.Float32,
        "mine@2": pl.Float32,
    }

    shutil.rmtree(settings.runs)
    shutil.rmtree(tmp_path / "cache")
    for by, table in before.items():
        assert "mean of 2 seeds" in table
        assert again(file, models, by, settings) == table


@pytest.mark.slow
def test_a_table_of_unseen_pairs_has_the_numbers_that_compare_has_with_the_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thin_out(monkeypatch, 4)  # enough that some are in the training text
    texts_of_pairs.cache_clear()
    settings = Settings(
        data=TINY_FOLDER, runs=tmp_path / "runs", cache=tmp_path / "cache", threads=1
    )
    for seed in (1, 2):
        finished(settings.runs, seed, changes=())
    file, models, session = (
        tmp_path / "mine.parquet",
        ["mine", "dice"],
        NotebookSession(settings=settings),
    )
    (before,) = compare(
        CompareOptions(models=models, unseen=True, aggregate="wmean"), session
    ).tables
    rows = ("SBERT baseline=mine", "allpalln-lambda0.3-SCL=dice")
    options = ReproductionOptions(
        paper="liao", table="table2", from_="scores", models=rows, unseen=True
    )
    reproduced = {
        row["column"]: row["ours"]
        for row in reproduce(options, session).frame.iter_rows(named=True)
        if row["seeds"] == 2
    }
    store(file, models, settings, fifths=False)
    shutil.rmtree(settings.runs)

    arguments = [str(file), *models, "--aggregate", "wmean"]
    unseen, whole = (
        shown(parser_of_tables().parse_args([*arguments, *more]), settings)
        for more in (["--unseen"], [])
    )
    assert numbers_in(unseen) == [
        line for line in numbers_in(before.to_markdown()) if " rest | " not in line
    ]
    assert numbers_in(unseen) != numbers_in(whole)
    for line in numbers_in(unseen)[:5]:
        dataset, _, mine = (cell.strip() for cell in line.split("|")[1:4])
        assert f"{reproduced[dataset.upper()]:.2f}" == mine.split()[0]
    pairs = stored_pairs(file, models, settings, "dataset")
    assert (
        f"{unseen_pairs(pairs, settings)[0].pairs.rows.height} of {pairs.pairs.rows.height} pairs: no "
        f"model of the table was trained on" in unseen
    )
    stored = {name: replace(member, training=UNTRAINED) for name, member in pairs.stored.items()}
    with pytest.raises(SystemExit, match="how mine was trained is not stored"):
        unseen_pairs(replace(pairs, stored=stored), settings)


def numbers_in(table: str) -> list[str]:
    """The rows of datasets in Markdown without intervals, in which topics count that more pairs
    make.
    """
    return [
        line.partition(" [")[0]
        for line in table.splitlines()
        if line.startswith(("| sts", "| sick"))
    ]


@pytest.mark.slow
def test_a_stored_table_grows_by_models_and_by_seeds_whose_others_are_gone(
    settings: Settings, tmp_path: Path
) -> None:
    for seed in (1, 2):
        finished(settings.runs, seed)
    before = compared(settings, ["mine", "dice"], "dataset")
    whole, file = tmp_path / "whole.parquet", tmp_path / "grown.parquet"
    store(whole, ["mine", "dice"], settings, fifths=False)
    later = settings.runs / "mine" / "seed-2"
    later.rename(tmp_path / "seed-2")
    store(file, ["mine"], settings, fifths=False)
    shutil.rmtree(settings.runs / "mine" / "seed-1")
    (tmp_path / "seed-2").rename(later)
    store(file, ["mine", "dice"], settings, fifths=False)

    assert pl.read_parquet(file).equals(pl.read_parquet(whole))
    shutil.rmtree(settings.runs)
    assert again(file, ["mine", "dice"], "dataset", settings) == before
    with pytest.raises(SystemExit, match="with or without --fifths"):
        store(file, ["dice"], settings, fifths=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [path for path in sorted(RESULTS.glob("*.md")) if "<!-- table " in path.read_text("utf-8")],
    ids=lambda path: path.stem,
)
def test_the_tables_of_results_are_those_of_today(
    page: Path, shared_data: Path, tmp_path: Path
) -> None:
    settings = Settings(data=shared_data, cache=tmp_path / "cache", allow_partial=True)
    assert refreshed(page.read_text("utf-8"), page.parent, settings) == page.read_text("utf-8")
