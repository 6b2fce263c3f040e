import numpy as np
import pytest

from embedlab.encoders.tokens import budget_batches, gather_rows

ROWS = [[5, 6, 7], [], [8], [9, 10]]


def test_padded_rows_are_the_selected_ones_padded_on_the_right() -> None:
    ids, mask = gather_rows(ROWS, np.zeros(4, bool)).padded([3, 0, 2], pad=99)
    assert ids.tolist() == [[9, 10, 99], [5, 6, 7], [8, 99, 99]]
    assert mask.tolist() == [[1, 1, 0], [1, 1, 1], [1, 0, 0]]


def test_types_are_padded_with_zeros_where_not_all_are_zero() -> None:
    rows = gather_rows(ROWS, np.zeros(4, bool), types=[[0, 0, 1], [], [0], [0, 1]])
    found = [array.tolist() for array in rows.padded([3, 0], pad=99)]
    assert found == [
        [[9, 10, 99], [5, 6, 7]],
        [[1, 1, 0], [1, 1, 1]],
        [[0, 1, 0], [0, 0, 1]],
    ]


def test_lengths_count_the_tokens_of_each_row() -> None:
    assert gather_rows(ROWS, np.zeros(4, bool)).lengths.tolist() == [3, 0, 1, 2]


@pytest.mark.parametrize("budget", [1, 7, 64, 10_000])
def test_batches_hold_every_row_once_and_keep_to_the_budget(budget: int) -> None:
    lengths = np.random.default_rng(0).integers(1, 40, 300)
    batches = list(budget_batches(lengths, budget))
    assert sorted(np.concatenate(batches)) == list(range(300))
    assert all(len(batch) == 1 or len(batch) * lengths[batch].max() <= budget for batch in batches)
    assert lengths[batches[0]].max() == lengths.max()


def test_no_rows_make_no_batches() -> None:
    assert list(budget_batches(np.zeros(0, np.int64), 10)) == []
