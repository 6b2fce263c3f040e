"""Classes that another program predicted, item by item, next to models of embedlab."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import embedlab
from embedlab.api import NotebookSession
from embedlab.commands.data import ItemsOptions, items
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings

SAMPLE: dict[str, Any] = {"data": "tiny"}


def listed(*names: str) -> pl.DataFrame:
    """The items of `--data tiny`'s datasets, as the command lists them."""
    return items(
        ItemsOptions(names=names), NotebookSession(settings=Settings(data=TINY_FOLDER))
    ).frame


def predicted(path: Path, *names: str, wrong: int = 0, name: str = "prediction") -> Path:
    """A file of predictions, of which the first WRONG of each dataset are not the label."""
    items = listed(*names)
    other = {
        own: dict(zip(labels, [*labels[1:], labels[0]], strict=True))
        for own, labels in _labels(items).items()
    }
    rows = [
        {
            "dataset": row["dataset"],
            "item": row["item"],
            name: other[row["dataset"]][row["label"]] if row["item"] < wrong else row["label"],
        }
        for row in items.iter_rows(named=True)
    ]
    table = pl.DataFrame(rows)
    {".csv": table.write_csv, ".jsonl": table.write_ndjson, ".parquet": table.write_parquet}[
        path.suffix
    ](path)
    return path


def _labels(items: pl.DataFrame) -> dict[str, list[str]]:
    return {name: sorted(own["label"].unique()) for (name,), own in items.group_by("dataset")}


def test_items_are_listed_by_their_row_in_the_scored_split() -> None:
    found = listed("trec", "mrpc", "glue-mnli", "sentiment")
    trec = found.filter(dataset="trec")
    assert trec["item"].to_list() == list(range(trec.height))
    assert trec["split"].unique().to_list() == ["test"]
    assert found.filter(dataset="mrpc")["sentence2"].null_count() == 0
    assert found["dataset"].unique(maintain_order=True).to_list()[2:4] == [
        "glue-mnli:dev-matched",
        "glue-mnli:dev-mismatched",
    ]
    with pytest.raises(UsageError, match="no dataset of classified items named 'treck'"):
        listed("treck")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_file_joins_a_comparison(tmp_path: Path, ending: str) -> None:
    first = predicted(tmp_path / f"first.{ending}", "trec", "mrpc", wrong=2)
    second = predicted(tmp_path / f"second.{ending}", "trec", "mrpc", wrong=20, name="mine")
    names = [f"items:{first}", f"items:{second}#mine"]
    for _ in range(2):  # then their items are stored
        named = embedlab.compare(names, tasks=["mrpc", "trec"], **SAMPLE).frame
        assert named["slice"].unique(maintain_order=True).to_list() == ["mrpc", "trec"]
    found = embedlab.compare(names, suite="transfer", **SAMPLE).frame.filter(
        slice="trec", metric="accuracy"
    )
    count = listed("trec").height
    assert found["score"].to_list() == pytest.approx(
        [100 * (count - 2) / count, 100 * (count - 20) / count]
    )
    assert found["difference"][1] == pytest.approx(-100 * 18 / count)
    assert found["difference_low"][1] < found["difference"][1] < found["difference_high"][1]
    assert (found["test"][1], 0 < found["p"][1] < 1) == ("dyadic", True)


def test_a_file_is_next_to_a_model_that_embedlab_evaluates(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    file = predicted(tmp_path / "mine.csv", "trec", wrong=3)
    found = embedlab.compare(
        [str(tiny_encoder), f"items:{file}"], tasks=["trec"], setting="prototyping", **SAMPLE
    ).frame
    assert found["items"].to_list() == [listed("trec").height] * 2
    assert found["difference_low"][1] < found["difference"][1]
    alone = embedlab.evaluate([f"items:{file}"], tasks=["trec"], **SAMPLE)
    assert alone.frame["score"][0] == pytest.approx(found["score"][1])


def test_missing_items_are_counted(tmp_path: Path) -> None:
    table = pl.read_csv(predicted(tmp_path / "mine.csv", "trec", "mrpc"))
    table.filter(~((pl.col("dataset") == "trec") & (pl.col("item") == 0))).write_csv(
        tmp_path / "part.csv"
    )
    count = listed("trec").height
    found = embedlab.compare([f"items:{tmp_path / 'part.csv'}"], suite="transfer", **SAMPLE)
    assert "trec" not in found.frame["slice"].to_list()
    assert any(
        f"trec: predictions of {count - 1} of {count} items, so that it has no number" in note
        for note in found.notes
    )
    with pytest.raises(EmbedlabError, match=f"predictions of {count - 1} of {count} items"):
        embedlab.evaluate([f"items:{tmp_path / 'part.csv'}"], tasks=["trec"], **SAMPLE)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("treck,0,x", r"mine\.csv, line 2: no dataset 'treck' of classified items"),
        ("trec,one,x", r"mine\.csv, line 2: item 'one' is not a row number"),
        ("trec,-1,x", r"item '-1' is not a row number"),
        (
            "trec,999999,DESC",
            r"mine\.csv, line 2: item 999999 of trec, whose test split has the rows 0 to",
        ),
        ("trec,0,LABEL\ntrec,0,LABEL", r"mine\.csv, line 3: item 0 of trec a second time"),
        ("trec,0,nonsense", r"mine\.csv, line 2: the prediction 'nonsense' of trec is none of"),
        ("mr,0,x", r"mine\.csv has no dataset of trec"),
        ("", r"no rows"),
    ],
)
def test_a_line_that_is_not_a_prediction_is_refused_in_one_line(
    tmp_path: Path, line: str, words: str
) -> None:
    (tmp_path / "mine.csv").write_text(
        "dataset,item,prediction\n" + line.replace("LABEL", listed("trec")["label"][0]) + "\n"
    )
    with pytest.raises(EmbedlabError, match=words) as raised:
        embedlab.evaluate([f"items:{tmp_path / 'mine.csv'}"], tasks=["trec"], **SAMPLE)
    assert "\n" not in raised.value.message
    assert raised.value.hint


def test_missing_columns_and_tasks_without_items_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("dataset,row,prediction\ntrec,0,x\n")
    with pytest.raises(EmbedlabError, match="no column 'item'"):
        embedlab.evaluate([f"items:{tmp_path / 'other.csv'}"], tasks=["trec"], **SAMPLE)
    file = predicted(tmp_path / "mine.csv", "trec", wrong=1)
    with pytest.raises(UsageError, match="no column 'mine'"):
        embedlab.evaluate([f"items:{file}#mine"], tasks=["trec"], **SAMPLE)
    with pytest.raises(UsageError, match="holds classes of items, and sts has none"):
        embedlab.evaluate([f"items:{file}"], tasks=["sts12"], **SAMPLE)
    with pytest.raises(UsageError, match="holds classes of items, and geometry has none"):
        embedlab.evaluate([f"items:{file}"], suite="geometry", **SAMPLE)
