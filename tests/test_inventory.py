"""Nothing that embedlab offered before its layout changed is lost; what went on purpose is listed
here.
"""

import json
from typing import Any

import pytest

from tests.conftest import thin_out_the_sample
from tests.inventory import FILE, grids, inventory

REMOVED: dict[str, set[str]] = {  # part of the inventory → its lines that went on purpose
    "files": {
        *(
            "compare.md",
            "launch.md",
            "pairs.md",
            "runs.md",
        ),  # each is help.md in its screen's folder
        *(
            "chen.toml",
            "liao.toml",
            "sedghamiz.toml",
            "tsukagoshi.toml",
        ),  # each is paper.toml in its paper's folder
        "published.toml",  # [published] of the papers' files
        "published.tsv",  # [sha256] of the corpora's files
    },
    "commands": {
        *(
            f"{name} / --by = one of dataset, dice, source" for name in ("compare", "evaluate")
        ),  # any property of items
        "evaluate / --suite = value",  # several, as for compare
        "reproduce / --from = one of runs",  # and scores
    },
    "settings": {"capture"},  # never measured on a GPU
}


def lines(values: Any, prefix: str = "") -> set[str]:
    """Every leaf of nested values as "key / key = value"."""
    if isinstance(values, dict):
        return {
            line
            for key, own in values.items()
            for line in lines(own, f"{prefix} / {key}" if prefix else str(key))
        }
    if isinstance(values, list):
        return {f"{prefix}: {value}" if prefix else str(value) for value in values}
    return {f"{prefix} = {values}"}


@pytest.fixture(scope="module")
def now() -> dict[str, Any]:
    return inventory()


@pytest.mark.parametrize("part", json.loads(FILE.read_text(encoding="utf-8")))
def test_nothing_is_lost(part: str, now: dict[str, Any]) -> None:
    before = lines(json.loads(FILE.read_text(encoding="utf-8"))[part])
    lost = before - lines(now[part])
    assert lost == REMOVED.get(part, set())


def test_a_thinned_sample_world_leaves_no_trace_in_the_names_of_runs(now: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        thin_out_the_sample(patch, 3)
        thinned = grids()
    assert thinned["sbert-lr"] != now["grids"]["sbert-lr"]  # its dev split has fewer pairs
    assert grids() == now["grids"]
