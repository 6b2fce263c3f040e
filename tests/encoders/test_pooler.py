"""The pooling `pooler` against transformers' own pooler_output, from the first use to training,
resuming and exporting.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from torch import nn

from embedlab.core.errors import UsageError
from embedlab.core.recipe import load_recipe
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.device import Machine
from embedlab.encoders.layers import Dense
from embedlab.encoders.random_encoder import build_tokenizer
from embedlab.models.reading import UsageOptions
from embedlab.training.learner import freeze_part
from tests.encoders.layouts import outputs, write_backbone
from tests.encoders.opening import change_weights, opened
from tests.training.small_runs import interrupted, saved_bytes, train_in

SENTENCES = ["a man plays a guitar", "a dog runs", "two women talk outside in the rain", "a"]
POOLER = UsageOptions(pooling="pooler", max_tokens=32)


@pytest.fixture(params=["bert", "roberta"], scope="module")
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder with a pooler of its own, saved by transformers."""
    words = sorted(set(" ".join(SENTENCES).split()))
    folder = tmp_path_factory.mktemp("whole") / request.param
    write_backbone(folder, request.param, words=lambda: build_tokenizer(words))
    change_weights(folder, lambda tensors: nn.init.normal_(tensors["pooler.dense.bias"]))
    return folder


def test_vectors_are_the_pooler_output_of_transformers_also_in_what_is_exported(
    whole: Path, cpu: Machine, tmp_path: Path
) -> None:
    trainable = load_transformer(str(whole), cpu, wishes=POOLER)
    used = opened(f"{whole}?pooling=pooler", cpu)
    save_model(tmp_path / "model", trainable, card="")  # a dense layer, that others read
    again = load_transformer(str(tmp_path / "model"), cpu)
    save_model(tmp_path / "twice", again, card="")
    twice = load_transformer(str(tmp_path / "twice"), cpu)
    other = SentenceTransformer(str(tmp_path / "model"), device="cpu", trust_remote_code=False)
    expected = np.concatenate([each.pooler_output for each in outputs(whole, SENTENCES)])
    for encoder in (trainable, used, again, twice, other):
        np.testing.assert_allclose(encoder.encode(SENTENCES), expected, atol=1e-5)
    assert not any("random" in note for note in trainable.facts.notes)
    assert used.facts.pooling == "pooler"


def test_a_folder_without_a_pooler_starts_one_by_the_seed_and_says_so(
    tiny_encoder: Path, cpu: Machine
) -> None:
    poolers = [
        load_transformer(str(tiny_encoder), cpu, wishes=POOLER, seed=seed) for seed in (1, 1, 2)
    ]
    assert "the folder has no pooler: it started at random" in poolers[0].facts.notes
    first, same, other = (one.layers[0].linear.weight for one in poolers)
    assert torch.equal(first, same)
    assert not torch.equal(first, other)
    assert float(first.detach().std()) == pytest.approx(0.02, rel=0.1)  # BERT's initializer_range
    assert not poolers[0].layers[0].linear.bias.any()


def test_a_pooler_joined_to_another_pooling_is_refused(tiny_encoder: Path, cpu: Machine) -> None:
    with pytest.raises(UsageError, match="'pooler' cannot be joined with another pooling"):
        load_transformer(str(tiny_encoder), cpu, wishes=UsageOptions(pooling="pooler+mean"))


def test_a_pooler_is_trained_and_resumed_to_the_bit(
    tiny_encoder: Path, tmp_path: Path, cpu: Machine
) -> None:
    changes = [
        "encoder.pooling=pooler",
        "encoder.max_tokens=32",
        "stage.0.data.rows=192",
        "evaluate.dev=none",
    ]
    recipe = load_recipe("snli-supcl", changes, encoder=str(tiny_encoder))

    train = partial(train_in, tmp_path / "runs")
    run = train(recipe, "whole")
    before = load_transformer(str(tiny_encoder), cpu, wishes=POOLER, seed=1)
    after = load_transformer(str(run.model), cpu)
    assert (after.pooling, [type(layer) for layer in after.layers]) == ("cls", [Dense])
    assert not torch.equal(after.layers[0].linear.weight, before.layers[0].linear.weight)
    interrupted(train, recipe, 1)
    assert saved_bytes(train(recipe, resume=True)) == saved_bytes(run)


def test_a_frozen_encoder_includes_its_pooler(tiny_encoder: Path, cpu: Machine) -> None:
    encoder = load_transformer(str(tiny_encoder), cpu, wishes=POOLER)
    tokens = torch.tensor([[2, 5, 3]]), torch.ones(1, 3, dtype=torch.long)
    with freeze_part(encoder.backbone, encoder.layers, "encoder"):
        assert not encoder.forward_tokens(*tokens).requires_grad
    assert encoder.forward_tokens(*tokens).requires_grad
