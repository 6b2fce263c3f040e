"""Short tables of scores from stored answers and similarities: means and deviations of seeds, and
the rule of the largest class.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from stored_answers import FACTS, LARGEST, shown, store, stored_answers, stored_comparison
from stored_runs import cosines_of
from stored_scores import column_of, refreshed, scores_table

from embedlab.api import NotebookSession
from embedlab.commands.data import ItemsOptions, items
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.runs.events import Event, EventLog, Step, VectorSpread
from embedlab.runs.store import RunFolder
from embedlab.scoring.selection import SelectedTask

RESULTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the answers of three models to the items of `--data tiny`: all right, and
    two that are wrong now and then.
    """
    folder = tmp_path_factory.mktemp("scores")
    settings = Settings(data=TINY_FOLDER, cache=folder / "cache", threads=1)
    session = NotebookSession(settings=settings)
    listed = items(ItemsOptions(names=["sentiment"]), session).frame
    other = dict(
        zip(labels := sorted(listed["label"].unique()), [*labels[1:], labels[0]], strict=True)
    )
    names = []
    for name, every in (("good", 10**6), ("fair", 3), ("poor", 2)):
        wrong = (
            pl.when(pl.col("item") % every == every - 1)
            .then(pl.col("label").replace(other))
            .otherwise("label")
        )
        listed.select("dataset", "item", prediction=wrong).write_csv(folder / f"{name}.csv")
        names.append(f"{name}=items:{folder / name}.csv")
    from embedlab.commands.options import take_aliases

    store(
        folder / "answers.parquet", take_aliases(names), [SelectedTask(task="multitask")], settings
    )
    return folder


def rows_of(table: str) -> dict[str, list[str]]:
    """The cells of each row of a table in Markdown, by the first."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    return {row[0]: row[1:] for row in [cells[0], *cells[2:]]}


def accuracies(file: Path) -> dict[str, float]:
    """The share of right answers of each member, counted from the items themselves, x 100."""
    items = pl.read_parquet(file)
    right = items.group_by("member").agg(pl.col("gold").eq(pl.col("predicted")).mean() * 100)
    return dict(right.iter_rows())


def test_a_score_of_several_seeds_is_their_mean_with_their_deviation(folder: Path) -> None:
    file, known = folder / "answers.parquet", accuracies(folder / "answers.parquet")
    columns = [
        column_of("first=answers.parquet:sentiment", folder),
        column_of("second=answers.parquet:sentiment", folder),
    ]
    found = rows_of(
        scores_table(
            columns,
            ["all=good", "two=fair+poor|-", "swap=fair|poor"],
            Settings(),
            items=True,
            difference="d",
        )
    )
    assert found[""] == ["first", "second", "d"]
    count = pl.read_parquet(file)["item"].n_unique()
    assert found["items"] == [f"{count:,}", f"{count:,}", "–"]
    assert found["all"] == ["100.00", "100.00", "+0.00"]
    two = [known["fair"], known["poor"]]
    assert found["two"] == [f"{np.mean(two):.2f} ± {np.std(two, ddof=1):.2f}", "–", "–"]
    assert found["swap"] == [
        f"{known['fair']:.2f}",
        f"{known['poor']:.2f}",
        f"{known['poor'] - known['fair']:+.2f}",
    ]


def test_the_largest_class_is_right_on_the_items_that_have_it(folder: Path) -> None:
    file = folder / "answers.parquet"
    gold = pl.read_parquet(file).filter(member="good")["gold"]
    share = 100 * gold.value_counts()["count"].max() / len(gold)  # type: ignore[operator]
    columns = [column_of("accuracy=answers.parquet:sentiment", folder)]
    assert rows_of(scores_table(columns, [f"rule={LARGEST}"], Settings(), items=False))["rule"] == [
        f"{share:.2f}"
    ]
    compared = shown(file, ["good", LARGEST], is_signed=False, has_all_notes=False)
    assert f"| {share:.2f}" in compared
    assert LARGEST not in shown(file, is_signed=False, has_all_notes=False)
    stored, items = stored_answers(file, [LARGEST])
    assert items.filter(member=LARGEST)["predicted"].n_unique() == 1
    assert next(
        model for model in stored.models if model.name == LARGEST
    ).is_published  # a rule: no other draw of it exists


def test_wrong_descriptions_are_refused(folder: Path) -> None:
    column = column_of("accuracy=answers.parquet:sentiment", folder)
    with pytest.raises(SystemExit, match="'often' is none of"):
        column_of("accuracy=answers.parquet:sentiment:often", folder)
    with pytest.raises(SystemExit, match="has 2 models for 1 columns"):
        scores_table([column], ["x=good|fair"], Settings(), items=False)
    with pytest.raises(SystemExit, match="no model 'none'"):
        scores_table([column], ["x=none"], Settings(), items=False)
    with pytest.raises(SystemExit, match="no mean cosine of 'good' is stored"):
        scores_table([replace(column, slice="mean cosine")], ["x=good"], Settings(), items=False)


def write_events(run: RunFolder, *written: Event) -> None:
    """Replace the events of RUN."""
    run.events_file.unlink(missing_ok=True)
    with EventLog(run.events_file) as log:
        for event in written:
            log.append(event)


def test_mean_cosines_are_those_before_the_training_and_of_its_last_measurement(
    folder: Path, tmp_path: Path
) -> None:
    run = RunFolder.of(tmp_path, "run", 1)
    run.path.mkdir(parents=True)
    step = Step(
        stage=0,
        epoch=0.5,
        step=1,
        steps=2,
        loss=1.0,
        lr=1.0,
        rows_per_s=1.0,
        eta_s=0.0,
        memory_mib=1.0,
    )
    write_events(run, step)
    assert cosines_of(run) is None
    spreads = [
        VectorSpread(step=number, stage=0, mean_cosine=cosine, before=0.5, chance=4.0)
        for number, cosine in ((1, 0.6), (2, 0.75))
    ]
    write_events(run, spreads[0], step, spreads[1])
    assert cosines_of(run) == (0.5, 0.75)
    write_events(run, *(replace(spread, before=float("nan")) for spread in spreads))
    assert cosines_of(run) == (None, 0.75)  # a resumed run of an earlier version did not know it

    items, facts = (
        pl.read_parquet(folder / "answers.parquet"),
        pl.read_parquet_metadata(folder / "answers.parquet")[FACTS],
    )
    trained = facts.replace('"cosines": null', '"cosines": [0.5, 0.75]')
    items.write_parquet(tmp_path / "answers.parquet", metadata={FACTS: trained})
    assert stored_comparison(tmp_path / "answers.parquet") != stored_comparison(
        folder / "answers.parquet"
    )
    columns = [
        column_of(f"{title}=answers.parquet:{title}", tmp_path)
        for title in ("mean cosine before", "mean cosine")
    ]
    page = "<!-- scores {} -->\nold\n<!-- end of scores -->\n".format(
        '--column "a=answers.parquet:mean cosine before" --column "b=answers.parquet:mean '
        'cosine" --row x=good'
    )
    table = scores_table(columns, ["x=good"], Settings(), items=True)
    assert rows_of(table) == {
        "": ["mean cosine before", "mean cosine"],
        "items": ["–", "–"],
        "x": ["0.500", "0.750"],
    }
    assert rows_of(refreshed(page, tmp_path, Settings()).split("\n\n")[1])["x"] == [
        "0.500",
        "0.750",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [path for path in sorted(RESULTS.glob("*.md")) if "<!-- scores " in path.read_text("utf-8")],
    ids=lambda path: path.stem,
)
def test_the_short_tables_of_results_are_those_of_today(page: Path, shared_data: Path) -> None:
    settings = Settings(data=shared_data, allow_partial=True, threads=1)
    assert refreshed(page.read_text("utf-8"), page.parent, settings) == page.read_text("utf-8")
