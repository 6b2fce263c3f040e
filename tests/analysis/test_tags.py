import re

import polars as pl
import pytest

from embedlab.analysis.tags import TAGS, has_any

PAIRS = pl.DataFrame(
    {
        "sentence1": [
            "A man is playing.",
            "He can’t swim",
            "Nothing to note",
            "Two dogs",
            "In 1,000 days",
            "3 of 4",
            "",
            "a b c d",
            "Someone often notes",
        ],
        "sentence2": [
            "A man isn't playing.",
            "He cannot swim",
            "A knot",
            "2 dogs run",
            "1000 days",
            "4 of 3.5",
            "x",
            "e f",
            "eleven",
        ],
    }
)
NEGATING = {
    "not",
    "no",
    "none",
    "nor",
    "nothing",
    "no" + "body",
    "never",
    "neither",
    "without",
    "cannot",
}
SPELLED = dict(
    zip(
        (
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ),
        range(2, 13),
        strict=True,
    )
)


def is_negated(sentence: str) -> bool:
    words = re.findall(r"[\w'’]+", sentence.lower())
    return any(word in NEGATING or word.endswith(("n't", "n’t")) for word in words)


def numbers(sentence: str) -> set[str]:
    words = re.findall(r"\d+(?:[.,]\d+)*|\w+", sentence.lower())
    return {
        str(SPELLED.get(word, word)).replace(",", "")
        for word in words
        if word[0].isdigit() or word in SPELLED
    }


SLOW = {
    "negation": lambda first, second: is_negated(first) != is_negated(second),
    "number": lambda first, second: numbers(first) != numbers(second),
    "length": lambda first, second: (
        max(len(first.split(" ")), len(second.split(" ")))
        >= 2 * min(len(first.split(" ")), len(second.split(" ")))
    ),
}


@pytest.mark.parametrize("name", TAGS)
def test_a_tag_holds_where_a_loop_over_the_pairs_says_so(name: str) -> None:
    found = PAIRS.select(TAGS[name].condition).to_series()
    slow = [SLOW[name](*pair) for pair in PAIRS.iter_rows()]
    assert found.to_list() == slow
    assert 0 < sum(slow) < len(slow)


def test_a_pair_can_have_any_of_several_tags() -> None:
    either = PAIRS.select(has_any(["negation", "length"])).to_series()
    assert either.to_list() == [
        SLOW["negation"](*pair) or SLOW["length"](*pair) for pair in PAIRS.iter_rows()
    ]
    assert TAGS["length"].condition.meta.root_names() == ["sentence1", "sentence2"]


def test_numbers_in_capitals_are_numbers() -> None:
    table = pl.DataFrame(
        {
            "sentence1": ["TWO dogs", "Seven", "TWELVE", "a dog"],
            "sentence2": ["one dog", "SEVEN", "eleven", "A DOG"],
        }
    )
    assert table.select(TAGS["number"].condition).to_series().to_list() == [
        True,
        False,
        True,
        False,
    ]
