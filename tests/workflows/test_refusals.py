"""What a workflow refuses, for commands and notebooks alike, before any work is done."""

from collections.abc import Callable
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.workflows.compare import comparison_report
from embedlab.workflows.encode import encode_file
from embedlab.workflows.evaluate import evaluation_report
from embedlab.workflows.notebook_session import NotebookSession
from embedlab.workflows.options.compare import CompareOptions
from embedlab.workflows.options.evaluate import EvaluateOptions
from embedlab.workflows.options.pairs import PairsOptions
from embedlab.workflows.options.power import PowerOptions
from embedlab.workflows.options.sentences import EncodeOptions
from embedlab.workflows.pairs import pairs_report
from embedlab.workflows.power import power_report
from embedlab.workflows.session import Session

ABSENT = "a/model/that/is/absent"


def compare(**options: object) -> Callable[[Session], object]:
    return lambda session: comparison_report(
        CompareOptions(**{"models": [ABSENT, "dice"], **options}), session
    )  # type: ignore[arg-type]


def evaluate(**options: object) -> Callable[[Session], object]:
    return lambda session: evaluation_report(EvaluateOptions(models=[ABSENT], **options), session)  # type: ignore[arg-type]


def pairs(**options: object) -> Callable[[Session], object]:
    return lambda session: pairs_report(PairsOptions(models=[ABSENT], **options), session)  # type: ignore[arg-type]


def power(**options: object) -> Callable[[Session], object]:
    return lambda session: power_report(
        PowerOptions(first=ABSENT, second="dice", **options), session
    )  # type: ignore[arg-type]


def encode(out: str) -> Callable[[Session], object]:
    return lambda session: encode_file(
        EncodeOptions(model=ABSENT, file=Path("none.txt"), out=Path(out)), session
    )


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (compare(models=["dice", "dice"]), "model 'dice' is named twice"),
        (compare(equivalent=100), "the margin of equivalence is 100 points"),
        (compare(models=["dice"], equivalent=1), "a margin of equivalence needs two models"),
        (compare(by="sorce"), "no property named 'sorce'"),
        (compare(setting="quick"), "no setting named 'quick'"),
        (evaluate(metric="kendall"), "no metric named 'kendall'"),
        (evaluate(aggregate="median"), "no aggregate named 'median'"),
        (
            compare(suites=["geometry"], published=True),
            "option published is for the task sts alone",
        ),
        (compare(suites=["geometri"]), "no task named 'geometri'"),
        (evaluate(by="dice", aggregate="mean"), "option aggregate 'mean' is for datasets"),
        (
            evaluate(suites=["geometry"], metric="pearson"),
            "option metric 'pearson' is for the task sts alone",
        ),
        (
            evaluate(suites=["geometry"], submission=Path("out")),
            "predictions of the task glue alone",
        ),
        (evaluate(setting="exact"), "option setting 'exact' is for classifiers"),
        (evaluate(mteb=Path(__file__)), "option mteb is .*, a file"),
        (pairs(where="nothing>1"), "unknown field 'nothing'"),
        (pairs(sort="sentence1"), "no column to sort by named 'sentence1'"),
        (power(detect=0.0), "the difference to detect is 0 points"),
        (power(seeds=1), "at least 2 seeds, not 1"),
        (encode("out.txt"), "neither .npy nor .parquet"),
    ],
)
def test_options_that_contradict_each_other_are_refused_before_a_model_is_looked_up(
    work: Callable[[Session], object], message: str, tmp_path: Path
) -> None:
    session = NotebookSession(
        settings=Settings(data=TINY_FOLDER, cache=tmp_path / "cache", runs=tmp_path / "runs")
    )
    with pytest.raises(UsageError, match=message) as found:
        work(session)
    assert found.value.hint
    assert session.said == []
