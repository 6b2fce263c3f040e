"""A model folder is loaded whole or refused by name: tensors, shapes, numbers, architecture, code
and tokenizer.
"""

import io
import json
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

from embedlab.cli.app import main
from embedlab.core.errors import MissingError
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.encoders.pretrained import BERT_LIKE, load_backbone, load_language_model

Tensors = dict[str, Tensor]
LAYER = "encoder.layer.1.attention.self.query.weight"


@pytest.fixture
def folder(small_bert: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_bert, tmp_path / "model"))


def change_weights(folder: Path, change: Callable[[Tensors], object]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def change_json(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


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
            without("embeddings.LayerNorm.bias"),
            r"lacks tensor 'embeddings\.LayerNorm\.bias' for a model of type 'bert'",
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
            lambda all_: all_[f"bert.{LAYER}"].view(-1)[7:8].fill_(torch.inf),
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
    folder: Path, cpu: Machine, sentences: list[str]
) -> None:
    before = load_transformer(str(folder), cpu).encode(sentences)
    unused = {
        "bert.pooler.dense.weight": torch.ones(32, 32),
        "bert.embeddings.position_ids": torch.arange(130)[None],
    }
    change_weights(folder, lambda all_: all_.update(unused))
    assert (load_transformer(str(folder), cpu).encode(sentences) == before).all()
    change_weights(folder, without("cls."))
    assert (load_transformer(str(folder), cpu).encode(sentences) == before).all()


@pytest.mark.parametrize(
    ("named", "is_refused"),
    [(["BertForSequenceClassification"], False), (["BertForMaskedLM"], True), (None, True)],
)
def test_a_tasks_layer_is_left_out_where_the_folder_announces_it(
    folder: Path, named: list[str] | None, is_refused: bool
) -> None:
    change_weights(
        folder,
        lambda all_: all_.update(
            {"classifier.weight": torch.ones(3, 32), "classifier.bias": torch.ones(3)}
        ),
    )
    change_json(folder / "config.json", architectures=named)
    if is_refused:
        with pytest.raises(
            MissingError, match=r"has unknown tensors 'classifier\.bias', 'classifier\.weight'"
        ):
            load_backbone(folder)
    else:
        load_backbone(folder)


@pytest.mark.parametrize("model_type", ["roberta", "distilbert", "t5"])
def test_another_model_type_is_refused(folder: Path, cpu: Machine, model_type: str) -> None:
    change_json(folder / "config.json", model_type=model_type)
    with pytest.raises(
        MissingError,
        match=f"model_type is '{model_type}', but its architecture 'BertForMaskedLM' is of 'bert'",
    ):
        load_transformer(str(folder), cpu)


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
    ("model_type", "kind", "named"),
    [
        ("roberta", "Roberta", {"tokenizer_class": "BertTokenizer"}),
        (
            "roberta",
            "Roberta",
            {"tokenizer_class": "PreTrainedTokenizerFast", "architectures": ["SentenceEncoder"]},
        ),
        ("bert", "Bert", {"tokenizer_class": "RobertaTokenizerFast"}),
        ("bert", "Bert", {}),
        ("data2vec-text", "Data2VecText", {"tokenizer_class": "RobertaTokenizer"}),
    ],
)
def test_a_type_that_nothing_in_the_folder_confirms_is_refused(
    folder: Path, cpu: Machine, model_type: str, kind: str, named: dict[str, Any]
) -> None:
    with pytest.raises(
        MissingError, match=f"nothing confirms the model_type '{model_type}'"
    ) as refused:
        load_transformer(str(unnamed(folder, model_type, **named)), cpu)
    assert f'add "architectures": ["{kind}Model"]' in refused.value.hint
    change_json(folder / "config.json", architectures=[f"{kind}Model"])
    load_backbone(folder)


@pytest.mark.parametrize(
    ("model_type", "named"),
    [
        ("bert", {"prefix": "bert."}),
        ("bert", {"tokenizer_class": "BertTokenizer"}),
        ("bert", {"tokenizer_class": "BertTokenizerFast"}),
        ("bert", {"architectures": ["BertForCL"]}),
        ("roberta", {"prefix": "roberta."}),
        ("roberta", {"tokenizer_class": "RobertaTokenizer"}),
        ("xlm-roberta", {"tokenizer_class": "XLMRobertaTokenizerFast"}),
        ("xlm-roberta", {"architectures": ["XLMRobertaForCL"]}),
    ],
)
def test_a_type_that_tensors_or_tokenizer_confirm_needs_no_architecture(
    folder: Path, model_type: str, named: dict[str, Any]
) -> None:
    load_backbone(unnamed(folder, model_type, **named))


def encoder_tensors(model_type: str) -> set[str]:
    sizes = {
        "hidden_size": 16,
        "embedding_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    with torch.device("meta"):
        model = AutoModel.from_config(
            AutoConfig.for_model(model_type, vocab_size=50, max_position_embeddings=32, **sizes),
            trust_remote_code=False,
        )
    return {name for name in model.state_dict() if not re.search(r"pooler|position_ids", name)}


@pytest.mark.parametrize("model_type", sorted(BERT_LIKE))
def test_the_types_that_are_like_bert_have_its_tensors(model_type: str) -> None:
    assert encoder_tensors(model_type) == encoder_tensors("bert")


def test_half_a_head_is_refused_and_an_absent_one_gives_none(folder: Path) -> None:
    change_weights(folder, without("transform.dense"))
    with pytest.raises(
        MissingError,
        match=r"lacks tensors 'cls\.predictions\.transform\.dense\.bias', '.*weight' for",
    ):
        load_language_model(folder)
    change_weights(folder, without("cls."))
    assert load_language_model(folder) is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
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


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[1]", b'{"model": {}}', b"\xff\xfe", b'{"version": "1.0", "model": 7}'],
)
def test_a_tokenizer_that_cannot_be_read_is_one_line(
    folder: Path, cpu: Machine, content: bytes
) -> None:
    (folder / "tokenizer.json").write_bytes(content)
    with pytest.raises(MissingError, match="cannot load the tokenizer in") as error:
        load_transformer(str(folder), cpu)
    assert "\n" not in error.value.message


FOREIGN = {
    "model_type": "mine",
    "auto_map": {
        "AutoConfig": "mine.Mine",
        "AutoModel": "mine.Model",
        "AutoTokenizer": ["mine.T", None],
    },
}


def test_code_in_a_model_folder_is_refused_in_two_lines_and_never_run(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    change_json(folder / "config.json", **FOREIGN)
    change_json(
        folder / "tokenizer_config.json", auto_map=FOREIGN["auto_map"], tokenizer_class="Mine"
    )
    (folder / "mine.py").write_text(f"open({str(tmp_path / 'was-run')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 9))
    capsys.readouterr()
    assert main(["score", "a dog", "a cat", "--model", str(folder)]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0].endswith(
        "needs its own code for the model type 'mine', which embedlab does not run"
    )
    assert len(err.splitlines()) == 2
    assert not (tmp_path / "was-run").exists()
