"""Where states lie when sentences are padded: few lengths are left. Attention shows that nothing is
lost or added.
"""

from embedlab.cpu.padding import FILL, LONG, TokenSpan, padded_layout

HEADS = 2
SPANS = (TokenSpan(2, 3, 3), TokenSpan(1, FILL, FILL), TokenSpan(3, FILL + 1, FILL + 1))
FIRSTS = tuple(TokenSpan(span.sentences, 1, span.tokens) for span in SPANS)


def shapes(spans: tuple[TokenSpan, ...]) -> list[list[tuple[int, int]]]:
    """How many sentences and tokens the blocks of queries and of keys have, in fours."""
    layout = padded_layout(spans, HEADS, 4)
    places = layout.query_places, layout.key_places
    return [[(rows // HEADS, tokens) for rows, tokens in each.shapes] for each in places]


def test_blocks_of_short_sentences_alone_are_padded_to_a_multiple_of_them() -> None:
    filled = [(4, FILL), (4, 2 * FILL)]
    assert shapes(SPANS) == [filled, filled]
    assert shapes(FIRSTS) == [[(4, 1), (4, 1)], filled]
    long = tuple(TokenSpan(1, tokens, tokens) for tokens in (LONG - FILL, LONG, 10 * LONG))
    assert shapes(long)[1] == [(4, LONG - FILL), (1, LONG), (1, 10 * LONG)]


def test_sentences_that_fill_a_block_up_attend_to_something() -> None:
    assert not any(filling[3:].any() for filling in padded_layout(SPANS, HEADS, 4).fillings)
