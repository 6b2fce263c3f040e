"""Where scores and evaluations are stored."""

import shutil
from pathlib import Path

import pytest

from embedlab.core.settings import Settings
from embedlab.encoders.score_place import ScorePlace
from embedlab.models.catalog import resolve


@pytest.mark.parametrize("name", ["one@1?pooling=max", "ensemble:one@1,two@1"])
def test_what_other_heads_predict_is_stored_apart(
    small_bert: Path, tmp_path: Path, name: str
) -> None:
    settings = Settings(runs=tmp_path / "runs", cache=tmp_path / "cache")
    for run in ("one", "two"):
        shutil.copytree(small_bert, settings.runs / run / "seed-1" / "model")

    def place() -> ScorePlace:
        (spec,) = resolve(name, settings.runs).members
        return ScorePlace.of(spec, settings)

    bare = place()
    heads = settings.runs / "one" / "seed-1" / "heads.safetensors"
    heads.write_bytes(b"some")
    some = place()
    heads.write_bytes(b"another")
    assert len({bare.evaluations, some.evaluations, place().evaluations}) == 3
    assert bare.fingerprint == some.fingerprint == place().fingerprint
    assert bare.evaluations.parent.name == bare.fingerprint
