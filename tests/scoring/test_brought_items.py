"""Classes that another program predicted, item by item, next to models of embedlab."""

from pathlib import Path
from typing import Any

import numpy as np
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
    label = pl.col("label")
    low, high = label.min().over("dataset"), label.max().over("dataset")
    false = pl.when(label == high).then(low).otherwise(high)
    table = listed(*names).select(
        "dataset", "item", pl.when(pl.col("item") < wrong).then(false).otherwise(label).alias(name)
    )
    as_pandas = table.with_columns(pl.col("item").cast(float))
    write = {
        ".csv": as_pandas.write_csv,
        ".jsonl": table.write_ndjson,
        ".parquet": table.write_parquet,
    }
    write[path.suffix](path)
    return path


def test_items_are_listed_by_their_row_in_the_scored_split() -> None:
    found = listed("trec", "mrpc", "glue-mnli", "sentiment")
    trec = found.filter(dataset="trec")
    assert trec["item"].to_list() == list(range(trec.height))
    assert trec["split"].unique().to_list() == ["test"]
    assert found.filter(dataset="mrpc")["sentence2"].null_count() == 0
    splits = found["dataset"].unique(maintain_order=True).to_list()[2:4]
    assert splits == ["glue-mnli:dev-matched", "glue-mnli:dev-mismatched"]
    with pytest.raises(UsageError, match="no dataset of classified items named 'treck'"):
        listed("treck")


def test_files_are_compared_with_each_other(tmp_path: Path) -> None:
    first = predicted(tmp_path / "first.csv", "trec", "mrpc", wrong=2)
    second = predicted(tmp_path / "second.parquet", "trec", "mrpc", wrong=20, name="mine")
    names = [f"items:{first}", f"items:{second}#mine"]
    for _ in range(2):  # then their items are stored
        named = embedlab.compare(names, tasks=["mrpc", "trec"], **SAMPLE).frame
        assert named["slice"].unique(maintain_order=True).to_list() == ["mrpc", "trec"]
    found = named.filter(slice="trec")
    right = 1 - np.array([2, 20]) / listed("trec").height
    assert found["score"].to_list() == pytest.approx(100 * right)
    second = found.row(1, named=True)
    assert second["difference"] == pytest.approx(100 * (right[1] - right[0]))
    assert second["difference_low"] < second["difference"] < second["difference_high"]


def test_a_file_is_next_to_a_model_that_embedlab_evaluates(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    names = [str(tiny_encoder), f"items:{predicted(tmp_path / 'mine.jsonl', 'trec', wrong=3)}"]
    found = embedlab.compare(names, tasks=["trec"], setting="prototyping", **SAMPLE).frame
    assert found["items"].to_list() == [listed("trec").height] * 2
    assert found["difference_low"][1] < found["difference"][1]


def test_missing_items_are_counted(tmp_path: Path) -> None:
    whole = pl.read_csv(predicted(tmp_path / "mine.csv", "trec", "mrpc"))
    is_first = (pl.col("dataset") == "trec") & (pl.col("item") == 0)
    whole.filter(~is_first).write_csv(tmp_path / "part.csv")
    name, count = f"items:{tmp_path / 'part.csv'}", listed("trec").height
    said = f"predictions of {count - 1} of {count} items"
    found = embedlab.compare([name], suite="transfer", **SAMPLE)
    assert "trec" not in found.frame["slice"].to_list()
    assert any(f"trec: {said}, so that it has no number" in note for note in found.notes)
    with pytest.raises(EmbedlabError, match=said):
        embedlab.evaluate([name], tasks=["trec"], **SAMPLE)


HEAD = "dataset,item,prediction\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{HEAD}treck,0,x", r"mine\.csv, line 2: no dataset 'treck' of classified items"),
        (f"{HEAD}trec,one,x", r"mine\.csv, line 2: item 'one' is not a row number"),
        (f"{HEAD}trec,-1,x", r"item '-1' is not a row number"),
        (f"{HEAD}trec,0.5,x", r"item '0.5' is not a row number"),
        (
            f"{HEAD}trec,999999,DESC",
            r"line 2: item 999999 of trec, whose test split has the rows 0 to",
        ),
        (f"{HEAD}trec,0,LABEL\ntrec,0,LABEL", r"mine\.csv, line 3: item 0 of trec a second time"),
        (f"{HEAD}trec,0,nonsense", r"line 2: the prediction 'nonsense' of trec is none of"),
        (f"{HEAD}mr,0,x", r"mine\.csv has no dataset of trec"),
        (HEAD, r"no rows"),
        ("dataset,row,prediction\ntrec,0,x", r"no column 'item'"),
    ],
)
def test_a_line_that_is_not_a_prediction_is_refused_in_one_line(
    tmp_path: Path, text: str, words: str
) -> None:
    label = listed("trec")["label"][0]
    (tmp_path / "mine.csv").write_text(text.replace("LABEL", label) + "\n")
    with pytest.raises(EmbedlabError, match=words) as raised:
        embedlab.evaluate([f"items:{tmp_path / 'mine.csv'}"], tasks=["trec"], **SAMPLE)
    assert "\n" not in raised.value.message
    assert raised.value.hint


@pytest.mark.parametrize(
    ("column", "asked", "words"),
    [
        ("#mine", {"tasks": ["trec"]}, "no column 'mine'"),
        ("", {"tasks": ["sts12"]}, "holds classes of items, and sts has none"),
        ("", {"suite": "geometry"}, "holds classes of items, and geometry has none"),
    ],
)
def test_another_column_and_tasks_without_items_are_refused(
    column: str, asked: dict[str, Any], words: str, tmp_path: Path
) -> None:
    file = predicted(tmp_path / "mine.csv", "trec")
    with pytest.raises(UsageError, match=words):
        embedlab.evaluate([f"items:{file}{column}"], **asked, **SAMPLE)
