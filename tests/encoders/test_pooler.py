"""The pooling `pooler` against transformers' own pooler_output, from the first use to training,
resuming and exporting.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from transformers import (
    AutoModel,
    AutoTokenizer,
    BertConfig,
    BertModel,
    RobertaConfig,
    RobertaModel,
)

from embedlab.core.errors import UsageError
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.device import Machine, machine
from embedlab.encoders.layers import Dense
from embedlab.encoders.loading import load_encoder
from embedlab.encoders.random_encoder import build_tokenizer
from embedlab.models.catalog import resolve
from embedlab.models.reading import Wishes
from embedlab.runs.store import RunFolder
from embedlab.training.learner import frozen
from embedlab.training.stages import train_run
from tests.training.small_runs import MACHINE, SAMPLE, interrupted, saved_bytes

SENTENCES = ["a man plays a guitar", "a dog runs", "two women talk outside in the rain", "a"]
POOLER = Wishes(pooling="pooler", max_tokens=32)


@pytest.fixture(params=["bert", "roberta"], scope="module")
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder with a pooler of its own, saved by transformers."""
    tokenizer = build_tokenizer(
        sorted({word for sentence in SENTENCES for word in sentence.split()})
    )
    config = {"bert": BertConfig, "roberta": RobertaConfig}[request.param](
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(5)
    folder = tmp_path_factory.mktemp("whole") / request.param
    model = {"bert": BertModel, "roberta": RobertaModel}[request.param](config)
    nn.init.normal_(model.pooler.dense.bias)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def theirs(folder: Path) -> np.ndarray:
    """What transformers calls pooler_output, a sentence at a time."""
    model = AutoModel.from_pretrained(folder, trust_remote_code=False).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    with torch.inference_mode():
        return torch.cat(
            [
                model(**tokenizer(sentence, return_tensors="pt")).pooler_output
                for sentence in SENTENCES
            ]
        ).numpy()


def test_vectors_are_the_pooler_output_of_transformers(whole: Path, cpu: Machine) -> None:
    trainable = load_transformer(str(whole), cpu, wishes=POOLER)
    np.testing.assert_allclose(trainable.encode(SENTENCES), theirs(whole), atol=1e-6)
    assert not any("random" in note for note in trainable.facts.notes)
    (spec,) = resolve(f"{whole}?pooling=pooler", whole.parent).members
    used = load_encoder(spec, machine(Settings(device="cpu", threads=1)))
    np.testing.assert_allclose(used.encode(SENTENCES), theirs(whole), atol=1e-6)
    assert used.facts.pooling == "pooler"


def test_an_exported_pooler_is_a_dense_layer_that_others_read(
    whole: Path, cpu: Machine, tmp_path: Path
) -> None:
    from sentence_transformers import SentenceTransformer

    save_model(tmp_path / "model", load_transformer(str(whole), cpu, wishes=POOLER), card="")
    expected = theirs(whole)
    loaded = SentenceTransformer(str(tmp_path / "model"), device="cpu", trust_remote_code=False)
    np.testing.assert_allclose(loaded.encode(SENTENCES), expected, atol=1e-6)
    again = load_transformer(str(tmp_path / "model"), cpu)
    np.testing.assert_allclose(again.encode(SENTENCES), expected, atol=1e-6)
    save_model(tmp_path / "twice", again, card="")
    np.testing.assert_allclose(
        load_transformer(str(tmp_path / "twice"), cpu).encode(SENTENCES), expected, atol=1e-6
    )


def test_a_folder_without_a_pooler_starts_one_by_the_seed_and_says_so(
    tiny_encoder: Path, cpu: Machine
) -> None:
    poolers = [
        load_transformer(str(tiny_encoder), cpu, wishes=POOLER, seed=seed) for seed in (1, 1, 2)
    ]
    assert all(
        "the folder has no pooler: it started at random" in one.facts.notes for one in poolers
    )
    first, same, other = (one.layers[0].linear.weight for one in poolers)
    assert torch.equal(first, same)
    assert not torch.equal(first, other)
    assert float(first.detach().std()) == pytest.approx(0.02, rel=0.1)  # BERT's initializer_range
    assert not poolers[0].layers[0].linear.bias.any()


def test_a_pooler_joined_to_another_pooling_is_refused(whole: Path, cpu: Machine) -> None:
    with pytest.raises(UsageError, match="'pooler' cannot be joined with another pooling"):
        load_transformer(str(whole), cpu, wishes=Wishes(pooling="pooler+mean"))


def test_a_pooler_is_trained_and_resumed_to_the_bit(
    tiny_encoder: Path, tmp_path: Path, cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    changes = [
        "encoder.pooling=pooler",
        "encoder.max_tokens=32",
        "stage.0.data.rows=192",
        "evaluate.dev=none",
    ]
    recipe = load_recipe("snli-supcl", changes, encoder=str(tiny_encoder))

    def train(chosen: object, name: str = "small", **options: object) -> RunFolder:
        run = RunFolder.of(tmp_path / "runs", name, 1)
        train_run(chosen, SAMPLE, MACHINE, run, 1, keeps_checkpoints=True, **options)
        return run

    run = train(recipe, "whole")
    before = load_transformer(str(tiny_encoder), cpu, wishes=POOLER, seed=1).layers[0].linear.weight
    after = load_transformer(str(run.model), cpu)
    assert (after.pooling, [type(layer) for layer in after.layers]) == ("cls", [Dense])
    assert not torch.equal(after.layers[0].linear.weight, before)
    interrupted(train, recipe, 1, monkeypatch)
    assert saved_bytes(train(recipe, resume=True)) == saved_bytes(run)


def test_a_frozen_encoder_includes_its_pooler(whole: Path, cpu: Machine) -> None:
    encoder = load_transformer(str(whole), cpu, wishes=POOLER)
    with frozen(encoder.backbone, encoder.layers, "encoder"):
        vectors = encoder.forward_tokens(
            torch.tensor([[2, 5, 3]]), torch.ones(1, 3, dtype=torch.long)
        )
        assert not vectors.requires_grad
    assert encoder.forward_tokens(
        torch.tensor([[2, 5, 3]]), torch.ones(1, 3, dtype=torch.long)
    ).requires_grad
