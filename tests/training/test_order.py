"""Groups are shuffled, rows are not lost and not parted."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from embedlab.training.order import (
    Draw,
    EpochOrder,
    Indices,
    batch_generator,
    drawn_batches,
    epoch_batches,
    epoch_generator,
    group_rows,
    steps_of_epochs,
)

KEYS = np.random.default_rng(0).integers(0, 60, size=200)


def grouped(keys: Indices, batch_size: int) -> EpochOrder:
    groups = group_rows(keys, batch_size)
    numbers = np.arange(len(groups))
    return partial(drawn_batches, groups, [[Draw(groups=numbers, units=numbers)]], batch_size)


@pytest.mark.parametrize("batch_size", [16, 64])
def test_every_row_comes_once_with_its_group_in_batches_that_are_as_full_as_can_be(
    batch_size: int,
) -> None:
    batches = epoch_batches(grouped(KEYS, batch_size), seed=1, stage=0, epoch=0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(KEYS)))
    assert max(map(len, batches)) <= batch_size
    homes = [set(KEYS[batch].tolist()) for batch in batches]
    assert sum(map(len, homes)) == len(set(KEYS.tolist()))
    for batch, following in pairwise(batches):
        assert len(batch) + (KEYS[following] == KEYS[following[0]]).sum() > batch_size


def test_only_a_group_larger_than_a_batch_is_cut() -> None:
    keys = np.array([7] * 10 + [8] * 3 + [9])
    batches = epoch_batches(grouped(keys, 4), seed=0, stage=0, epoch=0)
    assert max(map(len, batches)) == 4
    assert sorted(np.concatenate(batches).tolist()) == list(range(14))
    assert sum(8 in keys[batch] for batch in batches) == 1


def test_the_order_follows_seed_stage_and_epoch() -> None:
    rows = grouped(KEYS, 16)

    def order(**numbers: int) -> tuple[int, ...]:
        chosen = {"seed": 1, "stage": 0, "epoch": 0} | numbers
        return tuple(np.concatenate(epoch_batches(rows, **chosen)).tolist())

    assert order() == order()
    assert len({order(), order(seed=2), order(stage=1), order(epoch=1)}) == 4


def test_no_batch_draws_what_its_epoch_or_another_batch_draws() -> None:
    generators = [
        epoch_generator(0, 0, 0),
        epoch_generator(0, 0, 1),
        *(batch_generator(0, 0, 0, batch) for batch in range(5)),
    ]
    assert len({generator.integers(2**62) for generator in generators}) == len(generators)


def test_a_fraction_of_an_epoch_takes_that_share_of_its_steps() -> None:
    assert steps_of_epochs(lambda _: 10, 2.5) == (10, 10, 5)
    assert steps_of_epochs(lambda _: 10, 0.01) == (1,)
