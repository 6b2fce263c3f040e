from pathlib import Path

import pytest
from transformers import AutoModelForMaskedLM

from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.models.folder import Usage
from embedlab.models.folder_identity import used_fingerprint
from embedlab.models.reading import Reading


def fingerprint(folder: Path) -> str:
    return used_fingerprint(
        Usage(pooling="mean", reading=Reading(max_tokens=8), source=folder, folders=(folder,)),
        precision="float32",
    )


def test_the_seed_decides_every_weight(tmp_path: Path) -> None:
    for name, seed in (("one", 0), ("again", 0), ("other", 1)):
        build_random_encoder(tmp_path / name, seed=seed, vocabulary=["dog"])
    assert (
        fingerprint(tmp_path / "one")
        == fingerprint(tmp_path / "again")
        != fingerprint(tmp_path / "other")
    )


@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "modernbert"])
def test_the_masked_language_model_head_is_saved(
    architectures: dict[str, Path], architecture: str
) -> None:
    _, report = AutoModelForMaskedLM.from_pretrained(
        architectures[architecture], output_loading_info=True, trust_remote_code=False
    )
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
