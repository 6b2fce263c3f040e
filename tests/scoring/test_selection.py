"""Names that a user types, and the evaluations that they select."""

from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.scoring import selection
from embedlab.scoring.selection import SelectedTask, select_tasks, stored_selection
from embedlab.tasks.task import PairTask, all_tasks


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], [SelectedTask(task="sts")]),
        (["sts12", "my/pairs.tsv"], [SelectedTask(task="sts", names=("sts12", "my/pairs.tsv"))]),
        (
            ["mrpc", "sts12", "trec"],
            [
                SelectedTask(task="transfer", names=("mrpc", "trec")),
                SelectedTask(task="sts", names=("sts12",)),
            ],
        ),
        (
            ["sick-r", "sick-r-supervised"],
            [
                SelectedTask(task="sts", names=("sick-r",)),
                SelectedTask(task="transfer", names=("sick-r-supervised",)),
            ],
        ),
        (
            ["tree-depth", "gum-probing"],
            [
                SelectedTask(task="probing", names=("tree-depth",)),
                SelectedTask(task="probing", names=("gum-probing",)),
            ],
        ),
        (
            ["gum-probing/tree-depth"],
            [SelectedTask(task="probing", names=("gum-probing/tree-depth",))],
        ),
        (
            ["mrpc", "transfer", "geometry"],
            [SelectedTask(task="transfer"), SelectedTask(task="geometry")],
        ),
    ],
)
def test_names_are_gathered_by_the_task_they_belong_to(
    names: list[str], expected: list[SelectedTask]
) -> None:
    assert select_tasks(None, names, None) == expected


def test_an_evaluation_is_called_after_its_set_and_setting(tmp_path: Path) -> None:
    (own,) = select_tasks(None, [f"probing:{tmp_path / 'my_tasks'}"], None)
    assert own.is_whole
    assert own.evaluation_name() == "my_tasks-probing"
    assert (
        SelectedTask(task="probing", names=("gum-probing/tree-depth",)).evaluation_name("exact")
        == "gum-probing-exact"
    )
    assert not SelectedTask(task="transfer", names=("mrpc",)).is_whole
    assert SelectedTask(task="transfer").evaluation_name() == "transfer"


def test_names_with_commas_between_them_are_refused_with_what_to_type() -> None:
    with pytest.raises(UsageError) as refused:
        select_tasks(None, ["sts12, sts13"], None)
    assert refused.value.hint == "name them one by one: --task sts12 --task sts13"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("word_prediction", SelectedTask(task="word_prediction")),
        ("transfer-prototyping", SelectedTask(task="transfer")),
        ("gum-probing-exact", SelectedTask(task="probing", names=("gum-probing",))),
        ("close-pairs-of-yesterday", None),
    ],
)
def test_the_name_of_a_stored_evaluation_leads_back_to_its_task(
    name: str, expected: SelectedTask | None
) -> None:
    assert stored_selection(name) == expected


def test_an_evaluation_of_some_datasets_is_stored_apart_from_that_of_all() -> None:
    assert SelectedTask(task="transfer").stored_name("exact") == "transfer-exact"
    assert (
        SelectedTask(task="transfer", names=("trec", "mr")).stored_name("exact")
        == "transfer-exact/mr+trec"
    )
    assert SelectedTask(task="probing", names=("gum-probing",)).stored_name() == "gum-probing"
    assert (
        SelectedTask(task="probing", names=("gum-probing/tree-depth",)).stored_name()
        == "gum-probing/tree-depth"
    )


def test_another_task_of_pairs_takes_no_dataset_from_the_task_of_its_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    years = PairTask(
        "a-few-years", "STS of two years", ("sts12", "sts13")
    )  # before sts in the alphabet
    monkeypatch.setattr(selection, "all_tasks", lambda: [years, *all_tasks()])
    assert select_tasks(None, ["sts12", "sick-r"], None) == [
        SelectedTask(task="sts", names=("sts12", "sick-r"))
    ]
    assert stored_selection("sts12") == SelectedTask(task="sts", names=("sts12",))


def test_a_dataset_of_another_suite_is_refused() -> None:
    with pytest.raises(UsageError, match="'sts12' belongs to 'sts', not to 'transfer'"):
        select_tasks("transfer", ["sts12"], None)


@pytest.mark.parametrize(
    ("suite", "names", "guess"),
    [
        (None, ["mrcp"], "mrpc"),
        ("geometri", [], "geometry"),
        (None, ["sts-bench"], "sts-benchmark"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(
    suite: str | None, names: list[str], guess: str
) -> None:
    with pytest.raises(UsageError) as caught:
        select_tasks(suite, names, None)
    assert guess in caught.value.hint


def test_many_long_names_still_make_a_file_name() -> None:
    names = tuple(f"gum-probing/does-the-sentence-have-property-{number}" for number in range(9))
    name = SelectedTask(task="probing", names=names).stored_name()
    assert len(name) < 100
    assert name == SelectedTask(task="probing", names=names[::-1]).stored_name()
    assert name != SelectedTask(task="probing", names=names[1:]).stored_name()


def test_a_set_that_is_named_beside_one_of_its_files_is_the_whole_set() -> None:
    (one,) = select_tasks(None, ["gum-probing", "gum-probing/tree-depth"], None)
    assert one == SelectedTask(task="probing", names=("gum-probing",))


def test_a_dataset_that_only_models_trained_on_it_are_scored_on_names_the_task_to_type() -> None:
    with pytest.raises(UsageError, match="'glue-rte' is not selected by itself") as refused:
        select_tasks(None, ["glue-rte"], None)
    assert refused.value.hint == "--task glue"
