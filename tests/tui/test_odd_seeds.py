"""A seed that is apart from the others of its run is marked on Runs, by Grubbs' test against a slow
version of it, and says by which p.
"""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import t as student

from embedlab.core.settings import Settings
from embedlab.runs.events import Dev, Finished
from embedlab.runs.status import Status
from embedlab.runs.store import RunFolder
from embedlab.tui.compare.model import ComparisonRequest, compare_slices
from embedlab.tui.compare.slice_detail import ModelFacts, _content, odd_seeds_of
from embedlab.tui.pair_table.data import load_pairs, with_models
from embedlab.tui.runs.odd_seeds import ODD, odd_seeds
from embedlab.tui.runs.screen import RunsScreen
from embedlab.tui.stored_models import stored_models
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import Open, make_run, on_top, until

SCORES = (71.2, 71.3, 71.25, 71.28, 60.0)


def statuses(
    folder: Path, name: str, scores: tuple[float, ...], state: str = "finished"
) -> list[tuple[RunFolder, Status]]:
    return [
        (
            RunFolder.of(folder, name, seed),
            Status(state=state, dev=Dev(step=1, score=score, time=0.0)),
        )  # type: ignore[arg-type]
        for seed, score in enumerate(scores, start=1)
    ]


def grubbs(scores: tuple[float, ...]) -> float:
    """The two-sided p of Grubbs' statistic by its own formula, of the value furthest from the
    mean.
    """
    count, mean = len(scores), math.fsum(scores) / len(scores)
    spread = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / (count - 1))
    g = max(abs(score - mean) for score in scores) / spread
    t2 = count * (count - 2) * g**2 / ((count - 1) ** 2 - count * g**2)
    return min(1.0, 2 * count * float(student.sf(math.sqrt(t2), count - 2)))


def test_the_seed_apart_is_named_with_the_p_of_grubbs_test(tmp_path: Path) -> None:
    found = odd_seeds(statuses(tmp_path, "sbert", SCORES))
    assert list(found) == ["sbert@5"]
    assert f"p {grubbs(SCORES):.2g})" in found["sbert@5"]
    assert "dev 60.00, below the others' 71.26" in found["sbert@5"]
    above = odd_seeds(statuses(tmp_path, "sbert", (*SCORES[:4], 80.0)))
    assert "above" in above["sbert@5"]


def test_more_runs_make_more_tests(tmp_path: Path) -> None:
    usual = [one for name in ("a", "b") for one in statuses(tmp_path, name, (70.0, 71.0, 72.5))]
    found = odd_seeds([*usual, *statuses(tmp_path, "sbert", SCORES)])
    assert list(found) == ["sbert@5"]
    assert f"p {3 * grubbs(SCORES):.2g}, corrected over 3 runs" in found["sbert@5"]


@pytest.mark.parametrize(
    ("scores", "state"),
    [(SCORES[3:], "finished"), ((70.0, 71.0, 72.5), "finished"), (SCORES, "running")],
)
def test_two_seeds_usual_ones_and_unfinished_ones_are_not_marked(
    tmp_path: Path, scores: tuple[float, ...], state: str
) -> None:
    assert not odd_seeds(statuses(tmp_path, "sbert", scores, state))


async def test_runs_marks_the_odd_seed_folded_and_alone(
    opened: Open, world: Settings, tmp_path: Path
) -> None:
    settings = replace(world, runs=tmp_path / "runs")
    for seed, score in enumerate(SCORES, start=1):
        make_run(
            settings,
            "sbert",
            seed,
            Dev(step=20, score=score, time=1.7e9),
            Finished(step=20, time=1.7e9),
        )
    async with opened(settings) as pilot:
        await pilot.press("3")
        screen = await on_top(pilot, RunsScreen)
        table = screen.query_one(FrameTable)
        await until(pilot, lambda: len(table.rows) == 1)
        assert table.frame["state"].to_list() == [f"✓ 5 finished {ODD}"]
        assert "seed 5 is apart" in str(screen.query_one("#run-note").render())
        await pilot.press("b")
        await until(pilot, lambda: len(table.rows) == 5)
        assert [ODD in state for state in table.frame["state"].to_list()] == [False] * 4 + [True]
        assert table.frame["note"].to_list()[4].startswith(f"{ODD} seed 5 is apart: dev 60.00")


def test_the_seed_apart_on_a_slice_of_compare_is_tested_too(world: Settings) -> None:
    stored = [model for model in stored_models(world)[0] if model.name in {"near", "far"}]
    result = compare_slices(
        with_models(load_pairs(world), stored),
        ComparisonRequest(by="dataset", aggregate="all", reference="far"),
    )
    first = result.comparison.slices[0]
    members = (0.711, 0.712, 0.7125, 0.7128, 0.6)
    changed = replace(
        first, scores={**first.scores, "near": replace(first.scores["near"], members=members)}
    )
    seeds = {"near": (11, 12, 13, 14, 15), "far": (1,)}
    assert odd_seeds_of(changed, seeds) == {
        "near": f"{ODD} seed 15 is apart (p {grubbs(members):.2g})"
    }
    assert odd_seeds_of(changed, {"near": (1, 2, 3)}) == {}, (
        "members of which the seeds are not known"
    )
    shown = str(_content(changed, ModelFacts(reference="far", seeds=seeds), 70))
    assert "seed 15 is apart" in shown
    assert "Grubbs' test over the seeds" in shown
    assert odd_seeds_of(first, seeds) == {}
