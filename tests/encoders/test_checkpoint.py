from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError
from sentence_transformers import SentenceTransformer

from embedlab.core.disk import CHECKSUMS
from embedlab.core.errors import MissingError
from embedlab.core.plugins import shipped_names
from embedlab.core.recipe import Pooling
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.device import Machine
from embedlab.encoders.pooling import pooling_method, saved_pooling
from embedlab.models.reading import UsageOptions
from tests.encoders.opening import change_json

EXPORTED = [
    name for name in shipped_names("poolings") if pooling_method(name).exported_as is not None
]  # to sentence-transformers' own module


@pytest.mark.parametrize(
    ("architecture", "pooling", "is_normalised"),
    [
        *(("bert", pooling, False) for pooling in EXPORTED),
        ("roberta", "mean", False),
        ("bert", "last", True),
    ],
)
def test_folder_sentence_transformers_and_embedlab_give_one_vector(
    architectures: dict[str, Path],
    cpu: Machine,
    sentences: list[str],
    architecture: str,
    pooling: Pooling,
    is_normalised: bool,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    wishes = UsageOptions(pooling=pooling, max_tokens=64)
    encoder = load_transformer(str(architectures[architecture]), cpu, wishes=wishes)
    encoder.usage = replace(encoder.usage, is_normalised=is_normalised)
    save_model(tmp_path, encoder, card="# A card\n")
    saved = load_transformer(str(tmp_path), cpu)
    other = SentenceTransformer(str(tmp_path), device="cpu", trust_remote_code=False)
    # no layer was invented, and no warning of one
    assert "MISSING" not in "".join(capfd.readouterr())
    assert (saved.pooling, saved.max_tokens) == (saved_pooling(pooling), 64)
    assert (saved.is_normalised, other.max_seq_length) == (is_normalised, 64)
    vectors = encoder.encode(sentences)
    if is_normalised:
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(saved.encode(sentences), vectors, atol=1e-6)
    np.testing.assert_allclose(other.encode(sentences), vectors, atol=1e-5)


def test_a_file_of_a_saved_model_that_was_edited_is_refused(
    small_bert: Path, cpu: Machine, tmp_path: Path
) -> None:
    save_model(tmp_path, load_transformer(str(small_bert), cpu), card="")
    change_json(tmp_path / "sentence_bert_config.json", do_lower_case=True)
    with pytest.raises(MissingError, match=r"sentence_bert_config\.json' is damaged") as refused:
        load_transformer(str(tmp_path), cpu)
    assert CHECKSUMS in refused.value.hint
    (tmp_path / CHECKSUMS).unlink()  # who edits a model by hand says so
    assert load_transformer(str(tmp_path), cpu).usage.reading.case == "lower"


def test_a_full_disk_is_missing_and_leaves_the_old_model(
    small_bert: Path, cpu: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = load_transformer(str(small_bert), cpu)
    save_model(tmp_path / "model", encoder, card="old")

    def full(*_: object, **__: object) -> None:
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(encoder.backbone, "save_pretrained", full)
    with pytest.raises(MissingError, match="no space left"):
        save_model(tmp_path / "model", encoder, card="new")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model" / "README.md").read_text() == "old"
