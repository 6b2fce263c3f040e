"""Models that went wrong in silence, or ended in a hint that did not look: one of each kind."""

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.torch import load_file, save_file

from embedlab.cli.app import main
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.note import Note, shown_notes
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_encoder
from embedlab.models.aliases import take_alias
from embedlab.models.catalog import refuse_other_meaning, resolve
from embedlab.models.location import spec_fingerprint
from embedlab.reports.notes import model_note
from tests.data.query_folders import write_folder


def opened(name: str, cpu: Machine, *texts: str) -> np.ndarray:
    spec = resolve(name, Path("none")).members[0]
    spec_fingerprint(spec, precision="float32")
    return load_encoder(spec, cpu).encode(list(texts or ["a dog runs"]))


@pytest.fixture
def folder(small_bert: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_bert, tmp_path / "model"))


def without_vocabulary(folder: Path) -> None:
    for path in folder.iterdir():
        if path.name not in {"config.json", "model.safetensors", "tokenizer_config.json"}:
            path.unlink() if path.is_file() else shutil.rmtree(path)


@pytest.mark.parametrize("prefix", ["", "sentence-transformers:"])
def test_a_folder_without_a_vocabulary_is_refused(folder: Path, cpu: Machine, prefix: str) -> None:
    without_vocabulary(folder)
    with pytest.raises(MissingError, match="has no tokenizer"):
        opened(f"{prefix}{folder}", cpu)


@pytest.mark.parametrize("rows", [100, 5_000])
def test_a_vocabulary_of_another_model_is_refused(folder: Path, cpu: Machine, rows: int) -> None:
    tensors = load_file(folder / "model.safetensors")
    name = next(key for key in tensors if key.endswith("word_embeddings.weight"))
    table = tensors[name]
    tensors[name] = table.repeat(5_000 // len(table) + 1, 1)[:rows].clone()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "vocab_size": rows}))
    with pytest.raises(MissingError, match="belongs to another model"):
        opened(str(folder), cpu)


def test_texts_of_unknown_tokens_and_zero_vectors_are_counted(
    small_bert: Path, cpu: Machine, tmp_path: Path
) -> None:
    encoder = load_encoder(resolve(str(small_bert), Path("none")).members[0], cpu)
    encoder.encode(["ζζζ", "ζζζ ξξξ", "a dog runs", ""])
    assert encoder.facts.unknown_texts == 2
    np.save(tmp_path / "v.npy", np.float32([[0, 0], [1, 0], [0, 1]]))
    (tmp_path / "v.txt").write_text("a\nb\nc\n")
    brought = load_encoder(resolve(f"vectors:{tmp_path}/v.npy", Path("none")).members[0], cpu)
    brought.encode(["a", "b", "a"])
    assert brought.facts.odd_texts == ("1 sentence has a zero vector (similarity 0)",)


def test_a_comparison_says_what_is_doubtful_of_vectors_and_leaves_out_what_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [f"{animal} number {row}" for animal in ("cat", "dog") for row in range(30)]
    rows = [f"{texts[row]}\t{texts[row + 30]}\t{row * row % 31}" for row in range(30)]
    Path("own.tsv").write_text("\n".join(["sentence1\tsentence2\tscore", *rows]))
    vectors = np.random.default_rng(1).integers(0, 256, (60, 8))
    vectors[3] = 0
    np.save("v.npy", vectors[:59].astype(np.float32))
    Path("v.txt").write_text("\n".join(texts[:59]))
    assert main(["compare", "dice", "vectors:v.npy", "own.tsv", "--runs", "none"]) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert "1 sentence has a zero vector (similarity 0)" in said
    assert "if they are packed bits" in said
    assert "no vectors for 1 of 30 pairs of own.tsv, which are left out for every model" in said


@pytest.mark.parametrize(
    ("file", "words", "way"),
    [
        ("m-Q4.gguf", "GGUF weights", "http://HOST/v1#MODEL"),
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
    (folder / "model.safetensors").unlink()
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_bytes(b"x")
    if file.endswith(".xml"):  # its numbers are in another file
        (folder / file).with_suffix(".bin").write_bytes(b"x")
    with pytest.raises(MissingError, match=words) as refused:
        opened(str(folder), cpu)
    assert way in refused.value.hint


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_pointer_of_git_lfs_is_named(folder: Path, cpu: Machine, file: str) -> None:
    (folder / file).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    with pytest.raises(MissingError, match="is a git-lfs pointer"):
        opened(str(folder), cpu)
    (folder / file).rename(folder / "v.npy")
    (folder / "v.txt").write_text("a")
    for kind in ("vectors", "word-vectors"):
        with pytest.raises(MissingError, match=r"v\.npy is a git-lfs pointer"):
            opened(f"{kind}:{folder / 'v.npy'}", cpu)


def test_tensors_under_the_names_of_a_wrapper_are_named(folder: Path, cpu: Machine) -> None:
    tensors = load_file(folder / "model.safetensors")
    wrapped = {f"student.{name}": value for name, value in tensors.items()}
    save_file(wrapped, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(MissingError) as refused:
        opened(str(folder), cpu)
    assert "student." in refused.value.message + refused.value.hint
    assert "save the model inside it" in refused.value.hint


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int64, np.uint16])
def test_packed_bits_are_asked_about(tmp_path: Path, cpu: Machine, kind: type) -> None:
    vectors = np.arange(12).reshape(3, 4).astype(kind)
    np.save(tmp_path / "v.npy", vectors)
    (tmp_path / "v.txt").write_text("a\nb\nc\n")
    column = pl.Series("vector", vectors.tolist(), dtype=pl.List(pl.Series(vectors[0]).dtype))
    pl.DataFrame({"sentence": ["a", "b", "c"], "vector": column}).write_parquet(
        tmp_path / "v.parquet"
    )
    for file in ("v.npy", "v.parquet"):
        held = f"holds {vectors.dtype}: packed bits, or numbers of 8 bits"
        with pytest.raises(UsageError, match=held):
            opened(f"vectors:{tmp_path / file}", cpu, "a")


def test_packed_bits_of_whole_words_and_bytes_are_asked_about_too(
    tmp_path: Path, cpu: Machine
) -> None:
    words = np.array([[2**64 - 1, 3], [5, 8]], np.uint64)
    np.save(tmp_path / "w.npy", words)
    (tmp_path / "w.txt").write_text("a\nb\n")
    columns = {"sentence": ["a", "b"], "vector": [row.tobytes() for row in words]}
    pl.DataFrame(columns).write_parquet(tmp_path / "b.parquet")
    for file, says in (("w.npy", "holds uint64: packed"), ("b.parquet", "vector holds bytes: pac")):
        with pytest.raises(UsageError, match=says) as refused:
            opened(f"vectors:{tmp_path / file}", cpu, "a")
        assert "np.unpackbits" in refused.value.hint


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [(0, 255, "packed bits"), (-128, 127, "packed bits"), (0, 1, "are bits")],
)
def test_whole_numbers_stored_as_floats_are_named(
    tmp_path: Path, cpu: Machine, low: int, high: int, says: str
) -> None:
    vectors = np.random.default_rng(1).integers(low, high, (9, 16), endpoint=True)
    for name, numbers in (("whole", vectors), ("halves", vectors + 0.5)):
        np.save(tmp_path / f"{name}.npy", numbers.astype(np.float32))
        (tmp_path / f"{name}.txt").write_text("".join(f"text {row}\n" for row in range(9)))
        spec = resolve(f"vectors:{tmp_path / name}.npy", Path("none")).members[0]
        encoder = load_encoder(spec, cpu)
        encoder.encode(["text 3", "text 5"])
        assert [says in note for note in encoder.facts.notes] == [True] * (name == "whole")


def test_a_doubtful_vocabulary_is_said_before_what_is_known_of_a_model(
    folder: Path, cpu: Machine
) -> None:
    tensors = load_file(folder / "model.safetensors")
    name = next(key for key in tensors if key.endswith("word_embeddings.weight"))
    rows = int(len(tensors[name]) / 0.9) + 127
    tensors[name] = tensors[name].repeat(9, 1)[:rows].clone()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "vocab_size": rows}))
    encoder = load_encoder(resolve(str(folder), Path("none")).members[0], cpu)
    known = Note("training text unknown", models=("m",), short=["known"], kind="unknown text")
    doubts = [model_note("m", note) for note in encoder.facts.notes]
    shown = shown_notes([known, *doubts], {"m": "m"}, most=1)
    assert "does it belong to this model?" in shown[0]


def test_texts_of_unknown_tokens_are_counted_by_the_package_too(
    small_bert: Path, cpu: Machine
) -> None:
    pytest.importorskip("sentence_transformers")
    name = f"sentence-transformers:{small_bert}"
    encoder = load_encoder(resolve(name, Path("none")).members[0], cpu)
    encoder.encode(["ζζζ", "ζζζ ξξξ", "a dog runs"])
    assert encoder.facts.unknown_texts == 2


def test_a_token_of_unknown_words_that_is_unknown_itself_has_an_end(
    folder: Path, cpu: Machine
) -> None:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "unk_token": "1e+99"}))
    assert len(opened(str(folder), cpu, "a dog runs", "ζζζ")) == 2


def test_a_name_that_means_a_model_is_no_name_for_a_run(tmp_path: Path) -> None:
    take_alias("mine=dice")
    for name in ("minilm", "sbert", "wordllama", "bm25", "dice", "all-MiniLM-L6-v2", "mine"):
        with pytest.raises(UsageError, match="no run can be called"):
            refuse_other_meaning(name)
    refuse_other_meaning("my-run")
    (tmp_path / "r1" / "seed-1" / "model").mkdir(parents=True)
    assert main(["runs", "rename", "r1", "minilm", "--runs", str(tmp_path)]) == 2


def test_a_copied_seed_counts_once(small_bert: Path, tmp_path: Path) -> None:
    for seed in (1, 2):
        shutil.copytree(small_bert, tmp_path / "r" / f"seed-{seed}" / "model")
    (member,) = resolve("r", tmp_path).members
    assert member.note is not None
    assert "seed 2 is a copy of seed 1, and counts once" in member.note
    tensors = load_file(tmp_path / "r/seed-2/model/model.safetensors")
    changed = {name: value + 1 for name, value in tensors.items()}
    save_file(changed, tmp_path / "r/seed-2/model/model.safetensors", metadata={"format": "pt"})
    assert len(resolve("r", tmp_path).members) == 2


def test_what_a_plugin_raises_is_its_own_error(
    cpu: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Failing:
        def encode(self, _: object) -> None:
            raise KeyError("sentence_lengths")

    monkeypatch.setattr("embedlab.encoders.loading.open_kind", lambda _kind, _spec: Failing())
    with pytest.raises(EmbedlabError, match="KeyError 'sentence_lengths'"):
        load_encoder(
            resolve(f"sentence-transformers:{tmp_path}", Path("none")).members[0], cpu
        ).encode(["a"])


def test_a_hint_about_a_file_or_folder_that_is_no_model_looked_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpu: Machine
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.safetensors").touch()
    with pytest.raises(UsageError) as alone:
        opened("./model.safetensors", cpu)
    assert "name ." not in alone.value.hint
    Path("config.json").touch()
    with pytest.raises(UsageError) as beside:
        opened("./model.safetensors", cpu)
    assert beside.value.hint == "name ."
    Path("rows").mkdir()
    Path("rows/pairs.csv").touch()
    with pytest.raises(MissingError, match="a folder of files of rows") as folder:
        opened("./rows", cpu)
    assert "rows/pairs.csv" in folder.value.hint


def test_a_folder_that_is_no_model_is_said_before_data_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
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
