"""Training from each kind of encoder: resumed to the bit, and exported with vectors that
sentence-transformers computes too.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import Pooling

from embedlab.core.recipe import Recipe, from_table, recipe_to_table
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.weight_checks import silence_transformers
from embedlab.runs.store import RunFolder
from tests.encoders.layouts import DECODERS, SENTENCES, WIDTH, adapted, lora, save, transformer
from tests.training.small_runs import (
    MACHINE,
    Train,
    assert_resumes,
    interrupted,
    last_checkpoint,
    length_of_a_vector,
    notes_of,
    open_encoder,
    recipe_of,
    stage,
)

RANK = {"rank": 4, "alpha": 8.0, "dropout": 0.1}


def headed(folder: Path) -> Path:
    """LaBSE's layout."""
    return save(folder, transformer(folder), Pooling(WIDTH, "cls"), Dense(WIDTH, 24), Normalize())


def plain(architecture: str, **more: Any) -> Callable[[Path], Path]:
    return lambda folder: save(
        folder, transformer(folder, architecture, **more), Pooling(WIDTH, "mean")
    )


# What training starts from, and the encoder's part of the recipe.
KINDS: dict[str, tuple[Callable[[Path], Path], dict[str, Any]]] = {
    "decoder": (plain("qwen3", **DECODERS["qwen3"]), {"pooling": "last"}),
    "decoder with LoRA": (plain("qwen3", **DECODERS["qwen3"]), {"pooling": "last", "lora": RANK}),
    "BERT with LoRA, saved alone": (
        plain("bert"),
        {"pooling": "mean", "lora": {**RANK, "targets": ["query", "value"], "save": "adapter"}},
    ),
    "adapter with LoRA": (adapted("bert", lora("query")), {"pooling": "mean", "lora": RANK}),
    "ModernBERT": (
        plain("modernbert", global_attn_every_n_layers=2, local_attention=8),
        {"pooling": "mean"},
    ),
    "Dense head with LoRA": (headed, {"pooling": "cls", "lora": RANK}),
    "Dense head": (headed, {"pooling": "cls"}),
    "several poolings": (plain("bert"), {"pooling": "cls+mean"}),
}


AGAIN = {
    "decoder",
    "adapter with LoRA",
    "Dense head with LoRA",
}  # each part of these is tested in another kind


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("kinds")
    return {
        name: write(place / f"{number}") for number, (name, (write, _)) in enumerate(KINDS.items())
    }


def recipe_for(folder: Path, **encoder: Any) -> Recipe:
    """Two steps."""
    table = recipe_to_table(recipe_of(folder, stage(rows=32, negatives=3), every=0.5, log_every=1))
    return from_table(
        {**table, "encoder": {**table["encoder"], **encoder}}, name="small", where="test"
    )


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in AGAIN else name for name in KINDS],
)
def test_two_steps_resume_to_the_bit_and_export_equal_vectors(
    name: str,
    folders: dict[str, Path],
    train: Train,
    small: RunFolder,
) -> None:
    recipe = recipe_for(folders[name], **KINDS[name][1])
    assert_resumes(train, recipe, [1], dev_score=length_of_a_vector)
    if name == "BERT with LoRA, saved alone":
        stored = last_checkpoint(small).encoder
        assert len(stored) == 2 * 2 * 2  # two layers, two of their linear layers, two matrices
        assert all(".lora_" in weight for weight in stored)
    started = open_encoder(folders[name], pooling=recipe.encoder.pooling)
    exported = load_transformer(str(small.model), MACHINE).encode(SENTENCES)
    assert abs(exported - started.encode(SENTENCES)).max() > 1e-4  # it has trained
    with silence_transformers():
        theirs = SentenceTransformer(
            str(small.model), device="cpu", local_files_only=True, trust_remote_code=False
        )
        np.testing.assert_allclose(theirs.encode(list(SENTENCES)), exported, atol=1e-5)


def test_a_base_that_changed_since_is_noticed_when_a_run_resumes(
    folders: dict[str, Path], train: Train, tmp_path: Path
) -> None:
    base = Path(shutil.copytree(folders["BERT with LoRA, saved alone"], tmp_path / "base"))
    recipe = recipe_for(base, pooling="mean", lora=RANK)
    interrupted(train, recipe, 1)
    shutil.copy(folders["several poolings"] / "model.safetensors", base)
    file = base / "config.json"
    file.write_text(file.read_text().replace("}", " }", 1))  # another base of the same shapes
    run = train(recipe, resume=True, dev_score=length_of_a_vector)
    said = "have changed since; training starts from the beginning"
    assert any(said in note for note in notes_of(run))
