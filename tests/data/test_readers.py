"""The small readers: definitions, paraphrases, sentiment, sentences, captions."""

import gzip
from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.data.source import Source
from tests.data.conftest import Write, read_as, write_as


def test_a_definition_line_is_a_word_a_tab_and_the_definition(write: Write) -> None:
    assert read_as(
        "definitions", [write("d.tsv", 'dog\tan "animal"\ndog\tto follow\n')], "all"
    ).frame.rows() == [
        ("dog", 'an "animal"'),
        ("dog", "to follow"),
    ]
    with pytest.raises(
        MissingError, match="line 2: 1 tab-separated field: expected a word and its definition"
    ):
        read_as("definitions", [write("d.tsv", "dog\ta\ncat\n")], "all")


def test_questions_with_a_blank_label_are_skipped_and_counted(write: Write) -> None:
    rows = read_as(
        "paraphrases",
        [
            write(
                "q.csv",
                "\tid\tsentence1\tsentence2\tis_duplicate\n0\tx\ta\tb\t1.0\n1\ty\tc\td\t\n2\tz\te\tf\t0.0\n",
            )
        ],
    )
    assert rows.frame.rows() == [("a", "b", 1), ("e", "f", 0)]
    assert rows.skipped == {"blank label": 1}


def test_the_questions_of_labelled_pairs_are_plain_sentences(write: Write) -> None:
    rows = read_as(
        "paraphrase-sentences",
        [
            write(
                "q.csv",
                "\tid\tsentence1\tsentence2\tis_duplicate\n0\tx\ta\tb\t1.0\n1\ty\tc\t\t\n2\tz\te\tf\t0.0\n",
            )
        ],
    )
    assert rows.frame["sentence"].to_list() == ["a", "b", "e", "f"]
    assert rows.skipped == {"blank label": 1}


def test_a_course_pair_has_a_similarity_from_0_to_5(write: Write) -> None:
    header = "\tid\tsentence1\tsentence2\tsimilarity\n"
    file = write("s.csv", f"{header}0\tx\ta dog\ta cat\t1.5\n")
    assert read_as("sts-course", [file]).frame.rows() == [("a dog", "a cat", 1.5, None)]
    assert read_as("sts-course-sentences", [file]).frame["sentence"].to_list() == ["a dog", "a cat"]
    with pytest.raises(MissingError, match="line 2: similarity '6' is not a number from 0 to 5"):
        read_as("sts-course", [write("s.csv", f"{header}0\tx\ta\tb\t6\n")])
    with pytest.raises(MissingError, match="line 2: no similarity"):
        read_as("sts-course", [write("s.csv", f"{header}0\tx\ta\tb\t\n")])


def test_a_sentiment_is_one_of_five_classes(write: Write) -> None:
    header = "\tid\tsentence\tsentiment\n"
    assert read_as("sentiment", [write("s.csv", f"{header}0\tx\tgood film\t4\n")]).frame.rows() == [
        ("good film", 4)
    ]
    with pytest.raises(
        MissingError, match="line 2: sentiment '5' is not a whole number from 0 to 4"
    ):
        read_as("sentiment", [write("s.csv", f"{header}0\tx\tgood film\t5\n")])
    with pytest.raises(MissingError, match="line 2: no sentiment"):
        read_as("sentiment", [write("s.csv", f"{header}0\tx\tgood film\t\n")])


def test_a_class_with_a_fraction_is_refused_and_not_rounded(write: Write) -> None:
    with pytest.raises(
        MissingError, match=r"line 2: sentiment '2\.7' is not a whole number from 0 to 4"
    ):
        read_as("sentiment", [write("s.csv", "\tid\tsentence\tsentiment\n0\tx\tgood film\t2.7\n")])
    with pytest.raises(
        MissingError, match=r"line 2: is_duplicate '0\.4' is not a whole number from 0 to 1"
    ):
        read_as(
            "paraphrases",
            [write("q.csv", "\tid\tsentence1\tsentence2\tis_duplicate\n0\tx\ta\tb\t0.4\n")],
        )


@pytest.mark.parametrize("row", ["0\tx\ta\tdog\ta cat\t1", "0\tx\ta dog a cat\t1"])
def test_a_tab_too_many_or_too_few_shifts_no_text(write: Write, row: str) -> None:
    with pytest.raises(
        MissingError,
        match=rf"s\.csv, line 2: {row.count(chr(9)) + 1} tab-separated fields: .* in 5 fields",
    ):
        read_as("sts-course", [write("s.csv", f"\tid\tsentence1\tsentence2\tsimilarity\n{row}\n")])


def test_sentences_of_several_files_follow_each_other(write: Write) -> None:
    assert read_as("wiki-split", [write("a.tsv", "one\tx\n"), write("b.tsv", "two\ty\n")]).frame[
        "sentence"
    ].to_list() == ["one", "two"]


def test_the_real_corpora_are_whole_where_they_should_be(shared_data: Path) -> None:
    source = Source(folder=shared_data, offline=True)
    wanted = {
        ("definitions", "all"): 185_152,
        ("paraphrases", "dev"): 20_212,
        ("sentiment", "train"): 8544,
        ("sentiment", "dev"): 1101,
        ("sts-course", "train"): 6040,
        ("sts-course", "dev"): 863,
        ("sts-course-sentences", "train"): 12_080,
        ("wiki-split", "train"): 15_000,
        ("snli-counterfactual", "train"): 8330,
        ("sts-benchmark", "train"): 5749,
        ("sts-benchmark", "dev"): 1500,
        ("sick-r", "train"): 4500,
        ("sick-r", "dev"): 500,
    }
    assert {key: source.open(*key).state.rows for key in wanted} == wanted
    with pytest.raises(MissingError, match="14,137 rows instead of 141,498"):
        source.open("paraphrases", "train")


def test_every_line_that_is_not_blank_is_a_sentence(write: Write) -> None:
    rows = read_as("wiki-1m", [write("wiki.txt", "one\n\ntwo \n \n")])
    assert (rows.frame["sentence"].to_list(), rows.skipped) == (["one", "two "], {"blank line": 2})
    assert read_as("wiki-1m", [write("wiki.txt", "one\n")]).skipped == {}


@pytest.mark.parametrize("blank", [0, 2])
def test_pairs_without_a_label_are_counted_where_there_are_any(blank: int, write: Write) -> None:
    lines = ["1\ta b\tc\t1", "2\td\te\t0", *["3\tf\tg\t"] * blank]
    rows = read_as(
        "paws", [write("paws.tsv", "\n".join(["id\tsentence1\tsentence2\tlabel", *lines]) + "\n")]
    )
    assert rows.frame.rows() == [("a b", "c", 1), ("d", "e", 0)]
    assert rows.skipped == ({"blank label": blank} if blank else {})
    again = read_as(
        "paws",
        [
            write(
                "again.tsv",
                *write_as(
                    "paws",
                    rows.frame.with_columns(
                        sentence1=rows.frame["sentence1"].str.replace(" ", "\t")
                    ),
                ),
            )
        ],
    )
    assert again.frame.equals(rows.frame)
    with pytest.raises(MissingError, match=r"line 2: label '2' is not a whole number from 0 to 1"):
        read_as("paws", [write("paws.tsv", "id\tsentence1\tsentence2\tlabel\n1\ta\tb\t2\n")])


def test_the_captions_of_a_picture_follow_each_other(write: Write) -> None:
    files = [
        write(
            f"test.{number}.en.gz", gzip.compress(f" first {number} \nsecond {number}\n".encode())
        )
        for number in range(1, 6)
    ]
    assert read_as("captions", files).frame["sentence"].to_list() == [
        f"{picture} {n}" for picture in ("first", "second") for n in range(1, 6)
    ]
    unended = [
        write("a.gz", gzip.compress(b"one\ntwo")),
        write("b.gz", gzip.compress(b"three\nfour")),
    ]
    assert read_as("captions", unended).frame["sentence"].to_list() == [
        "one",
        "three",
        "two",
        "four",
    ]
    with pytest.raises(MissingError, match=r"a\.gz, line 2: no caption"):
        read_as("captions", [write("a.gz", gzip.compress(b"one\n \nthree\n"))])
