"""Edits by rule: what they change, and where they are not safe."""

import pytest

from embedlab.data.words import edit_sentence


@pytest.mark.parametrize(
    ("sentence", "opposite"),
    [
        ("A man is playing a guitar.", "A man is not playing a guitar."),
        ("A man is not playing a guitar.", "A man is playing a guitar."),
        ("The dog isn't asleep.", "The dog is asleep."),
        ("There is a man on a horse.", "There is no man on a horse."),
        ("There are some dogs outside", "There are no dogs outside"),
        ("He could swim", "He could not swim"),
    ],
)
def test_the_only_auxiliary_is_negated(sentence: str, opposite: str) -> None:
    assert edit_sentence(sentence, "negate") == opposite


@pytest.mark.parametrize(
    "sentence",
    [
        "A dog runs.",  # no auxiliary
        "The man who is here was late.",  # two
        "Is it raining?",  # a question
        "No dog is barking.",  # negated by another word
        "She has a dog.",  # a verb as often
        "He cannot swim.",
    ],
)
def test_no_rule_guesses_where_a_negation_belongs(sentence: str) -> None:
    assert edit_sentence(sentence, "negate") is None


@pytest.mark.parametrize(
    ("sentence", "other"),
    [
        ("Two dogs and three cats.", "Three dogs and three cats."),
        ("Exactly twelve men", "Exactly eleven men"),
        ("I saw 12 birds.", "I saw 13 birds."),
        (
            "In 1999 at 3:30 for $5 and 2.5% of 20 people",
            "In 1999 at 3:30 for $5 and 2.5% of 21 people",
        ),
        ("One dog", None),  # may be a pronoun, and another number changes the verb
        ("No number", None),
    ],
)
def test_the_first_plain_number_becomes_another(sentence: str, other: str | None) -> None:
    assert edit_sentence(sentence, "number") == other
