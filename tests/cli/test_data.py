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
    rows = {
        (row["dataset"], row["split"]): row["from"]
        for row in embedlab("data", "ls", "--data", "data", "--offline", "--json").rows
    }
    assert rows["snli", "dev"] == "folder"
    assert rows["snli", "train"] == "missing"
    sample = embedlab("data", "ls", "--data", "tiny", "--json")
    assert {row["from"] for row in sample.rows} == {"tiny"}
    assert sample.json["title"] == "Datasets [generated]"


def test_check_of_nothing_and_of_an_unknown_dataset(embedlab: Embedlab) -> None:
    assert embedlab("data", "check", "--offline").code == 3
    unknown = embedlab("data", "check", "snl")
    assert unknown.code == 2
    assert "did you mean 'snli'?" in unknown.err


def test_check_reads_a_file_of_pairs_too(embedlab: Embedlab) -> None:
    Path("good.tsv").write_text("sentence1\tsentence2\tscore\na\tb\t1\nc\td\t\n")
    Path("bad.tsv").write_text("sentence1\tsentence2\tscore\na\tb\thigh\n")
    (row,) = embedlab("data", "check", "good.tsv", "--json").rows
    assert (row["rows"], row["state"], row["skipped"]) == (
        1,
        "not counted",
        "1 blank score at good.tsv:3",
    )
    rows = "".join(f"a\tb {n}\t{n}\t{'news' if n else 'captions'}\n" for n in range(3))
    Path("sources.tsv").write_text(f"sentence1\tsentence2\tscore\tsource\n{rows}")
    (row,) = embedlab("data", "check", "sources.tsv", "--json").rows
    assert row["note"] == "sources: captions 1, news 2"
    answer = embedlab("data", "check", "good.tsv", "bad.tsv", "--json")
    assert answer.code == 3
    note = "bad.tsv, line 2: score is not a number: 'high'; correct the line"
    assert answer.rows[1]["note"] == note
    Path("lines.txt").write_text("a cat\na dog\n")
    Path("pairs.csv.gz").write_bytes(b"")
    answer = embedlab("data", "check", "lines.txt")
    assert (answer.code, "sentences" in answer.out) == (0, True)
    write_folder(Path("faq"))
    answer = embedlab("data", "check", "pairs.csv.gz", "good.tsv", "faq", "--json")
    assert (answer.code, "data get" in answer.out + answer.err) == (3, False)
    assert "rows cannot be read from '.gz' files" in answer.rows[0]["note"]
    assert [row["rows"] for row in answer.rows[1:3]] == [1, 3]


def test_overlaps_counts_sentences_and_pairs_whatever_their_case(
    embedlab: Embedlab, tmp_path: Path
) -> None:
    Path("a.tsv").write_text("sentence1\tsentence2\tscore\nA cat sleeps.\tA dog runs.\t1\n")
    Path("b.tsv").write_text(
        "sentence1\tsentence2\tscore\na DOG runs\tA cat sleeps!\t1\nA cat sleeps.\tIt rains.\t2\n"
    )
    (row,) = embedlab("data", "overlaps", "a.tsv", "b.tsv", "--json").rows
    assert (row["sentences"], row["shared_sentences"], row["pairs"], row["shared_pairs"]) == (
        3,
        2,
        2,
        1,
    )


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


def test_get_wants_a_folder_and_a_network(embedlab: Embedlab) -> None:
    assert embedlab("data", "get", "snli").code == 2
    assert embedlab("data", "get", "snli", "--data", "here", "--offline").code == 3


def test_items_are_listed_as_a_file_of_predictions_names_them(embedlab: Embedlab) -> None:
    answer = embedlab("data", "ls", "trec", "mrpc", "--items", "--data", "tiny", "--format", "csv")
    header, first = answer.out.splitlines()[:2]
    assert (answer.code, header) == (0, "dataset,item,split,label,sentence,sentence1,sentence2")
    assert first.startswith("trec,0,test,")
    assert "trec" in embedlab("data", "ls", "trec", "--items", "--data", "tiny").out
    wrong = embedlab("data", "ls", "treck", "--items", "--data", "tiny")
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean 'trec'?" in wrong.err


LABELLED = [(row, ("neutral", "entailment")[row % 2]) for row in range(60)]


def test_labels_and_queries_of_one_split_alone_and_of_both_are_rows_of_the_table(
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

    Path("beir/qrels").mkdir(parents=True)
    Path("beir/corpus.jsonl").write_text('{"_id": "d", "text": "a b"}\n')
    queries = '{"_id": "q", "text": "x y"}\n{"_id": "r", "text": "X y."}\n'
    Path("beir/queries.jsonl").write_text(queries)
    Path("beir/qrels/train.tsv").write_text("q\td\t1\nq\tgone\t1\n")
    Path("beir/qrels/test.tsv").write_text("r\td\t1\n")
    rows = embedlab("data", "check", "./beir", "--json").rows
    assert [(row["split"], row["state"], row["rows"]) for row in rows] == [
        ("test", "not counted", 1),
        ("train", "not counted", 2),
        ("test", "leak", 1),
    ]
    assert "1 relevant document is not in corpus.jsonl" in rows[1]["note"]
