import pytest

from embedlab.encoders.expression import Combined, Single, parse_model
from embedlab.errors import UsageError


def shape(parsed: Single | Combined) -> str:
    if isinstance(parsed, Single):
        return parsed.name + (f"?{parsed.pooling}" if parsed.pooling else "") + (f"#{parsed.revision}" if parsed.revision else "")
    return f"{parsed.kind}[{' '.join(map(shape, parsed.parts))}]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sbert", "sbert"),
        ("sbert@3", "sbert@3"),
        ("org/model?pooling=mean-without-cls", "org/model?mean-without-cls"),
        ("org/model?pooling=cls?revision=refs/pr/1", "org/model?cls#refs/pr/1"),
        ("word-vectors:some/file.txt", "word-vectors:some/file.txt"),
        ("average:a,b", "average[a b]"),
        ("average(a,b)", "average[a b]"),
        ("average(a, b)", "average[a b]"),
        ("ensemble:a,b@2", "ensemble[a b@2]"),
        ("normalized-average:a,b?pooling=max,c", "normalized-average[a b?max c]"),
        ("concat:a@0,a@1", "concat[a@0 a@1]"),
        ("average:a,concat(b,c)", "average[a concat[b c]]"),
        ("average:concat(b,c),a", "average[concat[b c] a]"),
        ("average:a,concat:b,c", "average[a concat[b c]]"),
        ("average(a,concat:b,c)", "average[a concat[b c]]"),
        ("concat:average(a,normalized-average(b,c)),d", "concat[average[a normalized-average[b c]] d]"),
        ("averages", "averages"),
    ],
)
def test_the_grammar_reads(text: str, expected: str) -> None:
    assert shape(parse_model(text)) == expected


@pytest.mark.parametrize(
    "text",
    ["", "?pooling=mean", "average:", "average:a", "average:a,", "average(a,b", "average(a,b))", "average:a,b)", "average(a,b),c",
     "a?pooling", "a?pooling=", "a?pooling=median", "a?pool=mean", "average:a,?pooling=mean", "concat(average:a,b)"],
)  # fmt: skip
def test_what_the_grammar_does_not_allow_is_one_clear_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_model(text)


def test_the_nearest_pooling_is_offered() -> None:
    with pytest.raises(UsageError) as caught:
        parse_model("a?pooling=mena")
    assert "mean" in caught.value.hint
