"""Queries of folders in BEIR's layout, of qrels and of runs: a line of a table changes a file of a
small folder, and says what is read then, or the fault with its file and line.
"""

import re
from hashlib import sha256
from pathlib import Path

import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.data.file_name import is_query_folder
from embedlab.data.own_files import holds_queries, open_query_file
from embedlab.data.queries import (
    NONE_RELEVANT,
    open_query_folder,
    read_run,
)
from tests.data.query_folders import CORPUS, QRELS, QUERIES, write_folder

# file :: lines that are added to it, or after "=" all lines :: items as query-document-grade, or a
# fault :: what is noted or skipped
CHANGES = r"""
qrels ::  :: q1-d1-2 q1-d2-1 q2-d3-1
qrels :: =qid\tdoc_id\trelevance\nq1\td1\t2 :: q1-d1-2
qrels :: =query-id\titer\tcorpus-id\tscore\nq1\t0\td1\t2 :: q1-d1-2
qrels :: =q1\td1\t2\nq2\td3\t1 :: q1-d1-2 q2-d3-1
qrels :: =q1 0 d1 1\nq2 0 d2 -1 :: q1-d1-1
qrels :: =query-id,corpus-id,score\nq1,d1,2\nq2,d3,1 :: q1-d1-2 q2-d3-1
qrels :: =q1 \t d1\t1.0\nq2\td3\t2.0 :: q1-d1-1 q2-d3-2
qrels :: ="query-id"\t"corpus-id"\t"score"\n"q1"\t"d1"\t"1.0"\n"q2"\t"d3"\t"2.0" :: q1-d1-1 q2-d3-2
qrels :: ="q1"\t"d1"\t"1"\n"q2"\t"d3"\t"2" :: q1-d1-1 q2-d3-2
qrels :: =\n \nquery-id\tcorpus-id\tscore\nq1\td1\t1\n\nq2\td3\t2 :: q1-d1-1 q2-d3-2
qrels :: =\nquery-id\tcorpus-id\tscore\nq1\td3\thigh :: test.tsv, line 3: grade is not a number: 'high'
qrels :: =q1\td1\t0.5\nq1\td2\t1\nq2\td3\t0.25 :: q1-d1-2 q1-d2-4 q2-d3-1
qrels :: \nq1\td3\t\nq1\td6\tNaN :: q1-d1-2 q1-d2-1 q2-d3-1 :: blank grade at test.tsv:8, 9
qrels :: q1\td2\t1 :: q1-d1-2 q1-d2-1 q2-d3-1 :: 1 repeated line, read once (test.tsv)
qrels :: q1\td77\t3\nq2\td78\t0 :: q1-d1-2 q1-d2-1 q2-d3-1 q1-d77-3 :: 1 relevant document is not in corpus.jsonl and never found (test.tsv:7)
qrels :: q9\td1\t1\nq9\td2\t1 :: q1-d1-2 q1-d2-1 q2-d3-1 :: query that is not in queries.jsonl (test.tsv:7, 8)
qrels :: q1\td1\t1 :: test.tsv, line 7: another grade than in an earlier line: 1.0
qrels :: q1\td3\thigh :: test.tsv, line 7: grade is not a number: 'high'
qrels :: q1\td3\t2000 :: test.tsv, line 7: grade is above 1024: 2000.0
qrels :: =q1\td1\t0.0001\nq1\td2\t0.3333 :: test.tsv, line 2: grade is above 1024 times 0.0001: 0.3333
qrels :: =q1\td1\t0.125\nq1\td2\t0.1250001\nq2\td3\t0.5 :: q1-d1-1.0 q1-d2-1.0000008 q2-d3-4.0
queries :: ={"_id": "q1", "text": "\u2060"}\n{"_id": "q2", "text": "what sings"}\n{"_id": "q3", "text": "x"} :: q2-d3-1 :: empty query (queries.jsonl:1)
qrels :: q1\t\t1 :: test.tsv, line 7: corpus-id is empty
qrels :: =left\tdocument\tscore\nq1\td1\t1 :: test.tsv, line 1: no column 'query-id'
qrels :: =q1\t0\td1\t1\nq1\td2\t1 :: test.tsv, line 2: 3 fields: not 4
qrels :: =query-id\tcorpus-id\tscore\nq2\td1\t0 :: names no relevant document
qrels :: =01\td1\t1 :: queries.jsonl has none of its queries: line 1 names '01'
qrels :: =q1\td01\t1 :: corpus.jsonl has none of its relevant documents: line 1 names 'd01'
corpus :: {"_id": "d1", "text": "again"} :: corpus.jsonl, line 7: another text than in an earlier line, of the id: 'd1'
corpus :: {"_id": "d3", "text": "A bird sings in the morning."} :: q1-d1-2 q1-d2-1 q2-d3-1 :: 1 repeated line, read once (corpus.jsonl)
corpus :: {"_id": "d9", "text": "The fox barks too."} :: q1-d1-2 q1-d2-1 q2-d3-1 :: 1 document has the text of another
corpus :: {"_id": "d8", "text": null}\n{"_id": "d9", "title": "Alone"} :: q1-d1-2 q1-d2-1 q2-d3-1 :: 1 document has the text of another
corpus :: {"id": "d7", "text": "again"} :: corpus.jsonl, line 7: no id under '_id'
corpus :: {"_id": "d7", "text": 3} :: corpus.jsonl, line 7: 'text' is 3, not a text
corpus :: {"_id": ["d7"], "text": "x"} :: corpus.jsonl, line 7: '_id' is ['d7'], not a text
corpus :: {"_id": true, "text": "x"} :: corpus.jsonl, line 7: '_id' is True, not a text
corpus :: {"_id": 1.5, "text": "x"} :: corpus.jsonl, line 7: '_id' is 1.5, not a text
corpus :: {"_id": "1.0", "text": "x"} :: q1-d1-2 q1-d2-1 q2-d3-1
queries :: {"_id": "q8", "_id": "q9", "text": "x"} :: queries.jsonl, line 4: '_id' occurs twice
corpus :: {"_id": "d7", "text":  :: corpus.jsonl, line 7: broken JSON at character
queries :: {"_id": "q1", "text": "another"} :: queries.jsonl, line 4: another text than in an earlier line, of the id: 'q1'
queries :: ={"_id": "q1", "text": " "}\n{"_id": "q2", "text": "what sings"}\n{"_id": "q3", "text": "x"} :: q2-d3-1 :: empty query (queries.jsonl:1)
"""


@pytest.mark.parametrize("line", [line for line in CHANGES.splitlines() if line])
def test_a_change_of_a_folder_is_read_or_refused_with_its_place(line: str, tmp_path: Path) -> None:
    file, change, expected, *said = line.split(" :: ")
    lines = {"corpus": [*CORPUS], "queries": [*QUERIES], "qrels": [*QRELS]}
    added = change.removeprefix("=").encode().decode("unicode_escape").split("\n")
    lines[file] = added if change.startswith("=") else [*lines[file], *(added if change else [])]
    folder = write_folder(tmp_path / "faq", **lines)
    if not re.match(r"q\d-", expected):
        with pytest.raises(MissingError) as refused:
            open_query_folder(str(folder))
        assert expected in refused.value.message
        assert ("\n" in refused.value.message, bool(refused.value.hint)) == (False, True)
        return
    found = open_query_folder(str(folder))
    items = found.items.iter_rows()
    assert " ".join(f"{query}-{document}-{grade}" for query, document, grade in items) == expected
    state = found.part.state
    assert {*said} <= {*state.skipped, *state.notes}
    assert len({*state.skipped, *state.notes} - {NONE_RELEVANT}) == len(said)


def test_queries_that_no_split_grades_are_counted(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "faq", qrels=["query-id\tcorpus-id\tscore", "q1\td1\t1"])
    assert open_query_folder(str(folder)).part.state.skipped == {NONE_RELEVANT: len(QUERIES) - 1}
    (folder / "qrels" / "dev.tsv").write_text("q2\td3\t1\n", encoding="utf-8")
    assert not open_query_folder(str(folder)).part.state.skipped  # those may be of the other split


def test_texts_ids_and_the_state_are_those_of_the_files(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "faq")
    found = open_query_folder(str(folder))
    assert found.queries.rows() == [("q1", "what barks"), ("q2", "what sings")]
    assert found.documents["id"].to_list() == ["d1", "d2", "d3", "4", "q1", "d6"]
    assert found.part.frame.rows()[:2] == [
        ("what barks", "Dogs A dog barks at night."),
        ("what barks", "The fox barks too."),
    ]
    state = found.part.state
    assert (state.skipped, state.empty, state.rows) == ({NONE_RELEVANT: 1}, 1, 3)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert state.sha256 == {str(path): sha256(path.read_bytes()).hexdigest() for path in files}
    # the query itself does not count: under its id after a title, under another id
    assert {*found.excluded.rows()} == {("q1", "q1"), ("q2", "d6")}
    said = open_query_folder(str(write_folder(tmp_path / "said", qrels=[*QRELS, "q2\td6\t1"])))
    assert said.excluded.rows() == [("q1", "q1")]  # people say it is relevant


def test_a_folder_is_known_by_its_files_and_its_qrels_by_their_split(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "faq")
    assert is_query_folder(str(folder))
    assert holds_queries(f"{folder}?split=dev")
    assert not any(map(is_query_folder, (str(tmp_path), "retrieval-captions")))
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq3\td2\t1\n")
    assert open_query_file(f"retrieval:{folder}@split=dev").texts == ["who reads"]
    with pytest.raises(MissingError, match="no qrels of the split 'train'") as error:
        open_query_folder(f"{folder}?split=train")
    assert "dev, test" in str(error.value.hint)
    with pytest.raises(UsageError, match="no option 'parts=2'"):
        open_query_folder(f"{folder}?parts=2")
    alone = open_query_folder(f"retrieval:{folder / 'qrels' / 'test.tsv'}")
    assert (alone.has_texts, alone.queries["id"].to_list()) == (False, ["q1", "q2"])
    # two queries and three documents; an id is not the same text in both columns
    assert len({*alone.keys.ravel().tolist()}) == 5
    with pytest.raises(MissingError, match="no folder or file"):
        open_query_folder(f"retrieval:{tmp_path / 'gone'}")


@pytest.mark.parametrize(
    ("file", "to", "fault", "hint"),
    [
        ("qrels", "away", "no qrels in", "queries.jsonl and qrels/SPLIT.tsv"),
        ("queries.jsonl", "away", "no file", "queries.jsonl and qrels/SPLIT.tsv"),
        ("corpus.jsonl", "away", "no file", "queries.jsonl and qrels/SPLIT.tsv"),
        ("corpus.jsonl", "corpus.jsonl.gz", "has corpus.jsonl.gz, but no corpus", "gunzip -r"),
    ],
)
def test_a_file_that_a_folder_lacks_is_named(
    file: str, to: str, fault: str, hint: str, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "faq")
    (folder / file).rename(folder / to)
    with pytest.raises(EmbedlabError, match=fault) as error:
        open_query_folder(f"retrieval:{folder}")
    assert hint in str(error.value.hint)


RUNS = {
    "q1 Q0 d2 1 1.5 bm25\nq1\tQ0\td1\t7\t-2e1\tbm25": "[('q1', 'd2', 1.5), ('q1', 'd1', -20.0)]",
    "q1 Q0 d9 1 3 a\nq1 Q0 d1 1 2.0": "line 2: 5 fields: not 6",
    "q1 Q0 d9 1 3 a\n\nq1 Q0 d1 1 2.0 a": "line 2: 0 fields: not 6",
    "q1 Q0 d9 1 3 a\nq1 Q0 d1 2 3 a\nq2 Q0 d9 2 4 a\nq2 Q0 d1 1 3 a": "no score falls with its rank",
    "q1 Q0 d9 1 3 a\nq1 Q0 d1 1 nan a": "line 2: score is not a number: 'nan'",
    "q1 Q0 d9 1 3 a\nq1 Q0 d9 1 2.0 a": "line 2: a document is there twice for a query: 'd9'",
    "q1 Q0 d9 1 3 a\nq1 Q0 d1 1 2.0 b": "line 2: a result of another system than 'a': 'b'",
}


@pytest.mark.parametrize("content", RUNS)
def test_a_run_is_of_one_system_and_names_a_document_once(content: str, tmp_path: Path) -> None:
    (path := tmp_path / "bm25.trec").write_text(content)
    try:
        given = str(read_run(path).rows.rows())
    except MissingError as error:
        given = error.message
    assert RUNS[content] in given
