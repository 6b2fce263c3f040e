"""SupCL-Seq: the frozen stage, the rates that run, pairs encoded together, and the settings of each
task.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from embedlab.core.errors import UsageError
from embedlab.core.recipe import load_recipe
from embedlab.cpu import attention as filled_attention
from embedlab.cpu import dropout
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.encoder import TextPair
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.models.reading import Wishes
from embedlab.objectives.losses import class_contrastive, classification
from embedlab.objectives.losses.class_contrastive import Options
from embedlab.objectives.needs import check_columns
from embedlab.objectives.objective import load_objectives
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training import learner, stages
from embedlab.training.checkpointing import Checkpoints, Snapshot
from embedlab.training.learner import dropout_places
from embedlab.training.stage_data import open_stage
from tests.training.small_runs import MACHINE, SAMPLE, interrupted, recipe_of, saved_bytes

ClassContrastive = class_contrastive.objective()
Classification = classification.objective()

Train = Callable[..., RunFolder]


def labelled(
    name: str, task: str = "glue-rte", rows: int = 32, lr: float = 1e-3, **options: object
) -> dict[str, object]:
    classes = ["entailment", "not_entailment"]
    objective = {"name": name, "classes": classes, "joint": True, **options}
    return {
        "data": {"datasets": [task], "rows": rows},
        "objective": objective,
        "optim": {"lr": lr, "batch_size": 16},
    }


def test_the_linear_stage_leaves_the_encoder_as_it_is(train: Train, tiny_encoder: Path) -> None:
    run = train(recipe_of(tiny_encoder, labelled("classification", frozen=True)))
    before, after = (
        load_file(tiny_encoder / "model.safetensors"),
        load_file(run.model / "model.safetensors"),
    )
    assert all(tensor.equal(before[f"bert.{name}"]) for name, tensor in after.items())
    assert set(load_file(run.path / "heads.safetensors")) == {"0.head.weight", "0.head.bias"}


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


@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "electra"])
def test_each_view_runs_at_its_rate_in_every_dropout_and_all_get_their_own_back(
    architecture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_random_encoder(
        tmp_path / "model", seed=0, hidden=16, vocabulary=["a", "man"], architecture=architecture
    )
    encoder = load_transformer(str(tmp_path / "model"), MACHINE, wishes=Wishes(pooling="cls"))
    objective = ClassContrastive(Options(dropout=(0.2, 0.1)), encoder.dim)
    model = learner.Learner(encoder, {0: objective}).train()
    for number, (module, name) in enumerate(dropout_places(encoder.backbone), start=1):
        setattr(module, name, number / 100)  # so that one that got another's back would show
    before = [getattr(module, name) for module, name in dropout_places(encoder.backbone)]
    ids, mask = encoder.token_ids(["a man", "man"]).padded([0, 1], 0)
    applied = record_applied(monkeypatch)
    vectors = [
        model.encode((torch.from_numpy(ids), torch.from_numpy(mask)), view)
        for view in objective.views
    ]
    objective(
        torch.cat(vectors), {"sentence": torch.tensor([0, 1]), "label": torch.tensor([0, 1])}
    ).backward()
    assert [getattr(module, name) for module, name in dropout_places(encoder.backbone)] == before
    half = len(applied) // 2
    assert {rate for _, rate in applied[:half]} == {0.2}
    assert {rate for _, rate in applied[half:]} == {0.1}
    assert {kind for kind, _ in applied[:half]} == {"layer", "attention"}
    assert half == len(applied) - half == len(before)
    # Two layers of attention and its output and the feed-forward output, where there is one, and
    # the embeddings.
    assert half >= 2 * 2 + 1


@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "electra"])
def test_a_joint_pair_is_what_transformers_makes_of_it(architecture: str, tmp_path: Path) -> None:
    build_random_encoder(
        tmp_path / "model",
        seed=0,
        hidden=16,
        vocabulary=["a", "man", "dog", "sleeps"],
        architecture=architecture,
    )
    encoder = load_transformer(str(tmp_path / "model"), MACHINE, wishes=Wishes(pooling="cls"))
    first, second = ["a man", "a dog sleeps"], ["a man sleeps", "a"]
    batch = encoder.tokenizer(
        first, second, padding=True, return_token_type_ids=True, return_tensors="pt"
    )
    if getattr(encoder.backbone.config, "type_vocab_size", 0) < 2:
        batch.pop("token_type_ids", None)
    with torch.no_grad():
        expected = encoder.backbone.eval()(**batch).last_hidden_state[:, 0]
    found = encoder.encode(
        [TextPair(first=one, second=other) for one, other in zip(first, second, strict=True)]
    )
    torch.testing.assert_close(torch.from_numpy(found), expected, rtol=1e-5, atol=1e-5)


def test_a_checkpoint_within_a_frozen_stage_has_no_optimizer_state_of_the_encoder(
    train: Train, tiny_encoder: Path
) -> None:
    run = train(recipe_of(tiny_encoder, labelled("classification", frozen=True)))
    checkpoints = Checkpoints(run.checkpoints)
    state = Snapshot.read(checkpoints.path(checkpoints.steps()[-1])).optimizer
    assert state
    assert not [name for name in state if name.startswith("encoder.")]


def test_a_linear_stage_on_stored_vectors_learns_what_it_learns_on_texts(
    train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = labelled("classification", frozen=True, head_dropout=0.0)
    optim = {"lr": 1e-2, "batch_size": 8, "epochs": 2}
    recipe = recipe_of(tiny_encoder, {**stage, "optim": optim})
    with monkeypatch.context() as patch:
        patch.setattr(stages, "is_frozen", lambda *_: False)
        slow = load_file(train(recipe, "slow").path / "heads.safetensors")

    def refuse(*_: object) -> Tensor:
        raise AssertionError("a text is encoded again")

    monkeypatch.setattr(learner.Learner, "encode", refuse)
    stored = load_file(train(recipe, "kept").path / "heads.safetensors")
    chunked = load_file(
        train(
            recipe_of(tiny_encoder, {**stage, "optim": {**optim, "micro_batch": 5}}), "chunked"
        ).path
        / "heads.safetensors"
    )
    for name, tensor in slow.items():
        torch.testing.assert_close(stored[name], tensor, rtol=1e-5, atol=1e-6)
        assert chunked[name].equal(stored[name])  # there is no graph whose memory could be saved


def test_a_standardised_linear_stage_is_the_layer_that_its_file_gives_for_plain_vectors(
    train: Train, tiny_encoder: Path
) -> None:
    chosen = labelled("classification", frozen=True, head_dropout=0.0, standardise=True)
    run = train(
        recipe_of(tiny_encoder, {**chosen, "optim": {"lr": 0.3, "batch_size": 8, "epochs": 4}})
    )
    objective = load_objectives(run, 64)[0]
    assert isinstance(objective, Classification)
    encoder = load_transformer(str(run.model), MACHINE, wishes=Wishes(pooling="mean-without-cls"))
    texts = open_stage(run.recipe(), SAMPLE, seed=1, index=0).rows.texts
    vectors = torch.from_numpy(encoder.encode(texts))
    torch.testing.assert_close(objective.middle, vectors.mean(dim=0), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(
        objective.deviation, vectors.std(dim=0, correction=0), rtol=1e-4, atol=1e-6
    )
    weight, bias = objective.linear()
    standardised = (vectors - objective.middle) / objective.deviation
    torch.testing.assert_close(
        vectors @ weight.T + bias, objective.head(standardised), rtol=1e-4, atol=1e-3
    )
    assert not torch.equal(weight, objective.head.weight)


def test_vectors_that_are_read_while_they_are_trained_are_not_standardised() -> None:
    with pytest.raises(UsageError, match=r"standardise' has no effect"):
        check_columns(load_recipe("glue-finetune", ["objective.standardise=true"]))
    with pytest.raises(UsageError, match=r"'stage.0.optim.turn' is set"):
        check_columns(
            load_recipe(
                "glue-finetune",
                ["objective.frozen=true", "objective.standardise=true", "optim.turn=1"],
            )
        )


def test_a_stopped_linear_stage_reads_vectors_by_the_same_standard(
    train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linear = labelled("classification", frozen=True, standardise=True)
    recipe = recipe_of(tiny_encoder, linear, labelled("classification"))
    whole = train(recipe, "whole")
    end = max(
        event.step
        for event in events.events_after(whole.events_file)[0]
        if isinstance(event, events.Step) and event.stage == 0
    )
    interrupted(train, recipe, end + 1, monkeypatch)  # its vectors have changed since
    assert saved_bytes(train(recipe, resume=True)) == saved_bytes(whole)
