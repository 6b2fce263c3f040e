"""What this machine has, and what of it cannot be used."""

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.settings import Settings
from embedlab.core.version import __version__

PACKAGES = (
    "torch",
    "transformers",
    "tokenizers",
    "datasets",
    "accelerate",
    "sentence-transformers",
    "numpy",
    "polars",
)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One fact, and what is wrong with it where something is."""

    check: str
    found: str
    problem: str = ""


def examine(settings: Settings) -> list[Finding]:
    """Return versions, devices, folders, plug-ins and the hub, each with what is wrong with it."""
    return [*_versions(), *_devices(settings), *_folders(settings), *_plugins(), *_hub(settings)]


def _versions() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    yield Finding(check="embedlab", found=__version__)
    yield Finding(check="python", found=f"{platform.python_version()} on {platform.platform()}")
    for name in PACKAGES:
        try:
            yield Finding(check=name, found=version(name))
        except PackageNotFoundError:
            yield Finding(check=name, found="not installed")


def _devices(settings: Settings) -> Iterator[Finding]:
    import torch

    from embedlab.encoders.device import engine_line, has_bf16_units, machine

    processors = [torch.device("cpu")]
    processors += [torch.device("cuda", number) for number in range(torch.cuda.device_count())]
    processors += [torch.device("mps")] if torch.backends.mps.is_available() else []
    for device in processors:
        name = (
            torch.cuda.get_device_name(device)
            if device.type == "cuda"
            else platform.processor() or platform.machine()
        )
        yield Finding(
            check=str(device),
            found=f"{name}, {'with' if has_bf16_units(device) else 'without'} bf16 matrix units",
        )
    yield Finding(check="cpu engine", found=engine_line(settings))
    try:
        chosen = machine(settings, training=True)
        yield Finding(
            check="training on",
            found=f"{chosen.device} in {chosen.precision}, {chosen.threads} threads of "
            f"{os.cpu_count()}",
        )
    except EmbedlabError as error:
        yield Finding(check="training on", found=settings.device, problem=error.message)


def _folders(settings: Settings) -> Iterator[Finding]:
    if settings.data is None:
        yield Finding(
            check="data folder",
            found="none: --data DIR or EMBEDLAB_DATA; --data starter is inside embedlab",
        )
    else:
        description = (
            f"the starter set, {settings.data}"
            if settings.data == STARTER_FOLDER
            else str(settings.data)
        )
        yield Finding(
            check="data folder",
            found=description,
            problem="" if settings.data.is_dir() else "no such folder",
        )
    for check, folder in (("runs folder", settings.runs), ("cache folder", settings.cache)):
        existing = next(
            path for path in (folder.absolute(), *folder.absolute().parents) if path.exists()
        )
        free_gib = shutil.disk_usage(existing).free / 2**30
        yield Finding(
            check=check,
            found=f"{folder}, {free_gib:.1f} GiB free",
            problem=_why_not_writable(existing),
        )


def _why_not_writable(path: Path) -> str:
    if not path.is_dir():
        return f"{str(path)!r} is not a folder"
    return "" if os.access(path, os.W_OK | os.X_OK) else f"cannot write in {str(path)!r}"


def _plugins() -> Iterator[Finding]:
    from embedlab.workflows.plugins import plugin_states

    for state in plugin_states():
        description = (
            f"{state.kind} {state.name} of {state.origin}".strip() if state.name else state.origin
        )
        yield Finding(
            check="plug-in", found=description, problem="" if state.is_usable else state.state
        )


def _hub(settings: Settings) -> Iterator[Finding]:
    from huggingface_hub import constants

    from embedlab.core.network import is_reachable

    is_offline = settings.offline or constants.HF_HUB_OFFLINE
    state = (
        "switched off"
        if is_offline
        else "it answers"
        if is_reachable()
        else "it does not answer, the cache alone can be used"
    )
    yield Finding(check="hub", found=f"{state}; cache {constants.HF_HUB_CACHE}")
