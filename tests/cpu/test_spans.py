"""Where the sentences of spans lie, one span after the other."""

from embedlab.cpu.padding import TokenSpan, span_slices


def test_parts_follow_each_other() -> None:
    spans = (TokenSpan(2, 1, 3), TokenSpan(1, 1, 5))
    assert [(query_tokens, tokens) for _, query_tokens, tokens in span_slices(spans)] == [
        (slice(0, 2), slice(0, 6)),
        (slice(2, 3), slice(6, 11)),
    ]
