"""The scale that a user's own scores suggest."""

import polars as pl
import pytest

from embedlab.data.score_scale import ScoreScale


@pytest.mark.parametrize(
    ("scores", "low", "high", "is_whole"),
    [
        ([3, 1, 2], 1, 3, True),
        ([0.5, 1.0], 0.5, 1, False),
        ([-1.0, 1.0], -1, 1, True),
        ([2.0, 2.25, 7.0], 2, 7, False),
    ],
)
def test_the_range_of_scores_is_from_the_least_to_the_greatest(
    scores: list[float], low: float, high: float, is_whole: bool
) -> None:
    found = ScoreScale.of(pl.Series(scores))
    assert (found.low, found.high, found.is_whole) == (low, high, is_whole)


def test_a_range_is_said_in_words_of_four_digits() -> None:
    assert str(ScoreScale(low=-0.123456, high=5)) == "from -0.1235 to 5"
    assert not ScoreScale(low=0, high=5).is_whole


@pytest.mark.parametrize(
    ("low", "high", "largest", "usual"),
    [
        *(
            (0, 0.9, 0.9, 1),
            (0, 1, 1, 1),
            (0, 1.01, 1.01, 5),
            (1, 5, 5, 5),
            (0, 5.5, 5.5, 10),
            (0, 10, 10, 10),
        ),
        *(
            (0, 10.1, 10.1, 100),
            (0, 100, 100, 100),
            (0, 101, 101, 101),
            (-3, 2, 3, 5),
            (-1, 0.5, 1, 1),
            (-120, 3, 120, 120),
        ),
    ],
)
def test_the_usual_scale_is_the_smallest_one_that_holds_all_scores(
    low: float, high: float, largest: float, usual: float
) -> None:
    found = ScoreScale(low=low, high=high)
    assert (found.largest, found.usual) == (largest, usual)


@pytest.mark.parametrize(
    ("high", "stated", "expected"),
    [(1, 5, True), (2.5, 5, True), (2.6, 5, False), (5, 5, False), (0, 5, True)],
)
def test_a_stated_scale_is_contradicted_where_no_score_is_in_its_upper_half(
    high: float, stated: float, expected: bool
) -> None:
    assert ScoreScale(low=0, high=high).contradicts(stated) is expected
    assert ScoreScale(low=-high, high=0).contradicts(stated) is expected


@pytest.mark.parametrize(
    ("low", "high", "is_whole", "expected"),
    [
        (0, 4, True, (0, 4)),  # people use all of a scale of whole numbers
        (1, 4, True, (1, 4)),
        (1, 7, True, (1, 7)),
        (0, 10, True, (0, 10)),
        (0, 11, True, (0, 100)),
        (1, 1, True, (0, 1)),  # a scale from one to one is none
        (0, 0, True, (0, 1)),
        (0.2, 0.9, False, (0, 1)),
        (1.2, 4.6, False, (1, 5)),
        (0.4, 4.6, False, (0, 5)),
        (2.5, 130.5, False, (1, 130.5)),
        (-0.9, 0.8, False, (-1, 1)),
        (-1, 1, True, (-1, 1)),
        (-3, 2, True, (-3, 3)),
        (-3.5, 2, False, (-5, 5)),
    ],
)
def test_the_suggested_scale_fits_the_scores(
    low: float, high: float, is_whole: bool, expected: tuple[float, float]
) -> None:
    assert ScoreScale(low=low, high=high, is_whole=is_whole).suggested == expected
