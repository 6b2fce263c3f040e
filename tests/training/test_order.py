"""Groups are shuffled, rows are not lost and not parted."""

from itertools import pairwise

import numpy as np
import pytest

from embedlab.training.order import (
    Indices,
    batch_generator,
    epoch_batches,
    epoch_generator,
    group_rows,
    shuffled_batches,
    steps_of_epochs,
)

KEYS = np.random.default_rng(0).integers(0, 60, size=200)


@pytest.mark.parametrize("batch_size", [16, 64])
def test_every_row_comes_once_with_its_group_in_batches_that_are_as_full_as_can_be(
    batch_size: int,
) -> None:
    batches = shuffled_batches(group_rows(KEYS, batch_size), batch_size, np.random.default_rng(1))
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(KEYS)))
    assert max(map(len, batches)) <= batch_size
    homes = [set(KEYS[batch].tolist()) for batch in batches]
    assert sum(map(len, homes)) == len(set(KEYS.tolist()))
    for batch, following in pairwise(batches):
        assert len(batch) + (KEYS[following] == KEYS[following[0]]).sum() > batch_size


def test_only_a_group_larger_than_a_batch_is_cut() -> None:
    keys = np.array([7] * 10 + [8] * 3 + [9])
    batches = shuffled_batches(group_rows(keys, 4), 4, np.random.default_rng(0))
    assert max(map(len, batches)) == 4
    assert sorted(np.concatenate(batches).tolist()) == list(range(14))
    assert sum(8 in keys[batch] for batch in batches) == 1


def test_the_order_follows_seed_stage_and_epoch() -> None:
    groups = group_rows(KEYS, 16)

    def order(**numbers: int) -> tuple[int, ...]:
        chosen = {"seed": 1, "stage": 0, "epoch": 0} | numbers
        return tuple(np.concatenate(epoch_batches(groups, 16, **chosen)).tolist())

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
    groups = group_rows(np.arange(100), 10)

    def batches_of(epoch: int) -> list[Indices]:
        return epoch_batches(groups, 10, seed=0, stage=0, epoch=epoch)

    assert steps_of_epochs(batches_of, 2.5) == (10, 10, 5)
    assert steps_of_epochs(batches_of, 0.01) == (1,)
