"""A training that cannot learn is refused before it starts, and one that did not learn says so."""

import math
from pathlib import Path

import numpy as np
import pytest

from embedlab.core.errors import UsageError
from embedlab.core.recipe import Recipe, load_recipe
from embedlab.data.source import Source
from embedlab.objectives.needs import check_columns
from embedlab.runs import events
from embedlab.runs.status import flaw_of
from embedlab.training.stage_data import StageData, open_stage
from tests.stored_scores import step_of


def recipe_of(name: str, file: Path, *overrides: str) -> Recipe:
    return load_recipe(name, [f"data.files={file}", "evaluate.dev=none", *overrides])


def opened(recipe: Recipe, tmp_path: Path) -> StageData:
    check_columns(recipe)
    return open_stage(recipe, Source(folder=tmp_path), 1, 0)


def rows(tmp_path: Path, header: str, line: str, count: int) -> Path:
    """A file of so many lines: LINE with the number of each, N, and a fourth of it, Q."""
    path = tmp_path / "rows.csv"
    lines = [
        line.replace("N", str(number)).replace("Q", str(number // 4)) for number in range(count)
    ]
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


PAIRS = ("anchor,positive", "question N,answer N")
SIZE_8 = "optim.batch_size=8"
SAME = "no batch holds two different"
IN_ORDER = ("own-pairs", "anchor,positive", "question N,answer Q")


@pytest.mark.parametrize(
    ("recipe", "header", "line", "overrides", "said"),
    [
        ("own-pairs", *PAIRS, [SIZE_8, "optim.accumulate=8"], "parts 8 rows into 8"),
        (*IN_ORDER, ["optim.batch_size=4", "data.order=file"], SAME),
        ("own-pairs", "anchor,positive", "question,answer N", [], f"{SAME}.* and of 'anchor'"),
        (
            "own-pairs",
            *PAIRS,
            ["objective.repeats=apart", "data.order=file"],
            r"data\.order",
        ),
        (
            "own-scored-pairs",
            "sentence1,sentence2,rating",
            "a N,b N,4.0",
            ["data.columns.gold=rating"],
            r"'rating' is '4\.0' in all 16 rows for training",
        ),
    ],
)
def test_rows_that_teach_nothing_are_refused(
    recipe: str, header: str, line: str, overrides: list[str], said: str, tmp_path: Path
) -> None:
    file = rows(tmp_path, header, line, 16)
    with pytest.raises(UsageError, match=said):
        opened(recipe_of(recipe, file, *overrides), tmp_path)


@pytest.mark.parametrize(
    ("recipe", "header", "line", "size", "steps"),
    [("own-triplets", "anchor,positive,negative", "a N,b N,c N", 1, 48), (*IN_ORDER, 4, 12)],
)
def test_rows_with_another_answer_beside_them_are_read(
    recipe: str, header: str, line: str, size: int, steps: int, tmp_path: Path
) -> None:
    file = rows(tmp_path, header, line, 16)
    assert opened(recipe_of(recipe, file, f"optim.batch_size={size}"), tmp_path).steps == steps


def steps(*losses: float, stage: int = 0) -> list[events.Event]:
    count = len(losses)
    return [
        step_of(number, count, stage=stage, loss=loss)
        for number, loss in enumerate(losses, start=1)
    ]


CHANCE = events.VectorSpread(step=4, stage=0, mean_cosine=0.3, before=0.4, chance=4.2)


@pytest.mark.parametrize(
    ("recorded", "keeps_best", "said"),
    [
        (steps(0.0, 0.0, 0.0), False, "0 at every step"),
        (steps(0.0, 0.0, 0.1), False, ""),
        ([*steps(0.1, 0.4, 0.4, 0.4), CHANCE], False, ""),
        ([*steps(0.1, 5.0, 5.0, 5.0), CHANCE], False, "rose from 0.1 to 5"),
        (steps(1.0, 3.0, 3.0, 3.0), False, "rose from 1 to 3"),
        (steps(1.0, 0.5, 0.4, 0.4), False, ""),
        ([step_of(1, 1, loss=1.0, lr=0.0)], False, "learning rate was 0"),
        (steps(-1.0, -2.0, -2.0, -2.0), False, ""),
        ([*steps(1.0, 0.5), events.Dev(step=2, score=math.nan)], True, "no dev score"),
        ([*steps(1.0, 0.5), events.Dev(step=2, score=math.nan)], False, ""),
    ],
)
def test_a_training_that_did_not_learn_is_told_by_its_events(
    recorded: list[events.Event], keeps_best: bool, said: str
) -> None:
    flaw = flaw_of(recorded, keeps_best=keeps_best)
    assert (said in flaw) if said else flaw == ""


def test_apart_leaves_no_answer_twice_in_a_batch(tmp_path: Path) -> None:
    file = rows(tmp_path, "anchor,positive", "question N,answer Q", 60)
    data = opened(recipe_of("own-pairs", file, "objective.repeats=apart"), tmp_path)
    batches, positives = data.batches(0), data.rows.columns["positive"]
    assert sorted(np.concatenate(batches).tolist()) == list(range(60))
    assert all(len(set(positives[batch].tolist())) == len(batch) for batch in batches)
