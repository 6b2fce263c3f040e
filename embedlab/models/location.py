"""Where the files of a resolved model are."""

from dataclasses import replace
from pathlib import Path

from embedlab.models.catalog import ModelSpec
from embedlab.models.hub import hub_folder


def model_folder(spec: ModelSpec, *, offline: bool) -> Path:
    """Return the folder of a transformer; of a hub model its snapshot, even if a local folder has its name."""
    location = Path(spec.location)
    if spec.kind != "hub" or location.is_absolute():  # absolute: pinned to a snapshot
        return location
    return hub_folder(spec.location, spec.revision, offline=offline)


def pinned(spec: ModelSpec, *, offline: bool) -> ModelSpec:
    """Return SPEC with each hub model replaced by its current snapshot folder, downloaded if needed and allowed.

    The fingerprinted weights are then the loaded ones, even if the hub's main moves on meanwhile.
    """
    parts = tuple(pinned(part, offline=offline) for part in spec.parts)
    location = str(model_folder(spec, offline=offline)) if spec.kind == "hub" else spec.location
    return replace(spec, parts=parts, location=location)
