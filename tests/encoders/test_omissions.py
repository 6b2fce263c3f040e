"""What an encoder would leave out of a folder is refused with another way, or computed as
sentence-transformers computes it.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from transformers import AutoConfig, AutoModelForSequenceClassification

from embedlab.core.errors import MissingError, UsageError
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import Encoder
from embedlab.encoders.loading import load_encoder
from embedlab.encoders.weight_checks import silence_transformers
from embedlab.models.catalog import resolve
from embedlab.models.config import NATIVE_NOTE
from embedlab.models.folder import read_usage
from embedlab.models.reading import Wishes
from tests.encoders.layouts import (
    LAYOUTS,
    SENTENCES,
    routed,
    tokenizer,
    write_backbone,
)

CODE = {"AutoConfig": "mine.MyConfig", "AutoModel": "mine.MyModel"}
LONG = "two dogs run in the park " * 30


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One folder a layout that is changed here."""
    place = tmp_path_factory.mktemp("layouts")
    return {
        name: LAYOUTS[name](place / f"{number}")
        for number, name in enumerate(("mean", "files of version 2", "LoRA on BERT"))
    }


@pytest.fixture
def folder_of(made: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    """A copy of the folder of a layout."""
    return lambda name: Path(shutil.copytree(made[name], tmp_path / "model"))


def change(file: Path, **values: Any) -> None:
    file.write_text(
        json.dumps({**(json.loads(file.read_text()) if file.exists() else {}), **values})
    )


def opened(name: str, cpu: Machine, cache: Path | None = None) -> Encoder:
    return load_encoder(resolve(name, Path("none")).members[0], cpu, cache=cache, offline=True)


def theirs(folder: Path, texts: tuple[str, ...] = SENTENCES, **options: Any) -> NDArray[np.float32]:
    with silence_transformers():
        model = SentenceTransformer(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False
        )
        return np.asarray(model.encode(list(texts), **options))


# Code of the folder's own.


@pytest.mark.parametrize(
    ("layout", "file", "code"),
    [
        ("mean", "config.json", CODE),
        ("mean", "tokenizer_config.json", {"AutoTokenizer": ["mine.Slow", None]}),
        ("mean", "tokenizer_config.json", ["mine.Slow", None]),  # as old tokenizers name it
        ("files of version 2", "0_Transformer/config.json", CODE),
        ("LoRA on BERT", "BASE/config.json", CODE),
    ],
)
def test_a_folder_with_code_of_its_own_is_refused_before_any_of_it_is_loaded(
    folder_of: Callable[[str], Path],
    cpu: Machine,
    layout: str,
    file: str,
    code: object,
    tmp_path: Path,
) -> None:
    folder = folder_of(layout)
    before = opened(str(folder), cpu, tmp_path / "cache").encode(SENTENCES)
    if file.startswith("BASE/"):
        base = shutil.copytree(
            json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"],
            tmp_path / "base",
        )
        change(folder / "adapter_config.json", base_model_name_or_path=str(base))
        change(base / "config.json", auto_map=code)
    else:
        change(folder / file, auto_map=code)
    with pytest.raises(
        MissingError,
        match="needs its own code for the model type 'bert', which embedlab does not run",
    ) as error:
        opened(str(folder), cpu, tmp_path / "cache")  # although its vectors are cached
    assert "@code=native" in error.value.hint
    assert "vectors:FILE" in error.value.hint
    native = opened(f"{folder}?code=native", cpu)
    np.testing.assert_array_equal(native.encode(SENTENCES), before)
    assert NATIVE_NOTE in native.facts.notes


def test_what_is_trained_from_a_folder_with_code_names_none_and_opens_as_any_other(
    folder_of: Callable[[str], Path], cpu: Machine, tmp_path: Path
) -> None:
    folder = folder_of("mean")
    change(folder / "config.json", auto_map=CODE)
    change(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["mine.Slow", None]})
    encoder = load_transformer(str(folder), cpu, wishes=Wishes(code="native"))
    save_model(tmp_path / "saved", encoder, card="")
    assert not [
        file.name for file in (tmp_path / "saved").glob("*.json") if "auto_map" in file.read_text()
    ]
    np.testing.assert_allclose(
        opened(str(tmp_path / "saved"), cpu).encode(SENTENCES), encoder.encode(SENTENCES), atol=1e-6
    )


def test_through_the_package_code_is_refused_too(
    folder_of: Callable[[str], Path], cpu: Machine, tmp_path: Path
) -> None:
    folder = folder_of("mean")
    before = opened(f"sentence-transformers:{folder}", cpu).encode(SENTENCES)
    change(folder / "config.json", auto_map=CODE)
    with pytest.raises(MissingError, match="needs its own code"):
        opened(f"sentence-transformers:{folder}", cpu).encode(SENTENCES)
    for cache in (None, tmp_path):
        native = opened(f"sentence-transformers:{folder}?code=native", cpu, cache)
        np.testing.assert_array_equal(native.encode(SENTENCES), before)
        assert NATIVE_NOTE in native.facts.notes


# Modules by their full name.


def with_type(folder: Path, place: int, kind: str) -> Path:
    listed = json.loads((folder / "modules.json").read_text())
    listed[place]["type"] = kind
    (folder / "modules.json").write_text(json.dumps(listed))
    return folder


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        (0, "custom_st.Transformer"),
        (1, "pylate.models.Dense.Dense"),
        (1, "mine.Pooling"),
        (1, "sentence_transformers_of_mine.models.Pooling"),
        (1, "transformers_modules.mine.modeling.Normalize"),
    ],
)
def test_a_module_of_another_package_is_refused_by_its_full_name(
    folder_of: Callable[[str], Path], cpu: Machine, place: int, kind: str
) -> None:
    folder = with_type(folder_of("mean"), place, kind)
    with pytest.raises(
        MissingError, match=f"a module '{kind}' that embedlab does not compute"
    ) as error:
        opened(str(folder), cpu)
    assert "sentence-transformers:" not in error.value.hint
    assert "vectors:FILE" in error.value.hint
    with pytest.raises(MissingError, match=f"a module '{kind}' of another package"):
        opened(f"sentence-transformers:{folder}", cpu).encode(SENTENCES)


def test_a_module_without_a_package_is_refused(
    folder_of: Callable[[str], Path], cpu: Machine
) -> None:
    with pytest.raises(
        MissingError, match="the type 'Pooling', which is not the full name of a class"
    ):
        opened(str(with_type(folder_of("mean"), 1, "Pooling")), cpu)


@pytest.mark.parametrize(
    "kind",
    [
        "sentence_transformers.models.Pooling",
        "sentence_transformers.models.Pooling.Pooling",
        "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
        "sentence_transformers.sentence_transformer.modules.Pooling",
    ],
)
def test_a_module_of_the_package_is_known_by_the_names_of_all_its_versions(
    folder_of: Callable[[str], Path], cpu: Machine, kind: str
) -> None:
    folder = with_type(folder_of("mean"), 1, kind)
    np.testing.assert_allclose(
        opened(str(folder), cpu).encode(SENTENCES), theirs(folder), atol=1e-5
    )


def test_a_module_of_another_package_on_a_route_is_refused(cpu: Machine, tmp_path: Path) -> None:
    folder = routed(tmp_path / "model")
    (file,) = folder.rglob("router_config.json")
    stated = json.loads(file.read_text())
    kinds = {name: f"custom_st.{kind.rpartition('.')[2]}" for name, kind in stated["types"].items()}
    change(file, types=kinds)
    with pytest.raises(MissingError, match=r"a module 'custom_st\."):
        opened(f"sentence-transformers:{folder}", cpu).encode(SENTENCES)


# Heads.


@pytest.fixture(params=[1, 3])
def classifier(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A cross-encoder of one label, as cross-encoder/stsb-* and rerankers are, or of three."""
    write_backbone(tmp_path / "base", "bert")
    config = AutoConfig.from_pretrained(
        tmp_path / "base", num_labels=request.param, trust_remote_code=False
    )
    torch.manual_seed(1)
    with silence_transformers():
        AutoModelForSequenceClassification.from_config(
            config, trust_remote_code=False
        ).save_pretrained(tmp_path / "scorer")
        tokenizer().save_pretrained(tmp_path / "scorer")
    return tmp_path / "scorer"


def test_a_classifier_is_refused_as_an_encoder_unless_a_pooling_is_typed_or_stated(
    classifier: Path, cpu: Machine
) -> None:
    for name in (str(classifier), f"sentence-transformers:{classifier}"):
        with pytest.raises(
            MissingError,
            match="is a BertForSequenceClassification, a cross-encoder or a classifier",
        ) as error:
            opened(name, cpu).encode(SENTENCES)
        assert f"{classifier}@pooling=mean" in error.value.hint
        assert f"cross-encoder:{classifier}" in error.value.hint
    expected = theirs(classifier)  # the mean without the head, with a warning
    np.testing.assert_allclose(
        opened(f"{classifier}?pooling=mean", cpu).encode(SENTENCES), expected, atol=1e-5
    )
    assert (
        load_transformer(str(classifier), cpu, wishes=Wishes(pooling="cls")).pooling == "cls"
    )  # as training opens it
    (classifier / "embedlab.json").write_text('{"pooling": "mean"}')
    np.testing.assert_allclose(opened(str(classifier), cpu).encode(SENTENCES), expected, atol=1e-5)


# Routes.


# The longest input.


@pytest.mark.parametrize(("stated", "tokens"), [(100, 100), (20, 20), (5000, 130), (None, 64)])
def test_a_stated_length_holds_whatever_the_tokenizer_states(
    folder_of: Callable[[str], Path], cpu: Machine, stated: int | None, tokens: int
) -> None:
    folder = folder_of("mean")
    change(folder / "tokenizer_config.json", model_max_length=64)
    change(folder / "sentence_bert_config.json", max_seq_length=stated)
    assert read_usage(folder).reading.max_tokens == tokens
    assert (
        read_usage(folder, Wishes(max_tokens=30)).reading.max_tokens == min(30, tokens)
        if stated != 20
        else 30
    )
    if (
        stated != 5000
    ):  # more than the model has positions for: sentence-transformers stops with an index out of range
        texts = (LONG, LONG[: len(LONG) // 2])
        np.testing.assert_allclose(
            opened(str(folder), cpu).encode(texts), theirs(folder, texts), atol=1e-5
        )


# Weights for other programs.


@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_weights_of_other_programs_are_refused_with_another_way(
    made: dict[str, Path], cpu: Machine, backend: str
) -> None:
    for name in (
        f"{made['mean']}?backend={backend}",
        f"{made['mean']}?pooling=cls&backend={backend}",
        f"all-MiniLM-L6-v2?backend={backend}",
    ):
        with pytest.raises(UsageError, match="runs no ONNX or OpenVINO weights") as error:
            opened(name, cpu)
        assert "vectors:FILE" in error.value.hint
