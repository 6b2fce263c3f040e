"""A task of a plug-in that scores the pairs of sts as its items: the same numbers everywhere."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from embedlab.cli.app import main
from tests.conftest import thin_out

TASKS = (["--task", "sts-benchmark"], ["--suite", "own-pairs"])
PLUGIN = """
from embedlab.data.source import Source
from embedlab.encoders.loading import scorer_for
from embedlab.tasks.task import Task, TaskResult, Texts, evaluation_of, outcomes_of

PLUGINS = {"tasks": {"own-pairs": "TASK"}}
SIDES = ("sentence1", "sentence2")


class OwnPairs(Task):
    name, summary, datasets = "own-pairs", "pairs as items", ("sts-benchmark",)
    aggregates = ("all", "mean", "wmean")

    def texts(self, source, selection):
        part = source.open("sts-benchmark")
        columns = tuple(part.frame[side] for side in SIDES)
        return Texts(columns=columns, states=(part.state,), datasets=self.datasets)

    def measures(self, dataset):
        return ("spearman",)

    def evaluate(self, spec, settings, start_progress, selection):
        part = Source.from_settings(settings).open("sts-benchmark")
        scorer = scorer_for(spec, settings, cache=settings.cache)
        texts = [part.frame[side].to_list() for side in SIDES]
        scores = scorer.score(*texts, start_progress("scoring"))
        evaluation = evaluation_of(self.name, scorer, [part.state])
        gold = part.frame["gold"]
        outcomes = outcomes_of(evaluation, part, gold, scores, is_class=False)
        return TaskResult(evaluation=evaluation, outcomes=(outcomes,), tested=(part,))


TASK = OwnPairs()
"""


@pytest.fixture
def answer(
    tmp_path: Path,
    tiny_encoder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., str]:
    thin_out(monkeypatch, 4)
    plugin = tmp_path / "own_pairs.py"
    plugin.write_text(PLUGIN, encoding="utf-8")

    def answer(command: str, *words: str) -> str:
        models = ["dice", str(tiny_encoder)]
        common = ["--data", "tiny", "--quiet", "--plugin", str(plugin), "--json"]
        assert main([command, *models, *words, *common]) == 0
        return capsys.readouterr().out

    return answer


def without_names(value: str) -> str:
    """An answer without the name of the task and signatures."""
    return re.sub(r'"signatures": \{.*?\}', "", value, flags=re.S).replace("own-pairs", "sts")


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "--by", "dice"],
        ["compare", "--where", "dice>0.3"],
        ["compare", "--by", "gold>2", "--letters"],
        ["evaluate"],
    ],
    ids=" ".join,
)
def test_every_column_is_that_of_sts(answer: Callable[..., str], words: list[str]) -> None:
    of_sts, own = (answer(*words, *task) for task in TASKS)
    assert without_names(own) == without_names(of_sts)
