"""Where the files of a resolved model are."""

from dataclasses import replace
from pathlib import Path

from embedlab.models.adapters import fetch_bases, typed_adapter
from embedlab.models.catalog import ModelSpec, of_hub
from embedlab.models.hub import hub_folder


def model_folder(spec: ModelSpec, *, offline: bool) -> Path:
    """Return the folder of a transformer; of a hub model its snapshot, even if a local folder has
    its name.

    The base model of an adapter is on this machine then too, downloaded if needed and allowed.
    """
    folder = Path(spec.location)
    if spec.is_on_hub and not folder.is_absolute():  # an absolute one is pinned to a snapshot
        folder = hub_folder(spec.location, spec.revision, offline=offline)
    if spec.adapter is not None:
        typed_adapter(spec.adapter, offline=offline)
    elif not offline:
        fetch_bases(folder)
    return folder


def pinned(spec: ModelSpec, *, offline: bool) -> ModelSpec:
    """Return SPEC with each hub model replaced by its current snapshot folder, downloaded if needed
    and allowed.

    The fingerprinted weights are then the loaded ones, even if the hub's main moves on meanwhile. A
    cross-encoder is one from then on.
    """
    parts = tuple(pinned(part, offline=offline) for part in spec.parts)
    if spec.repository is not None and not Path(spec.location).is_dir():
        return replace(
            spec, location=str(hub_folder(spec.repository, spec.revision, offline=offline))
        )
    if not spec.is_transformer:
        return replace(spec, parts=parts)
    folder = model_folder(spec, offline=offline)
    if not spec.is_on_hub:
        return spec
    model_spec = of_hub(spec, folder)
    return model_spec if model_spec.repository is not None else replace(spec, location=str(folder))
