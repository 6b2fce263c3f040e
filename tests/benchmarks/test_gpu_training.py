"""The benchmark runs as a whole on a processor, and its batches waste little when packed."""

import json
from pathlib import Path

import gpu_training
import pytest
from gpu_training import SHAPES, made_corpora, padded_batches, random_encoder, recipe_of

from embedlab.core.recipe import load_recipe
from embedlab.data.source import Source
from embedlab.encoders.checkpoint import load_transformer
from embedlab.models.reading import UsageOptions
from embedlab.training.capture import common_shapes
from tests.training.small_runs import MACHINE


@pytest.mark.slow
def test_its_smallest_run_measures_a_step_beside_the_peer_and_writes_one_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("record.RESULTS", tmp_path)
    monkeypatch.setattr(gpu_training, "PEER_BATCHES", (32,))
    words = "--device cpu --sizes small --recipes sbert --steps 40 --sentences 50"
    monkeypatch.setattr("sys.argv", ["gpu_training.py", *words.split()])
    gpu_training.main()
    assert {path.name for path in tmp_path.iterdir()} == {
        "gpu-training-cpu.json",
        "gpu-training-cpu.md",
    }
    measured = json.loads((tmp_path / "gpu-training-cpu.json").read_text())["measured"]
    beside = [line["what"].rpartition("beside ")[2] for line in measured[:3]]
    assert beside == ["eager", "a step captured by hand", "sentence-transformers' trainer"]
    assert measured[3]["what"].startswith("encoding 50 sentences in float32")
    assert all(line["ours"] > 0 < line["peer"] for line in measured)
    assert "| sbert, BERT small" in capsys.readouterr().out


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return random_encoder(tmp_path_factory.mktemp("encoder") / "small", "small")


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return made_corpora(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize(
    "name",
    ["sbert", *(pytest.param(name, marks=pytest.mark.slow) for name in {*SHAPES} - {"sbert"})],
)
def test_under_a_fifth_of_real_batches_is_padding_when_they_are_packed(
    name: str, encoder: str, corpora: Source
) -> None:
    recipe = recipe_of(name, encoder, 100, 64)
    wishes = UsageOptions(pooling=recipe.encoder.pooling, max_tokens=recipe.encoder.max_tokens)
    loaded = load_transformer(encoder, MACHINE, wishes=wishes)
    shapes = common_shapes(padded_batches(recipe, corpora, loaded), loaded)
    assert shapes.padding < 0.2
    assert len(shapes.rows) <= 8


def test_only_the_first_stage_of_a_recipe_is_timed() -> None:
    recipe = recipe_of("supcl-seq", "encoder", 30, 64)
    assert len(load_recipe("supcl-seq").stages) == 2
    assert [stage.objective.name for stage in recipe.stages] == ["class_contrastive"]
    assert recipe.max_steps == 30
