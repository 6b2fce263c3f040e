"""Where tokens lie when sentences are filled up: nothing is lost, nothing is added, and few lengths are left."""

import torch

from embedlab.encoders.spans import FILL, Span, filled_up, parts

SPANS = (Span(2, 3, 3), Span(1, FILL, FILL), Span(3, FILL + 1, FILL + 1))
TOKENS = 6 + FILL + 3 * (FILL + 1)


def test_sentences_of_about_one_length_are_filled_up_to_the_same() -> None:
    layout = filled_up(SPANS)
    assert layout.spans == (Span(3, FILL, FILL), Span(3, 2 * FILL, 2 * FILL))
    assert [filling.tolist() for filling in layout.fillings] == [
        2 * [3 * [False] + (FILL - 3) * [True]] + [FILL * [False]],
        3 * [(FILL + 1) * [False] + (FILL - 1) * [True]],
    ]
    states = torch.arange(TOKENS)
    there = ~torch.cat([filling.flatten() for filling in layout.fillings])
    assert layout.spread(states)[there].tolist() == states.tolist()


def test_a_sentence_comes_back_from_where_it_was_put_and_what_follows_is_zero() -> None:
    layout = filled_up(SPANS)
    states = torch.randn(TOKENS + 2, 4)
    for spread in (layout.spread(states), layout.spread_over_zero(states)):
        back = layout.gathered(spread, TOKENS + 2)
        assert torch.equal(back[:-2], states[:-2])
        assert not back[-2:].any()


def test_what_fills_up_has_no_gradient() -> None:
    layout = filled_up(SPANS)
    spread = layout.spread_over_zero(torch.ones(TOKENS, 2))
    assert spread.sum() == 2 * TOKENS
    assert not spread[torch.cat([filling.flatten() for filling in layout.fillings])].any()


def test_where_one_token_of_each_sentence_asks_it_still_does() -> None:
    layout = filled_up(tuple(Span(span.sentences, 1, span.tokens) for span in SPANS))
    assert not layout.asks_all
    assert layout.spans == (Span(3, 1, FILL), Span(3, 1, 2 * FILL))


def test_parts_follow_each_other() -> None:
    spans = (Span(2, 1, 3), Span(1, 1, 5))
    assert [(asking, tokens) for _, asking, tokens in parts(spans)] == [(slice(0, 2), slice(0, 6)), (slice(2, 3), slice(6, 11))]
