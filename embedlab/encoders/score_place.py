"""The folder of a model's scores; torch-free, so that the dashboard finds them too."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from embedlab.core.paths import file_hash
from embedlab.core.settings import Settings
from embedlab.models.catalog import ModelSpec
from embedlab.models.encoder_kind import combined_fingerprint
from embedlab.models.location import backends, spec_fingerprint


@dataclass(frozen=True, kw_only=True)
class ScorePlace:
    """The folder of one member model's scores and evaluations."""

    spec: ModelSpec
    fingerprint: str
    precision: str
    evaluations: Path

    @classmethod
    def of(cls, spec: ModelSpec, settings: Settings) -> Self:
        """Return the run's own folder if the run is used as it was trained, otherwise the cache
        folder of the fingerprint.

        In the cache the heads of runs count too: heads of one encoder may predict differently.
        """
        # float32 unless selected otherwise, so that numbers do not depend on the hardware
        is_selected = settings.precision != "auto" and "torch" in backends(spec)
        precision = spec.dtype or (settings.precision if is_selected else "float32")
        fingerprint = spec_fingerprint(spec, precision=precision)
        is_as_stored = spec.typed.keys() <= {"revision"}
        is_plain_run = spec.is_run and is_as_stored and precision == "float32"
        heads = _heads(spec)
        name = combined_fingerprint(fingerprint, *heads) if heads else fingerprint
        folder = (
            Path(spec.location).parent
            if is_plain_run
            else (spec.shipped.results() or settings.cache / "models") / name
        )
        return cls(
            spec=spec,
            fingerprint=fingerprint,
            precision=precision,
            evaluations=folder / "evaluations",
        )


def _heads(spec: ModelSpec) -> list[str]:
    """Return the hashes of the heads that SPEC predicts with: its own, or those of an ensemble's
    members.
    """
    runs = [Path(member.location).parent for member in (spec, *spec.parts) if member.is_run]
    return [
        file_hash(run / "heads.safetensors")
        for run in runs
        if (run / "heads.safetensors").is_file()
    ]


def member_folders(fingerprint: str, settings: Settings, file: Path | None) -> Iterator[Path]:
    """Yield the folders that may contain scores and evaluations of the encoder with this
    FINGERPRINT, first those near the file FILE.
    """
    models, runs = settings.cache / "models", settings.runs.glob("*/seed-*")
    nearby_folders = list(file.resolve().parents)[:3] if file is not None else []
    yield from dict.fromkeys(
        [*nearby_folders, models / fingerprint, *sorted(runs), *sorted(models.glob("*"))]
    )
