"""Reproduced tables from stored similarities and answers are those of the runs, when the runs are
gone.
"""

import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import stored_answers
import stored_tables
from stored_reproductions import refreshed, reproduced

from embedlab.api import NotebookSession
from embedlab.commands.reproduce_plan import ReproductionOptions
from embedlab.commands.reproduce_run import reproduce_tables
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.experiments.paper_file import select_tables
from embedlab.reports.papers import Reproduction
from embedlab.runs.environment import collect_environment
from embedlab.runs.store import RunFolder
from embedlab.scoring.dev_score import dev_score
from embedlab.scoring.selection import SelectedTask
from embedlab.training.blocks import open_stages
from embedlab.training.stages import train_run
from tests.conftest import thin_out
from tests.training.small_runs import MACHINE, SAMPLE

RESULTS = Path(__file__).parents[1]
LIAO = {"SBERT baseline": "snli-ce", "allpalln-lambda0.3-SCL": "snli-supcl"}


def finished(runs: Path, name: str, seed: int) -> None:
    """Make the run NAME@SEED of the recipe NAME: an encoder with random weights that has the
    training text of the recipe.
    """
    recipe = load_recipe(name, ["data.rows=40"])
    states = [
        vars(state)
        for data in open_stages(recipe, Source(folder=TINY_FOLDER), seed)
        for state in data.states
    ]
    plain = [
        {key: dict(value) if isinstance(value, Mapping) else value for key, value in state.items()}
        for state in states
    ]
    run = RunFolder.of(runs, name, seed)
    run.write_once(
        recipe,
        collect_environment(seed=seed, device="cpu", precision="float32", threads=1, data=plain),
    )
    run.events_file.touch()
    build_random_encoder(run.model, seed=10 * seed + len(name))


def from_runs(paper: str, table: str, settings: Settings) -> Reproduction:
    options = ReproductionOptions(from_="runs")
    (found,) = reproduce_tables(
        select_tables(paper, table), options, NotebookSession(settings=settings)
    )
    return found


def rows_of(found: Reproduction) -> list[list[Any]]:
    """The rows of all its tables; a run is also evaluated on the other splits of STS-B, which none
    of its numbers is of.
    """
    others = {f"sts-benchmark {split}" for split in ("train", "dev")}
    listed, numbers, order = found.tables
    return [
        [row for row in listed.rows if row.get("what") not in others],
        [*numbers.rows],
        # No order is concluded of runs as short as these while they are there; and which texts
        # are nearly the same, a file of answers knows for its own tables alone.
        [(row["better"], row["worse"], row["printed"], row["ours"].value) for row in order.rows],
    ]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A world whose STS datasets have one in ten of their pairs."""
    thin_out(monkeypatch, 10)
    stored_tables.texts_of_pairs.cache_clear()  # other tests may have read more pairs
    return Settings(data=TINY_FOLDER, runs=tmp_path / "runs", cache=tmp_path / "cache", threads=1)


@pytest.mark.slow
def test_a_table_of_pairs_is_made_again_without_its_runs(
    settings: Settings, tmp_path: Path
) -> None:
    for name in LIAO.values():
        for seed in (1, 2):
            finished(settings.runs, name, seed)
    before = from_runs("liao", "table2", settings)
    file = tmp_path / "scores" / "liao.parquet"
    stored_tables.store(file, [*LIAO.values()], settings, fifths=False)

    shutil.rmtree(settings.runs)
    shutil.rmtree(tmp_path / "cache")
    again = reproduced(file, "liao", "table2", LIAO, settings)
    assert rows_of(again) == rows_of(before)
    assert again.row_order is not None
    assert len(again.row_order.pairs) == 1
    deviations = {str(row["what"]) for row in again.deviations.rows}
    assert {"data.rows", "seeds per number"} <= deviations
    with pytest.raises(SystemExit, match="the rows are"):
        reproduced(file, "liao", "table2", {"SBERT": "snli-ce"}, settings)

    begin, end = (
        '<!-- reproduction scores/liao.parquet liao table2 "SBERT baseline=snli-ce" -->',
        "<!-- end of reproduction -->",
    )
    page = f"Before.\n{begin}\nearlier table\n{end}\n"
    made = refreshed(page, tmp_path, settings)
    assert "earlier table" not in made
    assert "- not trained here: 3p3n-Augment" in made
    assert refreshed(made, tmp_path, settings) == made


@pytest.mark.slow
def test_a_table_of_answers_is_made_again_without_its_runs(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    settings = Settings(
        data=TINY_FOLDER, runs=tmp_path / "runs", cache=tmp_path / "cache", threads=1
    )
    rows = {"All Different": "separate", "Shared Heads": "whole"}
    for sharing in rows.values():
        changes = [
            "stages.data.rows=64",
            "stages.optim.epochs=1",
            "encoder.max_tokens=32",
            f"stage.2.objective.sharing={sharing}",
        ]
        recipe = load_recipe("multitask", changes, encoder=str(tiny_encoder))
        for seed in (1, 2):
            run = RunFolder.of(settings.runs, sharing, seed)
            train_run(recipe, SAMPLE, MACHINE, run, seed, dev_score=dev_score(SAMPLE, "sentiment"))
    file = tmp_path / "chen.parquet"
    stored_answers.store(file, [*rows.values()], [SelectedTask(task="multitask")], settings)
    before = from_runs("chen", "table3", settings)

    shutil.rmtree(settings.runs)
    again = reproduced(file, "chen", "table3", rows, settings)
    assert rows_of(again) == rows_of(before)
    assert again.row_order is not None
    (order,) = again.row_order.pairs
    assert order.ours.low < order.ours.difference < order.ours.high


PAGES = [
    path for path in sorted(RESULTS.glob("*.md")) if "<!-- reproduction " in path.read_text("utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_table_of_results_has_our_numbers_of_the_rows_that_it_names(page: Path) -> None:
    for block in page.read_text("utf-8").split("<!-- reproduction ")[1:]:
        named, _, tables = block.partition(" -->")
        rows = [text.split("=", 1)[0] for text in shlex.split(named)[3:]]
        lines = tables.partition("<!-- end of reproduction -->")[0].splitlines()
        heads = [line for line in lines if line.startswith("| ") and line.count("|") > 3]
        for row in rows:
            assert any(
                line.startswith(f"| {row} | ours |")
                or re.search(rf" {re.escape(row)}( \||, )", line)
                for line in heads
            ), f"{named}: {row}"
        assert not any(line.startswith("- fewer than two rows") for line in lines), named


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_tables_of_results_are_those_of_today(
    page: Path, shared_data: Path, tmp_path: Path
) -> None:
    settings = Settings(data=shared_data, cache=tmp_path / "cache", allow_partial=True)
    assert refreshed(page.read_text("utf-8"), page.parent, settings) == page.read_text("utf-8")
