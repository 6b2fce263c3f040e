"""The pairs of datasets that plug-ins add, read by a process of their own: the dashboard runs no
plug-in.
"""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from embedlab.core import plugins
from embedlab.core.frame_files import read_parquet
from embedlab.core.python_processes import run_module
from embedlab.core.settings import Settings
from embedlab.data.dataset import DatasetState, Part

TIMEOUT_S = 120.0
_PASSED = ("data", "allow_partial")


@dataclass(frozen=True, kw_only=True, eq=False)
class PluginParts:
    """What the process read."""

    parts: tuple[Part, ...] = ()
    gold_ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # by dataset
    files: tuple[str, ...] = ()  # that the rows were read from
    missing: tuple[str, ...] = ()  # what could not be read


def read_plugin_parts(settings: Settings) -> PluginParts:
    """Return the test splits of the datasets of scored pairs that plug-ins add; without plug-ins no
    process is started.
    """
    if not plugins.added("datasets"):
        return PluginParts()
    given = {
        key: value
        for key, value in asdict(settings).items()
        if key in _PASSED and value is not None
    }
    with tempfile.TemporaryDirectory() as folder:
        failed = PluginParts(
            missing=(
                "the datasets of plug-ins cannot be read: `embedlab data check NAME` shows why",
            )
        )
        try:
            if (
                run_module(
                    "embedlab.data.part_worker",
                    json.dumps(given, default=str),
                    folder,
                    timeout_s=TIMEOUT_S,
                )
                != 0
            ):
                return failed
            entries = json.loads((Path(folder) / "index.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return failed
        readable = [entry for entry in entries if "error" not in entry]
        return PluginParts(
            parts=tuple(
                Part(
                    frame=read_parquet(Path(folder) / entry["rows"]),
                    state=DatasetState(**entry["state"]),
                )
                for entry in readable
            ),
            gold_ranges={
                entry["name"]: (float(entry["gold_range"][0]), float(entry["gold_range"][1]))
                for entry in readable
            },
            files=tuple(file for entry in readable for file in entry["files"]),
            missing=tuple(entry["error"] for entry in entries if "error" in entry),
        )
