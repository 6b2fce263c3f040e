import hashlib
import json
import os
import shutil
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from embedlab.core.errors import MissingError
from embedlab.core.paths import file_hash
from embedlab.core.settings import Settings
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import scorer_for
from embedlab.models import hub
from embedlab.models.catalog import ModelSpec
from embedlab.models.folder import Usage
from embedlab.models.folder_files import ADAPTER, ADAPTER_WEIGHTS
from embedlab.models.folder_identity import (
    folder_parts,
    missed_files,
    used_fingerprint,
    weights_fingerprint,
)
from embedlab.models.location import spec_fingerprint, transformed_fingerprint
from embedlab.models.modules import Layer
from embedlab.models.reading import Reading
from tests.encoders.opening import fingerprint, spec_of

OTHERS: tuple[dict[str, Any], ...] = (
    {"pooling": "cls"},
    {"precision": "bf16"},
    {"is_normalised": True},
    {"dim": 8},
    {"similarity": "dot"},
    {"max_tokens": 65},
    {"prompt": "query: "},
    {"prompt": "query: ", "includes_prompt": False},
    {"case": "lower"},
    {"special": "none"},
    {"padding": "left"},
    {"dtype": "int8"},
)


USUAL: dict[str, Any] = {
    **{"pooling": "mean", "includes_prompt": True, "similarity": "cosine"},
    **{"is_normalised": False, "is_static": False, "notes": (), "layers": ()},
    **dict.fromkeys(("training_text", "adapter", "dim", "layer")),
}


def usage_of(folder: Path, **other: Any) -> Usage:
    """FOLDER by its mean and 64 tokens, or in another way."""
    names = {field.name for field in fields(Reading)}
    reading = {key: value for key, value in other.items() if key in names}
    more = {key: value for key, value in other.items() if key not in names}
    return Usage(
        **{**USUAL, **more},
        reading=Reading(**{"max_tokens": 64, **reading}),
        source=folder,
        tokenizer=folder,
        folders=(folder,),
    )


def fingerprint_of(folder: Path, precision: str = "float32", **other: Any) -> str:
    return used_fingerprint(usage_of(folder, **other), precision=precision)


def test_every_setting_and_every_byte_of_the_weights_changes_it(
    small_bert: Path, tmp_path: Path
) -> None:
    changed = shutil.copytree(small_bert, tmp_path / "changed")
    before = fingerprint_of(changed)
    weights = bytearray((changed / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (changed / "model.safetensors").write_bytes(weights)
    found = {fingerprint_of(small_bert, **other) for other in ({}, *OTHERS)}
    assert before in found
    assert len({*found, fingerprint_of(changed)}) == len(OTHERS) + 2


def test_a_file_that_changes_is_hashed_again(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    before = file_hash(file)
    file.write_text("two")
    os.utime(file, ns=(1, 1))
    assert file_hash(file) != before


def test_the_light_fingerprint_is_that_of_the_loaded_scorer(
    small_bert: Path, cpu: Machine, tmp_path: Path
) -> None:
    words = tmp_path / "words.txt"
    words.write_text("a 1 2\n")
    for name in (
        f"{small_bert}?pooling=cls",
        "dice",
        f"word-vectors:{words}",
        f"concat:{small_bert},word-vectors:{words}",
    ):
        assert (
            fingerprint(name)
            == scorer_for(spec_of(name), Settings(device="cpu", threads=1)).fingerprint
        )


def test_order_and_kind_of_a_combination_count() -> None:
    names = ("average:dice,bm25", "ensemble:dice,bm25", "ensemble:bm25,dice")
    assert len({fingerprint(name) for name in names}) == 3


def test_a_fingerprint_is_sixteen_digits_of_the_hash_of_its_parts_in_every_version() -> None:
    """Vectors and scores that users have stored lie under it."""
    assert fingerprint("dice") == hashed("dice")
    assert fingerprint("ensemble:dice,dice") == hashed("ensemble", hashed("dice"), hashed("dice"))


def test_the_fingerprint_of_a_hub_model_tries_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "is_reachable", lambda: pytest.fail("the network was tried"))
    with pytest.raises(MissingError, match="'org/absent' is not on this machine"):
        spec_fingerprint(
            ModelSpec(name="org/absent", kind="hub", location="org/absent"), precision="float32"
        )


def test_whitening_is_identified_by_its_sentences(small_bert: Path, tmp_path: Path) -> None:
    files = {"one": "a\nb\nc\n", "same": "a\nb\nc\n", "other": "a\nb\nd\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    one, same, *others = (
        fingerprint(f"{small_bert}?{options}")
        for options in (
            *(f"whiten={tmp_path / name}&dim=2" for name in files),
            "whiten=fit&dim=2",
            "whiten=fit&dim=3",
            "whiten=fit&dim=2&normalise",
            "normalise",
            "pooling=mean",
        )
    )
    assert one == same
    assert len({one, *others}) == 7


def hashed(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def test_what_an_identity_is_hashed_from_stays_the_same_in_every_version(
    small_bert: Path, tmp_path: Path
) -> None:
    """What users have stored is found by it."""

    def parts(folder: Path, *names: str) -> list[str]:
        return [f"{name}={file_hash(folder / name)}" for name in names]

    usage = usage_of(small_bert)
    tokenizer = "tokenizer.json", "tokenizer_config.json"
    files = parts(small_bert, "model.safetensors", "config.json", *tokenizer)
    before = hashed("transformer", *files, "mean", "64", "int8")
    assert weights_fingerprint(usage, precision="int8") == before
    whole = hashed("folder", before, *folder_parts(small_bert))
    assert used_fingerprint(usage, precision="int8") == whole
    for name in ("config.json", "model.safetensors", ADAPTER, ADAPTER_WEIGHTS):
        (tmp_path / name).write_text(name)
    layers = (Layer(kind="dense", folder=tmp_path),)
    more = usage_of(small_bert, case="lower", is_normalised=True, adapter=tmp_path, layers=layers)
    assert weights_fingerprint(more, precision="bf16") == hashed(
        "transformer",
        *files,
        *parts(tmp_path, ADAPTER, ADAPTER_WEIGHTS),
        *("mean", "64", "bf16", "normalised", "lower-cased", "dense"),
        *parts(tmp_path, "config.json", "model.safetensors"),
        "weights in bf16",
    )
    words = tmp_path / "words.txt"
    words.write_text("a\nb\n")
    spec = spec_of(small_bert)
    for changed, steps in {
        replace(spec, normalise=True): ["normalised"],
        replace(spec, whiten="fit", dim=2): ["fit", "dim=2"],
        replace(spec, whiten=str(words)): [file_hash(words), "dim=None"],
    }.items():
        assert transformed_fingerprint(changed, "before") == hashed("transformed", "before", *steps)


@pytest.mark.parametrize(
    ("table", "more"), [("embeddings", ["as model2vec"]), ("embedding.weight", [])]
)
def test_token_vectors_of_model2vec_are_distinguished_from_those_of_sentence_transformers(
    table: str, more: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "model.safetensors"
    save_file({table: np.eye(2, dtype=np.float32)}, file)
    expected = hashed("static", f"{file.name}={file_hash(file)}", *more)
    usage = usage_of(tmp_path, is_static=True)
    assert weights_fingerprint(usage, precision="float32") == expected


def test_further_files_are_what_neither_weights_nor_settings_of_modules_are(
    small_bert: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(small_bert, tmp_path / "model")
    modules = ("1_Pooling", "2_WordWeights", "3_Normalize")
    for name in (*modules, "other"):
        (folder / name).mkdir()
        for file in ("config.json", "more.json"):
            (folder / name / file).write_text("{}")
    listed = [
        {"type": f"sentence_transformers.models.{name.partition('_')[2]}", "path": name}
        for name in ("", *modules)
    ]
    (folder / "modules.json").write_text(json.dumps(listed))
    expected = [f"{name}/more.json" for name in (*modules, "other")]
    found = [path.relative_to(folder).as_posix() for path in missed_files(usage_of(folder))]
    assert found == expected
