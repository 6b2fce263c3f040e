"""What models have stored of other tasks is read as it is: no task is loaded, so that a plug-in's is like any other."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.analysis.scores import ModelColumns, ScoreFile
from embedlab.comparison.comparison import compare_outcomes
from embedlab.evaluation.stored_tasks import stored_tasks
from tests.stored_answers_of_tasks import write_answers, write_figure

GOLD = ["yes", "no"] * 20
FEW, MANY = (["no", "no", "no", "yes", *GOLD[4:]], ["no"] * 40)  # 3 and 20 of 40 are wrong


@pytest.fixture
def scores(tmp_path: Path) -> dict[str, Path]:
    """Score files of two members, each under its own fingerprint."""
    found = {name: tmp_path / name / "scores.parquet" for name in ("one", "two")}
    for name, path in found.items():
        path.parent.mkdir()
        frame = pl.DataFrame({"pair_key": [1], "similarity": [0.5]}, schema={"pair_key": pl.UInt64, "similarity": pl.Float32})
        ScoreFile(scores=frame, facts={"fingerprint": name, "model": name}).write(path)
    return found


def test_answers_and_figures_of_a_task_that_no_code_knows_are_compared(scores: dict[str, Path]) -> None:
    for name, answers, spread in (("one", FEW, 1.5), ("two", MANY, 2.5)):
        write_answers(scores[name], task="of-ones-own", gold=GOLD, predicted=answers, fingerprint=name)
        write_figure(scores[name], task="another", value=spread, fingerprint=name)
    found = stored_tasks(scores)
    assert found.scales[("another", "spread")] == 1
    (outcomes,) = found.outcomes
    models = [ModelColumns(name=name, members=(name,)) for name in scores]
    slices = compare_outcomes(outcomes, models, figures=found.figures).slices
    assert [(one.task, one.key, one.metric, one.pairs) for one in slices] == [
        ("of-ones-own", "mr", "accuracy", 40),
        ("another", "sts12 spread", "spread", 9),
    ]
    items, figure = slices
    assert items.scores["one"].value == pytest.approx(37 / 40)
    assert items.differences["two"].delta == pytest.approx(-17 / 40)
    assert items.differences["two"].high < 0
    assert figure.scores["two"].value == 2.5
    assert np.isnan(figure.differences["two"].low)


def test_what_was_made_with_other_vectors_or_on_other_items_is_left_out(scores: dict[str, Path]) -> None:
    write_answers(scores["one"], task="made", gold=GOLD, predicted=FEW, fingerprint="one")
    write_answers(scores["two"], task="made", gold=GOLD, predicted=MANY, fingerprint="before it was trained again")
    assert stored_tasks(scores).outcomes[0].predictions.null_count().row(0) == (0, 40)
    write_answers(scores["two"], task="made", gold=GOLD[::-1], predicted=MANY, fingerprint="two")
    assert stored_tasks(scores).outcomes[0].predictions.null_count().row(0) == (0, 40)
    write_answers(scores["two"], task="made", gold=GOLD, predicted=MANY, fingerprint="two")
    assert stored_tasks(scores).outcomes[0].predictions.null_count().row(0) == (0, 0)


def test_each_answer_and_figure_changes_the_digest(scores: dict[str, Path]) -> None:
    seen = {stored_tasks(scores).digest}
    write_answers(scores["one"], task="made", gold=GOLD, predicted=FEW, fingerprint="one")
    seen.add(stored_tasks(scores).digest)
    write_answers(scores["one"], task="made", gold=GOLD, predicted=[FEW[0], "yes", *FEW[2:]], fingerprint="one")
    seen.add(stored_tasks(scores).digest)
    write_figure(scores["one"], task="another", value=1.0, fingerprint="one")
    seen.add(stored_tasks(scores).digest)
    write_figure(scores["one"], task="another", value=1.25, fingerprint="one")
    seen.add(stored_tasks(scores).digest)
    assert len(seen) == 5
    assert stored_tasks(scores).digest in seen
