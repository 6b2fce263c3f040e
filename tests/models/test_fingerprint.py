import hashlib
import itertools
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from embedlab.core.errors import MissingError
from embedlab.core.paths import file_hash
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_scorer
from embedlab.models import hub
from embedlab.models.catalog import ModelSpec, resolve
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

SHORT = Reading(max_tokens=64)
OTHERS = (
    {"pooling": "cls"},
    {"reading": Reading(max_tokens=65)},
    {"precision": "bf16"},
    {"is_normalised": True},
    {"reading": Reading(max_tokens=64, prompt="query: ")},
    {"reading": Reading(max_tokens=64, prompt="query: "), "includes_prompt": False},
    {"reading": Reading(max_tokens=64, case="lower")},
    {"reading": Reading(max_tokens=64, special="none")},
    {"reading": Reading(max_tokens=64, padding="left")},
    {"reading": Reading(max_tokens=64, dtype="int8")},
    {"dim": 8},
    {"similarity": "dot"},
)


def fingerprint_of(folder: Path, *, precision: str = "float32", **other: Any) -> str:
    """The fingerprint of FOLDER by its mean and 64 tokens, or in another way."""
    return used_fingerprint(
        Usage(
            **{"pooling": "mean", "reading": SHORT, "source": folder, "folders": (folder,), **other}
        ),
        precision=precision,
    )


def test_every_setting_and_every_byte_of_the_weights_changes_it(
    small_bert: Path, tmp_path: Path
) -> None:
    changed = shutil.copytree(small_bert, tmp_path / "changed")
    weights = bytearray((changed / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (changed / "model.safetensors").write_bytes(weights)
    found = [
        fingerprint_of(small_bert),
        fingerprint_of(changed),
        *(fingerprint_of(small_bert, **other) for other in OTHERS),
    ]
    assert all(a != b for a, b in itertools.combinations(found, 2))
    assert fingerprint_of(shutil.copytree(small_bert, tmp_path / "copy")) == found[0]


def test_a_folder_without_weights_has_none(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="holds no safetensors weights"):
        fingerprint_of(tmp_path)


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
    normalising = load_transformer(str(small_bert), cpu)
    normalising.usage = replace(normalising.usage, is_normalised=True)
    save_model(tmp_path / "normalising", normalising, card="")
    words = tmp_path / "words.txt"
    words.write_text("a 1 2\n")
    for name in (
        str(small_bert),
        f"{small_bert}?pooling=cls",
        str(tmp_path / "normalising"),
        "dice",
        f"word-vectors:{words}",
        f"concat:{small_bert},word-vectors:{words}",
    ):
        (spec,) = resolve(name, tmp_path).members
        assert spec_fingerprint(spec, precision="float32") == load_scorer(spec, cpu).fingerprint


def test_order_and_kind_of_a_combination_count(small_bert: Path) -> None:
    one, two = (
        ModelSpec(name=pooling, kind="folder", location=str(small_bert), pooling=pooling)
        for pooling in ("mean", "cls")
    )
    kinds = [("average", (one, two)), ("concat", (one, two)), ("concat", (two, one))]
    assert (
        len(
            {
                spec_fingerprint(ModelSpec(name="", kind=kind, parts=parts), precision="float32")
                for kind, parts in kinds
            }
        )
        == 3
    )


def test_a_fingerprint_is_sixteen_digits_of_the_hash_of_its_parts_in_every_version() -> None:
    """Vectors and scores that users have stored lie under it."""
    expected = hashlib.sha256(b"dice").hexdigest()[:16]
    assert spec_fingerprint(ModelSpec(name="dice", kind="dice"), precision="float32") == expected
    both = ModelSpec(name="", kind="ensemble", parts=(ModelSpec(name="dice", kind="dice"),) * 2)
    joined = f"ensemble\0{expected}\0{expected}".encode()
    assert spec_fingerprint(both, precision="float32") == hashlib.sha256(joined).hexdigest()[:16]


def test_the_fingerprint_of_a_hub_model_tries_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "is_reachable", lambda: pytest.fail("the network was tried"))
    with pytest.raises(MissingError, match="'org/absent' is not on this machine"):
        spec_fingerprint(
            ModelSpec(name="org/absent", kind="hub", location="org/absent"), precision="float32"
        )


def test_whitening_is_identified_by_its_sentences(small_bert: Path, tmp_path: Path) -> None:
    def found(options: str) -> str:
        (spec,) = resolve(f"{small_bert}?{options}", tmp_path).members
        return spec_fingerprint(spec, precision="float32")

    for name, text in {"one": "a\nb\nc\n", "same": "a\nb\nc\n", "other": "a\nb\nd\n"}.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    one, same, other = (
        found(f"whiten={tmp_path / name}.txt&dim=2") for name in ("one", "same", "other")
    )
    assert one == same != other
    different = [
        one,
        other,
        found("whiten=fit&dim=2"),
        found("whiten=fit&dim=3"),
        found("whiten=fit&dim=2&normalise"),
        found("normalise"),
    ]
    assert len({*different, found("pooling=mean")}) == len(different) + 1


def hashed(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def test_what_an_identity_is_hashed_from_stays_the_same_in_every_version(
    small_bert: Path, tmp_path: Path
) -> None:
    """What users have stored is found by it."""
    usage = Usage(pooling="mean", reading=SHORT, source=small_bert, folders=(small_bert,))
    weights = [
        f"{name}={file_hash(small_bert / name)}" for name in ("model.safetensors", "config.json")
    ]
    tokenizer = [
        f"{name}={file_hash(small_bert / name)}"
        for name in ("tokenizer.json", "tokenizer_config.json")
    ]
    before = hashed("transformer", *weights, *tokenizer, "mean", "64", "int8")
    assert weights_fingerprint(usage, precision="int8") == before
    assert used_fingerprint(usage, precision="int8") == hashed(
        "folder", before, *folder_parts(small_bert)
    )
    for name in ("config.json", "model.safetensors", ADAPTER, ADAPTER_WEIGHTS):
        (tmp_path / name).write_text(name, encoding="utf-8")
    more = replace(
        usage,
        reading=replace(SHORT, case="lower"),
        is_normalised=True,
        adapter=tmp_path,
        layers=(Layer(kind="dense", folder=tmp_path),),
    )
    adapter, layer = (
        [f"{name}={file_hash(tmp_path / name)}" for name in names]
        for names in ((ADAPTER, ADAPTER_WEIGHTS), ("config.json", "model.safetensors"))
    )
    changes = ["normalised", "lower-cased", "dense", *layer, "weights in bf16"]
    assert weights_fingerprint(more, precision="bf16") == hashed(
        "transformer", *weights, *tokenizer, *adapter, "mean", "64", "bf16", *changes
    )
    (tmp_path / "words.txt").write_text("a\nb\n", encoding="utf-8")
    spec = ModelSpec(name="", kind="folder", location=str(small_bert))
    for changed, steps in {
        replace(spec, normalise=True): ["normalised"],
        replace(spec, whiten="fit", dim=2): ["fit", "dim=2"],
        replace(spec, whiten=str(tmp_path / "words.txt"), normalise=True): [
            file_hash(tmp_path / "words.txt"),
            "dim=None",
            "normalised",
        ],
    }.items():
        assert transformed_fingerprint(changed, "before") == hashed("transformed", "before", *steps)


@pytest.mark.parametrize("table", ["embeddings", "embedding.weight"])
def test_token_vectors_of_model2vec_are_distinguished_from_those_of_sentence_transformers(
    table: str, tmp_path: Path
) -> None:
    save_file({table: np.eye(2, dtype=np.float32)}, tmp_path / "model.safetensors")
    usage = Usage(
        pooling="mean", reading=SHORT, source=tmp_path, folders=(tmp_path,), is_static=True
    )
    parts = [
        f"model.safetensors={file_hash(tmp_path / 'model.safetensors')}",
        *(["as model2vec"] if table == "embeddings" else []),
    ]
    assert weights_fingerprint(usage, precision="float32") == hashed("static", *parts)


def test_further_files_are_what_neither_weights_nor_settings_of_modules_are(
    small_bert: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(small_bert, tmp_path / "model")
    modules = ("1_Pooling", "2_WordWeights", "3_Normalize")
    for name in (*modules, "other"):
        (folder / name).mkdir()
        for file in ("config.json", "more.json"):
            (folder / name / file).write_text("{}", encoding="utf-8")
    listed = [
        {"type": f"sentence_transformers.models.{name.partition('_')[2]}", "path": name}
        for name in ("", *modules)
    ]
    (folder / "modules.json").write_text(json.dumps(listed), encoding="utf-8")
    usage = Usage(
        pooling="mean",
        reading=SHORT,
        source=folder,
        folders=(folder,),
    )
    expected = [*(f"{name}/more.json" for name in modules), "other/config.json", "other/more.json"]
    assert [path.relative_to(folder).as_posix() for path in missed_files(usage)] == expected
