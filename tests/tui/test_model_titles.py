import pytest

from embedlab.tui.model_titles import short_name


@pytest.mark.parametrize(
    ("name", "width", "short"),
    [
        ("snli-supcl", 12, "snli-supcl"),
        ("/some/where/minilm3-mlm?pooling=mean", 30, "minilm3-mlm?pooling=mean"),
        ("/some/where/minilm3-mlm?pooling=mean", 12, "minilm…=mean"),
        ("word-vectors:/some/where/glove.25d.txt", 12, "glove.25d"),
        ("average:/a/b/first,/c/second", 20, "average:first,second"),
        ("weight-lr.lr-0.001_weight-0.1.2013c6fc@1", 14, "weight-…c6fc@1"),
    ],
)
def test_a_name_keeps_its_start_and_its_end(name: str, width: int, short: str) -> None:
    assert short_name(name, width) == short
    assert len(short) <= width
