"""Hidden states of every layer, compared with those that transformers itself gives."""

from pathlib import Path

import numpy as np
import pytest
from transformers import AutoModel, T5EncoderModel

from embedlab.core.errors import UsageError
from embedlab.encoders.device import Machine
from embedlab.models.catalog import trainable
from tests.encoders.layouts import DECODERS, SENTENCES, outputs, write_backbone
from tests.encoders.opening import assert_refused, fingerprint, opened

ARCHITECTURES = {
    "bert": {},
    "modernbert": {"global_attn_every_n_layers": 2, "local_attention": 8},
    "qwen3": {**DECODERS["qwen3"], "padding_side": "left"},
    "t5": {},
}


def mean_of_layer(folder: Path, architecture: str, layer: int) -> np.ndarray:
    """The mean of one layer's hidden states by transformers, each sentence alone."""
    kind = T5EncoderModel if architecture == "t5" else AutoModel
    found = outputs(folder, SENTENCES, kind)
    return np.stack([one.hidden_states[layer][0].mean(dim=0).numpy() for one in found])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_layers_are_numbered_as_by_transformers(
    architecture: str, cpu: Machine, tmp_path: Path
) -> None:
    write_backbone(tmp_path, architecture, **ARCHITECTURES[architecture])
    for layer in (-2, 0, 2):
        encoder = opened(f"{tmp_path}?layer={layer}", cpu)
        expected = mean_of_layer(tmp_path, architecture, layer)
        np.testing.assert_allclose(encoder.encode(SENTENCES), expected, atol=1e-5)
        assert f"layer={layer % 3}" in str(encoder.facts.pooling)


def test_each_layer_has_its_own_fingerprint_and_the_last_one_two_names(small_bert: Path) -> None:
    options = ("", "?layer=0", "?layer=1", "?layer=2", "?layer=-1")
    found = [fingerprint(f"{small_bert}{option}") for option in options]
    assert len(set(found)) == 4
    assert found[3] == found[4]


@pytest.mark.parametrize(
    ("layer", "words"), [("3", "2 layers, none of them 3"), ("-4", "none of them -4")]
)
def test_a_layer_that_is_not_there_is_refused(
    small_bert: Path, cpu: Machine, layer: str, words: str
) -> None:
    assert_refused(f"{small_bert}?layer={layer}", cpu, words, kind=UsageError)


@pytest.mark.parametrize("option", ["?layer=1", "?whiten=fit", "?normalise"])
def test_training_starts_from_no_chosen_layer_and_no_whitened_vectors(
    small_bert: Path, tmp_path: Path, option: str
) -> None:
    with pytest.raises(UsageError, match="for evaluation"):
        trainable(f"{small_bert}{option}", tmp_path)
