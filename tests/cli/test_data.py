from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.data.query_folders import write_folder

if TYPE_CHECKING:
    from tests.cli.conftest import Embedlab

SNLI = "SNLI/snli_1.0_dev.jsonl"
STS = "STS/STS12-en-test/STS.{}.ALL.txt"


def pair(label: str = "neutral") -> str:
    return json.dumps(
        {"gold_label": label, "sentence1": "A cat sleeps.", "sentence2": "A cat is awake."}
    )


def write(folder: Path, **files: bytes | str) -> None:
    for name, content in files.items():
        path = folder / {"snli": SNLI, "input": STS.format("input"), "gold": STS.format("gs")}[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_partial_data_is_taken_when_allowed_and_skipped_rows_are_counted(
    embedlab: Embedlab, tmp_path: Path
) -> None:
    write(tmp_path / "data", snli=f"{pair()}\n{pair('-')}\n")
    answer = embedlab("data", "check", "--data", "data", "--allow-partial", "--json")
    assert answer.code == 0
    (row,) = answer.rows
    assert (row["state"], row["rows"]) == ("partial", 1)
    assert row["skipped"].startswith("1 ")


def test_ls_says_where_each_split_would_come_from(embedlab: Embedlab, tmp_path: Path) -> None:
    write(tmp_path / "data", snli=pair())
    answer = embedlab("data", "ls", "snli", "--data", "data", "--offline", "--json")
    assert answer.row(split="dev")["from"] == "folder"
    assert answer.row(split="train")["from"] == "missing"
    sample = embedlab("data", "ls", "--data", "tiny", "--json")
    assert {row["from"] for row in sample.rows} == {"tiny"}


def test_check_reads_a_file_of_pairs_too(embedlab: Embedlab) -> None:
    header = "sentence1\tsentence2\tscore"
    Path("good.tsv").write_text(f"{header}\tsource\na\tb\t1\tnews\nc\td\t\tnews\ne\tf\t2\tweb\n")
    Path("bad.tsv").write_text(f"{header}\na\tb\thigh\n")
    write_folder(Path("faq"))
    answer = embedlab("data", "check", "good.tsv", "bad.tsv", "faq", "--json")
    assert answer.code == 3
    good, bad, *faq = answer.rows
    assert (good["rows"], good["state"]) == (2, "not counted")
    assert good["skipped"] == "1 blank score at good.tsv:3"
    assert good["note"] == "sources: news 1, web 1"
    assert bad["note"] == "bad.tsv, line 2: score is not a number: 'high'; correct the line"
    assert faq[0]["rows"] == 3
    overlaps = embedlab("data", "overlaps", "good.tsv", "good.tsv", "--json")
    assert overlaps.row(shared_pairs=2)["shared_sentences"] == 4


def test_get_prints_what_it_wrote(
    embedlab: Embedlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "embedlab.data.manifest.get_dataset", lambda *_, **__: [Path("here/a"), Path("here/b")]
    )
    assert embedlab("data", "get", "snli", "--data", "here", "--json").json == {
        "folder": "here",
        "files": ["here/a", "here/b"],
    }
    assert embedlab("data", "get", "snli", "--data", "here").out == "here/a\nhere/b\n"


def test_items_are_listed_as_a_file_of_predictions_names_them(embedlab: Embedlab) -> None:
    answer = embedlab("data", "ls", "trec", "mrpc", "--items", "--data", "tiny", "--format", "csv")
    header, first = answer.out.splitlines()[:2]
    assert (answer.code, header) == (0, "dataset,item,split,label,sentence,sentence1,sentence2")
    assert first.startswith("trec,0,test,")


LABELLED = [(row, ("neutral", "entailment")[row % 2]) for row in range(60)]


def test_labels_of_one_split_alone_and_of_both_are_rows_of_the_table(
    embedlab: Embedlab,
) -> None:
    Path("nli").mkdir()
    header = "premise,hypothesis,label\n"
    lines = [f"c{row} d{row} e{row},f{row} g{row} h{row},{label}\n" for row, label in LABELLED]
    Path("nli/train.csv").write_text(header + "".join(lines[:40]))
    other = "u v w,x y z,contradiction\nk l m,k l m,neutral\n"
    Path("nli/dev.csv").write_text(header + "".join(lines[40:]) + other)
    answer = embedlab("data", "check", "./nli", "--json")
    found = {(row["split"], row["state"]): row for row in answer.rows}
    assert answer.code == 0
    assert found["train", "not counted"]["rows"] == 40
    assert found["dev", "contradictory gold"]["rows"] == found["dev", "other label"]["rows"] == 1
    assert "dev.csv:22" in found["dev", "other label"]["note"]
    assert len(answer.rows) == 4
