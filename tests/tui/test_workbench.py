"""What the dashboard shows of stored outcomes."""

from pathlib import Path

import pytest

from embedlab.tui import workbench


class Scored:
    """The facts of a stored dataset that the dashboard reads."""

    def __init__(self, name: str, task: str = "sts") -> None:
        self.name, self.task = name, task


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (
            ["sts12", "starter", "mk.tsv", "/tmp/own.csv", "sts-benchmark:dev", "sts13"],
            ("sts12", "sts13"),
        ),
        (["mteb:STS13"], ("mteb:STS13",)),
        (["mk.tsv"], ("",)),
    ],
)
def test_a_file_that_was_opened_once_is_not_among_the_datasets_of_a_task(
    monkeypatch: pytest.MonkeyPatch, stored: list[str], shown: tuple[str, ...]
) -> None:
    facts = [*map(Scored, stored), Scored("mr", "transfer")]
    monkeypatch.setattr(workbench, "stored_facts", lambda folder: facts)
    assert workbench._corpora({"dice": Path(), "minilm": Path()}, "sts") == shown
