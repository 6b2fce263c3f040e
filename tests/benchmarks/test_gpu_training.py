"""The benchmark trains by the loop of a run, measures all it says and leaves nothing behind."""

import gc
import math
import time
from dataclasses import replace

import gpu_training
import pytest
from gpu_training import BATCH, Product, Shape, made_stage, table_of, taken, train
from made_pairs import WORDS, random_tokens
from transformers import BertConfig, BertModel

from embedlab.core.recipe import load_recipe
from embedlab.objectives.needs import objective_needs
from embedlab.objectives.objective import build_objective
from embedlab.training.batching import Collation, chunk_ends
from tests.training.small_runs import MACHINE

TINY = Shape(
    recipe="snli-supcl",
    config=BertConfig(
        vocab_size=WORDS,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    ),
    pairs={"snli": 600, "multinli": 400},
    limit="< 1 s",
)


class SlowProduct(Product):
    """One that takes so long that a timed step would show it."""

    PAUSE_S = 0.1
    times = 0

    def tflops(self, times: int) -> float:
        self.times += times
        time.sleep(times * self.PAUSE_S)
        return 1.0


def encoders_in_memory() -> int:
    gc.collect()
    return sum(type(one) is BertModel for one in gc.get_objects())


@pytest.mark.slow
def test_an_epoch_is_timed_and_its_steps_are_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_training, "PROFILED_TIMES", 1)
    # What is recorded of ten steps, the usual time between two events, takes torch seconds to read.
    monkeypatch.setattr(
        gpu_training, "load_recipe", lambda name: load_recipe(name, ["evaluate.log_every=2"])
    )
    product = SlowProduct(MACHINE)
    started = time.perf_counter()
    found = train(TINY, MACHINE, pairs=TINY.scaled(1_000), seconds=600.0, product=product)
    assert product.times == len(found.products) > 0
    assert found.seconds < time.perf_counter() - started - product.times * product.PAUSE_S
    assert found.is_whole
    assert found.pairs >= 1_000
    assert list(found.by_phase) == ["batch", "forward", "backward", "optimizer"]
    assert all(0 < ms < 1000 * found.seconds for ms in found.by_phase.values())
    assert math.isclose(sum(found.by_kind.values()), 1.0)
    assert found.by_kind["matrix products"] > 0


@pytest.mark.slow
def test_what_does_not_fit_is_extrapolated_and_nothing_stays_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(gpu_training.SHAPES, "tiny", TINY)
    before = encoders_in_memory()
    found = train(TINY, MACHINE, pairs=TINY.scaled(10_000), seconds=0.0)
    assert encoders_in_memory() == before
    assert not found.is_whole
    lines, notes = table_of("tiny", found, 10_000, best=1.0, here=MACHINE)
    assert lines[0].ours == pytest.approx(found.seconds * 10_000 / found.pairs)
    assert f"extrapolated from {found.pairs:,} pairs" in lines[0].what
    assert [line.limit for line in lines] == [
        "",
        "",
    ]  # float32 on a CPU: nothing was promised of it
    assert "forward" in notes[0]
    assert "matrix products" in notes[1]


def test_fewer_pairs_are_of_the_same_corpora_in_proportion() -> None:
    assert TINY.scaled(10) == {"snli": 6, "multinli": 4}
    assert TINY.scaled(None) == TINY.pairs


@pytest.mark.slow
def test_a_batch_has_the_requested_number_of_pairs() -> None:
    once, twice = (
        train(TINY, MACHINE, pairs=TINY.scaled(2_000), seconds=600.0, batch=size)
        for size in (BATCH, 2 * BATCH)
    )
    assert once.steps == pytest.approx(2 * twice.steps, abs=2)


def test_operations_are_counted_on_the_real_tokens_that_the_loop_reads() -> None:
    stage = load_recipe("snli-supcl").stages[0]
    stage = replace(stage, optim=replace(stage.optim, batch_size=BATCH))
    data, steps = made_stage(stage, {"snli": 640})
    collation = Collation(
        data=data,
        needs=objective_needs(stage.objective),
        tokens=random_tokens(data.rows.sentences),
        objective=build_objective(stage.objective, 8),
        pad=0,
        cut=lambda lengths: chunk_ends(lengths, 4_096),
    )
    read = [batch for batch, _ in zip(collation.batches(0), range(steps + 3), strict=False)]
    for after in (0, 2):
        pairs, lengths = taken(collation, steps + 3, after=after)
        assert pairs == sum(batch.rows for batch in read)
        assert len(lengths) == sum(batch.sentences for batch in read[after:])
        assert sum(lengths) == sum(
            int(mask.sum()) for batch in read[after:] for _, mask in batch.chunks
        )
