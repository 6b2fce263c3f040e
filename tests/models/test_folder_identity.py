"""Whatever is changed in a model or a brought file, its fingerprint changes, or the file is on the
list of those never read.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.encoders.device import Machine
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.models.folder_identity import decisive_files, is_never_read
from tests.encoders.layouts import LAYOUTS
from tests.encoders.opening import change_json, fingerprint, opened

PREDICTED = json.dumps({"mteb_model_meta": {}, "default": {"test": {"cosine_scores": [0.1, 0.2]}}})
RESULT = json.dumps({"task_name": "STS12", "dataset_revision": "1", "scores": {}})


def plain(folder: Path) -> str:
    """A transformer with texts and weights that are never read beside it."""
    build_random_encoder(folder, seed=1)
    for name in ("README.md", "pytorch_model.bin", "onnx/model.onnx", "modeling.py",
                 ".cache/huggingface/download/x.metadata"):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    return str(folder)


def index_of(folder: Path) -> Path:
    return folder / "model.safetensors.index.json"


def sharded(folder: Path) -> str:
    """Weights in two files, of which an index names one in its own way."""
    build_random_encoder(folder, seed=1)
    tensors = load_file(folder / "model.safetensors")
    files = ("model-00001-of-00002.safetensors", "rest.safetensors")
    places = {name: files[number % 2] for number, name in enumerate(sorted(tensors))}
    for file in files:
        own = {name: tensor for name, tensor in tensors.items() if places[name] == file}
        save_file(own, folder / file, metadata={"format": "pt"})
    (folder / "model.safetensors").unlink()
    index_of(folder).write_text(json.dumps({"metadata": {}, "weight_map": places}))
    return str(folder)


def named_weights(folder: Path) -> str:
    """Weights under a name that config.json states, in a folder of other formats."""
    build_random_encoder(folder, seed=1)
    (folder / "onnx").mkdir()
    shutil.copy(folder / "model.safetensors", folder / "onnx" / "own.safetensors")
    return str(change_json(folder / "config.json", transformers_weights="onnx/own.safetensors"))


def snapshot(folder: Path) -> str:
    """A folder of the hub's cache: links to files outside it."""
    build_random_encoder(folder / "blobs", seed=1)
    made = folder / "snapshots" / "main"
    made.mkdir(parents=True)
    for file in (folder / "blobs").iterdir():
        (made / file.name).symlink_to(file)
    return str(made)


def of_layout(name: str, prefix: str = "", place: str = "model") -> Callable[[Path], str]:
    """A layout of sentence-transformers, with the base of an adapter beside it."""

    def write(folder: Path) -> str:
        made = LAYOUTS[name](folder / place)
        scaffolds = ["*-whole", *([] if "LoRA" in name else ["*-backbone"])]
        for pattern in scaffolds:  # no model reads what it was made of
            for scaffold in folder.glob(pattern):
                shutil.rmtree(scaffold)
        return f"{prefix}{made}"

    return write


def linked(folder: Path) -> str:
    """A module's folder behind a link."""
    made = Path(of_layout("LaBSE")(folder))
    (made / "2_Dense").rename(folder / "dense")
    (made / "2_Dense").symlink_to(folder / "dense", target_is_directory=True)
    return str(made)


def model2vec(folder: Path) -> str:
    """Static vectors as model2vec stores them."""
    made = Path(of_layout("static")(folder))
    for file in made.iterdir():
        if file.name not in {"tokenizer.json", "model.safetensors"}:
            file.unlink() if file.is_file() else shutil.rmtree(file)
    table = load_file(made / "model.safetensors")["embedding.weight"]
    save_file({"embeddings": table}, made / "model.safetensors")
    return str(change_json(made / "config.json", model_type="model2vec", normalize=True))


def typed_adapter(folder: Path) -> str:
    """A base with an adapter that is typed behind it."""
    adapter = of_layout("LoRA alone, without modules", place="adapter")(folder)
    return f"{folder / 'adapter-whole-backbone'}?adapter={adapter}"


def array(folder: Path) -> str:
    """Vectors beside their sentences."""
    np.save(folder / "mine.npy", np.eye(2))
    (folder / "mine.txt").write_text("a\nb\n")
    return f"vectors:{folder / 'mine.npy'}"


def brought(prefix: str, name: str, content: str) -> Callable[[Path], str]:
    """A file of another program."""

    def write(folder: Path) -> str:
        (folder / name).write_text(content)
        return f"{prefix}:{folder / name}"

    return write


def mteb(name: str) -> Callable[[Path], str]:
    """Predictions with their result beside them."""

    def write(folder: Path) -> str:
        (folder / "STS12_predictions.json").write_text(PREDICTED)
        (folder / "STS12.json").write_text(RESULT)
        return f"mteb:{folder / name}"

    return write


def whitened(folder: Path) -> str:
    """Vectors whitened by those of a file."""
    build_random_encoder(folder / "model", seed=1)
    (folder / "words.txt").write_text("a\nb\n")
    return f"{folder / 'model'}?whiten={folder / 'words.txt'}"


# Each has files of its own: other settings in the same files are as likely to be left out.
KINDS = (
    "mean", "LaBSE", "LayerNorm", "default prompt outside the mean", "files of version 2", "static",
    "LoRA on BERT", "LoRA with whole modules", "LoRA alone, without modules", "T5, Unigram",
)  # fmt: skip
MODELS: dict[str, Callable[[Path], str]] = {
    **{name: of_layout(name) for name in KINDS},
    "transformers": plain,
    "sharded": sharded,
    "named weights": named_weights,
    "hub": snapshot,
    "linked": linked,
    "model2vec": model2vec,
    "typed adapter": typed_adapter,
    "whitened": whitened,
    "sentence-transformers": of_layout("LaBSE", "sentence-transformers:"),
    "sentence-transformers of an adapter": of_layout("LoRA on BERT", "sentence-transformers:"),
    "array": array,
    "vectors": brought("vectors", "mine.jsonl", '{"sentence": "a", "vector": [1.0, 2.0]}\n'),
    "scores": brought("scores", "mine.csv", "sentence1,sentence2,mine\na,b,0.1\n"),
    "items": brought("items", "mine.csv", "dataset,item,prediction\nmr,0,1\n"),
    "word vectors": brought("word-vectors", "mine.txt", "a 1 2\nb 3 4\n"),
    "mteb folder": mteb(""),
    "mteb file": mteb("STS12_predictions.json"),
}


def identity(name: str) -> str:
    """The fingerprint of what a user types, or why it is refused."""
    try:
        return fingerprint(name)
    except EmbedlabError as error:
        return error.message


def changes(folder: Path) -> Iterator[tuple[Path, str]]:
    """Change, add and remove each file in FOLDER in turn: the path and what was done; the file is
    as before afterwards.
    """
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in files:
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        yield path, "changed"
        path.write_bytes(content)
        hidden = path.rename(folder.with_name("removed"))
        yield path, "removed"
        hidden.rename(path)
    for place in {path.parent for path in files}:
        added = place / "added_tokens.json"
        added.write_text("{}")
        yield added, "added"
        added.unlink()


@pytest.mark.parametrize("layout", MODELS)
def test_a_change_of_any_file_changes_the_fingerprint_unless_the_file_is_never_read(
    tmp_path: Path, layout: str
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    name = MODELS[layout](folder)
    before, is_file = identity(name), ":" in name and Path(name.partition(":")[2]).is_file()
    assert len(before) == 16
    for path, change in changes(folder):
        is_noticed = identity(name) != before
        in_model = path.relative_to(folder).as_posix().removeprefix("model/")
        is_listed = not is_file and is_never_read(in_model.removeprefix("adapter/"))
        is_beside = change == "added" and (
            is_file
            or (layout in {"whitened", "linked", "hub"} and path.parent.name in {"files", "blobs"})
        )
        assert is_noticed or is_listed or is_beside, f"{path} {change}"
    assert identity(name) == before


def test_a_file_that_an_index_names_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    sharded(tmp_path)
    index = index_of(tmp_path)
    index.write_text(index.read_text().replace("rest.safetensors", "training_args.bin"))
    (tmp_path / "rest.safetensors").rename(tmp_path / "training_args.bin")
    assert is_never_read("training_args.bin")
    assert tmp_path / "training_args.bin" in decisive_files(tmp_path)


def test_weights_that_only_an_index_names_are_loaded_and_counted(
    tmp_path: Path, cpu: Machine
) -> None:
    name = sharded(tmp_path)
    build_random_encoder(tmp_path / "whole", seed=1)
    whole, parts = (opened(one, cpu).encode(["a man"]) for one in (tmp_path / "whole", name))
    assert (whole == parts).all()
    rest = load_file(tmp_path / "rest.safetensors")
    changed = {key: value + 1 for key, value in rest.items()}
    save_file(changed, tmp_path / "rest.safetensors", metadata={"format": "pt"})
    assert (opened(name, cpu).encode(["a man"]) != parts).any()


@pytest.mark.parametrize("path", ["../outside.safetensors", "/tmp/outside.safetensors"])
@pytest.mark.parametrize("prefix", ["", "sentence-transformers:"])
def test_a_path_that_leaves_the_folder_is_refused(tmp_path: Path, path: str, prefix: str) -> None:
    index = index_of(Path(sharded(tmp_path / "model")))
    index.write_text(index.read_text().replace("rest.safetensors", path))
    says = r"index\.json names '.*outside.safetensors', which is outside its folder"
    with pytest.raises(MissingError, match=says):
        fingerprint(f"{prefix}{index.parent}")


def test_a_link_in_a_circle_and_what_is_not_a_file_are_not_followed(tmp_path: Path) -> None:
    build_random_encoder(tmp_path / "model", seed=1)
    files = decisive_files(tmp_path / "model")
    (tmp_path / "model" / "again").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(tmp_path / "model" / "pipe")
    assert decisive_files(tmp_path / "model") == files
