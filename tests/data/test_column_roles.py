"""Which column holds what: limits of labels, texts and names, and the options that a refusal
offers; kinds are in test_own_data.
"""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from embedlab.core.errors import MissingError, UsageError
from embedlab.data.column_roles import FoundColumns
from embedlab.data.file_name import parse_file_name
from embedlab.data.row_file import PLACE
from embedlab.data.row_kind import LABELLED, PAIRS, SCORED, SENTENCES, TRIPLETS, RowKind

ROWS = 60
LEFT = [f"a longer left text {row}" for row in range(ROWS)]
RIGHT = [f"another longer right text {row}" for row in range(ROWS)]


def found(options: str = "", path: str = "p.csv", **columns: list[Any]) -> FoundColumns:
    rows = pl.DataFrame(columns, strict=False)
    return FoundColumns.of(
        parse_file_name(path + options),
        rows.with_columns(pl.int_range(2, rows.height + 2).alias(PLACE)),
    )


def decided(options: str = "", **columns: list[Any]) -> tuple[RowKind, dict[str, str]]:
    return found(options, **columns).decided()


@pytest.mark.parametrize(("different", "is_of_words"), [(1, True), (20, True), (21, False)])
def test_labels_are_up_to_twenty_different_values(different: int, is_of_words: bool) -> None:
    column = [f"kind {row % different}" for row in range(ROWS)]
    assert ("third" in found(a=LEFT, b=RIGHT, third=column).words) is is_of_words


@pytest.mark.parametrize(("rows", "is_of_words"), [(10, True), (9, False)])
def test_labels_occur_twice_on_average(rows: int, is_of_words: bool) -> None:
    column = [f"kind {row % 5}" for row in range(rows)]
    assert ("third" in found(a=LEFT[:rows], third=column).words) is is_of_words


@pytest.mark.parametrize(
    ("label", "is_of_words"), [("one two three", True), ("one two three four", False)]
)
def test_labels_have_up_to_three_words(label: str, is_of_words: bool) -> None:
    columns = found(a=LEFT, b=RIGHT, third=[label if row % 2 else "no" for row in range(ROWS)])
    assert ("third" in columns.words) is is_of_words
    assert ("third" in columns.texts) is not is_of_words


def test_numbers_are_columns_of_numbers_alone_and_blanks_do_not_count() -> None:
    columns = found(
        a=LEFT,
        whole=[*range(ROWS)],
        text=[f" {row}.5 " for row in range(ROWS)],
        holes=[None if row % 3 else str(row) for row in range(ROWS)],
        mixed=["x" if row == 7 else str(row) for row in range(ROWS)],
        empty=[None] * ROWS,
        true=[True] * ROWS,
        many=[[row] for row in range(ROWS)],
    )
    assert columns.numbers == {"whole", "text", "holes"}
    assert columns.texts == ("a", "mixed")
    assert columns.names == ("a", "whole", "text", "holes", "mixed", "empty", "true", "many")


@pytest.mark.parametrize("name", ["id", "Source", "row_id", "URL", "Unnamed: 0", "topic", ""])
def test_columns_that_say_something_of_a_row_alone_are_not_texts(name: str) -> None:
    columns = found(
        **{"a": LEFT, "b": RIGHT, name: [f"some words about row {row}" for row in range(ROWS)]}
    )
    assert columns.texts == ("a", "b")
    assert columns.decided() == (PAIRS, {"anchor": "a", "positive": "b"})


def test_the_column_of_sources_is_not_a_text_and_may_be_any() -> None:
    columns = found(
        "?source=where", a=LEFT, b=RIGHT, where=[f"page number {row} of it" for row in range(ROWS)]
    )
    assert columns.texts == ("a", "b")
    with pytest.raises(UsageError, match="has no column 'wher': found a, where") as error:
        found("?source=wher", a=LEFT, where=RIGHT)
    assert error.value.hint == "did you mean 'where'?"
    with pytest.raises(UsageError, match="has no column 'zzz': found a, where") as error:
        found("?s1=zzz", a=LEFT, where=RIGHT)
    assert error.value.hint == "name one of them: a, where"


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (("Sentence A", "sentence_b"), ("s1", "s2")),
        (("Question1", "QUESTION-2"), ("question", "question")),
        (("premise", "hypothesis"), ("s1", "s2")),
        (("sent0", "sent1"), ("anchor", "positive")),
        (("Query", "answer"), ("anchor", "positive")),
        (("sent1", "sent2"), ("s1", "s2")),
    ],
)
def test_columns_are_known_by_their_names_without_case_and_signs(
    names: tuple[str, str], roles: tuple[str, str]
) -> None:
    columns = found(**dict(zip(names, (LEFT, RIGHT), strict=True)))
    for name, role in zip(names, roles, strict=True):
        if role != "question":
            assert columns.named[role] == (name,)
    turned = found(**dict(zip(names[::-1], (LEFT, RIGHT), strict=True))).decided()
    if roles != ("question", "question"):
        assert turned[1] == {"anchor": names[0], "positive": names[1]}


@pytest.mark.parametrize("name", ["12", "-3.5", "4,5", "a sentence of five words here"])
def test_a_first_line_that_is_a_row_is_refused(name: str) -> None:
    for path, example in (
        ("p.csv", "sentence1,sentence2,score"),
        ("p.TSV", "sentence1\tsentence2\tscore"),
    ):
        with pytest.raises(MissingError, match=r"line 1: .* is not the name of a column") as error:
            found(path=path, **{"other": LEFT, name: RIGHT})
        assert error.value.hint == f"name the columns first, such as {example}"
    assert found(path="p.parquet", **{"other": LEFT, name: RIGHT}).names == ("other", name)


def test_a_long_name_beside_a_known_one_is_a_name() -> None:
    long = "how similar are the two texts"
    columns = found(
        **{"sentence1": LEFT, "sentence2": RIGHT, long: [row / 7 for row in range(ROWS)]}
    )
    assert long in columns.numbers
    assert found(**{"four words in it": LEFT, "b": RIGHT}).texts == ("four words in it", "b")


def test_a_file_without_rows_or_texts_is_refused() -> None:
    with pytest.raises(MissingError, match="has no rows below its header"):
        found(a=[], b=[])
    with pytest.raises(MissingError, match="has no column of texts: found a, b") as refused:
        decided(a=[*range(ROWS)], b=[*range(ROWS)])
    assert "?s1=NAME&s2=NAME&score=NAME'" in str(refused.value.hint)


def test_a_label_of_numbers_is_a_score_where_a_part_of_one_occurs() -> None:
    assert decided(s1=LEFT, s2=RIGHT, label=[row / 2 for row in range(ROWS)])[0] is SCORED
    labels = [row % 3 for row in range(ROWS)]
    assert decided("?label=label", s1=LEFT, s2=RIGHT, label=labels) == (
        LABELLED,
        {"s1": "s1", "s2": "s2", "label": "label"},
    )
    with pytest.raises(
        UsageError, match="'label' holds 0, 1, 2, 3: scores, or numbers of labels"
    ) as error:
        decided("?label=label", s1=LEFT, s2=RIGHT, label=[row % 4 for row in range(ROWS)])
    assert error.value.hint == "write 'p.csv?score=label'"  # the column cannot be both
    assert (
        decided("?score=label", s1=LEFT, s2=RIGHT, label=[row % 4 for row in range(ROWS)])[0]
        is SCORED
    )


def test_a_score_or_a_scale_that_is_said_makes_scored_pairs() -> None:
    labels = [row % 3 for row in range(ROWS)]
    for options in ("?score=label", "?scale=0-2"):
        assert decided(options, s1=LEFT, s2=RIGHT, label=labels) == (
            SCORED,
            {"s1": "s1", "s2": "s2", "score": "label"},
        )
    for options in ("?label=label", "?labels=0:neutral,1:entailment,2:contradiction"):
        kind, columns = decided(
            options, s1=LEFT, s2=RIGHT, label=labels, score=[row / 7 for row in range(ROWS)]
        )
        assert (kind, columns["label"]) == (LABELLED, "label")
    with pytest.raises(
        UsageError, match="'score' may be their score, and 'label' their label"
    ) as error:
        decided(s1=LEFT, s2=RIGHT, label=labels, score=[row / 7 for row in range(ROWS)])
    assert error.value.hint == "write 'p.csv?score=score' or 'p.csv?label=label'"


def test_what_was_said_already_is_offered_again() -> None:
    with pytest.raises(UsageError, match="'rating', 'grade' may each be the score") as error:
        decided(
            "?s1=a&s2=b",
            a=LEFT,
            b=RIGHT,
            rating=[row / 7 for row in range(ROWS)],
            grade=[row / 9 for row in range(ROWS)],
        )
    assert (
        error.value.hint == "write 'p.csv?s1=a&s2=b&score=rating' or 'p.csv?s1=a&s2=b&score=grade'"
    )


def test_a_third_column_that_may_say_something_of_pairs_is_refused() -> None:
    nli = ["neutral" if row % 2 else "ENTAILMENT" for row in range(ROWS)]
    with pytest.raises(UsageError, match="'third' may be their label") as error:
        decided(a=LEFT, b=RIGHT, third=nli)
    assert error.value.hint == "write 'p.csv?label=third' or 'p.csv?anchor=a&positive=b'"
    for column, role in (
        ([row % 7 / 3 for row in range(ROWS)], "score"),
        (["x" if row % 2 else "y" for row in range(ROWS)], "label"),
    ):
        with pytest.raises(
            UsageError, match=f"'third' may be their {role}, or say nothing about them"
        ) as error:
            decided(a=LEFT, b=RIGHT, third=column)
        assert error.value.hint == f"write 'p.csv?{role}=third' or 'p.csv?anchor=a&positive=b'"
    assert decided("?anchor=a&positive=b", a=LEFT, b=RIGHT, third=nli)[0] is PAIRS
    assert (
        decided(
            "?source=third", a=LEFT, b=RIGHT, third=["x" if row % 2 else "y" for row in range(ROWS)]
        )[0]
        is PAIRS
    )


def test_parts_of_two_kinds_are_refused() -> None:
    with pytest.raises(UsageError, match="s1, anchor are not parts of one kind of rows") as error:
        decided("?s1=a&anchor=b", a=LEFT, b=RIGHT)
    assert "scored pairs: s1, s2, score" in error.value.hint


def test_one_column_of_texts_is_sentences_unless_something_scores_them() -> None:
    assert decided(words=LEFT) == (SENTENCES, {"sentence": "words"})
    assert decided("?sentence=b", a=LEFT, b=RIGHT) == (SENTENCES, {"sentence": "b"})
    labels = ["good" if row % 2 else "bad" for row in range(ROWS)]
    with pytest.raises(
        UsageError,
        match="single texts with 'label', which no recipe trains on and no task evaluates",
    ) as error:
        decided(text=LEFT, label=labels)
    assert error.value.hint == "write 'p.csv?sentence=text' to train on the texts alone"
    assert decided("?sentence=text", text=LEFT, label=labels)[0] is SENTENCES
    for alone, other in (("sentence1", "sentence2"), ("sentence2", "sentence1")):
        with pytest.raises(MissingError, match=f"has no column '{other}'") as missing:
            decided(**{alone: LEFT, "score": [row / 7 for row in range(ROWS)]})
        assert missing.value.hint == f"name it {other}"


def test_texts_whose_names_say_nothing_are_a_pair_in_their_order_and_three_are_refused() -> None:
    assert decided(x=LEFT, y=RIGHT)[1] == {"anchor": "x", "positive": "y"}
    assert decided("?anchor=y&positive=x", x=LEFT, y=RIGHT)[1] == {"anchor": "y", "positive": "x"}
    assert decided("?positive=x", x=LEFT, y=RIGHT)[1] == {"anchor": "y", "positive": "x"}
    with pytest.raises(
        UsageError, match=r"3 columns of texts \(x, y, z\), of which the names do not say"
    ) as error:
        decided(x=LEFT, y=RIGHT, z=[text.upper() for text in LEFT])
    assert (
        error.value.hint
        == "write 'p.csv?anchor=x&positive=y' or 'p.csv?anchor=x&positive=y&negative=z'"
    )


def test_labels_are_translated_where_they_are_written_otherwise(tmp_path: Path) -> None:
    labels = ["Neutral" if row % 2 else "entailment" for row in range(ROWS)]
    assert found(s1=LEFT, s2=RIGHT, label=labels).meanings("label") == {"Neutral": "neutral"}
    numbers = [float(row % 2) for row in range(ROWS)]
    said = found("?labels=0:contradiction,1:entailment,2:neutral", s1=LEFT, s2=RIGHT, label=numbers)
    assert said.meanings("label") == {
        "0": "contradiction",
        "1": "entailment",
    }  # whole numbers, and those that occur
    assert found(s1=LEFT, s2=RIGHT, label=["-", "neutral"] * 30).meanings("label") == {}
    with pytest.raises(
        UsageError, match="label holds 'no', 'yes', none of entailment, neutral, contradiction"
    ) as error:
        found(s1=LEFT, s2=RIGHT, label=["yes", "no"] * 30).meanings("label")
    assert "'p.csv?label=label&labels=no:contradiction,yes:entailment'" in error.value.hint


def test_the_range_of_scores_is_known_where_all_are_numbers() -> None:
    columns = found(
        s1=LEFT,
        s2=RIGHT,
        score=[row / 10 for row in range(ROWS)],
        odd=[float("inf"), *[1.0] * (ROWS - 1)],
    )
    scale = columns.range_of("score")
    assert scale is not None
    assert (scale.low, scale.high) == (0.0, 5.9)
    assert columns.range_of("odd") is None


def test_numbers_of_rows_are_none_of_their_scores() -> None:
    for start in (0, 1):
        assert decided(a=LEFT, b=RIGHT, third=[*range(start, start + ROWS)]) == (
            PAIRS,
            {"anchor": "a", "positive": "b"},
        )
        with_hole = [None if row == 7 else start + row - (row > 7) for row in range(ROWS)]
        assert decided(a=LEFT, b=RIGHT, third=with_hole)[0] == PAIRS
    for third in ([*range(2, 2 + ROWS)], [*range(ROWS, 0, -1)]):
        with pytest.raises(UsageError, match="'third' may be their score"):
            decided(a=LEFT, b=RIGHT, third=third)
    with pytest.raises(UsageError, match="'third' may be their score"):
        decided(a=LEFT[:2], b=RIGHT[:2], third=[0, 1])
    assert decided(a=LEFT[:3], b=RIGHT[:3], third=[0, 1, 2])[0] == PAIRS


def test_a_column_of_few_short_texts_is_one_where_it_is_called_so() -> None:
    short = ["yes" if row % 2 else "no" for row in range(ROWS)]
    assert decided(question=LEFT, answer=short) == (
        PAIRS,
        {"anchor": "question", "positive": "answer"},
    )
    assert found(a=LEFT, b=short).texts == ("a",)


def test_a_number_is_neither_a_word_nor_a_text() -> None:
    columns = found(a=LEFT, b=RIGHT, third=[row % 3 for row in range(ROWS)])
    assert (columns.numbers, columns.words, columns.texts) == ({"third"}, frozenset(), ("a", "b"))


def test_a_hard_negative_is_not_the_positive_of_a_triplet() -> None:
    kind, columns = decided(
        left_one=LEFT, right_one=RIGHT, hard_negative=[f"no {text}" for text in LEFT]
    )
    assert kind.columns == TRIPLETS.columns
    assert columns == {"anchor": "left_one", "positive": "right_one", "negative": "hard_negative"}


def test_a_column_of_all_the_labels_of_nli_is_offered_as_their_label() -> None:
    for labels in (
        ("entailment", "neutral", "contradiction", "-"),
        ("entailment", "contradiction"),
    ):
        with pytest.raises(UsageError, match="'third' may be their label") as error:
            decided(a=LEFT, b=RIGHT, third=[labels[row % len(labels)] for row in range(ROWS)])
        assert "label=third" in error.value.hint


def test_a_file_without_the_source_that_is_said_is_refused() -> None:
    with pytest.raises(UsageError, match="has no column 'genres'") as error:
        found("?source=genres", a=LEFT, b=RIGHT, genre=["x"] * ROWS)
    assert "did you mean 'genre'?" in error.value.hint


def test_facts_beside_pairs_leave_nothing_open() -> None:
    facts = {"split": ["train"] * ROWS, "year": [2012 + row % 3 for row in range(ROWS)]}
    assert decided(a=LEFT, b=RIGHT, **facts) == (PAIRS, {"anchor": "a", "positive": "b"})


@pytest.mark.parametrize("options", ["?s1=a&s2=b&score=b", "?anchor=a&positive=a"])
def test_a_column_that_is_named_for_two_parts_is_refused(options: str) -> None:
    with pytest.raises(UsageError, match="for two parts") as refused:
        found(options, a=LEFT, b=RIGHT, score=[row / 7 for row in range(ROWS)])
    assert str(refused.value.hint) == "name one for each: a, b, score"
    assert (
        found("?s1=a&s2=b&source=a", a=LEFT, b=RIGHT).file.source == "a"
    )  # items may be grouped by any column
