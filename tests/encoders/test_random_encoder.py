from pathlib import Path

from embedlab.encoders.random_encoder import build_random_encoder


def test_the_seed_decides_every_weight(tmp_path: Path) -> None:
    weights = []
    for number, seed in enumerate((0, 0, 1)):
        build_random_encoder(tmp_path / f"{number}", seed=seed, vocabulary=["dog"])
        weights.append((tmp_path / f"{number}" / "model.safetensors").read_bytes())
    assert weights[0] == weights[1] != weights[2]
