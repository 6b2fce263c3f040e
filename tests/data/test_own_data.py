"""What a user's own file holds is detected from names and values; what may be read in two ways is
refused with what to type.
"""

from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.data.own_data import own_data
from embedlab.data.row_kind import LABELLED, PAIRS, SCORED, SENTENCES, TRIPLETS, RowKind
from tests.data.conftest import Write

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
            ["neutral", "entailment", "-", "neutral"],
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
            "?label=label&labels=other:contradiction,same:entailment'",
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


def test_columns_of_other_types_of_a_parquet_file_are_not_read(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "query": TEXTS,
            "doc": TEXTS[::-1],
            "tags": [["x"], [], ["y"], []],
            "is_new": [True, False, True, True],
        }
    )
    frame.write_parquet(tmp_path / "p.parquet")
    found = own_data(str(tmp_path / "p.parquet"))
    assert (found.kind, found.unread) == (PAIRS, ("tags", "is_new"))


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
