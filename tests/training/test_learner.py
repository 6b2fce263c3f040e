"""The gradient of a batch: cached equals plain, views run with their dropout, frozen parts stay."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from embedlab.encoders.transformer import TransformerEncoder
from embedlab.training.batching import Batch
from embedlab.training.gradients import LossScale
from embedlab.training.learner import (
    Learner,
    backward,
    cached_backward,
    dropout_places,
    dropout_rate,
    freeze_part,
    joint_backward,
    part_parameters,
)
from embedlab.training.order import batch_generator
from tests.training.small_runs import (
    ARCHITECTURES,
    MACHINE,
    Train,
    assert_close,
    collation_of,
    gradients_of,
    narrow_encoder,
    notes_of,
    open_encoder,
    recipe_of,
    stage,
)


def simcse_learner(encoder: TransformerEncoder, positives: str) -> tuple[Learner, Batch]:
    """A learner in training mode, dropout and head included, and one batch for it."""
    optim = {"batch_size": 12, "micro_batch": 5}
    options = {"positives": positives, "projection": "one-layer"}
    dataset = "nli-triplets" if positives == "triplets" else "wiki-split"
    of = stage("in_batch_contrastive", 24, optim, dataset, **options)
    collation = collation_of(encoder, recipe_of(Path(encoder.name), of))
    learner = Learner(encoder, {0: collation.objective}).train()
    return learner, collation.collate(collation.data.batches(0)[0], batch_generator(1, 0, 0, 0))


@pytest.mark.parametrize("has_cpu_engine", [True, False])
@pytest.mark.parametrize("positives", ["dropout", "triplets"])
def test_the_cached_gradient_equals_the_plain_one(
    positives: str, has_cpu_engine: bool, tiny_encoder: Path
) -> None:
    machine = replace(MACHINE, has_cpu_engine=has_cpu_engine)
    learner, batch = simcse_learner(open_encoder(tiny_encoder, machine, "cls"), positives)
    assert len(batch.chunks) > 2
    assert max(len(ids) for ids, _ in batch.chunks) <= 5
    torch.manual_seed(7)
    plain = learner(batch)
    state = torch.get_rng_state()
    plain.backward()
    expected = gradients_of(learner)
    learner.zero_grad()
    torch.manual_seed(7)
    cached = cached_backward(learner, batch, LossScale(MACHINE))
    assert cached.item() == pytest.approx(plain.item(), abs=1e-6)
    assert_close(gradients_of(learner), expected, rtol=1e-5, atol=1e-5)
    assert torch.get_rng_state().equal(state)


def step_of(
    folder: Path, name: str, parts: int | None, **options: object
) -> tuple[float, dict[str, Tensor]]:
    """The loss of one batch of 16 rows and its gradient, without dropout, accumulated over PARTS of
    it.
    """
    optim = {"accumulate": parts} if parts else None
    encoder = open_encoder(folder, pooling="cls")
    collation = collation_of(
        encoder, recipe_of(folder, stage(name, rows=16, optim=optim, **options))
    )
    batch = next(collation.batches(0))
    assert sum(part.rows for part in batch) == 16
    assert (len(batch) > 1) == (parts is not None)
    learner = Learner(encoder, {0: collation.objective}).eval()
    loss = backward(learner, batch, LossScale(MACHINE), is_cached=False)
    return loss.item(), gradients_of(learner)


@pytest.mark.parametrize(
    ("name", "options"), [("nli_softmax", {}), ("supervised_contrastive", {"weight": 0.0})]
)
def test_accumulated_gradients_of_rows_that_are_not_compared_are_those_of_the_whole_batch(
    name: str, options: dict[str, object], tiny_encoder: Path
) -> None:
    loss, expected = step_of(tiny_encoder, name, None, **options)
    added, found = step_of(tiny_encoder, name, 3, **options)
    assert added == pytest.approx(loss, abs=1e-6)
    assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_accumulated_gradients_of_rows_that_are_compared_are_others_and_a_run_says_so(
    tiny_encoder: Path, train: Train
) -> None:
    whole, parts = (
        step_of(tiny_encoder, "supervised_contrastive", number)[0] for number in (None, 2)
    )
    assert parts < whole - 0.1  # fewer negatives
    run = train(recipe_of(tiny_encoder, stage(rows=32, optim={"accumulate": 2})))
    assert notes_of(run) == [
        "stage 0: a row is compared with the others of its part alone, about 8 of 16: not "
        "the loss of the whole batch"
    ]


@pytest.mark.parametrize("combine", ["average", "surgery", "surgery-sum"])
def test_tasks_with_nothing_in_common_leave_one_gradient_of_them_all(combine: str) -> None:
    first, second, unused = (nn.Parameter(torch.tensor([value])) for value in (2.0, 3.0, 1.0))
    parameters = [first, second, unused]

    def task(parameter: nn.Parameter) -> Tensor:
        loss = (parameter**2).sum()
        loss.backward()
        return loss.detach()

    tasks = [partial(task, first), partial(task, second)]
    losses = joint_backward(tasks, parameters, combine, lambda: [[1], [0]], lambda: None)  # type: ignore[arg-type]
    scale = 1 if combine == "surgery-sum" else 2
    assert losses.tolist() == [4.0, 9.0]
    assert [first.grad, second.grad, unused.grad] == [4.0 / scale, 6.0 / scale, None]


def test_a_rate_stored_as_a_plain_number_is_found() -> None:
    layer = torch.nn.Linear(1, 1)
    layer.attention_dropout = 0.3  # type: ignore[assignment]
    with dropout_rate(dropout_places(layer), 0.0):
        assert layer.attention_dropout == 0.0
    assert layer.attention_dropout == 0.3


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_frozen_part_has_no_gradient_while_the_rest_has(
    architecture: str, tmp_path: Path
) -> None:
    encoder = narrow_encoder(tmp_path, architecture)
    embeddings = part_parameters(encoder.backbone, encoder.layers, "embeddings")
    without_gradient = {id(parameter) for parameter in embeddings}
    assert id(encoder.backbone.get_input_embeddings().weight) in without_gradient
    ids = torch.tensor([[2, 5, 3]])
    with freeze_part(encoder.backbone, encoder.layers, "embeddings"):
        encoder.forward_tokens(ids, torch.ones_like(ids)).square().sum().backward()
    for parameter in encoder.backbone.parameters():
        assert (parameter.grad is None) == (id(parameter) in without_gradient)
        assert parameter.requires_grad
