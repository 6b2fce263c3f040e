"""Runs and qrels of TREC: what is read, and which line is refused."""

from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.data.queries import _read_qrels, read_run


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
        ("q1 Q0 d1 1 2.0 other", "found by 'other', the lines before by 'bm25'"),
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
    assert _read_qrels(path)[0].rows() == [
        (1, "q1", "d1", 1),
        (2, "q1", "d2", -1),
    ]
    path.write_text("q1\td1\t1\nq1\td2\t0\n")
    assert _read_qrels(path)[0].select("document", "grade").rows() == [("d1", 1), ("d2", 0)]
    path.write_text("q1\t0\td1\t1\nq1\td2\t1\n")
    with pytest.raises(MissingError, match="line 2: 3 fields, not 4"):
        _read_qrels(path)


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        (["1.0", "2.0", "0.0"], [1, 2, 0]),
        (["1e0", " 2", "-1.0"], [1, 2, -1]),
        (["0.5", "1", "0.25"], [2, 4, 1]),  # in quarters: no measure depends on the unit
    ],
)
def test_a_grade_is_read_by_its_value(
    grades: list[str], expected: list[int], tmp_path: Path
) -> None:
    lines = [f"q1\td{number}\t{grade}\n" for number, grade in enumerate(grades)]
    (path := tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    assert _read_qrels(path)[0]["grade"].to_list() == expected


def test_a_line_that_comes_again_with_the_same_grade_counts_once(tmp_path: Path) -> None:
    (path := tmp_path / "test.qrels").write_text("q1 0 d1 1\nq1 0 d2 1\nq1 0 d1 1.0\n")
    grades, _, notes = _read_qrels(path)
    assert grades["document"].to_list() == ["d1", "d2"]
    assert notes == ["1 line of test.qrels repeats another and counts once"]
