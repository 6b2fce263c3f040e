"""Adapters of peft: a folder with adapter_config.json holds changes to the weights of a base model,
which it names.
"""

from dataclasses import dataclass
from pathlib import Path

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.paths import typed_path
from embedlab.models.folder_files import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    AdapterFile,
    read_stated,
    weight_files,
)
from embedlab.models.hub import hub_folder
from embedlab.models.modules import read_modules
from embedlab.models.published import published_entry

OWN_BASE = "the base can be named: BASE@adapter={}"
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json")


@dataclass(frozen=True, kw_only=True)
class TransformerFiles:
    """The folders that a transformer is read from; for a model without an adapter one and the
    same.
    """

    weights: Path
    tokenizer: Path
    adapter: Path | None = None  # changes to the weights
    base: Path | None = None  # the folder of the model with the weights, where an adapter names it


def is_adapter(folder: Path) -> bool:
    """Whether FOLDER holds an adapter."""
    return (folder / ADAPTER).is_file()


def typed_adapter(location: str, *, offline: bool = True) -> Path:
    """The folder of the adapter that `@adapter=LOCATION` names: a local one or a repository of the
    hub.
    """
    folder = typed_path(location)
    if not folder.is_dir():
        folder = hub_folder(location, offline=offline)
    if not is_adapter(folder):
        raise UsageError(
            f"{location!r} is not an adapter: there is no {ADAPTER}",
            hint="give the folder that peft's save_pretrained wrote",
        )
    return folder


def base_folder(adapter: Path, *, offline: bool = True) -> Path:
    """The folder of the model that the adapter in ADAPTER changes: a local one, or of the hub,
    where names of the catalog work too.
    """
    file, hint = read_adapter(adapter), OWN_BASE.format(adapter)
    if not file.base_model_name_or_path:
        raise MissingError(f"{adapter / ADAPTER} names no base model", hint=hint)
    try:
        return named_base(file, offline=offline)
    except MissingError as error:
        raise MissingError(
            f"{adapter / ADAPTER}: the base model is missing: {error.message}", hint=hint
        ) from error


def named_base(file: AdapterFile, *, offline: bool = True) -> Path:
    """The folder of the model that an adapter's FILE names; one that is not on this machine is a
    MissingError.
    """
    model_name = file.base_model_name_or_path or ""
    if model_name and Path(model_name).is_dir():
        return Path(model_name)
    revision = file.revision
    if (entry := published_entry(model_name)) is not None:
        model_name, revision = entry.repository, revision or entry.revision
    return hub_folder(model_name, revision, offline=offline)


def base_location(folder: Path) -> tuple[str, str | None]:
    """How an adapter names the base in FOLDER: a repository of the hub with its revision, or an
    absolute path.
    """
    if folder.parent.name == "snapshots" and folder.parents[1].name.startswith("models--"):
        return folder.parents[1].name.removeprefix("models--").replace("--", "/"), folder.name
    return str(folder.absolute()), None


def base_title(folder: Path) -> str:
    """How notes name the base in FOLDER: a repository of the hub, or the folder's own name."""
    location, revision = base_location(folder)
    return location if revision is not None else folder.name


def read_adapter(adapter: Path) -> AdapterFile:
    """What the adapter in a folder states; pickled weights and modules of other programs are a
    MissingError.
    """
    file = read_stated(adapter / ADAPTER, AdapterFile)
    if file.megatron_config:
        raise MissingError(
            f"{adapter / ADAPTER} names modules of Megatron",
            hint="embedlab runs no code that a folder names",
        )
    if not (adapter / ADAPTER_WEIGHTS).is_file():
        raise MissingError(
            f"{str(adapter)!r} holds no {ADAPTER_WEIGHTS}",
            hint="embedlab loads no pickled weights; save the adapter again",
        )
    return file


def transformer_files(source: Path, adapter: Path | None) -> TransformerFiles:
    """What the transformer in SOURCE is read from, with an ADAPTER that was typed or that the
    folder itself is.
    """
    if not is_adapter(source):
        return TransformerFiles(
            weights=source, tokenizer=_tokenizer(adapter, source), adapter=adapter
        )
    if adapter is not None:
        raise UsageError(
            f"{str(source)!r} is an adapter itself",
            hint=f"name its base: {base_folder(source)}@adapter={adapter}",
        )
    if weight_files(source):
        raise MissingError(
            f"{str(source)!r} holds a whole model and an adapter",
            hint=f"move {ADAPTER} and its weights to another folder",
        )
    base = base_folder(source)
    if is_adapter(base):
        raise MissingError(
            f"{source / ADAPTER}: the base model {str(base)!r} is an adapter itself",
            hint="export that as a whole model",
        )
    weights = base if (base / "config.json").is_file() else read_modules(base).source
    return TransformerFiles(
        weights=weights, tokenizer=_tokenizer(source, weights), adapter=source, base=base
    )


def fetch_bases(folder: Path) -> None:
    """Download the base models of the adapters in FOLDER where they are on the hub and not on this
    machine.
    """
    for path in (folder, *(file.parent for file in folder.glob(f"*/{ADAPTER}"))):
        if is_adapter(path) and not weight_files(path):
            base_folder(path, offline=False)


def _tokenizer(adapter: Path | None, base: Path) -> Path:
    """The folder of the tokenizer: an adapter may have been trained with its own."""
    if adapter is not None and any((adapter / name).is_file() for name in _TOKENIZER):
        return adapter
    return base
