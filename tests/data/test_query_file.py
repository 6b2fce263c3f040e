"""Queries of a user's own file: each pair once, the candidates of the file, and what is skipped."""

import pytest

from embedlab.core.errors import EmbedlabError
from embedlab.data.query_file import EQUAL, TWICE, holds_queries, open_query_file
from tests.data.conftest import Write


def test_pairs_count_once_and_equal_texts_are_skipped(write: Write) -> None:
    path = write(
        "faq.csv",
        "question,answer\nq one,a one\nq one,a two\nq one,a one\nq two,q two\nq two,a one\n",
    )
    found = open_query_file(str(path))
    assert found.part.frame.rows() == [("q one", "a one"), ("q one", "a two"), ("q two", "a one")]
    assert found.part.state.skipped == {EQUAL: 1, TWICE: 1}
    assert found.candidates == ("a one", "a two", "q two")
    assert found.part.state.name == str(path)


def test_negatives_of_triplets_are_candidates(write: Write) -> None:
    path = write("t.csv", "anchor,positive,negative\nq one,a one,n one\nq two,a two,a one\n")
    assert open_query_file(str(path)).candidates == ("a one", "a two", "n one")


@pytest.mark.parametrize(
    ("name", "content", "holds"),
    [
        ("p.csv", "question,answer\na b,c d\ne f,g h\n", True),
        ("p.csv", "sentence1,sentence2,score\na b,c d,1\n", False),
        ("p.csv", "a,b,points\na b,c d,1\n", False),  # ambiguous: whoever opens it says so
    ],
)
def test_which_files_hold_queries(name: str, content: str, holds: bool, write: Write) -> None:
    assert holds_queries(str(write(name, content))) is holds


def test_other_names_hold_none() -> None:
    assert not holds_queries("sts12")
    assert not holds_queries("gone.csv")
    assert not holds_queries("hub:owner/name")


def test_an_empty_text_is_refused_with_its_line(write: Write) -> None:
    with pytest.raises(EmbedlabError, match="line 3: answer is empty"):
        open_query_file(str(write("faq.csv", "question,answer\na b,c d\ne f,\n")))
    with pytest.raises(EmbedlabError, match="holds no pair of different texts"):
        open_query_file(str(write("same.csv", "question,answer\na b,a b\n")))
