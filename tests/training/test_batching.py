"""Batches: each sentence once, in chunks that waste little."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.needs import NEEDS
from embedlab.training.batching import (
    Collation,
    chunk_ends,
    limit_chunks,
    part_ends,
)
from embedlab.training.order import batch_generator
from tests.training.small_runs import collation_of, open_encoder, recipe_of


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> TransformerEncoder:
    return open_encoder(tiny_encoder)


@pytest.fixture(scope="module")
def collation(encoder: TransformerEncoder) -> Collation:
    return collation_of(encoder, recipe_of(Path(encoder.name)))


def test_a_batch_holds_each_distinct_sentence_once_and_points_at_it(
    collation: Collation, encoder: TransformerEncoder
) -> None:
    chosen, rows = collation.data.batches(0)[0], collation.data.rows
    batch = collation.collate(chosen, batch_generator(3, 0, 0, 0))
    held = [
        ids[: int(mask.sum())].tolist()
        for chunk in batch.chunks
        for ids, mask in zip(*chunk, strict=True)
    ]
    assert len(set(map(tuple, held))) == len(held)
    for column in NEEDS.sentences:
        texts = [rows.at(index) for index in rows.columns[column][chosen]]
        expected = encoder.tokenizer(texts, truncation=True, max_length=32)["input_ids"]
        assert [held[place] for place in batch.columns[column].tolist()] == expected
    assert batch.columns["label"].tolist() == rows.columns["label"][chosen].tolist()
    assert batch.rows == len(chosen)


@pytest.mark.parametrize("seed", range(5))
def test_chunks_are_the_cheapest_that_cutting_allows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths, cost = np.sort(rng.integers(3, 40, size=9)), int(rng.integers(1, 60))

    def price(ends: list[int]) -> int:
        return sum(
            int(end - start) * int(lengths[end - 1]) + cost
            for start, end in zip([0, *ends[:-1]], ends, strict=True)
        )

    every_way = [
        [*cuts, len(lengths)]
        for size in range(len(lengths))
        for cuts in combinations(range(1, len(lengths)), size)
    ]
    assert price(chunk_ends(lengths, cost)) == min(map(price, every_way))


def test_a_limit_cuts_chunks_evenly() -> None:
    assert limit_chunks([3, 10], None) == [3, 10]
    assert limit_chunks([3, 10], 3) == [3, 6, 8, 10]


def test_an_error_while_a_batch_is_made_ahead_reaches_the_loop(
    collation: Collation, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = collation.batches(0)
    next(batches)

    def fail(*_: object) -> None:
        raise ValueError("no such row")

    monkeypatch.setattr(Collation, "collate", fail)
    with pytest.raises(ValueError, match="no such row"):
        list(batches)


def test_parts_are_about_equal_and_never_divide_a_group() -> None:
    assert part_ends(np.arange(10), 4).tolist() == [2, 5, 7, 10]
    large = np.array([4, 4, 4, 4, 4, 9, 9, 1])
    assert part_ends(large, 4).tolist() == [5, 8]  # fewer where groups are large
    assert part_ends(np.array([3, 3]), 2).tolist() == [2]
