"""The environment of a run: hardware, versions and the facts of its data, written once before step
one.
"""

import os
import platform
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from embedlab.core.disk import as_reading_errors, read_sealed
from embedlab.core.plugins import plugin_versions
from embedlab.core.schema import read_json
from embedlab.core.version import __version__

# The fields of `embedlab.data.dataset.DatasetState`, and those that a run adds.
StoredPart = Mapping[str, Any]


SCHEMA = 1  # of the whole run folder; raised when older versions of embedlab can no longer read it

RESTORE = "remove the run, or restore the file"
RECORDED_PACKAGES = ("torch", "transformers", "tokenizers", "accelerate", "numpy", "polars")


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The facts of a run that its recipe does not contain."""

    seed: int
    device: str
    precision: str = "unknown"  # for runs that did not record it
    threads: int
    data: tuple[
        StoredPart, ...
    ]  # the state of every part that was read: rows, hashes, partial, origin
    command: tuple[str, ...] = ()
    schema: int = SCHEMA
    embedlab: str = __version__
    python: str = platform.python_version()
    system: str = ""
    host: str = ""
    cpus: int = 0
    commit: str | None = None  # of the source checkout; absent = installed from a wheel
    packages: Mapping[str, str] | None = None
    steps: int | None = None  # of a shortened training; absent = not shortened
    whole_steps: int | None = None  # of the full training
    seeds: tuple[int, ...] = ()  # of the command that began it; absent = this one alone

    @classmethod
    def load(cls, path: Path) -> "Environment":
        """Read the environment of a run; an absent or damaged file is a MissingError."""
        with as_reading_errors(path, hint=RESTORE):
            content = read_sealed(path, hint=RESTORE)
            return read_json(cls, content, where=path, schema=SCHEMA, hint=RESTORE)

    @property
    def is_partial(self) -> bool:
        """Whether any part of the data was incomplete."""
        return any(state.get("partial") for state in self.data)

    @property
    def is_generated(self) -> bool:
        """Whether any part of the data was generated."""
        return any(state.get("origin") == "tiny" for state in self.data)

    @property
    def is_shortened(self) -> bool:
        """Whether the training took fewer steps than its stages have."""
        return self.steps is not None


def collect_environment(
    *,
    seed: int,
    device: str,
    precision: str,
    threads: int,
    data: Sequence[Mapping[str, Any]],
    shortened: tuple[int, int] | None = None,
) -> Environment:
    """Return the environment of this process; SHORTENED are the steps of a shortened training and
    those of the full one.
    """
    steps, whole_steps = shortened or (None, None)
    return Environment(
        seed=seed,
        device=device,
        precision=precision,
        threads=threads,
        data=tuple(data),
        command=tuple(
            argument.encode(errors="replace").decode() for argument in sys.argv
        ),  # a name may hold bytes that are not UTF-8
        system=platform.platform(),
        host=socket.gethostname(),
        cpus=os.cpu_count() or 0,
        commit=_commit(),
        packages=_versions(),
        steps=steps,
        whole_steps=whole_steps,
    )


def _versions() -> dict[str, str]:
    return {**_package_versions(), **plugin_versions()}


@cache  # of this process, however many seeds it trains
def _package_versions() -> Mapping[str, str]:
    from importlib.metadata import version  # needed by new runs only

    return {name: version(name) for name in RECORDED_PACKAGES}


@cache  # the code that this process loaded, whatever is committed later
def _commit() -> str | None:
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    try:
        completed = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return completed.stdout.strip()
