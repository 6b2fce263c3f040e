import re

import polars as pl
import pytest

from embedlab.analysis.expressions import (
    compile_expression,
    with_terms,
)
from embedlab.core.errors import UnknownFieldError, UsageError

PAIRS = pl.DataFrame(
    {
        "dataset": ["sts12", "sts12", "sts13", "sts-benchmark:dev", "mine"],
        "source": ["MSRpar", "surprise.OnWN", "headlines", "main-news", None],
        "pair": [0, 1, 2, 3, 4],
        "sentence1": ["A man plays", "The CAT sat.", "50% of a/b", "x > y", "-minus sign"],
        "sentence2": ["A guitar", "a cat, sitting", "Été", "y=x", "plays (twice)"],
        "gold": [5.0, 2.5, 0.0, 1.0, 4.0],
        "dice": [0.9, 0.5, 0.0, 0.75, 0.2],
        "gap": [40.0, 10.0, 0.0, 80.0, 5.0],
        "sbert": [0.9, -0.2, 0.1, None, 0.8],
        "error(sbert)": [10.0, -50.0, 20.0, None, 5.0],
        "average:a,b": [0.1, 0.2, 0.3, 0.4, 0.5],
        "snli-supcl@1": [0.1, 0.2, 0.3, 0.4, 0.5],
        "pair_key": [1, 2, 3, 4, 5],
        "note": ["a typo here", None, None, "odd", None],
    }
)


def rows_found(text: str) -> list[int]:
    return PAIRS.filter(compile_expression(text, PAIRS.columns))["pair"].to_list()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", [0, 1, 2, 3, 4]),
        ("dice>0.5", [0, 3]),
        ("dice>=0.5", [0, 1, 3]),
        ("dice > 0.4 and gold<2", [3]),
        ("gold>1 AND -cat", [0, 4]),
        ('"and"', []),
        ("pair=3", [3]),
        ("pair!=3", [0, 1, 2, 4]),
        ("sbert>-1", [0, 1, 2, 4]),
        ("-sbert>0.5", [1, 2, 3]),
        ("error(sbert)<-30", [1]),
        ("average:a,b>0.3", [3, 4]),
        ("snli-supcl@1<0.2", [0]),
        ("dataset:sts*", [0, 1, 2, 3]),
        ("dataset:sts-benchmark:dev", [3]),
        ("source:headlines,msr*", [0, 2]),
        ("source:*OnWN", [1]),
        ('note:"a typo here"', [0]),
        ('note:"a typo*"', [0]),
        ('-note:"odd" gold<3', [1, 2]),
        ("tag:number", [2]),
        ("-Tag:number,length dice>0", [0, 1, 4]),
        ("note:*", [0, 3]),
        ("note:*TYPO* or -note:* gold<1", [0, 2]),
        ("-source:headlines", [0, 1, 3, 4]),
        ("source:MSR", []),
        ("PLAYS", [0, 4]),
        ("été", [2]),
        ("(twice)", [4]),
        ('"a man"', [0]),
        ('-"a man" plays', [4]),
        ('"x > y"', [3]),
        ('"-minus"', [4]),
        (r"/a\/b/", [2]),
        ("/^the .*t/", [1]),
        ("/cat, sit|guitar/", [0, 1]),
        ("-/[aeiou]{2}|cat/ -minus gold<3", [2, 3]),
        ('""', [0, 1, 2, 3, 4]),
        ("0.5 >= Dice > 0.3", [1]),
        ("-0.3<dice<=0.5", [1, 2, 4]),
        ("Error<-30", [1]),
        ("Dataset:sts12", [0, 1]),
        ("cat or plays gold>4 OR pair=3", [0, 1, 3]),
        ("s2:plays", [4]),
        ('s1:"a man"', [0]),
        ("-s1:plays", [1, 2, 3, 4]),
    ],
)
def test_filter_keeps_matching_pairs(text: str, rows: list[int]) -> None:
    assert rows_found(text) == rows


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        ("gold>1 dise>0.7", 8, "unknown field 'dise'", "'dice'"),
        ("sentence1>0.7", 1, "unknown field 'sentence1'", "quote it"),
        ("zzzz:1", 1, "unknown field 'zzzz'", "known: dataset, source"),
        ("dice>high", 6, "'high' is not a number", "dice>0.7"),
        ("dice>", 6, "'' is not a number", "dice>0.7"),
        (">3", 1, "'>' has no name before it", "dice>0.7"),
        ("cat /(/", 6, "bad regular expression: unclosed group", 'quote it: "("'),
        ("/a{1000}{1000}/", 2, "bad regular expression: Compiled regex exceeds", "correct it"),
        ('cat "open', 5, "'\"' is never closed", ""),
        ("a/b /open", 5, "'/' is never closed", ""),
        ("dice>0.8 or", 10, "'or' joins no terms", 'to search for the text, quote it: "or"'),
        ("cat and or dice>0.8", 9, "'or' joins no terms", 'quote it: "or"'),
        ("0.2<dise<0.4", 5, "unknown field 'dise'", "known: pair, gold, dice"),
        ("0.2<dice>0.4", 5, "'0.2<dice>0.4' is not a range", "0.2<dice<0.4"),
        ("source:", 1, "'source' names nothing", "source:headlines"),
        ("cat source==MSR", 5, "'source' holds words, not numbers", "write source:MSR"),
        ("tag!='negation'", 1, "'tag' holds words, not numbers", "write -tag:negation"),
        ("dice:high", 1, "'dice' holds numbers, not words", "dice>0.7; to search for the text"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    text: str, column: int, message: str, hint: str
) -> None:
    with pytest.raises(
        UsageError, match=re.escape(f"filter {text!r}, column {column}: {message}")
    ) as caught:
        compile_expression(text, PAIRS.columns)
    assert hint in caught.value.hint


def test_a_filter_is_the_engines_own_and_calls_no_python_for_a_row() -> None:
    expression = compile_expression('dice>0.3 -word7 source:head* "word1 "', PAIRS.columns)
    assert "python_udf" in str(pl.col("dice").map_batches(lambda column: column))
    assert "python_udf" not in str(expression)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("tag:negatoin", UnknownFieldError), ("gold>x", UsageError)],
)
def test_an_error_says_what_is_wrong_apart_from_the_filter_and_whether_a_name_is_unknown(
    text: str, kind: type[UsageError]
) -> None:
    with pytest.raises(UsageError) as raised:
        compile_expression(text, ["gold", "sentence1", "sentence2"])
    assert type(raised.value) is kind
    assert raised.value.message == f"filter {text!r}, {raised.value.reason}"


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("", "-trained:*"),
        ("-trained:* dice>0.5", "-trained:* dice>0.5"),
        ("dice>0.5 and gold<2", "dice>0.5 gold<2 -trained:*"),
        (
            'dice<0.2 or "this or that" gold>4',
            'dice<0.2 -trained:* or "this or that" gold>4 -trained:*',
        ),
        ("/a or b/ or s1:dog", "/a or b/ -trained:* or s1:dog -trained:*"),
    ],
)
def test_a_term_that_must_hold_too_is_in_each_group(text: str, joined: str) -> None:
    assert with_terms(text, ["-trained:*"]) == joined
