from pathlib import Path

from transformers import AutoModelForMaskedLM

from embedlab.encoders.random_encoder import build_random_encoder


def test_the_seed_decides_every_weight(tmp_path: Path) -> None:
    weights = []
    for number, seed in enumerate((0, 0, 1)):
        build_random_encoder(tmp_path / f"{number}", seed=seed, vocabulary=["dog"])
        weights.append((tmp_path / f"{number}" / "model.safetensors").read_bytes())
    assert weights[0] == weights[1] != weights[2]


def test_the_masked_language_model_head_is_saved(architectures: dict[str, Path]) -> None:
    """Of other architectures test_word_head.py compares what it gives."""
    _, report = AutoModelForMaskedLM.from_pretrained(
        architectures["modernbert"], output_loading_info=True, trust_remote_code=False
    )
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
