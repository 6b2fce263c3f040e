"""Where states lie when sentences are padded: nothing is lost, nothing is added, and few lengths
are left.
"""

import torch

from embedlab.cpu.padding import FILL, LONG, TokenSpan, padded_layout

HEADS = 2
SPANS = (TokenSpan(2, 3, 3), TokenSpan(1, FILL, FILL), TokenSpan(3, FILL + 1, FILL + 1))
FIRSTS = tuple(TokenSpan(span.sentences, 1, span.tokens) for span in SPANS)
LENGTHS = [3, 3, FILL, FILL + 1, FILL + 1, FILL + 1]


def numbered(tokens: int) -> torch.Tensor:
    """(tokens, heads, 1) each state another number, none of them 0."""
    return torch.arange(1.0, tokens * HEADS + 1).view(tokens, HEADS, 1)


def test_sentences_of_about_one_length_lie_in_one_block_by_sentence_head_and_token() -> None:
    layout = padded_layout(SPANS, HEADS)
    assert layout.query_places is layout.key_places
    assert layout.key_places.shapes == ((3 * HEADS, FILL), (3 * HEADS, 2 * FILL))
    states = numbered(sum(LENGTHS))
    of_sentences = iter(states.split(LENGTHS))
    for block in layout.key_places.spread_over_zero(states):
        for heads in block.unflatten(0, (-1, HEADS)):
            sentence = next(of_sentences)
            assert torch.equal(heads[:, : len(sentence)], sentence.transpose(0, 1))
            assert not heads[:, len(sentence) :].any()


def test_only_what_fills_a_sentence_up_is_filling() -> None:
    layout = padded_layout(SPANS, HEADS)
    lengths = iter(LENGTHS)
    for filling in layout.fillings:
        for of_sentence in filling:
            tokens = next(lengths)
            assert not of_sentence[:tokens].any()
            assert of_sentence[tokens:].all()


def test_a_sentence_comes_back_from_where_it_was_put_and_what_follows_is_zero() -> None:
    for spans, multiple in ((SPANS, 1), (SPANS, 4), (FIRSTS, 4)):
        layout = padded_layout(spans, HEADS, multiple)
        for places, tokens in (
            (layout.key_places, sum(LENGTHS)),
            (layout.query_places, sum(span.sentences * span.query_tokens for span in spans)),
        ):
            states = numbered(tokens + 2)
            for spread in (places.spread(states), places.spread_over_zero(states)):
                back = places.gathered(spread, tokens + 2)
                assert torch.equal(back[:-2], states[:-2])
                assert not back[-2:].any()


def test_blocks_of_short_sentences_are_padded_to_a_multiple_of_them_which_attend_to_something() -> (
    None
):
    layout = padded_layout(SPANS, HEADS, 4)
    assert layout.key_places.shapes == ((4 * HEADS, FILL), (4 * HEADS, 2 * FILL))
    assert not any(filling[3:].any() for filling in layout.fillings)
    states = numbered(sum(LENGTHS))
    assert sum(block.sum() for block in layout.key_places.spread_over_zero(states)) == states.sum()


def test_where_one_token_of_each_sentence_is_a_query_it_still_is() -> None:
    layout = padded_layout(FIRSTS, HEADS)
    assert layout.query_places.shapes == ((3 * HEADS, 1), (3 * HEADS, 1))
    assert layout.key_places.shapes == ((3 * HEADS, FILL), (3 * HEADS, 2 * FILL))


def test_blocks_of_long_sentences_are_not_multiplied() -> None:
    layout = padded_layout(
        (
            TokenSpan(1, LONG - FILL, LONG - FILL),
            TokenSpan(1, LONG, LONG),
            TokenSpan(1, 10 * LONG, 10 * LONG),
        ),
        HEADS,
        4,
    )
    assert layout.key_places.shapes == ((4 * HEADS, LONG - FILL), (HEADS, LONG), (HEADS, 10 * LONG))
