"""Hidden states of every layer, compared with those that transformers itself gives."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from embedlab.core.errors import UsageError
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_encoder
from embedlab.encoders.weight_checks import silence_transformers
from embedlab.models.catalog import resolve, trainable
from embedlab.models.location import spec_fingerprint
from tests.encoders.layouts import DECODERS, SENTENCES, write_backbone

ARCHITECTURES = {
    "bert": {},
    "modernbert": {"global_attn_every_n_layers": 2, "local_attention": 8},
    "qwen3": {**DECODERS["qwen3"], "padding_side": "left"},
    "t5": {},
}


def mean_of_layer(folder: Path, kind: type, layer: int) -> np.ndarray:
    """The mean of one layer's hidden states by transformers, each sentence alone."""
    with silence_transformers(), torch.inference_mode():
        words = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        model = kind.from_pretrained(folder, trust_remote_code=False).eval()
        found = [
            model(
                **words(sentence, return_tensors="pt", return_token_type_ids=False),
                output_hidden_states=True,
            )
            for sentence in SENTENCES
        ]
        return np.stack([one.hidden_states[layer][0].mean(dim=0).numpy() for one in found])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_layers_are_numbered_as_by_transformers(
    architecture: str, cpu: Machine, tmp_path: Path
) -> None:
    from transformers import T5EncoderModel

    folder = tmp_path / "model"
    write_backbone(folder, architecture, **ARCHITECTURES[architecture])
    for layer in (-2, 0, 2):
        encoder = load_encoder(resolve(f"{folder}?layer={layer}", tmp_path).members[0], cpu)
        expected = mean_of_layer(
            folder, T5EncoderModel if architecture == "t5" else AutoModel, layer
        )
        np.testing.assert_allclose(encoder.encode(SENTENCES), expected, atol=1e-5)
        assert f"layer={layer % 3}" in str(encoder.facts.pooling)


def test_each_layer_has_its_own_fingerprint_and_the_last_one_two_names(
    small_bert: Path, tmp_path: Path
) -> None:
    found = {
        option: spec_fingerprint(
            resolve(f"{small_bert}{option}", tmp_path).members[0], precision="float32"
        )
        for option in ("", "?layer=0", "?layer=1", "?layer=2", "?layer=-1")
    }
    assert len(set(found.values())) == 4
    assert found["?layer=2"] == found["?layer=-1"]


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        ("3", "2 layers, none of them 3"),
        ("-4", "none of them -4"),
        ("two", "not the number of a layer"),
    ],
)
def test_a_layer_that_is_not_there_is_refused(
    small_bert: Path, cpu: Machine, tmp_path: Path, layer: str, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        load_encoder(resolve(f"{small_bert}?layer={layer}", tmp_path).members[0], cpu)


@pytest.mark.parametrize("option", ["?layer=1", "?whiten=fit", "?normalise"])
def test_training_starts_from_no_chosen_layer_and_no_whitened_vectors(
    small_bert: Path, tmp_path: Path, option: str
) -> None:
    with pytest.raises(UsageError, match="for evaluation"):
        trainable(f"{small_bert}{option}", tmp_path)
