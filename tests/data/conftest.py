"""Makes small data folders in the corpora's own layouts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from embedlab.data.dataset import Dataset, Expected, ParsedRows
from embedlab.data.source import dataset

Write = Callable[[str, str | bytes], Path]


def read_as(
    name: str, paths: Sequence[Path], split: str | None = None, *, layout: int = 0
) -> ParsedRows:
    """The rows of files that are read as those of a split of the corpus NAME, in one of its
    layouts.
    """
    found = dataset(name)
    return found.splits[split or next(iter(found.splits))].layouts[layout].read(paths)


def write_as(name: str, frame: pl.DataFrame, split: str | None = None) -> tuple[str, ...]:
    """The text of the files that `data get` writes of the corpus NAME."""
    found = dataset(name)
    return next(
        layout.write
        for layout in found.splits[split or next(iter(found.splits))].layouts
        if layout.write is not None
    )(frame)


def on_hub(name: str, split: str, repository: Path, expected: Expected) -> Dataset:
    """The dataset NAME with one split, which comes from a local repository in the hub's layout."""
    found = dataset(name)
    hub = found.splits[split].hub
    assert hub is not None
    local = replace(hub, repository=str(repository), revision="main")
    return replace(
        found, splits={split: replace(found.splits[split], hub=local, expected=expected)}
    )


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file below tmp_path/data and gives its path."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file
