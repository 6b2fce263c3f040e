"""A device, a pipe or a huge file in the place of a small one is refused before it is read."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.foreign_files import read_foreign
from embedlab.core.frame_files import read_npy
from embedlab.core.paths import file_hash
from embedlab.core.plugins import PluginFile
from embedlab.core.schema import read_toml
from embedlab.core.settings import load_settings
from embedlab.data.own_columns import own_data
from embedlab.data.own_files import sentences
from embedlab.data.table_file import read_rows
from embedlab.data.text_file import read_text
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.models.folder import read_usage
from embedlab.models.location import spec_fingerprint

Make = Callable[[Path], None]


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)  # without a block on the disk


KINDS: dict[Make, str] = {
    device: "a device, not a file",
    os.mkfifo: "a pipe, not a file",
    huge: "larger than|header states",
}
SMALL: dict[str, Callable[[Path], object]] = {
    "recipe.toml": read_toml,
    "plugin.py": lambda path: PluginFile(path=path).declared,
    "embedlab.toml": lambda path: load_settings({}, environment={}, folder=path.parent),
    "pyproject.toml": lambda path: load_settings({}, environment={}, folder=path.parent),
}
MODEL_FILES = ["config.json", "model.safetensors", "modules.json", "1_Pooling/config.json"]
MODEL_FILES += ["tokenizer.json", "vocab.txt"]


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("name", SMALL)
def test_settings_recipes_and_plugins_are_regular_files(
    make: Make, name: str, tmp_path: Path
) -> None:
    make(tmp_path / name)
    with pytest.raises(EmbedlabError, match=KINDS[make]):
        SMALL[name](tmp_path / name)


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("name", MODEL_FILES)
def test_the_files_of_a_model_are_regular_files(
    make: Make, name: str, tiny_encoder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in tiny_encoder.iterdir():
        (folder / file.name).symlink_to(file)  # as the hub's snapshots have them
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).unlink(missing_ok=True)
    make(folder / name)
    if make is huge and name == "model.safetensors":
        with (folder / name).open("r+b") as file:
            file.write((tiny_encoder / name).read_bytes()[:20_000])
    spec = ModelSpec(name="x", kind="sentence-transformers", location=str(folder))
    with pytest.raises(MissingError, match=KINDS[make]):
        read_usage(folder)
    with pytest.raises(MissingError, match=KINDS[make]):
        spec_fingerprint(spec, precision="float32")


def test_a_file_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "grows"
    path.write_bytes(b"ab")
    before = path.stat()
    path.write_bytes(b"abcdef")
    monkeypatch.setattr("embedlab.core.foreign_files.os.fstat", lambda _: before)
    with pytest.raises(MissingError, match="larger than"):
        read_foreign(path, limit=3)
    assert read_foreign(path, limit=6) == b"abcdef"


READERS: dict[str, Callable[[Path], object]] = {
    "rows": read_rows,
    "lines": read_text,
    "what a file holds": lambda path: own_data(str(path)),
    "sentences": lambda path: list(sentences(path)),
    "numbers": read_npy,
    "its identity": file_hash,
    "scores": lambda path: resolve(f"scores:{path}", path.parent),
    "vectors": lambda path: resolve(f"vectors:{path}", path.parent),
    "word vectors": lambda path: resolve(f"word-vectors:{path}", path.parent),
}


@pytest.mark.parametrize("make", [device, os.mkfifo])
@pytest.mark.parametrize("ending", [".csv", ".txt", ".jsonl", ".parquet"])
@pytest.mark.parametrize("reader", READERS)
def test_own_files_are_regular_files(make: Make, ending: str, reader: str, tmp_path: Path) -> None:
    make(tmp_path / f"mine{ending}")
    with pytest.raises(MissingError, match=KINDS[make]):
        READERS[reader](tmp_path / f"mine{ending}")


def test_what_a_shell_reads_from_a_command_is_read_as_sentences() -> None:
    source, target = os.pipe()
    os.write(target, b"a dog\na cat\n")
    os.close(target)
    assert list(sentences(Path(f"/dev/fd/{source}"))) == ["a dog", "a cat"]
    os.close(source)
