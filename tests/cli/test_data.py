from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"snli": f"{pair()}\n{{broken\n"}, "line 2"),
        ({"snli": ""}, "snli_1.0_dev.jsonl"),
        ({"snli": pair().encode() + b"\n\xff\n"}, "UTF-8"),
        ({"snli": pair()}, "truncated"),
        ({"input": "a\tb\nc\td\n", "gold": "1\n"}, "2 pairs but"),
        ({"input": "a\tb\n", "gold": "7\n"}, "gold score"),
        ({"input": b"a\t\xff\n", "gold": "1\n"}, "UTF-8"),
    ],
)
def test_damaged_corpora_are_named_and_end_with_3(
    embedlab: Embedlab, tmp_path: Path, files: dict[str, bytes | str], message: str
) -> None:
    write(tmp_path / "data", **files)
    name, split = ("snli", "dev") if "snli" in files else ("sts12", "test")
    answer = embedlab("data", "check", "--data", "data", "--json")
    assert answer.code == 3
    (row,) = [row for row in answer.rows if (row["dataset"], row["split"]) == (name, split)]
    assert row["state"] == ("truncated" if message == "truncated" else "unusable")
    assert (row["rows"], row["expected"]) == ((1, 9842) if message == "truncated" else (None, None))
    assert message in row["note"]
    if name == "sts12":
        evaluated = embedlab("evaluate", "dice", "--task", "sts12", "--data", "data")
        assert (evaluated.code, evaluated.out) == (3, "")
        assert message in evaluated.err
        assert len(evaluated.err.splitlines()) == 2


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


def test_ls_calls_the_published_sizes_expected(embedlab: Embedlab) -> None:
    rows = {
        (row["dataset"], row["split"]): row
        for row in embedlab("data", "ls", "--data", "tiny", "--json").rows
    }
    assert rows["snli", "dev"]["expected"] == 9842
    assert "rows" not in rows["snli", "dev"]


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
    assert answer.rows[1]["note"] == "bad.tsv, line 2: score is not a number: 'high'"


def test_changed_gold_scores_are_not_whole_and_every_number_says_so(
    embedlab: Embedlab, shared_data: Path
) -> None:
    shutil.copytree(shared_data / "STS/STS12-en-test", "data/STS/STS12-en-test")
    gold = Path("data/STS/STS12-en-test/STS.gs.MSRpar.txt")
    (row,) = embedlab("data", "check", "sts12", "--data", "data", "--json").rows
    sources = (
        "sources: MSRpar 750, MSRvid 750, SMTeuroparl 459, surprise.OnWN 750, surprise.SMTnews 399"
    )
    assert (row["state"], row["note"]) == ("whole", sources)
    gold.write_text("0.000\n" * 200 + "".join(gold.read_text().splitlines(keepends=True)[200:]))
    answer = embedlab("data", "check", "sts12", "--data", "data", "--json")
    (row,) = answer.rows
    said = (
        "counts right, content unknown: 'STS/STS12-en-test/STS.gs.MSRpar.txt' is not the "
        "published file"
    )
    assert (answer.code, row["state"], row["rows"]) == (0, "counts right", 3108)
    assert row["note"] == f"{said}; {sources}"
    for command in ("evaluate", "compare"):
        shown = embedlab(command, "dice", "--task", "sts12", "--data", "data", "--json")
        assert (shown.code, f"sts12 test: {said}" in shown.json["notes"]) == (0, True)


def test_check_reads_the_sets_of_probing_files_too(embedlab: Embedlab, shared_data: Path) -> None:
    shutil.copytree(shared_data / "probing_gum", "data/probing_gum")
    lines = Path("data/probing_gum/obj_number.txt").read_text().splitlines(keepends=True)
    Path("data/probing_gum/obj_number.txt").write_text("".join(lines[:-1]))
    states = {
        (row["dataset"], row["split"]): row["state"]
        for row in embedlab("data", "check", "--data", "data", "--json").rows
    }
    assert len(states) == 30
    assert {key for key, state in states.items() if state == "whole"} == {
        key for key in states if key[0] != "gum-probing/obj-number"
    }
    assert sorted(state for key, state in states.items() if key[0] == "gum-probing/obj-number") == [
        "counts right"
    ] * 2 + ["truncated"]
    named = embedlab("data", "check", "gum-probing/obj-number", "--data", "data", "--json")
    assert (named.code, {row["dataset"] for row in named.rows}) == (3, {"gum-probing/obj-number"})


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


def test_overlaps_of_generated_data_are_marked(embedlab: Embedlab) -> None:
    answer = embedlab("data", "overlaps", "snli", "sts12", "--data", "tiny", "--json").json
    assert answer["title"] == "Overlaps [generated]"
    assert "generated: no number is about real language" in answer["notes"]


def test_get_prints_what_it_wrote(
    embedlab: Embedlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "embedlab.data.get.get_dataset", lambda *_, **__: [Path("here/a"), Path("here/b")]
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
