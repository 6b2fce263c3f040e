"""An audit counts the items that a model has read, and says what nobody can know."""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.conftest import Embedlab

WORDS = [
    "rain",
    "snow",
    "fog",
    "wind",
    "storm",
    "frost",
    "hail",
    "sun",
    "cloud",
    "ice",
    "heat",
    "dew",
]


def pairs(folder: Path) -> list[str]:
    """Write 60 scored pairs, and return their lines."""
    lines = [
        f"{a} falls on the {b} today\t{b} meets {a} in place {number}\t{number % 6}"
        for number, (a, b) in enumerate(
            (WORDS[n % 12], WORDS[(5 * n + 1 + n // 12) % 12]) for n in range(60)
        )
    ]
    text = "\n".join(["sentence1\tsentence2\tscore", *lines])
    (folder / "test.tsv").write_text(text, encoding="utf-8")
    return lines


@pytest.fixture
def trained(tmp_path: Path, embedlab: Embedlab) -> Embedlab:
    """A run that was trained on half of the pairs."""
    lines = pairs(tmp_path)
    half = ["sentence1\tsentence2\tscore", *lines[:30]]
    (tmp_path / "train.tsv").write_text("\n".join(half), encoding="utf-8")
    answer = embedlab(
        *("train", "own-scored-pairs", "--data", "tiny", "--set", "data.files=train.tsv"),
        *("--name", "half", "--max-steps", "2", "--threads", "1", "--set", "evaluate.dev=none"),
    )
    assert answer.code == 0, answer.err
    return embedlab


SCORES = "--reference", "dice", "--placebo", "scores:mine.tsv#score"


def test_what_a_run_was_trained_on_is_counted_item_by_item(trained: Embedlab) -> None:
    Path("mine.tsv").write_text(Path("test.tsv").read_text("utf-8"), encoding="utf-8")
    answer = trained(
        "audit", "half", *SCORES, "--task", "test.tsv", "--data", "tiny", "--threads", "1", "--json"
    )
    assert answer.code == 0, answer.err
    (row,) = answer.rows
    assert (row["items"], row["both_read"]) == (60, 30)
    assert row["effect_low"] is None or row["effect_low"] <= row["effect"]
    assert {"effect", "effect_low", "effect_p", "owed", "owed_high", "placebo"} <= row.keys()
    assert row["compared_read"] + row["compared_unread"] <= 60
    shown = trained(
        "audit", "half", *SCORES, "--task", "test.tsv", "--data", "tiny", "--threads", "1"
    )
    assert "half is known to have read a sentence of" in shown.out
    assert "Holm" not in shown.out + shown.err  # over one dataset
    assert "the training text of its runs was looked up" in shown.out
    Path("runs/half/seed-1/learnt.parquet").unlink()
    Path("train.tsv").unlink()
    lost = trained("audit", "half", *SCORES, "--task", "test.tsv", "--data", "tiny", "--notes")
    assert "what half@1 shares with test sets is not counted" in " ".join(lost.out.split())


def test_without_a_prediction_of_all_three_models_items_are_counted_alone(
    tmp_path: Path, embedlab: Embedlab
) -> None:
    pairs(tmp_path)
    words = ("--reference", "bm25", "--placebo", "scores:test.tsv#score", "--data", "tiny")
    answer = embedlab("audit", "dice", *words, "--task", "test.tsv", "--json")
    assert answer.code == 0, answer.err
    (row,) = answer.rows
    assert (row["items"], row.get("effect")) == (60, None)


def test_the_interval_of_a_dataset_does_not_depend_on_what_else_is_audited(
    tmp_path: Path, trained: Embedlab
) -> None:
    lines = pairs(tmp_path)
    Path("mine.tsv").write_text(Path("test.tsv").read_text("utf-8"), encoding="utf-8")
    first_sentences = [line.split("\t")[0] for line in lines]
    shared = [
        f"{first}\t{other}\t{number % 6}"
        for number, (first, other) in enumerate(pairwise(first_sentences))
    ]
    Path("other.tsv").write_text("\n".join(["sentence1\tsentence2\tscore", *shared]), "utf-8")
    Path("all.tsv").write_text(
        "\n".join(["sentence1\tsentence2\tscore", *lines, *shared]), encoding="utf-8"
    )
    words = ("--reference", "dice", "--placebo", "wordllama", "--data", "tiny", "--threads", "1")
    alone = trained("audit", "half", *words, "--task", "test.tsv", "--json").rows[0]
    beside = trained(
        "audit", "half", *words, "--task", "test.tsv", "--task", "other.tsv", "--json"
    ).rows[0]
    assert alone["effect_low"] is not None
    keys = ("effect", "effect_low", "effect_high", "effect_p")
    assert [beside[key] for key in keys] == [alone[key] for key in keys]
