"""Runs, caches and grids that were written before the layout changed are read, compared and resumed
as before.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from embedlab.core.seal import KEY, UNSEALED, seal
from embedlab.runs.store import RunFolder
from tests.cli import conftest
from tests.cli.conftest import Embedlab
from tests.runs_of_before import CUT, OPTIONS, PRINTED, unpack

embedlab = conftest.embedlab  # a fixture

OF_SLICE = {
    "pairs": "items",
    **{key: key for key in ("sentences", "design_effect", "component_rows", "component_share")},
}
OF_MODEL = {
    "": "score",
    ".delta": "difference",
    ".delta_low": "difference_low",
    ".delta_high": "difference_high",
    ".p_holm": "p_corrected",
    ".design_effect": "difference_design_effect",
    **{
        f".{key}": key
        for key in ("sd", "low", "high", "letters", "shared_pairs", "shared_sentences", "p", "test")
    },
}


@pytest.fixture
def before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of then, as the working folder."""
    unpack(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBEDLAB_CACHE", "cache")
    return tmp_path


@pytest.mark.parametrize("name", PRINTED)
def test_stored_results_are_the_same_numbers_and_nothing_is_computed_again(
    name: str, embedlab: Embedlab, before: Path
) -> None:
    printed = json.loads((before / name).read_text())
    answer = embedlab(*PRINTED[name])
    assert answer.code == 0, answer.err
    if name == "compare.json":
        assert_same_numbers(printed, answer.json)
        Path("now.json").write_text(answer.out)
        verified = embedlab("verify", name, "now.json", "--sample")
        assert verified.code == 0, verified.out
        assert verified.out.count("; all ") == 3
    else:
        assert without_marks(answer.json["rows"]) == without_marks(printed["rows"])
    assert "scoring" not in answer.err


def without_marks(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The numbers of a table; what counts as a tie was decided by seeds alone then, and how much
    the choice of the best adds is new.
    """
    return [
        {key: value for key, value in row.items() if not key.endswith((".mark", ".optimism"))}
        for row in rows
    ]


def assert_same_numbers(before: Any, now: Any) -> None:
    """What was printed in columns of each model is now in rows of one model; what rests on a
    variance is counted by topics since.
    """
    models = list(before["signatures"])
    rows = {(row["slice"], row["model"]): row for row in now["rows"]}
    assert list(rows) == [(wide["slice"], model) for wide in before["rows"] for model in models]
    for wide in before["rows"]:
        for model in models:
            own = {
                OF_MODEL[key.removeprefix(model)]: value
                for key, value in wide.items()
                if key.removeprefix(model) in OF_MODEL
            }
            of_slice = {OF_SLICE[key]: value for key, value in wide.items() if key in OF_SLICE}
            found = {key: rows[wide["slice"], model][key] for key in own | of_slice}
            assert all(
                (found[key] is None) == (value is None) for key, value in (own | of_slice).items()
            )
            same = {
                key: value for key, value in (own | of_slice).items() if not rests_on_variance(key)
            }
            assert {key: found[key] for key in same} == same
            assert len(own) > 4
    known = {*OF_SLICE, "slice", *(f"{model}{key}" for model in models for key in OF_MODEL)}
    assert {key for wide in before["rows"] for key in wide} <= known


def test_an_interrupted_run_goes_on(embedlab: Embedlab, before: Path) -> None:
    recipe = before / "runs-sample" / "cut" / "seed-1" / "recipe.toml"
    own_lines = (
        line for line in recipe.read_text().splitlines(keepends=True) if not line.startswith("# ")
    )
    moved = "".join(own_lines).replace(
        "/home/lab/project", str(before)
    )  # the encoder has moved with the runs
    recipe.write_bytes(seal(f"{moved}# {KEY}: {UNSEALED}\n".encode()))
    answer = embedlab("train", "snli-supcl", "--encoder", "tiny", *OPTIONS, *CUT, "--resume")
    assert answer.code == 0, answer.err
    assert "finished after 20 steps" in answer.err
    assert RunFolder.of(before / "runs-sample", "cut", 1).model.is_dir()


def test_its_runs_and_cells_are_listed(embedlab: Embedlab, before: Path) -> None:
    listed = {row["run"] for row in embedlab("runs", "ls", "--sample", "--json").json["rows"]}
    assert {"whole@1", "cut@1"} <= listed
    assert embedlab("grid", "status", "rates", "--sample", "--json").json["notes"] == ["2 done"]


def rests_on_variance(key: str) -> bool:
    """Whether a number is of an interval or of a test; rows of one topic count as dependent
    since.
    """
    own = {
        "letters",
        "low",
        "high",
        "p",
        "p_corrected",
        "design_effect",
        "component_share",
        "component_rows",
    }
    return key.removeprefix("difference_") in own
