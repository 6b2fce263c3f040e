"""STS sets that mteb publishes, PAWS and C-STS, read from small repositories and files in the same
layout: no real copy was at hand.
"""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.data.dataset import Dataset, Expected
from embedlab.data.get import get_dataset
from embedlab.data.source import Source, dataset
from embedlab.scoring.selection import select_tasks
from embedlab.tasks.sts import STS_DATASETS
from tests.data.conftest import Write

NEWER = (
    "sts-benchmark-v2",
    "sts17",
    "sts17-en",
    "sts22-v2",
    "sts22-v2-en",
    "semrel24-en",
    "biosses",
)
CARD = "---\nconfigs:\n- config_name: {}\n  data_files:\n  - {{split: {}, path: data/{}-*}}\n---\n"


def local(
    name: str, split: str, folder: Path, rows: pl.DataFrame, *, expected: Expected
) -> Dataset:
    """The dataset NAME with one split, which comes from a repository with ROWS: its split and
    configuration are those of the hub.
    """
    found = dataset(name)
    hub = found.splits[split].hub
    assert hub is not None
    (folder / "data").mkdir(parents=True)
    rows.write_parquet(folder / f"data/{hub.split}-00000-of-00001.parquet")
    (folder / "README.md").write_text(CARD.format(hub.config or "default", hub.split, hub.split))
    there = replace(
        found.splits[split],
        hub=replace(hub, repository=str(folder), revision="main"),
        expected=expected,
    )
    return replace(found, splits={split: there})


@pytest.mark.parametrize("name", NEWER)
def test_pairs_of_a_repository_are_read_and_written_as_they_are(name: str, tmp_path: Path) -> None:
    low, high = dataset(name).gold_range
    english = "en-en" if name.startswith("sts17") else "en"
    rows = pl.DataFrame(
        {
            "sentence1": ["a", "b\nc", "d"],
            "sentence2": ["e", "f\tg", "h"],
            "score": [low, high, high],
            "lang": [english, "de", english],
        }
    )
    counts = (
        {english: 2}
        if name.endswith("-en") and "lang" in str(dataset(name).splits["test"].hub)
        else {english: 2, "de": 1}
    )
    by_language = name.startswith(("sts17", "sts22"))
    size = sum(counts.values()) if by_language else 3
    found = local(
        name,
        "test",
        tmp_path / "hub",
        rows,
        expected=Expected(rows=size, classes=counts if by_language else None),
    )
    part = Source().open_split(found)
    wanted = (
        rows.filter(pl.col("lang") == english) if by_language and name.endswith("-en") else rows
    )
    assert part.frame["sentence1"].to_list() == wanted["sentence1"].to_list()
    assert part.frame["gold"].to_list() == wanted["score"].to_list()
    assert part.frame["source"].to_list() == (
        wanted["lang"].to_list() if by_language else [None] * 3
    )
    get_dataset(found, tmp_path / "data")
    again = Source(folder=tmp_path / "data", offline=True).open_split(found)
    assert again.frame.equals(part.frame)
    assert again.state.revision == f"{tmp_path / 'hub'}@main"


def test_english_pairs_are_found_in_the_file_of_all_languages(write: Write, tmp_path: Path) -> None:
    line = '{{"sentence1": "a", "sentence2": "b", "score": 2.5, "source": "{}"}}\n'
    write(
        "STS17/test.jsonl",
        "".join(line.format(language) for language in ("en-en", "ko-ko", "en-en")),
    )
    part = Source(folder=tmp_path / "data", offline=True, allow_partial=True).open("sts17-en")
    assert (part.state.rows, part.state.expected_rows, set(part.frame["source"])) == (
        2,
        250,
        {"en-en"},
    )
    with pytest.raises(EmbedlabError, match=r"sts17.* is truncated or odd"):
        Source(folder=tmp_path / "data", offline=True).open("sts17")


def test_a_score_outside_the_scale_of_its_set_is_refused(write: Write, tmp_path: Path) -> None:
    write("SemRel24-en/test.jsonl", '{"sentence1": "a", "sentence2": "b", "score": 2.5}\n')
    with pytest.raises(EmbedlabError, match=r"line 1: score is not from 0 to 1: 2\.5"):
        Source(folder=tmp_path / "data", offline=True).open("semrel24-en")


def test_paws_is_read_and_written_as_labelled_pairs(tmp_path: Path) -> None:
    rows = pl.DataFrame(
        {"id": [1, 2], "sentence1": ["a b", "c"], "sentence2": ["b a", "d"], "label": [0, 1]}
    )
    found = local("paws", "dev", tmp_path / "hub", rows, expected=Expected(rows=2))
    part = Source().open_split(found, "dev")
    assert part.frame.rows() == [("a b", "b a", 0), ("c", "d", 1)]
    get_dataset(found, tmp_path / "data")
    assert (
        (tmp_path / "data/PAWS/dev.tsv")
        .read_text()
        .startswith("id\tsentence1\tsentence2\tlabel\n1\ta b\tb a\t0\n")
    )
    assert (
        Source(folder=tmp_path / "data", offline=True)
        .open_split(found, "dev")
        .frame.equals(part.frame)
    )


def test_a_dataset_that_no_task_scores_is_said_to_be_one() -> None:
    with pytest.raises(UsageError, match="no task scores 'paws': it holds paraphrases"):
        select_tasks(None, ["paws"], None)


def test_conditions_are_prompts_of_both_sentences(write: Write, tmp_path: Path) -> None:
    header = "sentence1,sentence2,condition,label\n"
    path = write(
        "C-STS/csts_validation.csv",
        header + '"Two men run, fast",A man runs,The number of people.,1\nA,B,The animal.,5\n',
    )
    part = Source(folder=tmp_path / "data", offline=True).open("c-sts")
    first = (
        "The number of people.: Two men run, fast",
        "The number of people.: A man runs",
        1.0,
        None,
    )
    assert part.frame.row(0) == first
    assert (part.state.split, part.state.expected_rows) == ("validation", None)
    assert select_tasks(None, ["c-sts"], None)[0].task == "sts"
    path.write_text(header + "A,B,,3\nA,B,The animal.,3\n")
    part = Source(folder=tmp_path / "data", offline=True).open("c-sts")
    assert part.state.skipped == {f"empty condition at {path.name}:2": 1}
    path.write_text(header + "A,B,The animal.,-1\n")
    with pytest.raises(EmbedlabError, match="line 2: score is not from 1 to 5: '-1'"):
        Source(folder=tmp_path / "data", offline=True).open("c-sts")
    path.write_text("sentence1,sentence2,label\nA,B,3\n")
    with pytest.raises(
        EmbedlabError, match="no column 'condition': found sentence1, sentence2, label"
    ):
        Source(folder=tmp_path / "data", offline=True).open("c-sts")


def test_no_newer_set_enters_a_suite() -> None:
    assert STS_DATASETS == ("sts12", "sts13", "sts14", "sts15", "sts16", "sts-benchmark", "sick-r")
    assert {*NEWER, "c-sts"}.isdisjoint(STS_DATASETS)


def test_counts_of_languages_add_up_to_mtebs_totals() -> None:
    totals = {"sts17": 5_346, "sts22-v2": 3_958}
    for name, rows in totals.items():
        expected = dataset(name).splits["test"].expected
        assert expected is not None
        assert expected.rows == rows
