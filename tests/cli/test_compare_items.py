"""`embedlab compare --by` and `--where` for items of any task, on `--data tiny`."""

from tests.cli.conftest import Embedlab


def test_a_dataset_of_which_no_item_fits_is_named(embedlab: Embedlab) -> None:
    tasks = ("--task", "sts12", "--task", "sts13")
    answer = embedlab("compare", "dice", *tasks, "--where", "dataset:sts12", "--data", "tiny")
    assert "left out, no item matches: sts13" in answer.err
