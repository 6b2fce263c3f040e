"""Counts of shared text, added."""

import pytest

from embedlab.data.marks import NOTHING_SHARED, Overlap, total_overlap


def overlap(*counts: int) -> Overlap:
    return Overlap(
        **dict(
            zip(
                ("sentences", "shared_sentences", "pairs", "shared_pairs", "declared"),
                counts,
                strict=False,
            )
        )
    )


def test_counts_are_added_one_by_one() -> None:
    assert overlap(10, 2, 5, 1, 1) + overlap(100, 20, 50, 10, 3) == overlap(110, 22, 55, 11, 4)
    assert total_overlap(
        [overlap(1, 0, 1, 0), overlap(2, 1, 1, 1), overlap(3, 1, 0, 0, 2)]
    ) == overlap(6, 2, 2, 1, 2)
    assert total_overlap([]) == NOTHING_SHARED == overlap(0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("counts", "is_shared"),
    [
        ((9, 0, 9, 0, 0), False),
        ((9, 1, 9, 0, 0), True),
        ((9, 0, 9, 1, 0), True),
        ((0, 0, 0, 0, 1), True),
        ((9, 1, 9, 1, 1), True),
    ],
)
def test_text_is_shared_where_a_sentence_a_pair_or_a_whole_set_is(
    counts: tuple[int, ...], is_shared: bool
) -> None:
    assert bool(overlap(*counts)) is is_shared
    assert overlap(9, 0, 9, 0).declared == 0
