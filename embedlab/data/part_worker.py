"""Reads the datasets of plug-ins for a program that must not run them: `python -m
embedlab.data.part_worker SETTINGS FOLDER`.

Writes the rows of the test split of each dataset of scored pairs as `NUMBER.parquet` into FOLDER,
and `index.json`: a list of {"name", "gold_range", "state", "files"} or {"name", "error"}.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from embedlab.core import plugins
from embedlab.core.crash_reports import run_guarded, show_in_log
from embedlab.core.errors import EmbedlabError, ExitCode
from embedlab.core.schema import build
from embedlab.core.settings import Settings
from embedlab.data.source import Source, dataset

INDEX = "index.json"


def write_parts(settings: Settings, folder: Path) -> None:
    """Write what the datasets of plug-ins hold to FOLDER."""
    source = replace(Source.from_settings(settings), offline=True)
    (folder / INDEX).write_text(
        json.dumps(list(_entries(source, folder)), default=str), encoding="utf-8"
    )


def _entries(source: Source, folder: Path) -> Iterator[dict[str, Any]]:
    for number, plugin in enumerate(plugins.discover("datasets")):
        if plugin.is_shipped or plugin.fault is not None:
            continue
        try:
            chosen = dataset(plugin.name)
            if chosen.kind != "sts" or "test" not in chosen.splits:
                continue
            part = source.open_split(chosen, "test")
        except EmbedlabError as error:
            yield {"name": plugin.name, "error": error.reason}
            continue
        part.frame.write_parquet(folder / f"{number}.parquet")
        path = source.folder_of(chosen)
        yield {
            "name": plugin.name,
            "rows": f"{number}.parquet",
            "gold_range": chosen.gold_range,
            "state": asdict(part.state),
            "files": [
                str(path / file)
                for layout in chosen.splits["test"].layouts
                for file in layout.files
            ]
            if path
            else [],
        }


def main() -> int:
    """Write the parts that the command line names."""
    write_parts(build(Settings, json.loads(sys.argv[1]), where="settings"), Path(sys.argv[2]))
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(run_guarded(main, show_in_log))
