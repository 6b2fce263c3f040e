"""The program, called as `embedlab …` is, and a run folder to look at."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from embedlab.classifiers.settings import SETTINGS
from embedlab.cli.app import main
from embedlab.core.recipe import from_table
from embedlab.runs import events
from embedlab.runs.store import RunFolder
from tests.stored_scores import begin_run, step_of


@dataclass(frozen=True)
class Answer:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.json["rows"]
        return rows

    def row(self, **values: Any) -> dict[str, Any]:
        """The only row with these VALUES."""
        (found,) = [
            row for row in self.rows if all(row[key] == value for key, value in values.items())
        ]
        return found


Embedlab = Callable[..., Answer]


@pytest.fixture
def embedlab(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Embedlab]:
    """The program; at the end of a test the hints of its refusals are typed."""
    from tests.hints import hint_of, type_hints

    monkeypatch.chdir(tmp_path)
    refused: list[tuple[tuple[str, ...], Path, str]] = []

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        if code in (2, 3) and hint_of(err):
            refused.append((tuple(map(str, arguments)), Path.cwd(), err))
        return Answer(code, out, err)

    yield call
    for line, folder, err in [*refused]:
        monkeypatch.chdir(folder)
        if call(*line).err == err:  # the test has not changed what was refused
            type_hints(call, line, Answer(2, "", err))


@pytest.fixture
def quick_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few classifiers for each exact answer instead of hundreds: for tests of commands, not of
    accuracies.
    """
    few = SETTINGS | {"exact": replace(SETTINGS["exact"], folds=2, l2=(1e-4, 1e-2))}
    monkeypatch.setattr("embedlab.tasks._labelled.SETTINGS", few)


@pytest.fixture
def finished_run(tmp_path: Path) -> RunFolder:
    """A run that says it is finished; it has no model."""
    stage = {
        "data": {"datasets": ["snli"]},
        "objective": {"name": "nli_softmax"},
        "optim": {"lr": 2e-5, "batch_size": 8},
    }
    recipe = from_table(
        {"summary": "A test.", "encoder": {"model": "tiny", "pooling": "mean"}, "stage": [stage]},
        name="mine",
        where="test",
    )
    data = [{"name": "snli", "split": "train", "rows": 3, "expected_rows": 9, "partial": True}]
    return begin_run(
        RunFolder.of(tmp_path / "runs", "mine", 1),
        recipe,
        events.Started(time=1.0, pid=1, host="here", steps=9),
        step_of(9, 9, time=2.0),
        events.Dev(time=3.0, step=9, score=61.25),
        events.Finished(time=4.0, step=9),
        data=data,
    )
