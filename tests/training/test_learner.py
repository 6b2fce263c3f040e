"""The gradient of a batch: cached equals plain, views run with their dropout, frozen parts stay."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from embedlab.core.errors import UsageError
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.reading import Wishes
from embedlab.objectives.needs import objective_needs
from embedlab.objectives.objective import build_objective
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training.batching import Batch, Collation, cut_for, tokenise
from embedlab.training.gradients import LossScale
from embedlab.training.learner import (
    Learner,
    backward,
    cached_backward,
    dropout_places,
    dropout_rate,
    frozen,
    joint_backward,
    part_parameters,
)
from embedlab.training.order import batch_generator
from embedlab.training.stage_data import open_stage
from tests.training.small_runs import MACHINE, SAMPLE, recipe_of, stage

ARCHITECTURES = ["bert", "roberta", "distilbert", "electra"]


def encoder_of(folder: Path, machine: Machine = MACHINE) -> TransformerEncoder:
    return load_transformer(str(folder), machine, wishes=Wishes(pooling="cls", max_tokens=32))


def simcse_learner(
    folder: Path, micro_batch: int, positives: str, machine: Machine = MACHINE
) -> tuple[Learner, Batch]:
    """A learner in training mode, dropout and head included, and one batch for it."""
    dataset = "nli-triplets" if positives == "triplets" else "wiki-split"
    stage = {
        "data": {"datasets": [dataset], "rows": 24},
        "objective": {
            "name": "in_batch_contrastive",
            "positives": positives,
            "projection": "one-layer",
        },
        "optim": {"lr": 1e-3, "batch_size": 12, "micro_batch": micro_batch},
    }
    recipe = recipe_of(folder, stage)
    data, encoder = open_stage(recipe, SAMPLE, seed=1, index=0), encoder_of(folder, machine)
    torch.manual_seed(0)
    objective = build_objective(recipe.stages[0].objective, encoder.dim)
    needs, tokens = objective_columns(positives), tokenise(encoder, data.rows.sentences.to_list())
    collation = Collation(
        data=data, needs=needs, tokens=tokens, objective=objective, pad=0, cut=cut_for(encoder)
    )
    learner = Learner(encoder, {0: objective})
    learner.train()
    return learner, collation.collate(data.batches(0)[0], batch_generator(1, 0, 0, 0))


def objective_columns(positives: str):  # noqa: ANN201 - the objective's own type
    from embedlab.objectives.losses.in_batch_contrastive import Options, needs

    return needs(Options(positives=positives))  # type: ignore[arg-type]


@pytest.mark.parametrize("has_cpu_engine", [True, False])
@pytest.mark.parametrize("positives", ["dropout", "triplets"])
def test_the_cached_gradient_equals_the_plain_one(
    positives: str, has_cpu_engine: bool, tiny_encoder: Path
) -> None:
    machine = replace(MACHINE, has_cpu_engine=has_cpu_engine)
    learner, batch = simcse_learner(
        tiny_encoder, micro_batch=5, positives=positives, machine=machine
    )
    assert len(batch.chunks) > 2
    assert max(len(ids) for ids, _ in batch.chunks) <= 5
    torch.manual_seed(7)
    plain = learner(batch)
    plain.backward()
    expected = {
        name: parameter.grad.clone()
        for name, parameter in learner.named_parameters()
        if parameter.grad is not None
    }
    learner.zero_grad()
    torch.manual_seed(7)
    cached = cached_backward(learner, batch, LossScale(MACHINE))
    assert cached.item() == pytest.approx(plain.item(), abs=1e-6)
    found = {
        name: parameter.grad
        for name, parameter in learner.named_parameters()
        if parameter.grad is not None
    }
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-5, atol=1e-5)


def gradients_of(
    folder: Path, name: str, parts: int | None, **options: object
) -> tuple[float, dict[str, Tensor]]:
    """The loss of one batch of 16 rows and its gradient, without dropout, accumulated over PARTS of
    it.
    """
    optim = {"accumulate": parts} if parts else None
    recipe = recipe_of(folder, stage(name, rows=16, optim=optim, **options))
    data, encoder = open_stage(recipe, SAMPLE, seed=1, index=0), encoder_of(folder)
    torch.manual_seed(0)
    objective, needs = (
        build_objective(recipe.stages[0].objective, encoder.dim),
        objective_needs(recipe.stages[0].objective),
    )
    tokens = tokenise(encoder, data.rows.sentences.to_list())
    collation = Collation(
        data=data, needs=needs, tokens=tokens, objective=objective, pad=0, cut=cut_for(encoder)
    )
    batch = next(collation.batches(0))
    assert sum(part.rows for part in batch.parts) == (len(data.batches(0)[0]) if parts else 0)
    learner = Learner(encoder, {0: objective})
    learner.eval()
    loss = backward(learner, batch, LossScale(MACHINE), is_cached=False).item()
    return loss, {
        name: parameter.grad
        for name, parameter in learner.named_parameters()
        if parameter.grad is not None
    }


@pytest.mark.parametrize(
    ("name", "options"), [("nli_softmax", {}), ("supervised_contrastive", {"weight": 0.0})]
)
def test_accumulated_gradients_of_rows_that_are_not_compared_are_those_of_the_whole_batch(
    name: str, options: dict[str, object], tiny_encoder: Path
) -> None:
    loss, expected = gradients_of(tiny_encoder, name, None, **options)
    added, found = gradients_of(tiny_encoder, name, 3, **options)
    assert added == pytest.approx(loss, abs=1e-6)
    assert found.keys() == expected.keys()
    for key, gradient in expected.items():
        torch.testing.assert_close(found[key], gradient, rtol=1e-5, atol=1e-6)


def test_accumulated_gradients_of_rows_that_are_compared_are_others_and_a_run_says_so(
    tiny_encoder: Path, train: Callable[..., RunFolder]
) -> None:
    whole, parts = (
        gradients_of(tiny_encoder, "supervised_contrastive", number)[0] for number in (None, 2)
    )
    assert parts < whole - 0.1  # fewer negatives
    run = train(recipe_of(tiny_encoder, stage(rows=32, optim={"accumulate": 2})))
    said = [
        event.text
        for event in events.events_after(run.events_file)[0]
        if isinstance(event, events.Noted)
    ]
    assert said == [
        "stage 0: a row is compared with the others of its part alone, about 8 of 16: not "
        "the loss of the whole batch"
    ]


def test_accumulated_and_cached_gradients_are_not_both_taken(tiny_encoder: Path) -> None:
    with pytest.raises(UsageError, match="accumulate and micro_batch"):
        recipe_of(tiny_encoder, stage(optim={"accumulate": 2, "micro_batch": 4}))


@pytest.mark.parametrize("combine", ["average", "surgery", "surgery-sum"])
def test_tasks_with_nothing_in_common_leave_one_gradient_of_them_all(combine: str) -> None:
    first, second, unused = (nn.Parameter(torch.tensor([value])) for value in (2.0, 3.0, 1.0))
    parameters = [first, second, unused]

    def task(parameter: nn.Parameter) -> Tensor:
        loss = (parameter**2).sum()
        loss.backward()
        return loss.detach()

    added = []
    tasks = [partial(task, first), partial(task, second)]
    losses = joint_backward(tasks, parameters, combine, lambda: [[1], [0]], lambda: added.append(1))  # type: ignore[arg-type]
    scale = 1 if combine == "surgery-sum" else 2
    assert losses.tolist() == [4.0, 9.0]
    assert [
        None if parameter.grad is None else parameter.grad.item() for parameter in parameters
    ] == [4.0 / scale, 6.0 / scale, None]


def test_after_a_cached_step_the_generator_has_the_state_that_a_plain_one_leaves(
    tiny_encoder: Path,
) -> None:
    learner, batch = simcse_learner(tiny_encoder, micro_batch=5, positives="dropout")
    torch.manual_seed(7)
    learner(batch)
    expected = torch.get_rng_state()
    torch.manual_seed(7)
    cached_backward(learner, batch, LossScale(MACHINE))
    assert torch.get_rng_state().equal(expected)


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
    build_random_encoder(
        tmp_path / "model", seed=0, hidden=16, vocabulary=["a", "man"], architecture=architecture
    )
    encoder = encoder_of(tmp_path / "model")
    embeddings = part_parameters(encoder.backbone, encoder.layers, "embeddings")
    assert any(
        parameter is encoder.backbone.get_input_embeddings().weight for parameter in embeddings
    )
    with frozen(encoder.backbone, encoder.layers, "embeddings"):
        encoder.forward_tokens(
            torch.tensor([[2, 5, 3]]), torch.ones(1, 3, dtype=torch.long)
        ).square().sum().backward()
    without_gradient = {id(parameter) for parameter in embeddings}
    for parameter in encoder.backbone.parameters():
        assert (parameter.grad is None) == (id(parameter) in without_gradient)
        assert parameter.requires_grad
