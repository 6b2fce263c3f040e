"""Folders in BEIR's layout and files of qrels: what is read, and what is refused with its file and
line.
"""

from hashlib import sha256
from pathlib import Path

import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.data.own_files import holds_queries, open_query_file
from embedlab.data.queries import NONE_RELEVANT, is_query_folder, open_query_folder
from tests.data.query_folders import CORPUS, QRELS, QUERIES, write_folder


def test_queries_documents_and_grades_are_those_of_the_files(tmp_path: Path) -> None:
    found = open_query_folder(str(write_folder(tmp_path / "faq")))
    assert found.texts == ("what barks", "what sings")
    assert found.candidates[:4] == (
        "Dogs A dog barks at night.",
        "The fox barks too.",
        "A bird sings in the morning.",
        "",
    )
    assert found.ids == (["q1", "q2"], ["d1", "d2", "d3", "4", "q1", "d6"])
    assert [found.query.tolist(), found.relevant.tolist(), found.grade.tolist()] == [
        [0, 0, 1],
        [0, 1, 2],
        [2, 1, 1],
    ]
    assert found.part.frame.rows()[1] == ("what barks", "The fox barks too.")
    assert found.part.state.skipped == {NONE_RELEVANT: 1}
    assert (found.part.state.empty, found.part.state.rows, found.has_texts) == (1, 3, True)


def test_what_is_the_query_itself_does_not_count_by_its_text_or_by_its_id(tmp_path: Path) -> None:
    found = open_query_folder(str(write_folder(tmp_path / "faq")))
    assert [one.tolist() for one in found.excluded] == [
        [0, 1],
        [4, 5],
    ]  # under its id after a title; under another id
    said = open_query_folder(str(write_folder(tmp_path / "said", qrels=[*QRELS, "q2\td6\t1"])))
    assert [one.tolist() for one in said.excluded] == [[0], [4]]  # people say that it is relevant


def test_a_folder_is_known_by_its_files_and_its_qrels_by_their_split(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "faq")
    assert is_query_folder(str(folder))
    assert holds_queries(f"{folder}?split=dev")
    assert not is_query_folder(str(tmp_path))
    assert not is_query_folder("retrieval-captions")
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq3\td2\t1\n")
    assert open_query_file(f"retrieval:{folder}?split=dev").texts == ("who reads",)
    assert open_query_file(f"retrieval:{folder}").texts[0] == "what barks"
    with pytest.raises(MissingError, match="no qrels of the split 'train'") as error:
        open_query_folder(f"{folder}?split=train")
    assert "dev, test" in str(error.value.hint)
    with pytest.raises(UsageError, match="no option 'parts=2'"):
        open_query_folder(f"{folder}?parts=2")


def test_qrels_are_read_as_trec_writes_them_too_and_alone_they_name_ids(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "faq")
    lines = [
        f"{query} 0 {document} {grade}"
        for query, document, grade in (line.split("\t") for line in QRELS[1:])
    ]
    expected = open_query_folder(str(folder))
    (folder / "qrels" / "test.tsv").unlink()
    (folder / "qrels" / "test.qrels").write_text("\n".join(lines))
    found = open_query_folder(str(folder))
    assert (found.query == expected.query).all()
    assert (found.grade == expected.grade).all()
    alone = open_query_folder(f"retrieval:{folder / 'qrels' / 'test.qrels'}")
    assert not alone.has_texts
    assert (alone.ids[0], sorted(alone.ids[1])) == (["q1", "q2"], ["d1", "d2", "d3"])
    assert (
        len({*alone.keys.ravel().tolist()}) == 5
    )  # two queries and three documents; an id is not the same text in both columns


FAULTS = {
    "test.tsv, line 7: query 'q1' and document 'd1' a second time, with another grade than in line "
    "2": {"qrels": [*QRELS, "q1\td1\t1"]},
    "test.tsv, line 7: grade 'high' is not a number": {"qrels": [*QRELS, "q1\td3\thigh"]},
    "test.tsv, line 7: grade 2000 is above 1024": {"qrels": [*QRELS, "q1\td3\t2000"]},
    "is above 1024 in units of 1/100000": {"qrels": [*QRELS, "q1\td3\t3.00001"]},
    "test.tsv, line 7: corpus-id is empty": {"qrels": [*QRELS, "q1\t\t1"]},
    "test.tsv, line 1: no column 'query-id'": {"qrels": ["left\tdocument\tscore", *QRELS[1:]]},
    "no query is in queries.jsonl: '01' in line 1": {"qrels": ["01\td1\t1"]},
    "no relevant document is in corpus.jsonl: 'd01' in line 1": {"qrels": ["q1\td01\t1"]},
    "names no relevant document": {"qrels": QRELS[:1] + QRELS[4:]},
    "corpus.jsonl, line 7: the id 'd1' a second time, after line 1": {
        "corpus": [*CORPUS, '{"_id": "d1", "text": "again"}']
    },
    "corpus.jsonl, line 7: no id under '_id'": {
        "corpus": [*CORPUS, '{"id": "d7", "text": "again"}']
    },
    "corpus.jsonl, line 7: no text under 'text'": {"corpus": [*CORPUS, '{"_id": "d7", "text": 3}']},
    "corpus.jsonl, line 7: broken JSON at character": {
        "corpus": [*CORPUS, '{"_id": "d7", "text": ']
    },
    "queries.jsonl, line 4: the id 'q1' a second time": {
        "queries": [*QUERIES, '{"_id": "q1", "text": "another"}']
    },
}


def test_a_relevant_document_that_is_absent_is_never_found_and_an_absent_query_is_skipped(
    tmp_path: Path,
) -> None:
    more = ["q1\td77\t3", "q2\td78\t0", "q9\td1\t1", "q9\td2\t1", "q1\td2\t1"]
    found = open_query_folder(str(write_folder(tmp_path / "faq", qrels=[*QRELS, *more])))
    assert found.texts == ("what barks", "what sings")
    assert len(found.candidates) == 6
    assert found.ids[1][6:] == ["d77"]
    assert found.relevant.tolist() == [0, 1, 2, 6]
    assert found.grade.tolist() == [2, 1, 1, 3]
    assert found.part.frame.row(3) == ("what barks", "d77")
    state = found.part.state
    assert state.skipped == {
        "query that is not in queries.jsonl (test.tsv:9, 10)": 1,
        NONE_RELEVANT: 1,
    }
    assert tuple(state.notes) == (
        "1 relevant document is not in corpus.jsonl and never found (test.tsv:7)",
        "1 line of test.tsv repeats another and counts once",
    )


def test_a_query_without_a_text_is_skipped_and_equal_documents_are_counted(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "faq",
        queries=['{"_id": "q1", "text": " "}', *QUERIES[1:]],
        corpus=[*CORPUS, '{"_id": "d9", "text": "The fox barks too."}'],
    )
    found = open_query_folder(str(folder))
    assert found.texts == ("what sings",)
    assert found.part.state.skipped["empty query (queries.jsonl:1)"] == 1
    assert found.part.state.notes == ["1 document has the text of another"]


@pytest.mark.parametrize(
    ("qrels", "note"),
    [
        (["qid\tdoc_id\trelevance", *QRELS[1:]], ""),
        (
            ["query-id\titer\tcorpus-id\tscore", *(q.replace("\td", "\t0\td") for q in QRELS[1:])],
            "",
        ),
        ([line.replace("q1\t", "q1 \t ") for line in QRELS], ""),
        ([*QRELS, "", "q1\td3\t", "q1\td6\tNaN"], "blank grade (test.tsv:8, 9)"),
    ],
)
def test_qrels_are_read_by_any_usual_header_and_without_a_blank_grade(
    qrels: list[str], note: str, tmp_path: Path
) -> None:
    expected = open_query_folder(str(write_folder(tmp_path / "usual")))
    found = open_query_folder(str(write_folder(tmp_path / "faq", qrels=qrels)))
    assert (found.query.tolist(), found.relevant.tolist(), found.grade.tolist()) == (
        expected.query.tolist(),
        expected.relevant.tolist(),
        expected.grade.tolist(),
    )
    assert {*found.part.state.skipped} == {NONE_RELEVANT, *([note] if note else [])}


def test_a_text_that_is_null_is_empty_and_a_line_that_comes_twice_counts_once(
    tmp_path: Path,
) -> None:
    corpus = [*CORPUS, CORPUS[0], '{"_id": "d8", "text": null}', '{"_id": "d9", "title": "Alone"}']
    found = open_query_folder(str(write_folder(tmp_path / "faq", corpus=corpus)))
    assert found.candidates[6:] == ("", "Alone")
    assert found.part.state.empty == 2
    assert "1 line repeats another and counts once (corpus.jsonl)" in found.part.state.notes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_with_its_file_and_line(fault: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "faq", **FAULTS[fault])
    with pytest.raises(MissingError) as error:
        open_query_folder(str(folder))
    assert fault in error.value.message
    assert "\n" not in error.value.message
    assert error.value.hint


@pytest.mark.parametrize("lacking", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_file_that_is_lacking_is_named(lacking: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "faq")
    (folder / lacking).unlink()
    with pytest.raises(EmbedlabError, match=r"no qrels in|no file") as error:
        open_query_folder(f"retrieval:{folder}")
    assert "corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv" in str(error.value.hint)


def test_a_place_without_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="no folder or file"):
        open_query_folder(f"retrieval:{tmp_path / 'gone'}")


def test_the_state_of_a_folder_has_the_hash_of_each_of_its_files(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "faq")
    stated = open_query_folder(str(folder)).part.state.sha256
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert stated == {str(path): sha256(path.read_bytes()).hexdigest() for path in files}
    files[0].write_bytes(files[0].read_bytes() + b"\n")
    assert open_query_folder(str(folder)).part.state.sha256 != stated
