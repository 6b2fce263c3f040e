"""Batches: each sentence once, in chunks that waste little."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.objectives.nli import NEEDS
from embedlab.objectives.objective import build_objective
from embedlab.recipe import Recipe
from embedlab.training.batching import Collation, chunk_ends, tokenise
from embedlab.training.order import batch_generator
from embedlab.training.stage_data import example, open_stage
from tests.training.small_runs import MACHINE, SAMPLE, recipe_of


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> TransformerEncoder:
    return load_transformer(str(tiny_encoder), MACHINE, pooling="mean", max_tokens=32)


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
        chunk_cost=64,
    )


def test_a_batch_holds_each_distinct_sentence_once_and_points_at_it(collation: Collation, encoder: TransformerEncoder) -> None:
    rows = collation.data.batches(0)[0]
    batch = collation.collate(rows, batch_generator(3, 0, 0, 0))
    sentences = [encoder.tokenizer.decode(ids[: int(mask.sum())]) for chunk in batch.chunks for ids, mask in zip(*chunk, strict=True)]
    assert len(set(sentences)) == len(sentences)
    for column in NEEDS.sentences:
        expected = [collation.data.rows.at(index) for index in collation.data.rows.columns[column][rows]]
        decoded = encoder.token_ids(expected)
        for place, row in zip(batch.columns[column].tolist(), range(len(rows)), strict=True):
            ids = decoded.flat[decoded.offsets[row] : decoded.offsets[row + 1]]
            assert sentences[place] == encoder.tokenizer.decode(ids)
    assert batch.columns["label"].tolist() == collation.data.rows.columns["label"][rows].tolist()
    assert batch.rows == len(rows)


def test_batches_after_some_steps_are_those_of_an_uninterrupted_pass(collation: Collation) -> None:
    whole, rest = list(collation.batches(0)), list(collation.batches(4))
    assert len(whole) == sum(collation.data.epochs)
    for one, other in zip(whole[4:], rest, strict=True):
        assert one.columns.keys() == other.columns.keys()
        assert all(one.columns[name].equal(other.columns[name]) for name in one.columns)
        assert all(ids.equal(same) for (ids, _), (same, _) in zip(one.chunks, other.chunks, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_chunks_are_the_cheapest_that_cutting_allows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths, cost = np.sort(rng.integers(3, 40, size=9)), int(rng.integers(1, 60))

    def price(ends: list[int]) -> int:
        return sum(int(end - start) * int(lengths[end - 1]) + cost for start, end in zip([0, *ends[:-1]], ends, strict=True))

    every_way = [[*cuts, len(lengths)] for size in range(len(lengths)) for cuts in combinations(range(1, len(lengths)), size)]
    assert price(chunk_ends(lengths, cost)) == min(map(price, every_way))


def test_an_example_shows_an_anchor_with_its_sets(recipe: Recipe) -> None:
    roles = [role for role, sentence in example(open_stage(recipe, SAMPLE, seed=0, index=0)) if sentence]
    assert roles[0] == "anchor"
    assert {"positive", "negative"} <= set(roles)
