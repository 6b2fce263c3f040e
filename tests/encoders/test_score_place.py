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
    places = []
    for heads in (b"", b"some", b"another"):
        if heads:
            (settings.runs / "one" / "seed-1" / "heads.safetensors").write_bytes(heads)
        (spec,) = resolve(name, settings.runs).members
        places.append(ScorePlace.of(spec, settings))
    assert len({place.evaluations for place in places}) == 3
    (fingerprint,) = {place.fingerprint for place in places}
    assert places[0].evaluations.parent.name == fingerprint
