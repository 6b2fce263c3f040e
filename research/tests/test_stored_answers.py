"""Tables from stored answers are those of the comparison of the models, when the models are
gone.
"""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from stored_answers import ShownRows, add, refreshed, shown, store

from embedlab.api import NotebookSession
from embedlab.commands.compare import CompareOptions, compare
from embedlab.commands.data import ItemsOptions, items
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.scoring.selection import SelectedTask

RESULTS = Path(__file__).parents[1]


def test_a_table_of_brought_answers_is_made_again_without_them(tmp_path: Path) -> None:
    settings = Settings(data=TINY_FOLDER, cache=tmp_path / "cache", threads=1)
    session = NotebookSession(settings=settings)
    listed = items(ItemsOptions(names=["sentiment"]), session).frame
    other = dict(
        zip(labels := sorted(listed["label"].unique()), [*labels[1:], labels[0]], strict=True)
    )
    wrong = pl.when(pl.col("item") % 3 == 0).then(pl.col("label").replace(other)).otherwise("label")
    names = []
    for name, prediction in (("good", pl.col("label")), ("fair", wrong)):
        listed.select("dataset", "item", prediction=prediction).write_csv(tmp_path / f"{name}.csv")
        names.append(f"items:{tmp_path / name}.csv")
    (table,) = compare(
        CompareOptions(models=names, suites=["multitask"]), NotebookSession(settings=settings)
    ).tables
    before = replace(table, is_signed=True, has_all_notes=True).to_markdown()

    file = tmp_path / "answers.parquet"
    store(file, names, [SelectedTask(task="multitask")], settings)
    for name in ("good", "fair"):
        (tmp_path / f"{name}.csv").unlink()
    assert "sentiment" in before
    assert shown(file, is_signed=True, has_all_notes=True) == before
    alone = shown(file, names[1:], is_signed=False, has_all_notes=False)
    assert names[1] in alone
    assert names[0] not in alone
    with pytest.raises(SystemExit, match="no model 'other'"):
        shown(file, ["other"], is_signed=False, has_all_notes=False)
    page = (
        "Before.\n<!-- answers answers.parquet --signature --notes -->\nold\n<!-- end of "
        "answers -->\nAfter.\n"
    )
    made = refreshed(page, tmp_path)
    assert made == page.replace("old\n", f"\n{before}\n")
    assert refreshed(made, tmp_path) == made
    assert not {"sentence", "sentence1", "text"} & set(pl.read_parquet(file).columns)


def test_a_table_by_a_property_is_made_again_without_the_sentences(tmp_path: Path) -> None:
    settings = Settings(data=TINY_FOLDER, cache=tmp_path / "cache", threads=1)
    (tmp_path / "words.txt").write_text(
        "the 1 0 2\nis 0.5 1 1\nnot -1 0 1\nman 0 1 0\na 0.1 0.2 0.1\n"
    )
    names = ["dice", f"word-vectors:{tmp_path / 'words.txt'}"]
    session, tasks = (
        NotebookSession(settings=settings),
        ["contrast-snli", "contrast-counterfactual"],
    )
    (table,) = compare(CompareOptions(models=names, tasks=tasks, by="phenomenon"), session).tables

    file = tmp_path / "answers.parquet"
    store(
        file, names, [SelectedTask(task="contrast", names=tuple(tasks))], settings, ["phenomenon"]
    )
    (tmp_path / "words.txt").unlink()
    again = shown(file, (), ShownRows(by="phenomenon"), is_signed=False, has_all_notes=True)
    assert "negation" in again
    assert "margin" in again
    assert again == replace(table, is_signed=False, has_all_notes=True).to_markdown()
    one = shown(
        file,
        (),
        ShownRows(by="phenomenon", datasets=("contrast-snli",), measure="entailed closer"),
        is_signed=False,
        has_all_notes=True,
    )
    assert "contrast-counterfactual" not in one
    assert "margin" not in one
    with pytest.raises(SystemExit, match="no property 'negation' of its items; it has phenomenon"):
        shown(file, (), ShownRows(by="negation"), is_signed=False, has_all_notes=False)
    assert not {"sentence1", "sentence2", "contradicted"} & set(pl.read_parquet(file).columns)


def test_models_of_another_file_are_added_as_if_both_had_been_stored_together(
    tmp_path: Path,
) -> None:
    settings = Settings(data=TINY_FOLDER, cache=tmp_path / "cache", threads=1)
    (tmp_path / "words.txt").write_text(
        "the 1 0 2\nis 0.5 1 1\nnot -1 0 1\nman 0 1 0\na 0.1 0.2 0.1\n"
    )
    names, tasks = (
        ["dice", f"word-vectors:{tmp_path / 'words.txt'}"],
        [SelectedTask(task="contrast", names=("contrast-snli",))],
    )
    whole, first, second, fewer = (
        tmp_path / f"{name}.parquet" for name in ("whole", "first", "second", "fewer")
    )
    store(whole, names, tasks, settings, ["phenomenon"])
    store(first, names[:1], tasks, settings, ["phenomenon"])
    store(second, names[1:], tasks, settings, ["phenomenon"])
    store(fewer, names[1:], tasks, settings)

    with pytest.raises(SystemExit, match="other properties than"):
        add(first, [fewer])
    add(first, [second])
    for by in ("dataset", "phenomenon"):
        tables = [
            shown(file, (), ShownRows(by=by), is_signed=True, has_all_notes=True)
            for file in (first, whole)
        ]
        assert tables[0] == tables[1]
    with pytest.raises(SystemExit, match="has 'word-vectors:"):
        add(first, [second])


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [path for path in sorted(RESULTS.glob("*.md")) if "<!-- answers " in path.read_text("utf-8")],
    ids=lambda path: path.stem,
)
def test_the_tables_of_results_are_those_of_today(page: Path) -> None:
    assert refreshed(page.read_text("utf-8"), page.parent) == page.read_text("utf-8")
