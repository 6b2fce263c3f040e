import numpy as np
import pytest

from embedlab.encoders.tokens import budget_batches, gather_rows

ROWS = [[5, 6, 7], [], [8], [9, 10]]


@pytest.mark.parametrize("types", [None, [[0, 0, 1], [], [0], [0, 1]]])
def test_padded_rows_are_the_selected_ones_padded_on_the_right(
    types: list[list[int]] | None,
) -> None:
    rows = gather_rows(ROWS, np.zeros(4, bool), types=types)
    ids, mask, *more = rows.padded([3, 0, 2], pad=99)
    assert ids.tolist() == [[9, 10, 99], [5, 6, 7], [8, 99, 99]]
    assert mask.tolist() == [[1, 1, 0], [1, 1, 1], [1, 0, 0]]
    assert [each.tolist() for each in more] == (
        [[[0, 1, 0], [0, 0, 1], [0, 0, 0]]] if types else []
    )
    assert rows.lengths.tolist() == [3, 0, 1, 2]


@pytest.mark.parametrize("budget", [1, 7, 64, 10_000])
def test_batches_hold_every_row_once_and_keep_to_the_budget(budget: int) -> None:
    lengths = np.random.default_rng(0).integers(1, 40, 300)
    batches = list(budget_batches(lengths, budget))
    assert sorted(np.concatenate(batches)) == list(range(300))
    assert all(len(batch) == 1 or len(batch) * lengths[batch].max() <= budget for batch in batches)
    assert lengths[batches[0]].max() == lengths.max()
    assert list(budget_batches(lengths[:0], budget)) == []
