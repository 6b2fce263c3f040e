"""Damaged model folders: every file of small transformers, mutated, then loaded as `evaluate`,
`encode` and `train` load them.

    python benchmarks/fuzz/models.py [--cases 600] [--seed 21] [--write]

A case damages one file: its bytes, one value of its JSON, or one tensor of its weights. What is
accepted must give finite vectors of the stated length, the same in a second load.
"""

import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import torch
from campaign import Case, arguments, generator, report, timed
from damage import MUTATIONS
from safetensors.torch import load_file, save_file

from embedlab.core.recipe import Pooling
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.device import Machine
from embedlab.encoders.pretrained import load_language_model
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.models.catalog import ModelSpec
from embedlab.models.location import spec_fingerprint, vector_length
from embedlab.models.reading import UsageOptions

WORDS = ("a", "dog", "runs", "in", "the", "park", "cat", "sleeps")
SENTENCES = ["a dog runs", "the cat sleeps in the park, quietly", "", "x" * 300]
MACHINE = Machine(device=torch.device("cpu"), precision="float32", threads=1)
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    3,
    10**9,
    10**30,
    1.5,
    1e308,
    "",
    "x",
    "\0",
    "../..",
    [],
    [1],
    {},
    {"a": 1},
    ["x", None],
)
TENSORS: dict[str, Callable[[dict[str, torch.Tensor], str], object]] = {
    "tensor removed": lambda tensors, name: tensors.pop(name),
    "tensor renamed": lambda tensors, name: tensors.update({f"{name}x": tensors.pop(name)}),
    "tensor added": lambda tensors, name: tensors.update({f"bert.extra.{name}": torch.ones(3)}),
    "tensor cut": lambda tensors, name: tensors.update({name: tensors[name][1:].clone()}),
    "tensor of integers": lambda tensors, name: tensors.update(
        {name: tensors[name].to(torch.int32)}
    ),
    "not a number": lambda tensors, name: tensors[name].view(-1)[:1].fill_(torch.nan),
    "infinity": lambda tensors, name: tensors[name].view(-1)[-1:].fill_(-torch.inf),
}


def build_folders(place: Path) -> dict[str, Path]:
    """Small models of three architectures and poolings, with the files of transformers,
    sentence-transformers and embedlab.
    """
    poolings: dict[str, Pooling] = {
        "bert": "mean-without-cls",
        "roberta": "cls",
        "distilbert": "mean",
    }
    for name, pooling in poolings.items():
        build_random_encoder(
            place / f"random-{name}", seed=0, hidden=16, vocabulary=WORDS, architecture=name
        )
        encoder = load_transformer(
            str(place / f"random-{name}"), MACHINE, wishes=UsageOptions(pooling=pooling)
        )
        encoder.usage = replace(encoder.usage, is_normalised=name == "distilbert")
        save_model(place / name, encoder, card="# A card\n")
        prompts = {"prompts": {"query": "query: "}, "default_prompt_name": None}
        if name == "roberta":  # as sentence-transformers alone would have saved it
            (place / name / "embedlab.json").unlink()
        (place / name / "config_sentence_transformers.json").write_text(json.dumps(prompts))
        (
            place / name / "checksums.json"
        ).unlink()  # a wrong checksum alone would be refused before the content is looked at
    return {name: place / name for name in poolings}


def keys(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of all values in a JSON document."""
    if path:
        yield path
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in inside:
        yield from keys(item, (*path, key))


def change_value(path: Path, rng: random.Random) -> str:
    """One value of a JSON file is removed or replaced; of a tokenizer not one of its many words."""
    content = json.loads(path.read_text(encoding="utf-8"))
    *before, last = rng.choice([found for found in keys(content) if "vocab" not in found[:-1]])
    inside = content
    for step in before:
        inside = inside[step]
    is_removed = rng.random() < 0.3
    if is_removed:
        del inside[last]
    else:
        inside[last] = rng.choice(VALUES)
    path.write_text(json.dumps(content), encoding="utf-8")
    return "value removed" if is_removed else "value replaced"


def change_tensor(path: Path, rng: random.Random) -> str:
    """One tensor is damaged."""
    tensors = load_file(path)
    mutation = rng.choice(list(TENSORS))
    TENSORS[mutation](
        tensors, rng.choice([name for name in sorted(tensors) if tensors[name].is_floating_point()])
    )
    save_file(tensors, path, metadata={"format": "pt"})
    return mutation


def change_file(path: Path, rng: random.Random) -> str:
    """The file is gone, empty, a folder, or its bytes are damaged."""
    mutation = rng.choice(["file removed", "empty file", "folder for a file", *MUTATIONS])
    content = path.read_bytes()
    path.unlink()
    if mutation == "folder for a file":
        path.mkdir()
    elif mutation != "file removed":
        path.write_bytes(b"" if mutation == "empty file" else MUTATIONS[mutation](content, rng))
    return mutation


def damage(folder: Path, rng: random.Random) -> tuple[str, str]:
    """Damage one file of FOLDER; its name, and how."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in {".json", ".safetensors"})
    path = rng.choice(files)
    name = path.relative_to(folder).as_posix()
    if rng.random() < 0.35:
        return name, change_file(path, rng)
    return name, (change_tensor if path.suffix == ".safetensors" else change_value)(path, rng)


def use(folder: Path) -> None:
    """Everything that is read of a model folder, twice."""
    spec = ModelSpec(name="model", kind="folder", location=str(folder))
    spec_fingerprint(spec, precision="float32")
    vectors = [load_transformer(str(folder), MACHINE).encode(SENTENCES) for _ in range(2)]
    assert vectors[0].shape == (len(SENTENCES), vector_length(spec)), vectors[
        0
    ].shape  # a pooling of two parts doubles it
    assert np.isfinite(vectors[0]).all(), "vectors that are not finite"
    np.testing.assert_array_equal(vectors[0], vectors[1])
    load_language_model(folder)


def case(number: int, seed: int, whole: Path, place: Path) -> Case:
    """One damaged copy of the folder WHOLE."""
    rng = generator(seed, number)
    folder = Path(shutil.copytree(whole, place / f"{number}-{whole.name}"))
    target, mutation = damage(folder, rng)
    return Case(target=target, mutation=mutation, run=lambda: use(folder))


def main() -> int:
    """Run the campaign."""
    options = arguments(__doc__ or "", 600)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        folders = list(build_folders(Path(scratch)).values())
        for folder in folders:
            use(folder)
        cases = [
            case(number, options.seed, folders[number % len(folders)], Path(scratch))
            for number in range(options.cases)
        ]
        outcomes, seconds = timed(cases, limit_s=options.limit_s)
    notes = [
        f"{len(folders)} architectures with every file of embedlab and sentence-transformers "
        f"but checksums; seed {options.seed}"
    ]
    return report(
        "models",
        "Damaged model folders",
        outcomes,
        seconds=seconds,
        notes=notes,
        write=options.write,
    )


if __name__ == "__main__":
    sys.exit(main())
