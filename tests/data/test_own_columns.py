"""What a user's own file holds, detected by what is said, by names and by values; what may be read
in two ways is refused with what to type.
"""

import re
import sys
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.data.file_name import parse_file_name
from embedlab.data.own_columns import (
    LABELLED,
    PAIRS,
    SCORED,
    SENTENCES,
    TRIPLETS,
    FoundColumns,
    RowKind,
    ScoreScale,
    own_data,
)
from embedlab.data.own_files import ColumnMap, RowShape, open_own_rows
from embedlab.data.table_file import PLACE
from tests.data.conftest import Write

LINES = RowShape(texts=("sentence",))
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
        spaced=[f" {row}.5 " for row in range(ROWS)],
        holes=[None if row % 3 else str(row) for row in range(ROWS)],
        mixed=["x" if row == 7 else str(row) for row in range(ROWS)],
        empty=[None] * ROWS,
        true=[True] * ROWS,
        many=[[row] for row in range(ROWS)],
    )
    assert columns.numbers == {"whole", "spaced", "holes"}
    assert columns.texts == ("a", "mixed")
    assert columns.names == ("a", "whole", "spaced", "holes", "mixed", "empty", "true", "many")


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
            assert columns.roles[name] == [role]
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
    assert error.value.hint.startswith("write 'p.csv?score=label' or 'p.csv?label=label&labels=0:")
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


def test_labels_are_translated_where_they_are_written_otherwise() -> None:
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


TEXTS = ["A man runs fast.", "A dog sleeps here.", "A girl reads a book.", "The cat eats fish."]


def rows(header: str, *columns: list[object], separator: str = ",") -> str:
    given = [*columns]
    lines = [header.replace(",", separator)] + [
        separator.join(map(str, row)) for row in zip(*given, strict=True)
    ]
    return "\n".join(lines) + "\n"


SCORES = [0.1, 0.9, 0.35, 0.6]


@pytest.mark.parametrize(
    ("header", "third", "kind", "columns"),
    [
        (
            "sentence1,sentence2,score",
            SCORES,
            SCORED,
            {"s1": "sentence1", "s2": "sentence2", "score": "score"},
        ),
        (
            "Text A,Text B,Human score",
            SCORES,
            SCORED,
            {"s1": "Text A", "s2": "Text B", "score": "Human score"},
        ),
        (
            "frage,antwort,similarity",
            SCORES,
            SCORED,
            {"s1": "frage", "s2": "antwort", "score": "similarity"},
        ),
        ("s1,s2,label", SCORES, SCORED, {"s1": "s1", "s2": "s2", "score": "label"}),
        (
            "query,passage,score",
            [0, 1, 1, 0],
            SCORED,
            {"s1": "query", "s2": "passage", "score": "score"},
        ),
        (
            "a,b,gold_label",
            ["neutral", "entailment", "contradiction", "neutral"],
            LABELLED,
            {"s1": "a", "s2": "b", "label": "gold_label"},
        ),
        (
            "a,b,label",
            ["NEUTRAL", "ENTAILMENT", "NEUTRAL", "NEUTRAL"],
            LABELLED,
            {"s1": "a", "s2": "b", "label": "label"},
        ),
        ("answer,question,id", [7, 3, 9, 1], PAIRS, {"anchor": "question", "positive": "answer"}),
        ("a,b,id", ["x7", "x8", "x9", "x0"], PAIRS, {"anchor": "a", "positive": "b"}),
        ("a,b,row", [0, 1, 2, 3], PAIRS, {"anchor": "a", "positive": "b"}),
        (
            "sent1,sent0,hard_neg",
            TEXTS,
            TRIPLETS,
            {"anchor": "sent0", "positive": "sent1", "negative": "hard_neg"},
        ),
        ("x,y,negative", TEXTS, TRIPLETS, {"anchor": "x", "positive": "y", "negative": "negative"}),
        (
            "negative,query,positive",
            TEXTS,
            TRIPLETS,
            {"anchor": "query", "positive": "positive", "negative": "negative"},
        ),
    ],
)
def test_kind_and_columns_are_detected(
    header: str, third: list[object], kind: RowKind, columns: dict[str, str], write: Write
) -> None:
    found = own_data(str(write("p.csv", rows(header, TEXTS, TEXTS[::-1], third))))
    assert (found.kind, found.columns, found.rows) == (kind, columns, 4)


@pytest.mark.parametrize(
    ("header", "third", "fault", "hint"),
    [
        (
            "a,b,label",
            [0, 1, 2, 0],
            "'label' holds 0, 1, 2: scores, or numbers of labels",
            "?label=label&labels=0:entailment,1:neutral,2:contradiction'",
        ),
        (
            "q1,q2,is_duplicate",
            [0, 1, 1, 0],
            "'is_duplicate' holds 0, 1",
            "'{path}?label=is_duplicate&labels=0:contradiction,1:entailment'",
        ),
        ("a,b,label", [1, 2, 3, 4], "'label' holds 1, 2, 3, 4", "write '{path}?score=label'"),
        (
            "a,b,votes",
            [3, 8, 1, 9],
            "'votes' may be their score",
            "'{path}?score=votes' or '{path}?anchor=a&positive=b'",
        ),
        (
            "a,b,y",
            ["neutral", "entailment"] * 2,
            "'y' may be their label",
            "'{path}?label=y' or '{path}?anchor=a&positive=b'",
        ),
        ("a,b,state", ["yes", "no"] * 2, "'state' may be their label", "'{path}?label=state'"),
        (
            "a,b,label",
            ["same", "other"] * 2,
            "label holds 'other', 'same', none of entailment",
            "?label=label&labels=other:MEANING,same:MEANING'",
        ),
        (
            "a,b,c",
            TEXTS,
            "3 columns of texts (a, b, c), of which the names do not say",
            "'{path}?anchor=a&positive=b' or '{path}?anchor=a&positive=b&negative=c'",
        ),
        (
            "question,query,answer",
            TEXTS,
            "'question', 'query' may each be the anchor",
            "'{path}?anchor=question' or '{path}?anchor=query'",
        ),
        (
            "text,id,label",
            SCORES,
            "single texts with 'label', which no recipe trains on",
            "'{path}?sentence=text' to train",
        ),
        ("sentence1,id,score", SCORES, "has no column 'sentence2'", "name it sentence2"),
        ("7,8,9", TEXTS, "line 1: '7' is not the name of a column", "sentence1,sentence2,score"),
        (
            "A man runs very fast,b,c",
            TEXTS,
            "'A man runs very fast' is not the name of a column",
            "sentence1,sentence2,score",
        ),
    ],
)
def test_what_may_be_read_in_two_ways_is_refused_with_what_to_type(
    header: str, third: list[object], fault: str, hint: str, write: Write
) -> None:
    second = [1, 2, 3, 4] if ",id," in header else TEXTS[::-1]
    path = write("p.csv", rows(header, TEXTS, second, third))
    with pytest.raises(EmbedlabError) as error:
        own_data(str(path))
    assert fault in error.value.message
    assert hint.replace("{path}", str(path)) in error.value.hint


def test_a_column_of_names_of_rows_is_not_a_third_text(write: Write) -> None:
    keys = ["doc-7-x", "doc-9-y", "doc-1-z", "doc-4-w"]
    found = own_data(
        str(write("p.csv", rows("ref,left text,right text", keys, TEXTS, TEXTS[::-1])))
    )
    assert (found.kind, found.columns, found.unread) == (
        PAIRS,
        {"anchor": "left text", "positive": "right text"},
        ("ref",),
    )
    words = own_data(
        str(write("w.csv", rows("ref,query,answer", keys, ["cat", "dog", "cow", "hen"], TEXTS)))
    )
    assert words.columns == {"anchor": "query", "positive": "answer"}


def test_a_refused_file_is_read_by_what_its_hint_says(write: Write) -> None:
    path = write("p.csv", rows("a,b,label,votes", TEXTS, TEXTS[::-1], [0, 1, 2, 0], [3, 8, 1, 9]))
    by_label = own_data(f"{path}?label=label&labels=0:entailment,1:neutral,2:contradiction")
    assert (by_label.kind, by_label.labels) == (
        LABELLED,
        {"0": "entailment", "1": "neutral", "2": "contradiction"},
    )
    assert own_data(f"{path}?score=votes").columns["score"] == "votes"
    alone = own_data(f"{path}?anchor=b&positive=a")
    assert (alone.kind, alone.columns, alone.unread) == (
        PAIRS,
        {"anchor": "b", "positive": "a"},
        ("label", "votes"),
    )
    assert own_data(f"{path}?sentence=a").kind == SENTENCES
    for options, fault in (
        ("score=none", "has no column 'none'"),
        ("score=votes&negative=a", "are not parts of one kind of rows"),
    ):
        with pytest.raises(UsageError, match=fault):
            own_data(f"{path}?{options}")


@pytest.mark.parametrize(
    ("scores", "scale"),
    [
        ([0.2, 0.99], (0, 1)),
        ([-0.4, 0.99], (-1, 1)),
        ([0, 1], (0, 1)),
        ([1, 5], (1, 5)),
        ([0, 4], (0, 4)),
        ([1, 7], (1, 7)),
        ([0.2, 4.8], (0, 5)),
        ([1.4, 4.8], (1, 5)),
        ([0.5, 8.5], (0, 10)),
        ([3, 97], (1, 100)),
        ([0, 250.5], (0, 250.5)),
    ],
)
def test_the_scale_is_that_which_the_scores_suggest(
    scores: list[float], scale: tuple[float, float], write: Write
) -> None:
    found = own_data(
        str(write("p.csv", rows("sentence1,sentence2,score", TEXTS[:2], TEXTS[2:], list(scores))))
    )
    assert found.scale == scale


def test_a_scale_that_the_scores_contradict_is_refused_unless_they_are_said_to_be_low(
    write: Write,
) -> None:
    path = write("p.csv", rows("sentence1,sentence2,score", TEXTS, TEXTS[::-1], SCORES))
    with pytest.raises(
        UsageError, match=r"the scores are from 0\.1 to 0\.9, but scale is 0-5"
    ) as error:
        own_data(f"{path}?scale=0-5")
    assert f"'{path}?scale=0-5&low-scores'" in error.value.hint
    assert own_data(f"{path}?scale=0-5&low-scores").scale == (0, 5)
    with pytest.raises(UsageError, match=r"the scores are from 0\.1 to 0\.9, but scale is 0\.5-1"):
        own_data(f"{path}?scale=0.5-1")
    pairs = write("q.csv", rows("question,answer", TEXTS, TEXTS[::-1]))
    with pytest.raises(UsageError, match="which have no scores"):
        own_data(f"{pairs}?scale=0-5")


def test_a_text_file_has_sentences_and_one_with_tabs_is_a_table(write: Write) -> None:
    found = own_data(str(write("lines.txt", "one, two\n\nthree\n")))
    assert (found.kind, found.rows, found.columns) == (SENTENCES, 2, {})
    assert found.lines() == [f"{found.file.text}: 2 sentences", "  line: one, two", "  line: three"]
    with pytest.raises(UsageError, match="each line has 2 fields with tabs"):
        own_data(str(write("table.txt", "a\tb\nc\td\n")))
    with pytest.raises(MissingError, match="no file"):
        own_data("gone.csv")


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("a cat|a dog|1\nb|c|0\n", "3 fields with '|'", "name the columns in its first line and"),
        ("question|answer\nwhy|because\n", "2 fields with '|'", "call it {}.csv"),
        ("sentence1,sentence2,score\na,b,1\nc,d,0\n", "3 fields with ','", "call it {}.csv"),
        ('text;label\n"a; b";1\nc;0\n', "2 fields with ';'", "call it {}.csv"),
        ('anchor\tpositive\n12" long\tyes\n', "2 fields with tabs", "call it {}.tsv"),
    ],
)
def test_rows_with_separators_are_not_read_as_sentences(
    text: str, says: str, hint: str, write: Write
) -> None:
    path = write("table.txt", text)
    for read in (own_data, lambda name: open_own_rows(name, LINES, ColumnMap())):
        with pytest.raises(UsageError, match=re.escape(says)) as error:
            read(str(path) if read is own_data else path)
        assert hint.format(path.with_suffix("")) in str(error.value.hint)


@pytest.mark.parametrize(
    "text",
    [
        "He came; he saw.\nShe ran; he sat.\n",
        "Yes, it rains.\nNo, it snows.\n",
        "either | or\n",
        "a | b\nno bar here\n",
        "text, then more\nno more\n",
    ],
)
def test_sentences_with_signs_between_words_stay_sentences(text: str, write: Write) -> None:
    assert own_data(str(write("lines.txt", text))).kind == SENTENCES


def test_what_was_found_is_shown_with_two_rows_and_how_to_correct_it(write: Write) -> None:
    path = write("p.csv", rows("id,a,b,rating", [1, 2, 3, 4], TEXTS, TEXTS[::-1], [1, 5, 2, 4]))
    first, second, third, last = own_data(str(path)).lines()
    assert (
        first == f"{path}: 4 scored pairs: s1 = a, s2 = b, score = rating; scores from 1 to 5 on a "
        f"scale from 1 to 5; not read: id"
    )
    assert second == f"  a: {TEXTS[0]}; b: {TEXTS[3]}; rating: 1"
    assert third.startswith(f"  a: {TEXTS[1]}")
    assert last == f"  another reading: '{path}?s1=NAME&s2=NAME&score=NAME&scale=LOW-HIGH'"


def test_a_changed_file_is_read_again(write: Write) -> None:
    path = write("p.csv", rows("question,answer", TEXTS, TEXTS[::-1]))
    assert own_data(str(path)).kind == PAIRS
    write("p.csv", rows("sentence1,sentence2,score", TEXTS, TEXTS[::-1], SCORES))
    assert own_data(str(path)).kind == SCORED


def test_the_name_with_all_that_was_found_reads_the_same_without_detection(write: Write) -> None:
    path = write(
        "p.csv",
        rows("a,b,label", TEXTS, TEXTS[::-1], ["NEUTRAL", "ENTAILMENT", "NEUTRAL", "NEUTRAL"]),
    )
    said = own_data(str(path)).said
    assert said.text == f"{path}?s1=a&s2=b&label=label&labels=ENTAILMENT:entailment,NEUTRAL:neutral"
    assert own_data(said.text).columns == own_data(str(path)).columns
    assert own_data(said.text).labels == own_data(str(path)).labels


def test_columns_that_say_something_of_a_row_alone_are_not_read_whatever_their_type(
    tmp_path: Path,
) -> None:
    frame = pl.DataFrame(
        {
            "query": TEXTS,
            "doc": TEXTS[::-1],
            "tags": [["x"], [], ["y"], []],
            "seen": [date(2020, 1, day) for day in (1, 2, 3, 4)],
            "vector": [[0.5], [1.0], [0.1], [0.2]],
        }
    )
    frame.write_parquet(tmp_path / "p.parquet")
    found = own_data(str(tmp_path / "p.parquet"))
    assert (found.kind, found.unread) == (PAIRS, ("tags", "seen", "vector"))


def test_what_is_not_a_file_is_refused_as_such(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(
        MissingError, match=r"folder\.csv' is a folder, not a file of rows"
    ) as error:
        own_data(str(tmp_path / "folder.csv"))
    assert error.value.hint == "give the path of a file in it"
    for name in ("absent.csv", "absent.txt", "absent.csv?s1=a"):
        with pytest.raises(MissingError, match=r"no file '.*absent\.(csv|txt)'") as error:
            own_data(str(tmp_path / name))
        assert (
            error.value.hint == "a dataset is a name from `embedlab data ls` or the path of a file"
        )


def test_a_scale_of_rows_without_scores_and_scores_outside_of_it_are_refused(write: Write) -> None:
    pairs = write("pairs.csv", rows("anchor,positive", TEXTS, TEXTS[::-1]))
    for said in ("scale=0-5", "low-scores"):
        with pytest.raises(
            UsageError, match="it holds pairs of anchor and positive, which have no scores"
        ) as error:
            own_data(f"{pairs}?{said}&anchor=anchor&positive=positive")
        assert error.value.hint == "remove the scale, or say ?score=NAME"
    scored = write("scored.csv", rows("s1,s2,score", TEXTS, TEXTS[::-1], [0.5, 1.5, 2.5, 4.5]))
    for scale in ("1-5", "0-4"):
        with pytest.raises(
            UsageError, match=f"the scores are from 0.5 to 4.5, but scale is {scale}"
        ) as error:
            own_data(f"{scored}?scale={scale}")
        assert error.value.hint == "state their scale: scale=0-5"
    assert own_data(f"{scored}?scale=0-5").kind is SCORED
    with pytest.raises(UsageError):
        own_data(f"{scored}?scale=0-9")  # all in its lower half
    assert own_data(f"{scored}?scale=0-9&low-scores").kind is SCORED
    assert own_data(f"{scored}?scale=0-8.9").kind is SCORED


def test_scores_that_are_not_all_numbers_are_left_to_their_reader_whatever_their_scale(
    write: Write,
) -> None:
    odd = write("odd.csv", rows("s1,s2,score", TEXTS, TEXTS[::-1], [0.5, "inf", 2.5, 4.5]))
    for options in ("?score=score", "?score=score&scale=0-5"):
        found = own_data(f"{odd}{options}")
        assert (found.kind, found.scores) == (SCORED, None)


@pytest.mark.parametrize(
    ("scores", "low", "high", "is_whole"),
    [
        ([3, 1, 2], 1, 3, True),
        ([0.5, 1.0], 0.5, 1, False),
        ([-1.0, 1.0], -1, 1, True),
        ([2.0, 2.25, 7.0], 2, 7, False),
    ],
)
def test_the_range_of_scores_is_from_the_least_to_the_greatest(
    scores: list[float], low: float, high: float, is_whole: bool
) -> None:
    found = ScoreScale.of(pl.Series(scores))
    assert (found.low, found.high, found.is_whole) == (low, high, is_whole)


def test_a_range_is_said_in_words_of_four_digits() -> None:
    assert str(ScoreScale(low=-0.123456, high=5)) == "from -0.1235 to 5"
    assert not ScoreScale(low=0, high=5).is_whole


@pytest.mark.parametrize(
    ("low", "high", "largest", "usual"),
    [
        *(
            (0, 0.9, 0.9, 1),
            (0, 1, 1, 1),
            (0, 1.01, 1.01, 5),
            (1, 5, 5, 5),
            (0, 5.5, 5.5, 10),
            (0, 10, 10, 10),
        ),
        *(
            (0, 10.1, 10.1, 100),
            (0, 100, 100, 100),
            (0, 101, 101, 101),
            (-3, 2, 3, 5),
            (-1, 0.5, 1, 1),
            (-120, 3, 120, 120),
        ),
    ],
)
def test_the_usual_scale_is_the_smallest_one_that_holds_all_scores(
    low: float, high: float, largest: float, usual: float
) -> None:
    found = ScoreScale(low=low, high=high)
    assert (found.largest, found.usual) == (largest, usual)


@pytest.mark.parametrize(
    ("high", "stated", "expected"),
    [(1, 5, True), (2.5, 5, True), (2.6, 5, False), (5, 5, False), (0, 5, True)],
)
def test_a_stated_scale_is_contradicted_where_no_score_is_in_its_upper_half(
    high: float, stated: float, expected: bool
) -> None:
    assert ScoreScale(low=0, high=high).contradicts(stated) is expected
    assert ScoreScale(low=-high, high=0).contradicts(stated) is expected


@pytest.mark.parametrize(
    ("low", "high", "is_whole", "expected"),
    [
        (0, 4, True, (0, 4)),  # people use all of a scale of whole numbers
        (1, 4, True, (1, 4)),
        (1, 7, True, (1, 7)),
        (0, 10, True, (0, 10)),
        (0, 11, True, (0, 100)),
        (1, 1, True, (0, 1)),  # a scale from one to one is none
        (0, 0, True, (0, 1)),
        (0.2, 0.9, False, (0, 1)),
        (1.2, 4.6, False, (1, 5)),
        (0.4, 4.6, False, (0, 5)),
        (2.5, 130.5, False, (1, 130.5)),
        (-0.9, 0.8, False, (-1, 1)),
        (-1, 1, True, (-1, 1)),
        (-3, 2, True, (-3, 3)),
        (-3.5, 2, False, (-5, 5)),
    ],
)
def test_the_suggested_scale_fits_the_scores(
    low: float, high: float, is_whole: bool, expected: tuple[float, float]
) -> None:
    assert ScoreScale(low=low, high=high, is_whole=is_whole).suggested == expected


LABELS = ["entailment", "neutral", "contradiction"]


@pytest.mark.parametrize("name", ["标签", "метка", "ετικέτα", "लेबल", "étiquette", "👍", "ラベル"])
def test_a_name_of_any_script_is_a_name(name: str) -> None:
    labels = [LABELS[row % 3] for row in range(ROWS)]
    with pytest.raises(UsageError, match=f"{name!r} may be their label") as error:
        decided(premise=LEFT, hypothesis=RIGHT, **{name: labels})
    assert f"?label={name}'" in error.value.hint
    assert (
        decided(f"?label={name}", premise=LEFT, hypothesis=RIGHT, **{name: labels})[0] == LABELLED
    )
    assert decided(**{name: LEFT, f"{name} 2": RIGHT}) == (
        PAIRS,
        {"anchor": name, "positive": f"{name} 2"},
    )


@pytest.mark.parametrize("name", ["Ｌａｂｅｌ", "LABEL", "gold-label"])
def test_a_name_is_known_in_any_width_and_case(name: str) -> None:
    labels = [LABELS[row % 3] for row in range(ROWS)]
    assert decided(premise=LEFT, hypothesis=RIGHT, **{name: labels})[1]["label"] == name


NOT_THAT_PART: dict[str, tuple[dict[str, object], str]] = {
    "bytes": (
        {"anchor": [b"\xff"] * ROWS, "positive": RIGHT},
        "anchor holds lists, tables or bytes",
    ),
    "lists": ({"premise": [["a"]] * ROWS, "hypothesis": RIGHT}, "premise holds lists, tables"),
    "tables": (
        {"query": LEFT, "positive_passages": [[{"text": "a"}]] * ROWS},
        "positive_passages holds lists, tables or bytes",
    ),
    "lists of numbers": ({"query": LEFT, "negatives": [[1.5]] * ROWS}, "negatives holds lists"),
    "a list of scores": (
        {"sentence1": LEFT, "sentence2": RIGHT, "score": [[0.5]] * ROWS},
        "score holds lists, tables or bytes",
    ),
    "a list of labels": (
        {"premise": LEFT, "hypothesis": RIGHT, "label": [["neutral"]] * ROWS},
        "label holds lists, tables or bytes",
    ),
    "dates": ({"anchor": [date(2020, 1, 1)] * ROWS, "positive": RIGHT}, "of the type Date"),
    "truth": ({"anchor": LEFT, "positive": [True, False] * 30}, "of the type Boolean"),
    "nothing": ({"sentence1": LEFT, "sentence2": [None] * ROWS}, "sentence2 is empty in every row"),
    "blanks": ({"sentence1": LEFT, "sentence2": [" "] * ROWS}, "sentence2 is empty in every row"),
    "no label": (
        {"premise": LEFT, "hypothesis": RIGHT, "label": [None] * ROWS},
        "label is empty in every row",
    ),
    "numbers": ({"question": LEFT, "answer": [*range(ROWS)]}, "'answer' is called a positive, but"),
    "numbers as text": (
        {"text": LEFT, "doc": [str(row) for row in range(ROWS)]},
        "'doc' is called a positive, but holds numbers",
    ),
}


@pytest.mark.parametrize("kind", NOT_THAT_PART)
def test_a_column_with_the_name_of_a_part_is_that_part_or_the_file_is_refused(kind: str) -> None:
    columns, fault = NOT_THAT_PART[kind]
    with pytest.raises(EmbedlabError, match=fault) as error:
        decided(**columns)  # type: ignore[arg-type]
    assert error.value.hint


LEFT_OUT: dict[str, tuple[dict[str, object], str]] = {
    "a score of triplets": (
        {"anchor": LEFT, "positive": RIGHT, "negative": LEFT[::-1], "score": [0.5] * ROWS},
        "'score' is called a score, and triplets have none",
    ),
    "a label of triplets": (
        {"query": LEFT, "pos": RIGHT, "neg": LEFT[::-1], "label": ["a", "b"] * 30},
        "'label' is called a label, and triplets have none",
    ),
    "a title of scored pairs": (
        {"title": LEFT[::-1], "sentence1": LEFT, "sentence2": RIGHT, "score": [0.5] * ROWS},
        "'title' is called a anchor, and scored pairs have none",
    ),
    "a third text of pairs": (
        {"anchor": LEFT, "positive": RIGHT, "why": LEFT[::-1]},
        "'why' may be their negative",
    ),
    "a list of texts of pairs": (
        {"anchor": LEFT, "positive": RIGHT, "others": [["x y"]] * ROWS},
        "'others' may be their negative",
    ),
    "truth of pairs": (
        {"anchor": LEFT, "positive": RIGHT, "is_good": [True, False] * 30},
        "'is_good' may be their label",
    ),
    "a list of texts beside one": (
        {"wort": LEFT, "more": [["x y"]] * ROWS},
        "'more' may be their positive",
    ),
    "numbers beside one text": ({"wort": LEFT, "stars": [3, 5] * 30}, "'stars' may be their score"),
    "words beside one text": ({"wort": LEFT, "mood": ["x", "y"] * 30}, "'mood' may be their label"),
}


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_nothing_is_left_out_that_would_make_rows_of_another_kind(kind: str) -> None:
    columns, fault = LEFT_OUT[kind]
    with pytest.raises(UsageError, match=fault) as error:
        decided(**columns)  # type: ignore[arg-type]
    for typed in re.findall(r"'p\.csv(\?[^']*)'", error.value.hint):
        found(typed, **columns).decided()  # type: ignore[arg-type]


def test_lists_of_positives_and_negatives_are_those_parts() -> None:
    lists = [[text, text.upper()] for text in RIGHT]
    assert decided(query=LEFT, pos=lists)[0] == PAIRS
    for name in ("neg", "negatives", "hard_negatives", "negative_1"):
        assert decided(query=LEFT, pos=lists, **{name: lists})[0] == TRIPLETS
    with pytest.raises(UsageError, match="'negative_1', 'negative_2' may each be the negative"):
        decided(anchor=LEFT, positive=RIGHT, negative_1=RIGHT, negative_2=LEFT)


def test_pairs_are_said_by_their_two_parts_where_there_is_a_negative() -> None:
    columns: dict[str, list[Any]] = {"anchor": LEFT, "positive": RIGHT, "negative": LEFT[::-1]}
    assert decided("?anchor=anchor&positive=positive", **columns)[0] == PAIRS


SPLITS = ["train" if row % 5 else "test" for row in range(ROWS)]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("split", SPLITS),
        ("Split", ["a" if row % 2 else "b" for row in range(ROWS)]),
        ("fold", [row % 5 for row in range(ROWS)]),
        ("SemEval_set", [("TRAIN", "TRIAL", "TEST")[row % 3] for row in range(ROWS)]),
        ("часть", SPLITS),
    ],
)
def test_rows_of_several_splits_are_refused_until_some_are_chosen(
    name: str, values: list[object]
) -> None:
    columns: dict[str, list[Any]] = {"sentence1": LEFT, "sentence2": RIGHT, "score": [0.5] * ROWS}
    with pytest.raises(UsageError, match=f"{name!r} says which split a row is in") as error:
        decided(**columns, **{name: values})
    typed = re.findall(r"'p\.csv(\?[^']*)'", error.value.hint)
    heights = [found(option, **columns, **{name: values}).rows.height for option in typed]
    assert heights[-1] == ROWS
    assert heights[0] == values.count(typed[0].partition(":")[2] if name != "fold" else 0)
    one = [value if value == values[0] else None for value in values]
    assert found(**columns, **{name: [values[0]] * ROWS}).rows.height == ROWS
    assert one


def test_rows_are_chosen_by_the_values_of_a_column() -> None:
    columns: dict[str, list[Any]] = {
        "premise": LEFT,
        "hypothesis": RIGHT,
        "label": [float(row % 4 - 1) for row in range(ROWS)],
        "part": ["x" if row % 2 else "y" for row in range(ROWS)],
    }
    assert found("?drop=label:-1", **columns).rows.height == ROWS * 3 // 4
    assert found("?where=part:x&drop=label:-1,2", **columns).rows["label"].unique().to_list() == [0]
    with pytest.raises(UsageError, match="no row has '7' in label") as error:
        found("?drop=label:7", **columns)
    assert error.value.hint == "it has -1, 0, 1, 2"
    with pytest.raises(UsageError, match="has no column 'lable'"):
        found("?drop=lable:7", **columns)
    with pytest.raises(MissingError, match="all rows are left out"):
        found("?drop=part:x,y", **columns)


SUGGESTED: dict[tuple[str, ...], str] = {
    ("0", "1", "2"): "labels=0:entailment,1:neutral,2:contradiction",
    ("-1", "0", "1", "2"): "labels=0:entailment,1:neutral,2:contradiction&drop=label:-1",
    ("e", "n", "c"): "labels=c:contradiction,e:entailment,n:neutral",
    ("Entails", "contradicts"): "labels=Entails:entailment,contradicts:contradiction",
    ("duplicate", "not_duplicate"): "labels=duplicate:entailment,not_duplicate:contradiction",
    ("paraphrase", "non-paraphrase"): "labels=non-paraphrase:contradiction,paraphrase:entailment",
    ("yes", "no"): "labels=no:contradiction,yes:entailment",
    ("similar", "dissimilar"): "labels=dissimilar:contradiction,similar:entailment",
}


@pytest.mark.parametrize("labels", SUGGESTED)
def test_a_meaning_is_offered_of_labels_that_people_write_so(labels: tuple[str, ...]) -> None:
    column = [labels[row % len(labels)] for row in range(ROWS)]
    columns: dict[str, list[Any]] = {"premise": LEFT, "hypothesis": RIGHT, "label": column}
    with pytest.raises(UsageError) as error:
        found("?label=label", **columns).meanings("label")
    typed = f"?label=label&{SUGGESTED[labels]}"
    assert f"'p.csv{typed}'" in error.value.hint
    said = found(typed, **columns)
    assert said.decided()[0] == LABELLED
    assert {*said.meanings("label").values()} <= {*LABELS}


@pytest.mark.parametrize(
    "labels",
    [
        ("entailment", "not_entailment"),
        ("0", "1"),
        ("1", "2", "3"),
        ("a", "b", "c"),
        ("contradiction", "other"),
        ("neg", "pos"),
        ("negative", "positive"),
        ("c", "e", "x"),
        ("0", "1", "2", "3"),
        ("A", "B"),
    ],
)
def test_of_other_labels_no_meaning_is_offered(labels: tuple[str, ...]) -> None:
    column = [labels[row % len(labels)] for row in range(ROWS)]
    columns: dict[str, list[Any]] = {"premise": LEFT, "hypothesis": RIGHT, "label": column}
    with pytest.raises(UsageError) as error:
        found("?label=label", **columns).meanings("label")
    assert not any(f":{meaning}" in str(error.value.hint) for meaning in LABELS)
    with pytest.raises(UsageError, match="'MEANING' is none of entailment"):
        found(f"?label=label&labels={labels[0]}:MEANING", **columns).meanings("label")


def test_rows_that_are_left_out_are_shown_with_their_places(write: Write) -> None:
    texts = [*TEXTS, "", "Rain falls."]
    labels = ["neutral", "-", "entailment", "", "neutral", "contradiction"]
    path = write("p.csv", rows("premise,hypothesis,label", texts, [*TEXTS, "x", "y"], labels))
    found = own_data(str(path))
    assert (found.rows, found.skipped) == (
        3,
        {"empty premise at p.csv:6": 1, "blank label at p.csv:3, 5": 2},
    )
    assert (
        "left out: 1 empty premise at p.csv:6; left out: 2 blank label at p.csv:3, 5"
        in (found.lines()[0])
    )


def calls_of_detecting(columns: int, write: Write) -> int:
    """The calls of functions, ours and of libraries, that detection needs for a file."""
    header = ["sentence1", "sentence2", "score", *(f"c{column}" for column in range(columns))]
    cells = "".join(f",{column % 7 / 10}" if column % 2 else "," for column in range(columns))
    lines = [",".join(header), *(f"A man runs {row}.,A dog runs {row}.,{row}" for row in range(3))]
    path = write(f"{columns}.csv", "\n".join([lines[0], *(line + cells for line in lines[1:]), ""]))
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        found = own_data(str(path))
    finally:
        sys.setprofile(None)
    assert found.kind == SCORED
    return calls


def test_the_work_of_detection_grows_with_the_columns_and_not_with_their_square(
    write: Write,
) -> None:
    calls_of_detecting(10, write)  # what is imported and compiled at first
    few, many, most = (calls_of_detecting(columns, write) for columns in (200, 400, 800))
    assert most - many < 2.4 * (many - few)
