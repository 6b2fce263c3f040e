"""Where the sentences of spans lie, one span after the other."""

from embedlab.cpu.spans import Span, parts


def test_parts_follow_each_other() -> None:
    spans = (Span(2, 1, 3), Span(1, 1, 5))
    assert [(query_tokens, tokens) for _, query_tokens, tokens in parts(spans)] == [(slice(0, 2), slice(0, 6)), (slice(2, 3), slice(6, 11))]
