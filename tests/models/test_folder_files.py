"""The JSON files of a model folder: every wrong shape is one line that names file and key, and what
others write beside is left out.
"""

from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.models.folder import read_usage
from embedlab.models.folder_files import (
    Config,
    Module,
    PoolingFile,
    read_model_file,
    static_vectors,
)

CONFIG = (
    '{"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1, '
    '"max_position_embeddings": 64}'
)
MODULES = """[{"type": "sentence_transformers.models.Transformer", "path": ""},
              {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]"""


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", "[]", r"config\.json: .*it is \[\]"),
        ("config.json", '{"model_type": 3}', r"config\.json: 'model_type' is 3: "),
        (
            "config.json",
            '{"hidden_size": -1}',
            r"config\.json: 'hidden_size' is -1: must be above 0",
        ),
        ("config.json", '{"max_position_embeddings": 1}', "reads at most 1 token of a text"),
        ("config.json", "{", r"config\.json: not valid JSON: EOF"),
        ("config.json", "[" * 100_000, r"config\.json: not valid JSON: recursion limit"),
        ("config.json", '{"hidden_size": ' + "9" * 5000 + "}", r"config\.json: "),
        (
            "tokenizer_config.json",
            '{"model_max_length": -5}',
            r"tokenizer_config\.json: 'model_max_length' is -5",
        ),
        (
            "sentence_bert_config.json",
            '{"max_seq_length": [1]}',
            r"sentence_bert_config\.json: 'max_seq_length' is \[1\]",
        ),
        ("modules.json", '[{"type": "a.Pooling"}]', r"modules\.json: '0\.path' is missing"),
        (
            "1_Pooling/config.json",
            '{"pooling_mode_cls_token": "yes"}',
            r"1_Pooling/config\.json: 'pooling_mode_cls_token' is 'yes'",
        ),
        (
            "1_Pooling/config.json",
            '{"pooling_mode": "wobble"}',
            r"1_Pooling/config\.json: pooling 'wobble' is not known",
        ),
        (
            "config_sentence_transformers.json",
            '{"prompts": ["a"]}',
            r"config_sentence_transformers\.json: 'prompts' is \['a'\]",
        ),
        ("embedlab.json", '{"pooling": "wobble"}', r"embedlab\.json: no pooling named 'wobble'"),
        (
            "embedlab.json",
            '{"training_text": "snli"}',
            r"embedlab\.json: 'training_text' is 'snli'",
        ),
    ],
)
def test_a_wrong_shape_is_one_line_that_names_file_and_key(
    tmp_path: Path, file: str, content: str, message: str
) -> None:
    (tmp_path / "config.json").write_text(CONFIG)
    if file.startswith("1_Pooling"):
        (tmp_path / "modules.json").write_text(MODULES)
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(content)
    with pytest.raises(MissingError, match=message) as error:
        read_usage(tmp_path)
    assert "\n" not in error.value.message[:400]


def test_a_pooling_that_modules_json_does_not_list_has_no_effect_and_a_note(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(CONFIG)
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    usage = read_usage(tmp_path)
    assert usage.pooling == "mean"
    assert "1_Pooling is not listed in modules.json, which alone counts: mean" in usage.notes
    (tmp_path / "modules.json").write_text(MODULES)
    assert read_usage(tmp_path).pooling == "cls"


def test_bytes_that_are_not_text_and_a_file_without_permission_are_refused_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_bytes(b'{"model_type": "\xff"}')
    with pytest.raises(MissingError, match=r"config\.json: not valid JSON"):
        read_usage(tmp_path)

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("embedlab.core.foreign_files.os.open", refuse)
    with pytest.raises(MissingError, match=r"cannot read '.*config\.json': Permission denied"):
        read_usage(tmp_path)


def test_keys_of_other_programs_are_left_out_and_old_and_new_pooling_files_mean_the_same(
    tmp_path: Path,
) -> None:
    path = tmp_path / "file.json"
    for stated in (
        '{"word_embedding_dimension": 8, "pooling_mode_cls_token": false, '
        '"pooling_mode_mean_tokens": true}',
        '{"pooling_mode": "mean", "include_prompt": true}',
    ):
        path.write_text(stated)
        assert (read_model_file(path, PoolingFile) or PoolingFile()).modes == ["mean"]
    path.write_text('[{"idx": 0, "name": "0", "path": "", "type": "a.Transformer", "kwargs": []}]')
    assert read_model_file(path, list[Module]) == [Module(type="a.Transformer", path="")]
    assert read_model_file(tmp_path / "absent.json", Config) is None


@pytest.mark.parametrize("path", ["../other", "/etc", "a/../../b"])
def test_a_module_outside_its_folder_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "config.json").write_text(CONFIG)
    package = "sentence_transformers.models"
    modules = (
        f'[{{"type": "{package}.Transformer", "path": ""}}, {{"type": '
        f'"{package}.WordWeights", "path": "{path}"}}]'
    )
    (tmp_path / "modules.json").write_text(modules)
    with pytest.raises(MissingError, match=r"names .*, which is outside its folder"):
        read_usage(tmp_path)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("null", r"model\.safetensors: its header: not a table, and it is None"),
        ("[1, 2]", r"model\.safetensors: its header: not a table, and it is \[1, 2\]"),
        ('{"embeddings": {"shape": [2, "x"]}}', r"its header: 'embeddings\.dtype' is missing"),
        (
            '{"a": {"dtype": "F32", "shape": [2, 1e999], "data_offsets": [0, 0]}}',
            "'a.shape.1' is inf",
        ),
        ('{"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 0]}}', "its tensors: 'a'"),
        ('{"__metadata__": {"shape": "2"}}', "holds no token vectors; its tensors: none"),
    ],
)
def test_a_header_of_static_vectors_that_says_nothing_is_one_line(
    tmp_path: Path, header: str, message: str
) -> None:
    content = len(header).to_bytes(8, "little") + header.encode()
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(MissingError, match=message):
        static_vectors(tmp_path / "model.safetensors")
