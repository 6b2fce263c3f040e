"""Every task keeps the contract, and nothing outside of their folder goes by a task's name."""

import ast
from collections.abc import Iterator, Set
from pathlib import Path

import polars as pl
import pytest

from embedlab.core import plugins
from embedlab.core.errors import UsageError
from embedlab.core.names import task_names
from embedlab.core.paths import PACKAGE
from embedlab.core.plugins import shipped_names
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.source import Source, dataset_names
from embedlab.evaluation.selection import select_tasks
from embedlab.tasks.task import Task, TaskResult, aggregates_of, all_tasks, own_items, scale_of, stored_as, task

OUTSIDE = sorted(path for path in PACKAGE.rglob("*.py") if path.parent.name != "tasks")


@pytest.mark.parametrize("name", task_names())
def test_a_task_has_the_name_that_it_is_found_by_and_says_what_it_leaves(name: str) -> None:
    found = task(name)
    assert found.name == name
    assert found.summary
    assert all(found.has_dataset(one) for one in found.datasets)


def test_every_file_of_the_folder_is_a_task_and_none_is_lost() -> None:
    files = [path for path in (PACKAGE / "tasks").glob("*.py") if not path.name.startswith("_") and path.name != "task.py"]
    assert len(all_tasks()) == len(task_names()) >= len(files)
    assert {f"embedlab.tasks.{path.stem}" for path in files} == {one.module for one in plugins.discover("tasks")}


def test_similarities_of_pairs_and_aggregates_alone_are_said_aloud() -> None:
    assert task("sts").outcomes == "pairs"
    assert {task(name).outcomes for name in ("geometry", "word_prediction")} == {"none"}
    assert {task(name).outcomes for name in ("transfer", "probing")} == {"items"}


def test_a_task_of_fields_is_refused_with_what_to_write_now() -> None:
    with pytest.raises(UsageError, match=r"write class MyTask\(Task\).*TASK = MyTask\(\)"):
        Task(name="close-pairs", summary="finds close pairs", evaluate=print, texts=None, outcomes="items")  # type: ignore[abstract]


def test_what_a_task_does_not_write_has_the_usual_answer() -> None:
    class Usual(Task):
        name, summary, datasets = "usual", "what nothing says otherwise", ("mr",)

        def evaluate(self, *_: object) -> TaskResult:
            raise NotImplementedError

    found = Usual()
    assert (found.outcomes, found.has_dataset("mr"), found.has_dataset("cr")) == ("items", True, False)
    assert found.in_all(None) == ((),)
    assert not found.members("a benchmark")
    assert not found.measures("mr")
    assert not found.averages(["mr"], "usual")
    with pytest.raises(UsageError, match="'usual' has no dev score"):
        found.dev_score(Source(sample=True), "mr")
    with pytest.raises(TypeError, match="evaluate"):
        type("Lacking", (Task,), {"name": "lacking"})()


def test_what_a_number_is_multiplied_by_is_said_by_its_task() -> None:
    assert (scale_of("geometry", "uniformity"), scale_of("transfer", "accuracy"), scale_of("no-such-task", "accuracy")) == (1, 100, 100)
    assert [stored_as(name) for name in ("sts", "transfer", "gum-probing")] == ["pairs", "items", "none"]
    assert [aggregates_of(name) for name in ("sts", "transfer", "gum-probing")] == [("all", "mean", "wmean"), (), ()]


def test_an_unknown_task_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="no task named 'probin'"):
        task("probin")


def test_a_setting_is_that_of_tasks_that_train_classifiers() -> None:
    assert {one.setting("exact") for one in all_tasks() if one.trains_classifiers} == {"exact"}
    assert {one.setting("exact") for one in all_tasks() if not one.trains_classifiers} == {"literature"}
    assert task("probing").trains_classifiers
    assert task("transfer").trains_classifiers


def test_every_dataset_of_scored_pairs_with_a_test_split_can_be_selected() -> None:
    own = [name for name in dataset_names("sts") if task("sts").has_dataset(name)]
    assert set(task("sts").datasets) <= set(own)
    assert all(select_tasks(None, [name], None)[0].task == "sts" for name in own)


def _branches(file: Path, names: Set[str]) -> Iterator[str]:
    """The comparisons in FILE with one of these NAMES, or of a task with "sts", which is also a kind, and tables by two or more of them."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        texts = {leaf.value for leaf in ast.walk(node) if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)}
        if isinstance(node, ast.Compare | ast.MatchValue) and (texts & names or ("sts" in texts and "task" in ast.unparse(node))):
            yield f"{file}:{node.lineno}"
        if isinstance(node, ast.Dict) and len({key.value for key in node.keys if isinstance(key, ast.Constant)} & names) > 1:
            yield f"{file}:{node.lineno}"


def test_nothing_outside_uses_the_module_of_a_single_task() -> None:
    found = set()
    texts = {file: file.read_text(encoding="utf-8") for file in OUTSIDE}
    for file, text in texts.items():
        nodes = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.ImportFrom)] if "embedlab.tasks" in text else []
        modules = {f"{node.module}.{one.name}" for node in nodes for one in node.names if (node.module or "").startswith("embedlab.tasks")}
        found |= {file.name for module in modules if not module.startswith("embedlab.tasks.task.")}
    assert found == set()


def test_no_branch_or_table_depends_on_the_name_of_a_task_or_dataset(tmp_path: Path) -> None:
    names = {*task_names(), *shipped_names("datasets")} - {"sts"}
    branch = tmp_path / "branch.py"
    lines = ('if name == "glue" or task == "sts":', '    kind = spec.kind == "sts"', 'HEADS = {"sentiment": 1, "sts-course": 2}')
    branch.write_text("\n".join(lines))
    assert list(_branches(branch, names)) == [f"{branch}:3", f"{branch}:1", f"{branch}:1"]
    outside = [file for file in OUTSIDE if not file.is_relative_to(PACKAGE / "data")]
    assert len(outside) > 300  # one test for all: a test each took ten times as long
    assert [found for file in outside for found in _branches(file, names)] == []


def test_the_classes_of_items_are_in_alphabetical_order() -> None:
    labels = ["where", "what", "who", "when", "why", "how", "which", "whose", "what"]
    state = DatasetState(name="questions", split="dev", rows=9, expected_rows=9, origin="file")
    found = own_items(Part(frame=pl.DataFrame({"kind": labels}), state=state), "kind")
    assert found.labels == tuple(labels)
    assert found.classes == ("how", "what", "when", "where", "which", "who", "whose", "why")
    assert found.rows.tolist() == list(range(9))
