"""SimCSE's files: triplets and a million plain sentences."""

from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.data.source import Source
from tests.data.conftest import Write, read_as


def test_a_triplet_is_an_anchor_a_positive_and_a_negative(write: Write) -> None:
    path = write("t.csv", 'sent0,sent1,hard_neg\na,"b, too",c\n')
    assert read_as("nli-triplets", [path]).frame.rows() == [("a", "b, too", "c")]
    with pytest.raises(MissingError, match="no column 'hard_neg'"):
        read_as("nli-triplets", [write("t.csv", "sent0,sent1\na,b\n")])
    with pytest.raises(MissingError, match="line 3: an empty sentence"):
        read_as("nli-triplets", [write("t.csv", "sent0,sent1,hard_neg\na,b,c\na,,c\n")])


def test_a_faulty_triplet_is_reported_with_the_line_that_it_begins_at(write: Write) -> None:
    with pytest.raises(MissingError, match="line 4: an empty sentence"):
        read_as("nli-triplets", [write("t.csv", 'sent0,sent1,hard_neg\na,"b\nb",c\na,,c\n')])
    with pytest.raises(MissingError, match="line 3: 2 fields: the header has 3"):
        read_as("nli-triplets", [write("t.csv", "sent0,sent1,hard_neg\na,b,c\na,b\n")])
    with pytest.raises(MissingError, match="line 2: not readable as CSV"):
        read_as("nli-triplets", [write("t.csv", 'sent0,sent1,hard_neg\na,"b,c\n')])
    with pytest.raises(MissingError, match="is empty"):
        read_as("nli-triplets", [write("t.csv", "sent0,sent1,hard_neg\n")])


def test_blank_lines_are_not_triplets(write: Write) -> None:
    path = write("t.csv", "sent0,sent1,hard_neg\na,b,c\n\nd,e,f\n\n")
    assert read_as("nli-triplets", [path]).frame.rows() == [("a", "b", "c"), ("d", "e", "f")]


def test_blank_lines_are_not_sentences(write: Write) -> None:
    rows = read_as("wiki-1m", [write("s.txt", "one\n\ntwo\twords\n")])
    assert rows.frame["sentence"].to_list() == ["one", "two\twords"]
    assert rows.skipped == {"blank line": 1}


def test_the_real_triplets_are_partial(shared_data: Path) -> None:
    with pytest.raises(MissingError, match="6,730 rows instead of 275,601"):
        Source(folder=shared_data, offline=True).open("nli-triplets")
