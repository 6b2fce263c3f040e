"""A training that cannot learn is refused before it starts, and one that did not learn says so."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from embedlab.core.errors import UsageError
from embedlab.core.recipe import Recipe, load_recipe
from embedlab.data.source import Source
from embedlab.objectives.losses import duplicate_contrastive
from embedlab.objectives.losses.duplicate_contrastive import Options as DuplicateOptions
from embedlab.objectives.needs import check_columns
from embedlab.runs import events
from embedlab.runs.status import flaw_of
from embedlab.training.order import parted_batches
from embedlab.training.stage_data import StageData, check_own_rows, open_stage

DuplicateContrastive = duplicate_contrastive.objective()


def recipe_of(name: str, file: Path, *overrides: str) -> Recipe:
    return load_recipe(name, [f"data.files={file}", "evaluate.dev=none", *overrides])


def opened(recipe: Recipe, tmp_path: Path) -> StageData:
    check_columns(recipe)
    return open_stage(recipe, Source(folder=tmp_path), 1, 0)


def rows(tmp_path: Path, header: str, *lines: str) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def pairs(tmp_path: Path, count: int, answers: int) -> Path:
    lines = (f"question {number},answer {number % answers}" for number in range(count))
    return rows(tmp_path, "anchor,positive", *lines)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["optim.batch_size=1"], "batch_size is 1"),
        (["optim.batch_size=8", "optim.accumulate=8"], "parts 8 rows into 8"),
        (["optim.batch_size=8", "optim.accumulate=20"], "parts 8 rows into 20"),
    ],
)
def test_lone_rows_are_refused_where_rows_are_compared(
    overrides: list[str], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        opened(recipe_of("own-pairs", pairs(tmp_path, 20, 20), *overrides), tmp_path)


def test_a_triplet_has_its_own_negative(tmp_path: Path) -> None:
    file = rows(tmp_path, "anchor,positive,negative", "a,b,c", "d,e,f")
    assert opened(recipe_of("own-triplets", file, "optim.batch_size=1"), tmp_path).steps == 6


@pytest.mark.parametrize(("count", "answers"), [(1, 1), (20, 1)])
def test_one_positive_throughout_is_refused(count: int, answers: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no batch holds two different"):
        opened(recipe_of("own-pairs", pairs(tmp_path, count, answers)), tmp_path)


def test_rows_in_the_order_of_their_positives_are_refused(tmp_path: Path) -> None:
    lines = (f"question {number},answer {number // 4}" for number in range(16))
    file = rows(tmp_path, "anchor,positive", *lines)
    in_order = recipe_of("own-pairs", file, "optim.batch_size=4", "data.order=file")
    with pytest.raises(UsageError, match="no batch holds two different") as refused:
        opened(in_order, tmp_path)
    assert "data.order" in str(refused.value.hint)
    assert opened(recipe_of("own-pairs", file, "optim.batch_size=4"), tmp_path).steps == 12


def test_one_class_is_refused_before_torch_is_needed(tmp_path: Path) -> None:
    lines = (f"premise {number},hypothesis {number},entailment" for number in range(9))
    file = rows(tmp_path, "premise,hypothesis,label", *lines)
    recipe = recipe_of("own-labelled-pairs", file)
    with pytest.raises(UsageError, match="'label' is 'entailment' in all 9 rows"):
        check_own_rows(recipe, Source(folder=tmp_path), 1)


def test_one_score_is_refused(tmp_path: Path) -> None:
    lines = (f"a {number},b {number},4.0" for number in range(9))
    file = rows(tmp_path, "sentence1,sentence2,rating", *lines)
    recipe = recipe_of("own-scored-pairs", file, "data.columns.gold=rating")
    with pytest.raises(UsageError, match=r"'rating' is '4\.0' in all 9 rows for training"):
        opened(recipe, tmp_path)


def steps(*losses: float, stage: int = 0) -> list[events.Event]:
    return [
        events.Step(
            stage=stage,
            epoch=1.0,
            step=number + 1,
            steps=len(losses),
            loss=loss,
            lr=1e-5,
            rows_per_s=1.0,
            eta_s=0.0,
            memory_mib=1.0,
        )
        for number, loss in enumerate(losses)
    ]


@pytest.mark.parametrize(
    ("recorded", "keeps_best", "said"),
    [
        (steps(0.0, 0.0, 0.0), False, "0 at every step"),
        (steps(0.0, 0.0, 0.1), False, ""),
        (steps(1.0, 3.0, 3.0, 3.0), False, "rose from 1 to 3"),
        (steps(1.0, 0.5, 0.4, 0.4), False, ""),
        (steps(-1.0, -2.0, -2.0, -2.0), False, ""),
        ([*steps(1.0, 0.5), events.Dev(step=2, score=math.nan)], True, "no dev score"),
        ([*steps(1.0, 0.5), events.Dev(step=2, score=math.nan)], False, ""),
        ([*steps(1.0, 0.5), events.Dev(step=2, score=7.0)], True, ""),
    ],
)
def test_a_training_that_did_not_learn_is_told_by_its_events(
    recorded: list[events.Event], keeps_best: bool, said: str
) -> None:
    flaw = flaw_of(recorded, keeps_best=keeps_best)
    assert (said in flaw) if said else flaw == ""


def test_a_loss_above_its_start_is_no_flaw_while_it_is_below_chance() -> None:
    spread = events.VectorSpread(step=4, stage=0, mean_cosine=0.3, before=0.4, chance=4.2)
    assert flaw_of([*steps(0.1, 0.4, 0.4, 0.4), spread], keeps_best=False) == ""
    assert "rose" in flaw_of([*steps(0.1, 5.0, 5.0, 5.0), spread], keeps_best=False)


def test_a_duplicate_that_repeats_is_masked_and_a_non_duplicate_is_not() -> None:
    vectors = torch.randn(4, 8)
    columns = {
        "sentence1": torch.tensor([0, 0, 2]),
        "sentence2": torch.tensor([1, 3, 1]),
        "is_duplicate": torch.tensor([1, 0, 1]),
    }
    options = DuplicateOptions(projection="none")
    loss = DuplicateContrastive(options, 8)(vectors, columns).item()
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    score = (unit @ unit.T / 0.05).exp()
    # Row 0 chooses among 1 and 3, for the text of row 2 is its own; row 1 has 3 alone, for 1 is a
    # duplicate of its first text; row 2 chooses among 1 and 3.
    first = -(score[0, 1] / (score[0, 1] + score[0, 3])).log()
    third = -(score[2, 1] / (score[2, 1] + score[2, 3])).log()
    assert loss == pytest.approx(((first - 0.0 + third) / 3).item(), abs=1e-5)


def test_parted_batches_hold_every_row_once_and_no_text_twice() -> None:
    rng = np.random.default_rng(3)
    texts = np.stack([rng.integers(0, 40, 300), 40 + rng.integers(0, 9, 300)], axis=1)
    batches = parted_batches(texts, 16, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(300))
    for batch in batches:
        assert 1 <= len(batch) <= 16
        assert len(np.unique(texts[batch])) == 2 * len(batch)


def test_apart_leaves_no_answer_twice_in_a_batch(tmp_path: Path) -> None:
    file = pairs(tmp_path, 60, 6)
    data = opened(recipe_of("own-pairs", file, "objective.repeats=apart"), tmp_path)
    batches = data.batches(0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(60))
    positives = data.rows.columns["positive"]
    assert all(len(set(positives[batch].tolist())) == len(batch) for batch in batches)
    with pytest.raises(UsageError, match=r"data\.order"):
        opened(recipe_of("own-pairs", file, "objective.repeats=apart", "data.order=file"), tmp_path)
