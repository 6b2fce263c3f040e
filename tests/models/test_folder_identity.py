"""Whatever is changed in a model or a brought file, its fingerprint changes, or the file is on the
list of those never read.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load_file, save_file

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_encoder
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.models.catalog import resolve
from embedlab.models.folder_identity import decisive_files, is_never_read
from embedlab.models.location import (
    spec_fingerprint,
)
from tests.encoders.layouts import LAYOUTS

PAIRS = pl.DataFrame(
    {"sentence1": ["a man", "a dog"], "sentence2": ["a woman", "two dogs"], "mine": [0.1, 0.9]}
)
ITEMS = pl.DataFrame({"dataset": ["mr", "mr"], "item": [0, 1], "prediction": ["0", "1"]})
PREDICTED = json.dumps({"mteb_model_meta": {}, "default": {"test": {"cosine_scores": [0.1, 0.2]}}})
RESULT = json.dumps({"task_name": "STS12", "dataset_revision": "1", "scores": {}})


def plain(folder: Path) -> str:
    """A transformer with texts and weights that are never read beside it."""
    build_random_encoder(folder, seed=1)
    for name in (
        "README.md",
        "LICENSE",
        "pytorch_model.bin",
        "onnx/model.onnx",
        "modeling.py",
        ".cache/huggingface/download/x.metadata",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    return str(folder)


def sharded(folder: Path) -> str:
    """Weights in two files, of which an index names one in its own way."""
    build_random_encoder(folder, seed=1)
    tensors = load_file(folder / "model.safetensors")
    names = sorted(tensors)
    parts = {"model-00001-of-00002.safetensors": names[::2], "rest.safetensors": names[1::2]}
    for file, own in parts.items():
        save_file({name: tensors[name] for name in own}, folder / file, metadata={"format": "pt"})
    (folder / "model.safetensors").unlink()
    index = {
        "metadata": {},
        "weight_map": {name: file for file, own in parts.items() for name in own},
    }
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return str(folder)


def named_weights(folder: Path) -> str:
    """Weights under a name that config.json states, in a folder of other formats."""
    build_random_encoder(folder, seed=1)
    (folder / "onnx").mkdir()
    shutil.copy(folder / "model.safetensors", folder / "onnx" / "own.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps({**config, "transformers_weights": "onnx/own.safetensors"})
    )
    return str(folder)


def snapshot(folder: Path) -> str:
    """A folder of the hub's cache: links to files outside it."""
    build_random_encoder(folder / "source", seed=1)
    (folder / "blobs").mkdir()
    (folder / "snapshots" / "main").mkdir(parents=True)
    for file in (folder / "source").iterdir():
        file.rename(folder / "blobs" / file.stem)
        (folder / "snapshots" / "main" / file.name).symlink_to(folder / "blobs" / file.stem)
    return str(folder / "snapshots" / "main")


def linked(folder: Path) -> str:
    """A module's folder behind a link."""
    made = LAYOUTS["LaBSE"](folder / "model")
    (made / "2_Dense").rename(folder / "dense")
    (made / "2_Dense").symlink_to(folder / "dense", target_is_directory=True)
    return str(made)


def model2vec(folder: Path) -> str:
    """Static vectors as model2vec stores them."""
    LAYOUTS["static"](folder / "static")
    made, source = folder / "model", folder / "static"
    made.mkdir()
    shutil.copy(source / "tokenizer.json", made)
    save_file(
        {"embeddings": load_file(source / "model.safetensors")["embedding.weight"]},
        made / "model.safetensors",
    )
    (made / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}))
    return str(made)


def typed_adapter(folder: Path) -> str:
    """A base with an adapter that is typed behind it."""
    adapter = LAYOUTS["LoRA alone, without modules"](folder / "adapter")
    return f"{folder / 'adapter-whole-backbone'}?adapter={adapter}"


def array(folder: Path) -> str:
    """Vectors beside their sentences."""
    np.save(folder / "mine.npy", np.eye(2))
    (folder / "mine.txt").write_text("a\nb\n")
    return f"vectors:{folder / 'mine.npy'}"


def brought(prefix: str, name: str, content: pl.DataFrame | str) -> Callable[[Path], str]:
    """A file of another program."""

    def write(folder: Path) -> str:
        path = folder / name
        if isinstance(content, str):
            path.write_text(content)
        else:
            tab = {"separator": "\t"} if path.suffix == ".tsv" else {}
            {".parquet": content.write_parquet, ".jsonl": content.write_ndjson}.get(
                path.suffix, content.write_csv
            )(path, **tab)
        return f"{prefix}:{path}"

    return write


def mteb(is_folder: bool) -> Callable[[Path], str]:
    """Predictions with their result beside them."""

    def write(folder: Path) -> str:
        (folder / "STS12_predictions.json").write_text(PREDICTED)
        (folder / "STS12.json").write_text(RESULT)
        return f"mteb:{folder if is_folder else folder / 'STS12_predictions.json'}"

    return write


def whitened(folder: Path) -> str:
    """Vectors whitened by those of a file."""
    build_random_encoder(folder / "model", seed=1)
    (folder / "words.txt").write_text("a\nb\n")
    return f"{folder / 'model'}?whiten={folder / 'words.txt'}"


def of_layout(name: str, prefix: str = "") -> Callable[[Path], str]:
    """A layout of sentence-transformers, with the base of an adapter beside it."""
    return lambda folder: f"{prefix}{LAYOUTS[name](folder / 'model')}"


MODELS: dict[str, Callable[[Path], str]] = {
    **{name: of_layout(name) for name in LAYOUTS},
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
    "vectors": brought(
        "vectors", "mine.parquet", pl.DataFrame({"sentence": ["a"], "vector": [[1.0, 2.0]]})
    ),
    **{
        f"scores.{ending}": brought("scores", f"mine.{ending}", PAIRS)
        for ending in ("csv", "tsv", "jsonl", "parquet")
    },
    "items": brought("items", "mine.csv", ITEMS),
    "word vectors": brought("word-vectors", "mine.txt", "a 1 2\nb 3 4\n"),
    "mteb folder": mteb(True),
    "mteb file": mteb(False),
}
# The folders that layouts leave behind while they are written, which no model reads.
SCAFFOLDS = (
    "adapter-whole",
    "static",
    "model-whole",
    "model-adapter",
    "model-adapter-backbone",
    "model-merged",
)


def identity(name: str) -> str:
    """The fingerprint of what a user types, or why it is refused."""
    try:
        return spec_fingerprint(resolve(name, Path("none")).members[0], precision="float32")
    except EmbedlabError as error:
        return error.message


def is_of_model(path: Path, folder: Path, name: str) -> bool:
    """Whether a file that a layout wrote belongs to the model called NAME, and not to what it was
    made of.
    """
    place = path.relative_to(folder).parts[0]
    has_base = "adapter" in name or "LoRA" in name or "IA3" in name
    return place not in SCAFFOLDS and (has_base or not place.endswith("-backbone"))


def changes(folder: Path, layout: str) -> Iterator[tuple[Path, str]]:
    """Change, add and remove each file in FOLDER in turn: the path and what was done; the file is
    as before afterwards.
    """
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and is_of_model(path, folder, layout)
    ]
    for path in files:
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        yield path, "changed"
        path.write_bytes(content)
        hidden = path.rename(folder.with_name("removed"))
        yield path, "removed"
        hidden.rename(path)
    for place in dict.fromkeys(path.parent for path in files):
        added = place / "added_tokens.json"
        added.write_text("{}")
        yield added, "added"
        added.unlink()


def name_in_model(path: Path, folder: Path) -> str:
    """The path of a file in its model."""
    parts = path.relative_to(folder).parts
    return "/".join(parts[1:] if parts[0] in {"model", "adapter"} else parts)


@pytest.mark.parametrize("layout", MODELS)
def test_a_change_of_any_file_changes_the_fingerprint_unless_the_file_is_never_read(
    tmp_path: Path, layout: str
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    name = MODELS[layout](folder)
    before, is_file = identity(name), ":" in name and Path(name.partition(":")[2]).is_file()
    assert len(before) == 16
    for path, change in changes(folder, layout):
        is_noticed = identity(name) != before
        is_listed = not is_file and is_never_read(name_in_model(path, folder))
        is_beside = change == "added" and (
            is_file
            or (layout in {"whitened", "linked", "hub"} and path.parent.name in {"files", "blobs"})
        )
        assert is_noticed or is_listed or is_beside, f"{path} {change}"
    assert identity(name) == before


def test_a_file_that_an_index_names_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    sharded(tmp_path)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(index.read_text().replace("rest.safetensors", "training_args.bin"))
    (tmp_path / "rest.safetensors").rename(tmp_path / "training_args.bin")
    assert is_never_read("training_args.bin")
    assert tmp_path / "training_args.bin" in decisive_files(tmp_path)


def test_weights_that_only_an_index_names_are_loaded_and_counted(
    tmp_path: Path, cpu: Machine
) -> None:
    name = sharded(tmp_path)
    build_random_encoder(tmp_path / "whole", seed=1)
    whole, parts = (
        load_encoder(resolve(one, Path("none")).members[0], cpu)
        for one in (str(tmp_path / "whole"), name)
    )
    assert (whole.encode(["a man"]) == parts.encode(["a man"])).all()
    rest = load_file(tmp_path / "rest.safetensors")
    save_file(
        {key: value + 1 for key, value in rest.items()},
        tmp_path / "rest.safetensors",
        metadata={"format": "pt"},
    )
    changed = load_encoder(resolve(name, Path("none")).members[0], cpu)
    assert changed.fingerprint != parts.fingerprint
    assert (changed.encode(["a man"]) != parts.encode(["a man"])).any()


@pytest.mark.parametrize(
    "path", ["../outside.safetensors", "/tmp/outside.safetensors", "a/../../outside.safetensors"]
)
@pytest.mark.parametrize("prefix", ["", "sentence-transformers:"])
def test_a_path_that_leaves_the_folder_is_refused(tmp_path: Path, path: str, prefix: str) -> None:
    folder = tmp_path / "model"
    sharded(folder)
    index = folder / "model.safetensors.index.json"
    index.write_text(index.read_text().replace("rest.safetensors", path))
    with pytest.raises(
        MissingError,
        match=r"index\.json names '.*outside.safetensors', which is outside its folder",
    ) as refused:
        spec_fingerprint(resolve(f"{prefix}{folder}", Path("none")).members[0], precision="float32")
    assert "copy it into" in (refused.value.hint or "")


def test_a_link_in_a_circle_and_what_is_not_a_file_are_not_followed(tmp_path: Path) -> None:
    build_random_encoder(tmp_path / "model", seed=1)
    files = decisive_files(tmp_path / "model")
    (tmp_path / "model" / "again").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(tmp_path / "model" / "pipe")
    assert decisive_files(tmp_path / "model") == files
