"""Models that went wrong in silence, or ended in a hint that did not look: one of each kind."""

import json
import re
import shutil
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest

from embedlab.cli.app import main
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.encoders.device import Machine
from embedlab.models.aliases import take_alias
from embedlab.models.catalog import refuse_other_meaning, resolve
from tests.data.query_folders import write_folder
from tests.encoders.opening import assert_refused, change_json, change_weights, opened, spec_of


@pytest.fixture
def folder(small_bert: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_bert, tmp_path / "model"))


@pytest.mark.parametrize("prefix", ["", "sentence-transformers:"])
def test_a_folder_without_a_vocabulary_is_refused(folder: Path, cpu: Machine, prefix: str) -> None:
    for path in folder.iterdir():
        if path.name not in {"config.json", "model.safetensors", "tokenizer_config.json"}:
            path.unlink()
    assert_refused(f"{prefix}{folder}", cpu, "has no tokenizer")


def repeat_words(folder: Path, rows: int) -> None:
    """Give FOLDER so many word vectors."""

    def repeat(tensors: dict) -> None:
        (name,) = (key for key in tensors if "word_embed" in key)
        tensors[name] = tensors[name].repeat(99, 1)[:rows].clone()

    change_weights(folder, repeat)
    change_json(folder / "config.json", vocab_size=rows)


@pytest.mark.parametrize("rows", [100, 5_000])
def test_a_vocabulary_of_another_model_is_refused(folder: Path, cpu: Machine, rows: int) -> None:
    repeat_words(folder, rows)
    assert_refused(folder, cpu, "belongs to another model")


def test_a_vocabulary_that_lacks_some_words_is_doubted(folder: Path, cpu: Machine) -> None:
    known = json.loads((folder / "config.json").read_text())["vocab_size"]
    repeat_words(folder, int(known / 0.9) + 127)
    doubts = [note for note in opened(folder, cpu).facts.notes if "does it belong to" in note]
    assert [note.kind for note in doubts] == ["doubted"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("prefix", ["", "sentence-transformers:"])
def test_texts_of_unknown_tokens_are_counted(small_bert: Path, cpu: Machine, prefix: str) -> None:
    encoder = opened(f"{prefix}{small_bert}", cpu)
    encoder.encode(["ζζζ", "ζζζ ξξξ", "a dog runs"])
    assert encoder.facts.unknown_texts == 2


def brought(folder: Path, numbers: np.ndarray) -> str:
    """The name of an array with the sentences a, b, c and so on."""
    np.save(folder / "v.npy", numbers)
    (folder / "v.txt").write_text("\n".join("abcdefghi"[: len(numbers)]))
    return f"vectors:{folder / 'v.npy'}"


def test_zero_vectors_are_counted(tmp_path: Path, cpu: Machine) -> None:
    encoder = opened(brought(tmp_path, np.float32([[0, 0], [1, 0], [0, 1]])), cpu)
    encoder.encode(["a", "b", "a"])
    assert encoder.facts.odd_texts == ("1 sentence has a zero vector (similarity 0)",)
    signs = opened(f"{encoder.name}@bits=1", cpu)
    signs.encode(["a", "b", "a"])
    assert signs.facts.odd_texts == ()  # the signs are not zero
    assert any("1 sentence has a zero vector before" in note for note in signs.facts.notes)


@pytest.mark.parametrize(
    ("file", "words", "way"),
    [
        ("m-Q4.GGUF", "GGUF weights", "http://HOST/v1#MODEL"),
        ("onnx/model.onnx", "ONNX weights", "vectors:FILE"),
        ("flax_model.msgpack", "Flax weights", "vectors:FILE"),
        ("pytorch_model.bin", "pickled weights", "convert the checkpoint"),
        ("openvino/openvino_model.xml", "OpenVINO weights", "vectors:FILE"),
        ("weights.safetensors", "holds no safetensors weights", "not called model.safetensors"),
    ],
)
def test_weights_of_another_format_are_named(
    folder: Path, cpu: Machine, file: str, words: str, way: str
) -> None:
    weights = folder / "model.safetensors"
    (folder / file).parent.mkdir(exist_ok=True)
    if file.endswith(".safetensors"):
        weights.rename(folder / file)
    else:
        weights.unlink()
        (folder / file).write_bytes(b"x")
    if file.endswith(".xml"):  # its numbers are in another file
        (folder / file).with_suffix(".bin").write_bytes(b"x")
    assert_refused(folder, cpu, words, way)


@pytest.mark.parametrize("prefix", ["", "vectors:", "word-vectors:"])
@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_pointer_of_git_lfs_is_named(folder: Path, cpu: Machine, file: str, prefix: str) -> None:
    (folder / file).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    named = folder
    if prefix:
        named = (folder / file).rename(folder / "v.npy")
        (folder / "v.txt").write_text("a")
    assert_refused(f"{prefix}{named}", cpu, "is a git-lfs pointer")


@pytest.mark.parametrize(
    ("part", "wrapped"),
    [
        ("", "student."),
        ("encoder.", "encoder._orig_mod."),
        ("encoder.layer.0.", "encoder.layer.0._checkpoint_wrapped_module."),
        ("query.", "query.base_layer."),
    ],
)
def test_tensors_under_the_names_of_a_wrapper_are_named(
    folder: Path, cpu: Machine, part: str, wrapped: str
) -> None:
    def wrap(tensors: dict) -> None:
        for name in list(tensors):
            tensors[name.replace(part, wrapped, 1)] = tensors.pop(name)

    change_weights(folder, wrap)
    assert_refused(folder, cpu, wrapped, "save the model inside it")


@pytest.mark.parametrize(
    "numbers",
    [
        *(np.arange(12).astype(kind) for kind in ("uint8", "int8", "int64")),
        np.uint16([2**16 - 1]),
        np.uint64([2**64 - 1]),
    ],
)
def test_packed_bits_are_asked_about(tmp_path: Path, cpu: Machine, numbers: np.ndarray) -> None:
    says = f"holds {numbers.dtype}: packed bits", "np.unpackbits"
    assert_refused(brought(tmp_path, numbers[None]), cpu, *says, kind=UsageError)


@pytest.mark.parametrize("kind", ["int8", "int16", "int64"])
def test_what_is_typed_as_the_hint_says_gives_the_bits(
    tmp_path: Path, cpu: Machine, kind: str
) -> None:
    bits = np.arange(48).reshape(2, 24) % 5 % 2
    packed = (np.packbits(bits, axis=1) ^ 128).view(np.int8).astype(kind)
    with pytest.raises(UsageError) as refusal:
        opened(brought(tmp_path, packed), cpu)
    (formula,) = re.findall(r"int8 of (.*?);", str(refusal.value.hint))
    unpacked = np.unpackbits(eval(formula, {"np": np, "v": packed}), axis=1)
    np.testing.assert_array_equal(unpacked, bits)


@pytest.mark.parametrize(
    ("column", "held"),
    [
        (pl.Series("vector", [[3, 200]], dtype=pl.List(pl.UInt8)), "uint8"),
        (pl.Series("vector", [b"\x03\xc8"]), "bytes"),
    ],
)
def test_packed_bits_in_a_table_are_asked_about(
    tmp_path: Path, cpu: Machine, column: pl.Series, held: str
) -> None:
    pl.DataFrame({"sentence": ["a"], "vector": column}).write_parquet(tmp_path / "v.parquet")
    says = f"holds {held}: packed bits"
    assert_refused(f"vectors:{tmp_path / 'v.parquet'}", cpu, says, kind=UsageError)


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [(0, 255, "packed bits"), (-128, 127, "packed bits"), (0, 1, "are bits"), (0.5, 255, "")],
)
def test_whole_numbers_stored_as_floats_are_named(
    tmp_path: Path, cpu: Machine, low: float, high: int, says: str
) -> None:
    numbers = np.random.default_rng(1).integers(int(low), high, (9, 16), endpoint=True) + low % 1
    encoder = opened(brought(tmp_path, np.float32(numbers)), cpu)
    encoder.encode(["d", "f"])
    assert len(encoder.facts.notes) == bool(says)
    assert all(says in note for note in encoder.facts.notes)


def test_a_token_of_unknown_words_that_is_unknown_itself_has_an_end(
    folder: Path, cpu: Machine
) -> None:
    change_json(folder / "tokenizer_config.json", unk_token="1e+99")
    assert len(opened(folder, cpu).encode(["a dog runs", "ζζζ"])) == 2


def test_a_name_that_means_a_model_is_no_name_for_a_run() -> None:
    take_alias("mine=dice")
    for name in ("minilm", "sbert", "wordllama", "bm25", "dice", "all-MiniLM-L6-v2", "mine"):
        with pytest.raises(UsageError, match="no run can be called"):
            refuse_other_meaning(name)
    refuse_other_meaning("my-run")


def test_a_run_called_as_the_overlap_of_words_is_named(small_bert: Path, tmp_path: Path) -> None:
    shutil.copytree(small_bert, tmp_path / "dice" / "seed-3" / "model")
    (member,) = resolve("dice", tmp_path).members
    assert (member.kind, str(member.note).endswith("which is dice@3")) == ("dice", True)
    assert resolve("dice@3", tmp_path).members[0].is_run


def test_a_copied_seed_counts_once(small_bert: Path, tmp_path: Path) -> None:
    folders = [tmp_path / "r" / f"seed-{seed}" / "model" for seed in (1, 2)]
    for folder in folders:
        shutil.copytree(small_bert, folder)
    (member,) = resolve("r", tmp_path).members
    assert "seed 2 is a copy of seed 1, and counts once" in str(member.note)
    change_weights(folders[1], lambda tensors: next(iter(tensors.values())).add_(1))
    assert len(resolve("r", tmp_path).members) == 2


def test_what_a_plugin_raises_is_its_own_error(
    cpu: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    failing = Mock(spec=["encode"], encode=Mock(side_effect=KeyError("sentence_lengths")))
    monkeypatch.setattr("embedlab.encoders.loading.open_kind", lambda *_: failing)
    name = f"sentence-transformers:{tmp_path}"
    assert_refused(name, cpu, "KeyError 'sentence_lengths'", kind=EmbedlabError)


def test_a_hint_about_a_file_or_folder_that_is_no_model_looked_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.safetensors").touch()
    with pytest.raises(UsageError) as alone:
        spec_of("./model.safetensors")
    assert "name ." not in alone.value.hint
    Path("config.json").touch()
    with pytest.raises(UsageError) as beside:
        spec_of("./model.safetensors")
    assert beside.value.hint == "name ."
    # said before data is looked for
    says_of = {
        "rows": "a folder of files of rows",
        "empty": "no config.json",
        "saved": "to_parquet",
    }
    for name in (*says_of, "faq"):
        Path(name).mkdir()
    Path("rows/pairs.csv").touch()
    Path("saved/dataset_info.json").touch()
    write_folder(Path("faq"))
    for name, says in says_of.items():
        assert main(["evaluate", "dice", name, "--data", "none-here"]) == 3
        assert says in capsys.readouterr().err
    assert main(["evaluate", "dice", "faq", "--runs", str(tmp_path)]) == 0  # queries are data
    assert "ndcg@10" in capsys.readouterr().out
