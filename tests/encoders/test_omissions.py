"""What an encoder would leave out of a folder is refused with another way, or computed as
sentence-transformers computes it.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from transformers import AutoModelForSequenceClassification

from embedlab.core.errors import MissingError
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.device import Machine
from embedlab.models.config import NATIVE_NOTE
from embedlab.models.folder import read_usage
from embedlab.models.reading import UsageOptions
from tests.encoders.layouts import SENTENCES, routed, theirs, write_backbone
from tests.encoders.opening import assert_refused, change_json, opened

CODE = {"AutoConfig": "mine.MyConfig", "AutoModel": "mine.MyModel"}
LONG = "two dogs run in the park " * 30


@pytest.fixture
def folder_of(layout_folder: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """A copy of the folder of a layout."""
    return lambda name: Path(shutil.copytree(layout_folder(name), tmp_path / "model"))


@pytest.mark.parametrize(
    ("layout", "file", "code"),
    [
        ("mean", "config.json", CODE),
        ("mean", "tokenizer_config.json", {"AutoTokenizer": ["mine.Slow", None]}),
        ("mean", "tokenizer_config.json", ["mine.Slow", None]),  # as old tokenizers name it
        ("files of version 2", "0_Transformer/config.json", CODE),
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
    folder, cache = folder_of(layout), tmp_path / "cache"
    before = opened(folder, cpu, cache).encode(SENTENCES)
    change_json(folder / file, auto_map=code)
    with pytest.raises(MissingError, match="needs its own code"):
        opened(folder, cpu, cache)  # although its vectors are cached
    says = "needs its own code for the model type 'bert', which embedlab does not run"
    for prefix in ("", "sentence-transformers:"):
        assert_refused(f"{prefix}{folder}", cpu, says, "@code=native")
        native = opened(f"{prefix}{folder}?code=native", cpu)
        np.testing.assert_allclose(native.encode(SENTENCES), before, atol=1e-6)
        assert NATIVE_NOTE in native.facts.notes


def test_the_base_of_an_adapter_is_refused_with_code_of_its_own(
    folder_of: Callable[[str], Path], cpu: Machine, tmp_path: Path
) -> None:
    config = folder_of("LoRA on BERT") / "adapter_config.json"
    before = json.loads(config.read_text())["base_model_name_or_path"]
    base = shutil.copytree(before, tmp_path / "base")
    change_json(config, base_model_name_or_path=str(base))
    change_json(base / "config.json", auto_map=CODE)
    assert_refused(config.parent, cpu, "needs its own code")


def test_what_is_trained_from_a_folder_with_code_names_none_and_opens_as_any_other(
    folder_of: Callable[[str], Path], cpu: Machine, tmp_path: Path
) -> None:
    folder, saved = folder_of("mean"), tmp_path / "saved"
    for file in ("config.json", "tokenizer_config.json"):
        change_json(folder / file, auto_map={**CODE, "AutoTokenizer": ["mine.Slow", None]})
    encoder = load_transformer(str(folder), cpu, wishes=UsageOptions(code="native"))
    save_model(saved, encoder, card="")
    vectors = opened(saved, cpu).encode(SENTENCES)
    np.testing.assert_allclose(vectors, encoder.encode(SENTENCES), atol=1e-6)


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
        (1, "sentence_transformers_of_mine.models.Pooling"),
    ],
)
def test_a_module_of_another_package_is_refused_by_its_full_name(
    folder_of: Callable[[str], Path], cpu: Machine, place: int, kind: str
) -> None:
    folder = with_type(folder_of("mean"), place, kind)
    assert_refused(folder, cpu, f"a module '{kind}' that embedlab does not", "vectors:FILE")
    name = f"sentence-transformers:{folder}"
    assert_refused(name, cpu, f"a module '{kind}' of another package")


def test_a_module_without_a_package_is_refused(
    folder_of: Callable[[str], Path], cpu: Machine
) -> None:
    folder = with_type(folder_of("mean"), 1, "Pooling")
    assert_refused(folder, cpu, "the type 'Pooling', which is not the full name")


@pytest.mark.parametrize(
    "kind",
    [
        "models.Pooling",
        "models.Pooling.Pooling",
        "sentence_transformer.modules.pooling.Pooling",
        "sentence_transformer.modules.Pooling",
    ],
)
def test_a_module_of_the_package_is_known_by_the_names_of_all_its_versions(
    folder_of: Callable[[str], Path], kind: str
) -> None:
    folder = with_type(folder_of("mean"), 1, f"sentence_transformers.{kind}")
    assert read_usage(folder).pooling == "mean"


def test_a_module_of_another_package_on_a_route_is_refused(cpu: Machine, tmp_path: Path) -> None:
    (file,) = routed(tmp_path / "model").rglob("router_config.json")
    kinds = json.loads(file.read_text())["types"]
    change_json(file, types=dict.fromkeys(kinds, "custom_st.Transformer"))
    assert_refused(f"sentence-transformers:{tmp_path / 'model'}", cpu, "a module 'custom_st.")


def test_a_classifier_is_refused_as_an_encoder_unless_a_pooling_is_typed_or_stated(
    cpu: Machine, tmp_path: Path
) -> None:
    folder = tmp_path / "scorer"
    write_backbone(folder, "bert", kind=AutoModelForSequenceClassification, num_labels=1)
    for name in (str(folder), f"sentence-transformers:{folder}"):
        ways = f"{folder}@pooling=mean", f"cross-encoder:{folder}"
        assert_refused(name, cpu, "is a BertForSequenceClassification", *ways)
    expected = theirs(folder)  # the mean without the head, with a warning
    vectors = opened(f"{folder}?pooling=mean", cpu).encode(SENTENCES)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    # as training opens it
    assert load_transformer(str(folder), cpu, wishes=UsageOptions(pooling="cls")).pooling == "cls"
    (folder / "embedlab.json").write_text('{"pooling": "mean"}')
    np.testing.assert_allclose(opened(folder, cpu).encode(SENTENCES), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("stated", "by_tokenizer", "tokens"),
    [(100, 64, 100), (20, 64, 20), (5000, 64, 130), (None, 64, 64), (None, 10**30, 130)],
)
def test_a_stated_length_holds_whatever_the_tokenizer_states(
    folder_of: Callable[[str], Path],
    cpu: Machine,
    stated: int | None,
    by_tokenizer: int,
    tokens: int,
) -> None:
    folder = folder_of("mean")
    change_json(folder / "tokenizer_config.json", model_max_length=by_tokenizer)
    change_json(folder / "sentence_bert_config.json", max_seq_length=stated)
    assert read_usage(folder).reading.max_tokens == tokens
    assert read_usage(folder, UsageOptions(max_tokens=30)).reading.max_tokens == 30
    # more than the model has positions for: sentence-transformers stops with an index out of range
    if stated != 5000:
        texts = (LONG, LONG[: len(LONG) // 2])
        np.testing.assert_allclose(
            opened(folder, cpu).encode(texts), theirs(folder, texts), atol=1e-5
        )
