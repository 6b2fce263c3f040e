"""`embedlab compare --by` and `--where` for items of any task, on `--data tiny`."""

import json
from pathlib import Path

from tests.cli.conftest import Embedlab

SAMPLE = ("--data", "tiny", "--json")


def rows(answer: str) -> dict[tuple[str, str], dict[str, object]]:
    return {(row["slice"], row["model"]): row for row in json.loads(answer)["rows"]}


def test_a_dataset_of_which_no_item_fits_is_named(embedlab: Embedlab) -> None:
    answer = embedlab(
        "compare",
        "dice",
        "--task",
        "sts12",
        "--task",
        "sts13",
        "--where",
        "dataset:sts12 dice>0.5",
        *SAMPLE,
    )
    assert "left out, no item matches: sts13" in answer.err


def test_a_dataset_without_the_property_is_named_and_left_out(
    embedlab: Embedlab, tiny_encoder: Path
) -> None:
    words = (
        "compare",
        str(tiny_encoder),
        "--task",
        "sts12",
        "--task",
        "cr",
        "--setting",
        "prototyping",
        "--by",
        "label",
        *SAMPLE,
    )
    answer = embedlab(*words)
    assert {name.partition("/")[0] for name, _ in rows(answer.out)} == {"cr"}
    assert "left out, without 'label': sts12" in answer.err


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
