"""Names that a user types, and the evaluations that they select."""

import pytest

from embedlab.core.errors import UsageError
from embedlab.scoring import selection
from embedlab.scoring.selection import SelectedTask, select_tasks, stored_selection
from embedlab.tasks.task import PairTask, all_tasks


def asked(task: str, *names: str) -> SelectedTask:
    return SelectedTask(task=task, names=names)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], [asked("sts")]),
        (["sts12", "my/pairs.tsv"], [asked("sts", "sts12", "my/pairs.tsv")]),
        (["mrpc", "sts12", "trec"], [asked("transfer", "mrpc", "trec"), asked("sts", "sts12")]),
        (
            ["sick-r", "sick-r-supervised"],
            [asked("sts", "sick-r"), asked("transfer", "sick-r-supervised")],
        ),
        (
            ["tree-depth", "gum-probing"],
            [asked("probing", "tree-depth"), asked("probing", "gum-probing")],
        ),
        (["gum-probing/tree-depth"], [asked("probing", "gum-probing/tree-depth")]),
        (["gum-probing", "gum-probing/tree-depth"], [asked("probing", "gum-probing")]),
        (["mrpc", "transfer", "geometry"], [asked("transfer"), asked("geometry")]),
    ],
)
def test_names_are_gathered_by_the_task_they_belong_to(
    names: list[str], expected: list[SelectedTask]
) -> None:
    assert select_tasks(None, names, None) == expected


@pytest.mark.parametrize(
    ("task", "setting", "name", "stored"),
    [
        (asked("transfer"), "", "transfer", "transfer"),
        (asked("transfer"), "exact", "transfer-exact", "transfer-exact"),
        (asked("transfer", "trec", "mr"), "exact", "transfer-exact", "transfer-exact/mr+trec"),
        (asked("probing", "gum-probing"), "", "gum-probing", "gum-probing"),
        (
            asked("probing", "gum-probing/tree-depth"),
            "exact",
            "gum-probing-exact",
            "gum-probing-exact/tree-depth",
        ),
    ],
)
def test_an_evaluation_is_called_after_its_set_and_setting_and_stored_apart_from_that_of_all(
    task: SelectedTask, setting: str, name: str, stored: str
) -> None:
    given = [setting] if setting else []
    assert (task.evaluation_name(*given), task.stored_name(*given)) == (name, stored)
    assert task.is_whole == ("/" not in stored)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("word_prediction", asked("word_prediction")),
        ("transfer-prototyping", asked("transfer")),
        ("gum-probing-exact", asked("probing", "gum-probing")),
        ("close-pairs-of-yesterday", None),
    ],
)
def test_the_name_of_a_stored_evaluation_leads_back_to_its_task(
    name: str, expected: SelectedTask | None
) -> None:
    assert stored_selection(name) == expected


def test_another_task_of_pairs_takes_no_dataset_from_the_task_of_its_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Before sts in the alphabet.
    years = PairTask("a-few-years", "STS of two years", ("sts12", "sts13"))
    monkeypatch.setattr(selection, "all_tasks", lambda: [years, *all_tasks()])
    assert select_tasks(None, ["sts12", "sick-r"], None) == [asked("sts", "sts12", "sick-r")]
    assert stored_selection("sts12") == asked("sts", "sts12")


@pytest.mark.parametrize(
    ("suite", "names", "message", "hint"),
    [
        (None, ["mrcp"], "mrcp", "mrpc"),
        ("geometri", [], "geometri", "geometry"),
        (None, ["sts-bench"], "sts-bench", "sts-benchmark"),
        ("transfer", ["sts12"], "'sts12' belongs to 'sts', not to 'transfer'", ""),
        (None, ["sts12, sts13"], "sts12, sts13", "name them one by one: --task sts12 --task sts13"),
        # Only models that were trained on it are scored on it.
        (None, ["glue-rte"], "'glue-rte' is not selected by itself", "--task glue"),
    ],
)
def test_what_selects_no_task_is_refused_with_what_to_type(
    suite: str | None, names: list[str], message: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        select_tasks(suite, names, None)
    assert hint in caught.value.hint


def test_many_long_names_still_make_a_file_name() -> None:
    names = [f"gum-probing/does-the-sentence-have-property-{number}" for number in range(9)]
    name, turned, fewer = (
        asked("probing", *own).stored_name() for own in (names, names[::-1], names[1:])
    )
    assert len(name) < 100
    assert name == turned != fewer
