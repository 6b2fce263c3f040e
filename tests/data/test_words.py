"""The words that a reader sees, and sentences without one of them."""

import pytest

from embedlab.data.words import nearer_sentence, shown_words, without_word


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("A man is playing a guitar.", ["A", "man", "is", "playing", "a", "guitar"]),
        ("Don't (ever) pay 3.5% by e-mail!", ["Don't", "ever", "pay", "3.5", "by", "e-mail"]),
        ("a dog , running .", ["a", "dog", ",", "running", "."]),
        ("我爱 you", ["我", "爱", "you"]),
        ("日本語abcです", ["日", "本", "語", "abc", "で", "す"]),
        ("wow 🙂 !", ["wow", "🙂", "!"]),
        ("  ", []),
        ("", []),
    ],
)
def test_words_are_what_a_reader_sees(sentence: str, words: list[str]) -> None:
    found = shown_words(sentence)
    assert [word.text for word in found] == words
    assert [sentence[slice(*word.span)] for word in found] == words


def test_a_left_out_word_takes_one_blank_with_it_and_no_punctuation() -> None:
    sentence = "Two dogs run, fast."
    assert [without_word(sentence, word) for word in shown_words(sentence)] == [
        "dogs run, fast.",
        "Two run, fast.",
        "Two dogs , fast.",
        "Two dogs run, .",
    ]
    assert without_word("a b", shown_words("a b")[1]) == "a"
    assert without_word("alone", shown_words("alone")[0]) == ""


def test_an_edited_sentence_replaces_the_one_it_shares_words_with() -> None:
    first, second = "A man plays a guitar.", "Two dogs run in the snow."
    assert nearer_sentence("A woman plays a guitar.", first, second) == 0
    assert nearer_sentence("Two dogs sleep in the snow.", first, second) == 1
    assert nearer_sentence("Nothing at all", first, second) == 1
