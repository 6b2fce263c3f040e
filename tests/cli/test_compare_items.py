"""`embedlab compare --by` and `--where` for items of any task, on `--data tiny`."""

from pathlib import Path

from tests.cli.conftest import Embedlab


def test_a_dataset_of_which_no_item_fits_is_named(embedlab: Embedlab) -> None:
    tasks = ("--task", "sts12", "--task", "sts13")
    answer = embedlab("compare", "dice", *tasks, "--where", "dataset:sts12", "--data", "tiny")
    assert "left out, no item matches: sts13" in answer.err


def test_what_is_of_whole_datasets_is_refused_where_items_are_picked(
    embedlab: Embedlab, tmp_path: Path
) -> None:
    for option in (("--metric", "pearson"), ("--mteb", str(tmp_path / "mteb")), ("--again",)):
        answer = embedlab(
            "evaluate", "dice", "--data", "tiny", "--task", "sts12", "--where", "gold>2", *option
        )
        assert answer.code == 2
        assert "is for whole datasets, not for items that are picked" in answer.err
    answer = embedlab(
        "evaluate", "dice", "--data", "tiny", "--task", "geometry", "--by", "negation"
    )
    assert "geometry has no items to group by 'negation'" in answer.err
