"""Every task keeps the contract, and nothing outside of their folder goes by a task's name."""

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from embedlab.core.errors import UsageError
from embedlab.core.names import task_names
from embedlab.core.paths import PACKAGE, TINY_FOLDER
from embedlab.core.plugins import shipped_names
from embedlab.core.settings import Settings
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.source import Source
from embedlab.encoders.encoder import EncoderFacts
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import StoredScore
from embedlab.tasks.task import (
    PairTask,
    Task,
    all_tasks,
    evaluation_of,
    load_member,
    outcomes_of,
    own_items,
    task,
)

OUTSIDE = sorted(path for path in PACKAGE.rglob("*.py") if path.parent.name != "tasks")


@pytest.mark.parametrize("name", task_names())
def test_a_task_has_the_name_that_it_is_found_by_and_says_what_it_leaves(name: str) -> None:
    found = task(name)
    assert found.name == name
    assert found.summary
    assert all(found.has_dataset(one) for one in found.datasets)


def test_a_task_of_fields_is_refused_with_what_to_write_now() -> None:
    with pytest.raises(UsageError, match=r"write class MyTask\(Task\).*TASK = MyTask\(\)"):
        Task(
            name="close-pairs",
            summary="finds close pairs",
            evaluate=print,
            texts=None,
        )  # type: ignore[abstract]


def test_an_unknown_task_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="no task named 'probin'"):
        task("probin")


def test_a_setting_is_that_of_tasks_that_train_classifiers() -> None:
    assert {one.setting("exact") for one in all_tasks() if one.trains_classifiers} == {"exact"}
    assert {one.setting("exact") for one in all_tasks() if not one.trains_classifiers} == {
        "literature"
    }
    assert task("probing").trains_classifiers
    assert task("transfer").trains_classifiers


def _branches(file: Path, names: Set[str]) -> Iterator[str]:
    """The comparisons in FILE with one of these NAMES, or of a task with "sts", which is also a
    kind, and tables by two or more of them.
    """
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare | ast.MatchValue):
            leaves = [leaf.value for leaf in ast.walk(node) if isinstance(leaf, ast.Constant)]
            if names & {*leaves} or ("sts" in leaves and "task" in ast.unparse(node)):
                yield f"{file}:{node.lineno}"
        if (
            isinstance(node, ast.Dict)
            and len({key.value for key in node.keys if isinstance(key, ast.Constant)} & names) > 1
        ):
            yield f"{file}:{node.lineno}"


def test_no_branch_or_table_depends_on_the_name_of_a_task_or_dataset(tmp_path: Path) -> None:
    names = {*task_names(), *shipped_names("datasets")} - {"sts"}
    branch = tmp_path / "branch.py"
    lines = (
        'if name == "glue" or task == "sts":',
        '    kind = spec.kind == "sts"',
        'HEADS = {"sentiment": 1, "sts-course": 2}',
    )
    branch.write_text("\n".join(lines))
    assert list(_branches(branch, names)) == [f"{branch}:3", f"{branch}:1", f"{branch}:1"]
    outside = [file for file in OUTSIDE if not file.is_relative_to(PACKAGE / "data")]
    assert len(outside) > 300  # one test for all: a test each took ten times as long
    assert [found for file in outside for found in _branches(file, names)] == []


def part_of(dataset: str = "questions", split: str = "test") -> Part:
    frame = pl.DataFrame(
        {"sentence1": ["a b", "c", "d"], "sentence2": ["a", "c d", "e"], "gold": [5.0, 0.0, 2.5]}
    )
    return Part(
        frame=frame,
        state=DatasetState(name=dataset, split=split, rows=3, expected_rows=3, origin="file"),
    )


class Scoring:
    """An encoder with facts of its own, whose similarities are the ranks of the gold scores turned
    around.
    """

    name, fingerprint = "made", "ab"
    facts = EncoderFacts(
        precision="bf16",
        pooling="cls",
        max_tokens=77,
        truncated=3,
        notes=("a note of the encoder",),
    )

    def score(
        self, first: Sequence[str], second: Sequence[str], _: object = None
    ) -> NDArray[np.float32]:
        assert (list(first), list(second)) == (["a b", "c", "d"], ["a", "c d", "e"])
        return np.array([-5.0, 0.0, -2.5], np.float32)


def test_an_evaluation_says_what_decided_its_numbers() -> None:
    part = part_of()
    score = StoredScore(
        by="dataset",
        slice="questions",
        metric="accuracy",
        setting="",
        value=0.5,
        items=3,
        split="test",
    )
    found = evaluation_of("own", Scoring(), [part.state], [score], ["a note of the task"])
    assert (found.task, found.model, found.fingerprint) == ("own", "made", "ab")
    assert (found.precision, found.pooling, found.max_tokens, found.truncated) == (
        "bf16",
        "cls",
        77,
        3,
    )
    assert found.notes == ("a note of the encoder", "a note of the task")
    assert found.scores == (score,)
    assert [(one["name"], one["rows"]) for one in found.data] == [("questions", 3)]
    assert found.marks == ()
    made = evaluation_of("own", Scoring(), [replace(part.state, origin="tiny")], [])
    assert (made.marks, made.scores, made.notes) == (
        ("generated",),
        (),
        ("a note of the encoder",),
    )


def test_what_a_model_predicted_of_each_row_is_stored_with_all_classes() -> None:
    part = part_of(split="validation")
    evaluation = evaluation_of("own", Scoring(), [part.state], [])
    found = outcomes_of(evaluation, part, ["yes", "no", "no"], ["no", "no", "perhaps"])
    assert (found.task, found.dataset, found.split, found.model, found.fingerprint) == (
        "own",
        "questions",
        "validation",
        "made",
        "ab",
    )
    assert found.classes == ("no", "perhaps", "yes")
    assert found.items.select("item", "gold", "predicted").rows() == [
        (0, 2, 0),
        (1, 0, 0),
        (2, 0, 1),
    ]
    assert found.items["sentence1"].to_list() == part.frame["sentence1"].to_list()
    assert [one["split"] for one in found.data] == ["validation"]
    scores = outcomes_of(evaluation, part, [1, 2.5, 3], [0.1, 0.2, 0.3], is_class=False)
    assert scores.classes == ()
    assert scores.items["gold"].to_list() == [1, 2.5, 3]


def test_items_are_named_by_their_dataset_and_by_a_split_where_several_are_scored() -> None:
    for split, name in (
        ("test", "questions"),
        ("dev", "questions"),
        ("validation-matched", "questions:validation-matched"),
    ):
        part = part_of(split=split)
        found = own_items(part, "gold")
        assert (found.dataset, found.split, found.name, found.states) == (
            "questions",
            split,
            name,
            (part.state,),
        )
        assert found.labels == ("5.0", "0.0", "2.5")


def test_the_dev_score_of_pairs_is_spearmans_correlation_times_a_hundred(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[tuple[str, str | None]] = []

    def opening(_: Source, name: str, split: str | None = None) -> Part:
        opened.append((name, split))
        return part_of(name)

    monkeypatch.setattr(Source, "open", opening)
    score = PairTask("own", "pairs", ["a"]).dev_score(Source(folder=TINY_FOLDER), "a")
    trained = SimpleNamespace(encoder=Scoring())
    assert [score(trained), score(trained)] == pytest.approx([-100, -100])  # type: ignore[arg-type]
    assert opened == [("a", "dev")]


def test_what_the_dev_pairs_lack_of_the_published_ones_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacking = part_of("mine", "dev")
    lacking = replace(
        lacking, state=replace(lacking.state, partial=True, expected_rows=lacking.state.rows + 1)
    )
    opened: list[tuple[str, str]] = []

    def open_part(_: Source, name: str, split: str) -> Part:
        opened.append((name, split))
        return lacking

    monkeypatch.setattr(Source, "open", open_part)
    (remark,) = PairTask("own", "pairs", ["mine"]).dev_remarks(Source(), "mine")
    assert f"{lacking.state.rows} of {lacking.state.rows + 1}" in remark
    assert opened == [("mine", "dev")]


def test_a_member_is_loaded_with_the_cache_the_limit_and_the_network_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, object]] = []
    monkeypatch.setattr(
        "embedlab.encoders.loading.load_encoder", lambda *_, **words: given.append(words)
    )
    for settings in (
        Settings(cache=tmp_path, cache_gib=7, offline=True, device="cpu"),
        Settings(cache_gib=2, device="cpu"),
    ):
        _, device = load_member(ModelSpec(name="made", kind="folder"), settings)
        assert device.type == "cpu"
        assert given.pop() == {
            "cache": settings.cache,
            "cache_gib": settings.cache_gib,
            "offline": settings.offline,
        }
