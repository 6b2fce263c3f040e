"""Models by their typed names, and folders of models that a test changes."""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file, save_file
from torch import Tensor

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.session import ProgressCallback
from embedlab.core.settings import Settings
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import Encoder, Text
from embedlab.encoders.loading import load_encoder, scorer_for
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.models.location import spec_fingerprint


class TableEncoder(Encoder):
    """The rows of VECTORS as the vectors of a, b, c and so on."""

    def __init__(self, name: str, vectors: np.ndarray) -> None:
        self.name = self.fingerprint = name
        self.dim, self._vectors = vectors.shape[1], vectors

    def embed(
        self, sentences: Sequence[Text], progress: ProgressCallback | None = None
    ) -> np.ndarray:
        """A vector for each of these distinct sentences."""
        if progress is not None:
            progress(len(sentences), len(sentences))
        return self._vectors[[ord(str(sentence)) - ord("a") for sentence in sentences]]


def spec_of(name: str | Path) -> ModelSpec:
    """The one member of a typed name, where there are no runs."""
    (spec,) = resolve(str(name), Path("none")).members
    return spec


def offline_settings(**more: Any) -> Settings:
    """Settings of a process that computes on one core, without a network."""
    return Settings(device="cpu", threads=1, **{"offline": True, **more})


def opened(name: str | Path, cpu: Machine, cache: Path | None = None) -> Encoder:
    """The encoder of a typed name, without a network."""
    return load_encoder(spec_of(name), offline_settings(precision=cpu.precision), cache=cache)


def scorer_of(name: str | Path, **settings: Any) -> Any:
    """What scores pairs under a typed name, without a network."""
    return scorer_for(spec_of(name), offline_settings(**settings))


def written_once(
    layouts: Mapping[str, Callable[[Path], Path]], place: Path
) -> Callable[[str], Path]:
    """The folder of a layout by its name, which is written below PLACE when it is first used."""
    numbers = {name: f"{number}" for number, name in enumerate(layouts)}
    return functools.cache(lambda name: layouts[name](place / numbers[name]))


def assert_refused(
    name: str | Path, cpu: Machine, *says: str, kind: type[EmbedlabError] = MissingError
) -> None:
    """Assert that a typed name has no vectors, and that this is said in one line with a hint, which
    have these words.
    """
    with pytest.raises(kind) as refused:
        opened(name, cpu).encode(["a dog", "a cat"])
    said = f"{refused.value.message} {refused.value.hint}"
    assert "\n" not in said
    assert [words for words in says if words not in said] == []


def fingerprint(name: str | Path, precision: str = "float32") -> str:
    """The fingerprint of a typed name."""
    return spec_fingerprint(spec_of(name), precision=precision)


def change_json(file: Path, **values: Any) -> Path:
    """Set these keys of a JSON file, which need not exist, and return its folder."""
    before = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**before, **values}))
    return file.parent


def change_weights(
    folder: Path, change: Callable[[dict[str, Tensor]], object], name: str = "model.safetensors"
) -> None:
    """Let CHANGE alter the tensors of a file of a folder."""
    file = folder / name
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file, metadata={"format": "pt"})
