"""All that can be refused is refused before a model is loaded: every suite opens and checks all of
its data first.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.names import task_names
from embedlab.core.recipe import load_recipe
from embedlab.data.source import Source
from embedlab.encoders import loading
from embedlab.runs.store import RunFolder
from embedlab.tasks.task import all_tasks
from embedlab.training import stages  # loaded before a fixture replaces what it imports
from tests.stored_scores import begin_run

if TYPE_CHECKING:
    from embedlab.data.dataset import Dataset, Part
    from tests.cli.conftest import Embedlab

pytestmark = pytest.mark.usefixtures("quick_fits", "small_world")

HEADED = {"glue", "nli"}  # of what a run trained beside its encoder
UNLIKE = {"glue", "mteb", "retrieval"}  # whose data is not missing by name
LOADERS = ("load_encoder", "load_cached", "scorer_for", "load_trainable")
# Fits of one classifier are enough: the others are evaluated by the same lines.
SELECTION = {"transfer": ("--task", "trec"), "probing": ("--task", "coordination-inversion")}
QUICK = ("--setting", "exact", "--threads", "1", "--json", "--quiet")


@pytest.fixture
def no_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model may be loaded."""

    def refuse(spec: Any, *_: object, **__: object) -> None:
        raise AssertionError(f"{spec} was loaded")

    for name in LOADERS:
        monkeypatch.setattr(loading, name, refuse)


ITEM_TASKS = [one.name for one in all_tasks() if one.in_all(None) and one.name not in HEADED]


@pytest.mark.parametrize("task", ITEM_TASKS)
def test_evaluating_opens_nothing_that_was_not_opened_before_the_first_model(
    task: str, embedlab: Embedlab, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before: set[tuple[str, str | None]] = set()
    after: set[tuple[str, str | None]] = set()
    has_begun: list[str] = []
    open_split = Source.open_split

    def opened(self: Source, chosen: Dataset, split: str | None = None) -> Part:
        (after if has_begun else before).add((chosen.name, split))
        return open_split(self, chosen, split)

    def begun(name: str) -> Any:
        load = getattr(loading, name)
        return lambda *words, **named: has_begun.append(name) or load(*words, **named)

    monkeypatch.setattr(Source, "open_split", opened)
    for name in LOADERS:
        monkeypatch.setattr(loading, name, begun(name))
    answer = embedlab(
        "evaluate",
        f"{tiny_encoder}?pooling=mean",
        *SELECTION.get(task, ("--suite", task)),
        "--data",
        "tiny",
        *(QUICK[2:] if task == "sts" else QUICK),  # which has no classifiers
    )
    assert answer.code == 0, answer.err
    assert has_begun
    assert before
    assert after <= before


@pytest.mark.usefixtures("no_loading")
@pytest.mark.parametrize(
    ("task", "message"),
    [
        *((f"--suite {name}", "is missing") for name in task_names() if name not in UNLIKE),
        ("--suite all", "is missing"),
        ("--suite glue", "does not apply"),
        ("--task mteb:STS16", "cannot be read"),
        ("--task faq.csv", "no file 'faq.csv'"),
    ],
)
def test_missing_data_is_refused_before_a_model_is_loaded(
    task: str, message: str, embedlab: Embedlab, tiny_encoder: Path
) -> None:
    Path("data").mkdir()
    models = (str(tiny_encoder), f"{tiny_encoder}?pooling=cls")
    answer = embedlab("compare", *models, *task.split(), "--data", "data", "--offline")
    code = 2 if message == "does not apply" else 3
    assert (answer.code, answer.out) == (code, "")
    assert message in answer.err


@pytest.fixture
def glue_run(tmp_path: Path) -> RunFolder:
    """A finished run of a classifier on a GLUE task, as far as can be seen without loading it."""
    run = RunFolder.of(tmp_path / "runs", "mine", 1)
    run.model.mkdir(parents=True)
    return begin_run(run, load_recipe("glue-finetune"))


@pytest.mark.usefixtures("no_loading", "glue_run")
def test_a_classifiers_validation_and_test_splits_are_opened_before_it_is_loaded(
    embedlab: Embedlab,
) -> None:
    Path("data").mkdir()
    words = ("evaluate", "mine", "--suite", "glue", "--data", "data", "--offline")
    refused = embedlab(*words)
    assert (refused.code, "(dev) is missing" in refused.err) == (3, True)
    wanted = embedlab(*words, "--submission", "out")
    assert (wanted.code, "(test) is missing" in wanted.err) == (3, True)
    Path("out").write_text("no folder")
    assert embedlab(*words, "--submission", "out").code == 2


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No step may be trained; what would be is listed."""
    begun: list[str] = []

    def begin(*_: object, **__: object) -> None:
        begun.append("training")
        raise UsageError("training has begun", hint="")

    monkeypatch.setattr(stages, "train_run", begin)
    return begun


@pytest.mark.usefixtures("no_loading")
@pytest.mark.parametrize(
    ("tasks", "dev", "code", "message", "more"),
    [
        (["sts"], "none", 3, "'sts12' (test) is missing", ()),
        ([], "sts-benchmark", 3, "'sts-benchmark' (dev) is missing", ("--detach",)),
        ([], "multitask", 3, "'sentiment' (dev) is missing", ()),
        (["multitask", "sts"], "none", 3, "(dev) is missing", ()),
        (["word_prediction"], "none", 3, "'definitions' (test) is missing", ("--resume",)),
        (["glue"], "none", 2, "recipe 'snli-ce' has no classifier of a GLUE task", ()),
    ],
)
def test_a_training_that_could_not_be_evaluated_is_refused_before_it_begins(
    embedlab: Embedlab,
    tiny_encoder: Path,
    no_training: list[str],
    tasks: list[str],
    dev: str,
    code: int,
    message: str,
    more: tuple[str, ...],
) -> None:
    Path("data").mkdir()
    words = ("--set", f"evaluate.tasks={json.dumps(tasks)}", "--set", f"evaluate.dev={dev}", *more)
    answer = embedlab(
        "train", "snli-ce", "--encoder", str(tiny_encoder), "--data", "data", "--offline", *words
    )
    assert (answer.code, answer.out, no_training) == (code, "", []), answer.err
    assert message in answer.err
    assert not Path("runs").exists()
