"""SupCL-Seq: the frozen stage, the rates that run, pairs encoded together, and the settings of each
task.
"""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from embedlab.core.errors import UsageError
from embedlab.core.recipe import load_recipe
from embedlab.cpu import attention as filled_attention
from embedlab.cpu import dropout
from embedlab.encoders.encoder import TextPair
from embedlab.objectives.losses import class_contrastive, classification
from embedlab.objectives.losses.class_contrastive import Options
from embedlab.objectives.needs import check_columns
from embedlab.objectives.objective import load_objectives
from embedlab.training import learner, stages
from embedlab.training.blocks import open_stages
from embedlab.training.learner import dropout_places
from embedlab.training.stage_data import open_stage
from tests.training.small_runs import (
    ARCHITECTURES,
    SAMPLE,
    Train,
    assert_close,
    assert_resumes,
    last_checkpoint,
    narrow_encoder,
    open_encoder,
    recipe_of,
    stage,
    weights_of,
)

ClassContrastive = class_contrastive.objective()
Classification = classification.objective()


def labelled(
    name: str,
    optim: dict[str, Any] | None = None,
    rows: int = 32,
    task: str = "glue-rte",
    **options: object,
) -> dict[str, Any]:
    classes = ["entailment", "not_entailment"]
    return stage(name, rows, optim, task, classes=classes, joint=True, **options)


def test_the_linear_stage_leaves_the_encoder_as_it_is(train: Train, tiny_encoder: Path) -> None:
    run = train(recipe_of(tiny_encoder, labelled("classification", frozen=True)))
    before = load_file(tiny_encoder / "model.safetensors")
    assert all(tensor.equal(before[f"bert.{name}"]) for name, tensor in weights_of(run).items())
    assert set(load_file(run.path / "heads.safetensors")) == {"0.head.weight", "0.head.bias"}
    optimizer = last_checkpoint(run).optimizer
    assert optimizer
    assert not any(name.startswith("encoder.") for name in optimizer)


def record_applied(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """What is dropped from here on, by whom and at which rate: attention has no dropout module that
    runs.
    """
    applied: list[tuple[str, float]] = []
    mask_of = dropout.dropout_mask

    def record(kind: str, states: Tensor, rate: float) -> Tensor:
        applied.append((kind, rate))
        return mask_of(states, rate)

    monkeypatch.setattr(dropout, "dropout_mask", partial(record, "layer"))
    monkeypatch.setattr(filled_attention, "dropout_mask", partial(record, "attention"))
    return applied


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_each_view_runs_at_its_rate_in_every_dropout_and_all_get_their_own_back(
    architecture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = narrow_encoder(tmp_path, architecture)
    objective = ClassContrastive(Options(dropout=(0.2, 0.1)), encoder.dim)
    model = learner.Learner(encoder, {0: objective}).train()
    places = dropout_places(encoder.backbone)
    for number, (module, name) in enumerate(places, start=1):
        setattr(module, name, number / 100)  # so that one that got another's back would show
    before = [getattr(module, name) for module, name in places]
    chunk = tuple(map(torch.from_numpy, encoder.token_ids(["a man", "man"]).padded([0, 1], 0)))
    applied = record_applied(monkeypatch)
    torch.cat([model.encode(chunk, view) for view in objective.views]).sum().backward()
    assert [getattr(module, name) for module, name in places] == before
    half = len(before)
    assert half >= 2 * 2 + 1  # of two layers attention and output, and of the embeddings
    assert [rate for _, rate in applied] == [0.2] * half + [0.1] * half
    assert {kind for kind, _ in applied[:half]} == {"layer", "attention"}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_joint_pair_is_what_transformers_makes_of_it(architecture: str, tmp_path: Path) -> None:
    encoder = narrow_encoder(tmp_path, architecture)
    first, second = ["a man", "a dog sleeps"], ["a man sleeps", "a"]
    batch = encoder.tokenizer(
        first, second, padding=True, return_token_type_ids=True, return_tensors="pt"
    )
    if getattr(encoder.backbone.config, "type_vocab_size", 0) < 2:
        batch.pop("token_type_ids", None)
    with torch.no_grad():
        expected = encoder.backbone.eval()(**batch).last_hidden_state[:, 0]
    pairs = [TextPair(first=one, second=other) for one, other in zip(first, second, strict=True)]
    found = torch.from_numpy(encoder.encode(pairs))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_a_linear_stage_on_stored_vectors_learns_what_it_learns_on_texts(
    train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def heads(name: str, **more: int) -> dict[str, Tensor]:
        optim = {"lr": 1e-2, "batch_size": 8, "epochs": 2, **more}
        of = labelled("classification", optim, frozen=True, head_dropout=0.0)
        return load_file(train(recipe_of(tiny_encoder, of), name).path / "heads.safetensors")

    with monkeypatch.context() as patch:
        patch.setattr(stages, "is_frozen", lambda *_: False)
        slow = heads("slow")
    monkeypatch.setattr(learner.Learner, "encode", lambda *_: pytest.fail("encoded again"))
    stored = heads("stored")
    assert_close(stored, slow, rtol=1e-5, atol=1e-6)
    # there is no graph whose memory could be saved
    assert_close(heads("chunked", micro_batch=5), stored, rtol=0, atol=0)


def test_a_standardised_linear_stage_is_the_layer_that_its_file_gives_for_plain_vectors(
    train: Train, tiny_encoder: Path
) -> None:
    optim = {"lr": 0.3, "batch_size": 8, "epochs": 4, "weight_decay": 0.0}
    chosen = {"frozen": True, "head_dropout": 0.0, "standardise": True}
    run = train(recipe_of(tiny_encoder, labelled("classification", optim, **chosen)))
    objective = load_objectives(run, 64)[0]
    assert isinstance(objective, Classification)
    encoder = open_encoder(run.model, pooling="mean-without-cls")
    texts = open_stage(run.recipe(), SAMPLE, seed=1, index=0).rows.texts
    vectors = torch.from_numpy(encoder.encode(texts))
    middle, deviation = vectors.mean(dim=0), vectors.std(dim=0, correction=0)
    found = {"middle": objective.middle, "deviation": objective.deviation}
    assert_close(found, {"middle": middle, "deviation": deviation}, rtol=1e-4, atol=1e-6)
    weight, bias = objective.linear()
    expected = objective.head((vectors - middle) / deviation)
    torch.testing.assert_close(vectors @ weight.T + bias, expected, rtol=1e-4, atol=1e-3)


def test_vectors_that_are_read_while_they_are_trained_are_not_standardised() -> None:
    changes = ["objective.standardise=true", "objective.frozen=true", "optim.turn=1"]
    with pytest.raises(UsageError, match=r"standardise' has no effect"):
        check_columns(load_recipe("glue-finetune", changes[:1]))
    with pytest.raises(UsageError, match=r"'stage.0.optim.turn' is set"):
        check_columns(load_recipe("glue-finetune", changes))


def test_a_stopped_linear_stage_reads_vectors_by_the_same_standard(
    train: Train, tiny_encoder: Path
) -> None:
    linear = labelled("classification", frozen=True, standardise=True)
    recipe = recipe_of(tiny_encoder, linear, labelled("classification"))
    end = open_stages(recipe, SAMPLE, 1)[0].steps
    # the vectors have changed since
    assert_resumes(train, recipe, [end + 1])
