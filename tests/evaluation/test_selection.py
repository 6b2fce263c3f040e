"""Names that a user types, and the evaluations they stand for."""

from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.names import task_names
from embedlab.evaluation.selection import Asked, ask


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], [Asked(task="sts")]),
        (["sts12", "my/pairs.tsv"], [Asked(task="sts", names=("sts12", "my/pairs.tsv"))]),
        (["mrpc", "sts12", "trec"], [Asked(task="transfer", names=("mrpc", "trec")), Asked(task="sts", names=("sts12",))]),
        (["sick-r", "sick-r-supervised"], [Asked(task="sts", names=("sick-r",)), Asked(task="transfer", names=("sick-r-supervised",))]),
        (["tree-depth", "gum-probing"], [Asked(task="probing", names=("tree-depth",)), Asked(task="probing", names=("gum-probing",))]),
        (["gum-probing/tree-depth"], [Asked(task="probing", names=("gum-probing/tree-depth",))]),
        (["mrpc", "transfer", "geometry"], [Asked(task="transfer"), Asked(task="geometry")]),
    ],
)
def test_names_are_gathered_by_the_task_they_belong_to(names: list[str], expected: list[Asked]) -> None:
    assert ask(None, names, None) == expected


def test_all_is_every_task_and_every_set_of_probing_files_of_the_data_folder(tmp_path: Path) -> None:
    (tmp_path / "probing_gum").mkdir()
    asked = ask("all", (), tmp_path)
    assert {one.task for one in asked} == set(task_names())
    assert [one.names for one in asked if one.names] == [("gum-probing",)]


def test_an_evaluation_is_called_after_its_set_and_setting(tmp_path: Path) -> None:
    (own,) = ask(None, [f"probing:{tmp_path / 'my_tasks'}"], None)
    assert own.is_whole
    assert own.evaluation_name() == "my_tasks-probing"
    assert Asked(task="probing", names=("gum-probing/tree-depth",)).evaluation_name("exact") == "gum-probing-exact"
    assert not Asked(task="transfer", names=("mrpc",)).is_whole
    assert Asked(task="transfer").evaluation_name() == "transfer"


def test_an_evaluation_of_some_datasets_is_kept_apart_from_that_of_all() -> None:
    assert Asked(task="transfer").kept_name("exact") == "transfer-exact"
    assert Asked(task="transfer", names=("trec", "mr")).kept_name("exact") == "transfer-exact/mr+trec"
    assert Asked(task="probing", names=("gum-probing",)).kept_name() == "gum-probing"
    assert Asked(task="probing", names=("gum-probing/tree-depth",)).kept_name() == "gum-probing/tree-depth"


def test_a_dataset_of_another_suite_is_refused() -> None:
    with pytest.raises(UsageError, match="'sts12' belongs to 'sts', not to 'transfer'"):
        ask("transfer", ["sts12"], None)


@pytest.mark.parametrize(
    ("suite", "names", "guess"), [(None, ["mrcp"], "mrpc"), ("geometri", [], "geometry"), (None, ["sts-bench"], "sts-benchmark")]
)
def test_an_unknown_name_suggests_the_nearest(suite: str | None, names: list[str], guess: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask(suite, names, None)
    assert guess in caught.value.hint


def test_many_long_names_still_make_a_file_name() -> None:
    names = tuple(f"gum-probing/does-the-sentence-have-property-{number}" for number in range(9))
    kept = Asked(task="probing", names=names).kept_name()
    assert len(kept) < 100
    assert kept == Asked(task="probing", names=names[::-1]).kept_name()
    assert kept != Asked(task="probing", names=names[1:]).kept_name()


def test_a_set_that_is_named_beside_one_of_its_files_is_the_whole_set() -> None:
    (one,) = ask(None, ["gum-probing", "gum-probing/tree-depth"], None)
    assert one == Asked(task="probing", names=("gum-probing",))
