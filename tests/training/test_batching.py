"""Batches: each sentence once, in chunks that waste little."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from embedlab.core.recipe import Recipe
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.reading import Wishes
from embedlab.objectives.needs import NEEDS
from embedlab.objectives.objective import build_objective
from embedlab.training.batching import (
    PACK_TOKENS,
    Collation,
    chunk_ends,
    cut_for,
    limited,
    pack_ends,
    part_ends,
    tokenise,
)
from embedlab.training.order import batch_generator
from embedlab.training.stage_data import open_stage
from tests.training.small_runs import MACHINE, SAMPLE, recipe_of


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> TransformerEncoder:
    return load_transformer(
        str(tiny_encoder), MACHINE, wishes=Wishes(pooling="mean", max_tokens=32)
    )


@pytest.fixture(scope="module")
def recipe(tiny_encoder: Path) -> Recipe:
    return recipe_of(tiny_encoder)


@pytest.fixture(scope="module")
def collation(recipe: Recipe, encoder: TransformerEncoder) -> Collation:
    data = open_stage(recipe, SAMPLE, seed=3, index=0)
    return Collation(
        data=data,
        needs=NEEDS,
        tokens=tokenise(encoder, data.rows.sentences.to_list()),
        objective=build_objective(recipe.stages[0].objective, encoder.dim),
        pad=0,
        cut=cut_for(encoder),
    )


def test_a_batch_holds_each_distinct_sentence_once_and_points_at_it(
    collation: Collation, encoder: TransformerEncoder
) -> None:
    rows = collation.data.batches(0)[0]
    batch = collation.collate(rows, batch_generator(3, 0, 0, 0))
    sentences = [
        encoder.tokenizer.decode(ids[: int(mask.sum())])
        for chunk in batch.chunks
        for ids, mask in zip(*chunk, strict=True)
    ]
    assert len(set(sentences)) == len(sentences)
    for column in NEEDS.sentences:
        expected = [
            collation.data.rows.at(index) for index in collation.data.rows.columns[column][rows]
        ]
        decoded = encoder.token_ids(expected)
        for place, row in zip(batch.columns[column].tolist(), range(len(rows)), strict=True):
            ids = decoded.flat[decoded.offsets[row] : decoded.offsets[row + 1]]
            assert sentences[place] == encoder.tokenizer.decode(ids)
    assert batch.columns["label"].tolist() == collation.data.rows.columns["label"][rows].tolist()
    assert batch.rows == len(rows)


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


@pytest.mark.parametrize("seed", range(5))
def test_packs_hold_about_equally_many_tokens_and_every_sentence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths, budget = np.sort(rng.integers(3, 40, size=50)), 100
    ends = pack_ends(lengths, budget)
    assert ends == sorted(set(ends))
    assert ends[-1] == len(lengths)
    tokens = [int(part.sum()) for part in np.split(lengths, ends[:-1])]
    assert len(tokens) == -(-int(lengths.sum()) // budget)
    assert max(tokens) <= budget + lengths.max()
    assert pack_ends(lengths, PACK_TOKENS) == [50]


def test_a_limit_cuts_chunks_evenly() -> None:
    assert limited([3, 10], None) == [3, 10]
    assert limited([3, 10], 3) == [3, 6, 8, 10]


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
    assert part_ends(np.array([4, 4, 4, 4, 4, 9, 9, 1]), 4).tolist() == [
        5,
        8,
    ]  # fewer where groups are large
    assert part_ends(np.array([3, 3]), 2).tolist() == [2]
