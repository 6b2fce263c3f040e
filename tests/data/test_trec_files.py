"""Runs and qrels of TREC: what is read, and which line is refused."""

from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.data.trec_files import read_qrels, read_run


def test_a_run_is_read_with_blanks_or_tabs_and_its_ranks_are_not(tmp_path: Path) -> None:
    path = tmp_path / "bm25.trec"
    path.write_text("q1 Q0 d2 7 1.5 bm25\nq1\tQ0\td1\t1\t-2e1\tbm25\nq2   Q0 d1 1 0 bm25\n")
    assert read_run(path).rows.rows() == [("q1", "d2", 1.5), ("q1", "d1", -20.0), ("q2", "d1", 0.0)]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("q1 Q0 d1 1 2.0", "5 fields, not 6"),
        ("", "0 fields, not 6"),
        ("q1 Q0 d1 1 high bm25", "score 'high' is not a number"),
        ("q1 Q0 d1 1 nan bm25", "score 'nan' is not a number"),
        ("q1 Q0 d9 1 2.0 bm25", "document 'd9' of query 'q1' a second time"),
    ],
)
def test_a_line_that_is_not_of_a_run_is_refused(line: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "bm25.trec"
    path.write_text(f"q1 Q0 d9 1 3.0 bm25\n{line}\nq2 Q0 d9 1 3.0 bm25\n")
    with pytest.raises(MissingError, match="line 2: ") as error:
        read_run(path)
    assert fault in error.value.message


def test_qrels_without_a_header_have_four_fields(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    path.write_text("q1\t0\td1\t1\nq1\t0\td2\t-1\n")
    assert [(one.line, one.query, one.document, one.grade) for one in read_qrels(path)] == [
        (1, "q1", "d1", 1),
        (2, "q1", "d2", -1),
    ]
    path.write_text("q1\t0\td1\t1\nq1\td2\t1\n")
    with pytest.raises(MissingError, match="line 2: 3 fields, not 4"):
        read_qrels(path)
