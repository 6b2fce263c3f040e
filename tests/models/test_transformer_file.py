"""What a folder of sentence-transformers states and embedlab does not compute is refused by name,
never left out silently.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from embedlab.core.errors import MissingError
from embedlab.encoders.kinds.folders import open_folder
from embedlab.models.folder import read_usage
from embedlab.models.reading import Reading
from tests.encoders.opening import change_json

CONFIG = (
    '{"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1, '
    '"max_position_embeddings": 64}'
)
STATES = {"method": "forward", "method_output_name": "last_hidden_state"}
PACKAGE = "sentence_transformers.models"


def write(
    folder: Path, *modules: tuple[str, Mapping[str, Any]], **files: Mapping[str, Any]
) -> Path:
    """A BERT followed by MODULES with their settings; FILES are written by name."""
    (folder / "config.json").write_text(CONFIG)
    for name, content in [*((f"{kind}/config", own) for kind, own in modules), *files.items()]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(content))
    listed = {"Transformer": "", **{kind: kind for kind, _ in modules}}
    stated = [{"type": f"{PACKAGE}.{kind}", "path": path} for kind, path in listed.items()]
    (folder / "modules.json").write_text(json.dumps(stated))
    return folder


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"transformer_task": "fill-mask"}, "for fill-mask"),
        ({"modality_config": {"text": STATES, "message": STATES}}, "with a chat template"),
        (
            {"modality_config": {"text": {**STATES, "method_output_name": "pooler_output"}}},
            "without token vectors of texts",
        ),
        ({"module_output_name": "sentence_embedding"}, "without token vectors of texts"),
        ({"processing_kwargs": {"text": {"padding": False}}}, "with processing_kwargs"),
        ({"tokenizer_args": {"model_max_length": 5}}, "with tokenizer_args"),
        ({"config_kwargs": {"num_hidden_layers": 2}}, "with config_kwargs"),
        ({"tokenizer_name_or_path": "bert-base-cased"}, "with another tokenizer"),
    ],
)
def test_settings_of_the_transformer_that_are_not_computed_are_refused_by_name(
    tmp_path: Path, settings: Any, named: str
) -> None:
    folder = write(tmp_path, ("Pooling", {}), sentence_bert_config=settings)
    with pytest.raises(MissingError, match=f"Transformer {named}") as error:
        read_usage(folder)
    assert f"sentence-transformers:{folder}" in error.value.hint


@pytest.mark.parametrize(
    "settings",
    [
        {"modality_config": {"text": STATES}, "module_output_name": "token_embeddings"},
        {"model_args": {"torch_dtype": "bfloat16"}, "tokenizer_args": {"padding_side": "left"}},
        {"processing_kwargs": {"text": {}}, "query_length": 8, "unpad_inputs": True},
    ],
)
def test_settings_that_change_no_vector_are_accepted(tmp_path: Path, settings: Any) -> None:
    folder = write(tmp_path, ("Pooling", {}), sentence_bert_config=settings)
    assert read_usage(folder).pooling == "mean"


def test_version_two_names_the_file_by_the_architecture(tmp_path: Path) -> None:
    settings = {"max_seq_length": 9, "do_lower_case": True}
    folder = write(tmp_path, ("Pooling", {}), **{"sentence_xlm-roberta_config": settings})
    assert read_usage(folder).reading == Reading(max_tokens=9, case="lower")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 20}')
    assert read_usage(folder).reading == Reading(max_tokens=20)


@pytest.mark.parametrize(
    ("modules", "named"),
    [
        (
            [("Pooling", {}), ("Dense", {"module_output_name": "other"})],
            "Dense from sentence_embedding to other",
        ),
        (
            [("Normalize", {"module_input_name": "token_embeddings"}), ("Pooling", {})],
            "Normalize from token_embeddings",
        ),
        ([("WordWeights", {"word_weights": {"a": 2}}), ("Pooling", {})], "WordWeights"),
    ],
)
def test_modules_that_read_or_write_elsewhere_are_refused_by_name(
    tmp_path: Path, modules: Any, named: str
) -> None:
    with pytest.raises(MissingError, match=named):
        read_usage(write(tmp_path, *modules))


@pytest.mark.parametrize(
    ("kind", "says", "hint"),
    [
        ("CrossEncoder", "is a cross-encoder: it scores pairs", "cross-encoder:"),
        ("SparseEncoder", "is a sparse encoder", "scores:FILE"),
        ("Other", "is of the class Other", "scores:FILE"),
    ],
)
@pytest.mark.parametrize("read", [read_usage, lambda folder: open_folder(str(folder))])
def test_a_model_without_sentence_vectors_is_refused_in_both_ways(
    tmp_path: Path, read: Callable[[Path], object], kind: str, says: str, hint: str
) -> None:
    folder = write(tmp_path, config_sentence_transformers={"model_type": kind})
    with pytest.raises(MissingError, match=says) as error:
        read(folder)
    assert hint in error.value.hint


def test_a_default_prompt_that_is_not_stated_is_refused(tmp_path: Path) -> None:
    stated = {"prompts": {"a": "b: "}, "default_prompt_name": "c"}
    folder = write(tmp_path, ("Pooling", {}), config_sentence_transformers=stated)
    with pytest.raises(MissingError, match=r"config_sentence_transformers\.json: no prompt 'c'"):
        read_usage(folder)
    # sentence-transformers knows it as empty
    change_json(folder / "config_sentence_transformers.json", default_prompt_name="query")
    assert read_usage(folder).reading.prompt == ""


def test_gpt2_reads_no_more_tokens_than_it_has_positions(tmp_path: Path) -> None:
    folder = change_json(tmp_path / "config.json", model_type="gpt2", n_positions=24, n_embd=8)
    assert read_usage(folder).reading.max_tokens == 24
