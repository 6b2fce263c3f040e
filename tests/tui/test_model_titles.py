import pytest

from embedlab.tui.model_titles import short_name, short_names


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


def test_names_that_a_cut_in_the_middle_would_make_equal_are_cut_elsewhere() -> None:
    assert short_names(dict.fromkeys(["snli-ce-4000", "snli-supcl-4000"], 11)) == {
        "snli-ce-4000": "…ce-4000",
        "snli-supcl-4000": "…supcl-4000",
    }
    # The reference has two cells less, for its brackets: the cuts differ by more than their widths.
    assert short_names({"snli-ce-4000": 11, "snli-supcl-4000": 9, "dice": 11}) == {
        "snli-ce-4000": "…ce-4000",
        "snli-supcl-4000": "…supcl…",
        "dice": "dice",
    }
    assert short_names({"near": 9, "far": 7}) == {"near": "near", "far": "far"}
    assert list(short_names(dict.fromkeys(["./model", "/other/model"], 8)).values()) == [
        "./model",
        "…r/model",
    ]
    assert list(
        short_names(dict.fromkeys(["aaaa-bbbb-1-cccc-dddd", "aaaa-bbbb-2-cccc-dddd"], 6)).values()
    ) == ["…1…", "…2…"]
    assert (
        len(set(short_names(dict.fromkeys(["aaaabbbb1ccccdddd", "aaaabbbb2ccccdddd"], 6)).values()))
        == 1
    )  # nothing helps
