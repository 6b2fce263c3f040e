"""Stored scores of a model's pairs; torch-free, so that the dashboard finds them too."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from embedlab.core.paths import file_hash
from embedlab.core.settings import Settings
from embedlab.models import encoder_kind
from embedlab.models.catalog import ModelSpec
from embedlab.models.fingerprint import combined_fingerprint, earlier_fingerprint, spec_fingerprint
from embedlab.models.shape import backends


def evaluation_precision(settings: Settings) -> str:
    """Return the precision of evaluations: float32 unless selected otherwise, so that numbers do
    not depend on the hardware.
    """
    return "float32" if settings.precision == "auto" else settings.precision


@dataclass(frozen=True, kw_only=True)
class ScorePlace:
    """The folder of one member model's scores and evaluations."""

    spec: ModelSpec
    fingerprint: str
    # its fingerprint by the earlier rule, where what is stored under that counts
    earlier: str | None = None
    precision: str
    evaluations: Path

    @classmethod
    def of(cls, spec: ModelSpec, settings: Settings) -> Self:
        """Return the run's own folder if the run is used as it was trained, otherwise the cache
        folder of the fingerprint.

        In the cache the heads of runs count too: heads of one encoder may predict differently. A
        folder of the earlier fingerprint is used on.
        """
        precision = evaluation_precision(settings) if "torch" in backends(spec) else "float32"
        precision = spec.dtype or precision
        fingerprint = spec_fingerprint(spec, precision=precision)
        is_plain_run = spec.is_run and not spec.has_options and precision == "float32"
        earlier, heads = earlier_fingerprint(spec, fingerprint, precision=precision), _heads(spec)
        names = [
            combined_fingerprint(digest, *heads) if heads else digest
            for digest in (fingerprint, earlier)
            if digest is not None
        ]
        own = encoder_kind.results_folder(spec.kind) if spec.is_prefixed else None
        cached = [(own or settings.cache / "models") / name for name in names]
        folder = (
            Path(spec.location).parent
            if is_plain_run
            else next((path for path in cached if path.is_dir()), cached[0])
        )
        return cls(
            spec=spec,
            fingerprint=fingerprint,
            earlier=earlier,
            precision=precision,
            evaluations=folder / "evaluations",
        )

    def counts(self, fingerprint: str | None) -> bool:
        """Return whether what is stored under FINGERPRINT is of this model."""
        return fingerprint is not None and fingerprint in {self.fingerprint, self.earlier}


def _heads(spec: ModelSpec) -> list[str]:
    """Return the hashes of the heads that SPEC predicts with: its own, or those of an ensemble's
    members.
    """
    runs = [Path(each.location).parent for each in (spec, *spec.parts) if each.is_run]
    return [
        file_hash(run / "heads.safetensors")
        for run in runs
        if (run / "heads.safetensors").is_file()
    ]


def member_folders(
    fingerprint: str, settings: Settings, near: Path | None = None
) -> Iterator[Path]:
    """Yield the folders that may contain scores and evaluations of the encoder with this
    FINGERPRINT, first those near the file NEAR.
    """
    models, runs = settings.cache / "models", settings.runs.glob("*/seed-*")
    around = list(near.resolve().parents)[:3] if near is not None else []
    yield from dict.fromkeys(
        [*around, models / fingerprint, *sorted(runs), *sorted(models.glob("*"))]
    )
