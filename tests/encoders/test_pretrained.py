"""A model folder is loaded whole or refused by name: tensors, shapes, numbers, architecture, code
and tokenizer.
"""

import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoConfig, AutoModel

from embedlab.core.errors import MissingError
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.encoders.pretrained import BERT_LIKE, load_backbone, load_language_model
from tests.encoders.opening import change_json, change_weights

Tensors = dict[str, Tensor]
LAYER = "encoder.layer.1.attention.self.query.weight"


@pytest.fixture
def folder(small_bert: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_bert, tmp_path / "model"))


def without(part: str) -> Callable[[Tensors], object]:
    return lambda tensors: [tensors.pop(name) for name in list(tensors) if part in name]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            without("layer.1."),
            r"model\.safetensors' lacks tensors 'encoder\.layer\.1\..* and 13 more for a "
            r"model of type 'bert'",
        ),
        (
            lambda all_: all_.update({"bert.encoder.layer.2.extra": torch.ones(3)}),
            r"has unknown tensor '.*encoder\.layer\.2\.extra'",
        ),
        (
            lambda all_: all_.update({f"bert.{LAYER}": torch.ones(31, 32)}),
            r"has the shape \[31, 32\], but config\.json describes \[32, 32\]",
        ),
        (
            lambda all_: all_[f"bert.{LAYER}"].view(-1)[7:8].fill_(torch.nan),
            rf"not finite in tensor '{LAYER}'",
        ),
        (
            lambda all_: all_.update({f"bert.{LAYER}": torch.ones(32, 32, dtype=torch.int32)}),
            "holds no floating point numbers",
        ),
    ],
)
def test_weights_that_are_not_whole_are_refused_by_name(
    folder: Path, cpu: Machine, change: Callable[[Tensors], object], message: str
) -> None:
    change_weights(folder, change)
    with pytest.raises(MissingError, match=message):
        load_transformer(str(folder), cpu)


def test_a_pooling_layer_counted_positions_and_a_language_models_head_are_not_part_of_an_encoder(
    folder: Path, cpu: Machine
) -> None:
    before = load_transformer(str(folder), cpu).encode(["a dog"])
    unused = {
        "bert.pooler.dense.weight": torch.ones(32, 32),
        "bert.embeddings.position_ids": torch.arange(130)[None],
    }
    for change in (lambda all_: all_.update(unused), without("cls.")):
        change_weights(folder, change)
        assert (load_transformer(str(folder), cpu).encode(["a dog"]) == before).all()


def test_a_tasks_layer_is_left_out_where_the_folder_announces_it(folder: Path) -> None:
    own = {"classifier.weight": torch.ones(3, 32), "classifier.bias": torch.ones(3)}
    change_weights(folder, lambda all_: all_.update(own))
    for named in (["BertForMaskedLM"], None):
        change_json(folder / "config.json", architectures=named)
        with pytest.raises(MissingError, match=r"has unknown tensors 'classifier\.bias', 'clas"):
            load_backbone(folder)
    change_json(folder / "config.json", architectures=["BertForSequenceClassification"])
    load_backbone(folder)


def unnamed(
    folder: Path,
    model_type: str,
    *,
    prefix: str = "",
    architectures: list[str] | None = None,
    **tokenizer: object,
) -> Path:
    """FOLDER with encoder tensors of a PREFIX, and with as little about its type as is given."""
    tensors = {
        f"{prefix}{name.removeprefix('bert.')}": tensor
        for name, tensor in load_file(folder / "model.safetensors").items()
        if name.startswith("bert.")
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    change_json(folder / "config.json", model_type=model_type, architectures=architectures)
    change_json(folder / "tokenizer_config.json", **{"tokenizer_class": None, **tokenizer})
    return folder


@pytest.mark.parametrize(
    ("model_type", "named"),
    [
        ("roberta", {"tokenizer_class": "BertTokenizer"}),
        ("roberta", {"architectures": ["SentenceEncoder"]}),
        ("bert", {"tokenizer_class": "RobertaTokenizerFast"}),
        ("bert", {}),
    ],
)
def test_a_type_that_nothing_in_the_folder_confirms_is_refused(
    folder: Path, cpu: Machine, model_type: str, named: dict[str, Any]
) -> None:
    kind = model_type.title()
    says = f"nothing confirms the model_type '{model_type}'"
    with pytest.raises(MissingError, match=says) as refused:
        load_transformer(str(unnamed(folder, model_type, **named)), cpu)
    assert f'add "architectures": ["{kind}Model"]' in refused.value.hint
    change_json(folder / "config.json", architectures=[f"{kind}Model"])
    load_backbone(folder)


@pytest.mark.parametrize(
    ("model_type", "named"),
    [
        ("bert", {"prefix": "bert."}),
        ("bert", {"tokenizer_class": "BertTokenizerFast"}),
        ("bert", {"architectures": ["BertForCL"]}),
        ("roberta", {"prefix": "roberta."}),
        ("xlm-roberta", {"tokenizer_class": "XLMRobertaTokenizerFast"}),
    ],
)
def test_a_type_that_tensors_or_tokenizer_confirm_needs_no_architecture(
    folder: Path, model_type: str, named: dict[str, Any]
) -> None:
    load_backbone(unnamed(folder, model_type, **named))


def encoder_tensors(model_type: str) -> set[str]:
    sizes = ("vocab_size", "hidden_size", "embedding_size", "intermediate_size")
    counts = {"num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 32}
    config = AutoConfig.for_model(model_type, **dict.fromkeys(sizes, 16), **counts)
    with torch.device("meta"):
        model = AutoModel.from_config(config, trust_remote_code=False)
    return {name for name in model.state_dict() if not re.search(r"pooler|position_ids", name)}


def test_the_types_that_are_like_bert_have_its_tensors() -> None:
    expected = encoder_tensors("bert")
    for model_type in BERT_LIKE:
        assert encoder_tensors(model_type) == expected, model_type


def test_half_a_head_is_refused_and_an_absent_one_gives_none(folder: Path) -> None:
    change_weights(folder, without("transform.dense"))
    with pytest.raises(MissingError, match=r"lacks tensors 'cls\.predictions\.transform\.dense"):
        load_language_model(folder)
    change_weights(folder, without("cls."))
    assert load_language_model(folder) is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model_type": "t5"}, "'t5', but its architecture 'BertForMaskedLM' is of 'bert'"),
        ({"num_hidden_layers": 10**9}, "1000000000 layers, but the weights are"),
        ({"vocab_size": 10**8}, "a model of 3200.* numbers, but the weights are"),
        ({"num_attention_heads": 0}, "'num_attention_heads' is 0: must be above 0"),
        ({"hidden_act": "wobble"}, "cannot load the model in"),
        ({"hidden_size": "wide"}, r"config\.json: 'hidden_size' is 'wide'"),
        ({"hidden_size": 48, "num_attention_heads": 2}, r"has the shape \["),
    ],
)
def test_a_config_that_describes_another_model_is_refused_before_it_fills_the_memory(
    folder: Path, cpu: Machine, values: dict[str, object], message: str
) -> None:
    change_json(folder / "config.json", **values)
    with pytest.raises(MissingError, match=message):
        load_transformer(str(folder), cpu)


@pytest.mark.parametrize("part", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b'{"model": {}}', b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_one_line(
    folder: Path, cpu: Machine, part: str, content: bytes
) -> None:
    (folder / part).write_bytes(content)
    with pytest.raises(MissingError, match=str(folder)) as error:
        load_transformer(str(folder), cpu)
    assert "\n" not in error.value.message


def test_code_in_a_model_folder_is_refused_and_never_run(
    folder: Path, cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = {"AutoConfig": "mine.Mine", "AutoModel": "mine.Model", "AutoTokenizer": ["mine.T", None]}
    change_json(folder / "config.json", model_type="mine", auto_map=code)
    change_json(folder / "tokenizer_config.json", auto_map=code, tokenizer_class="Mine")
    (folder / "mine.py").write_text(f"open({str(folder / 'was-run')!r}, 'w').close()\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 9))
    with pytest.raises(
        MissingError, match="no architecture of transformers has the model_type 'mine'"
    ):
        load_transformer(str(folder), cpu)
    assert not (folder / "was-run").exists()
