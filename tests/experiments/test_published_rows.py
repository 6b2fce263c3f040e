"""A printed row can be found by the name of its model."""

from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.experiments.paper_file import (
    load_paper,
    paper_names,
    published_row,
    published_table,
    read_paper,
)
from tests.experiments.test_paper_file import TABLE, of_the_user

MODELS = [model for paper in paper_names() for model in read_paper(paper).published]


def test_a_printed_row_is_found_by_its_recipe() -> None:
    row = published_row("snli-supcl")
    assert row is not None
    assert (row.paper, row.aggregate, row.scores["sts13"], row.average) == (
        "liao",
        "wmean",
        69.48,
        70.44,
    )


@pytest.mark.parametrize("model", MODELS)
def test_the_printed_average_is_the_mean_of_the_scores(model: str) -> None:
    row = published_row(model)
    assert row is not None
    assert row.average == pytest.approx(sum(row.scores.values()) / len(row.scores), abs=0.01)
    assert (
        len(row.scores) + 2 <= published_table(row.paper, row.table).width
    )  # the key and the average are not datasets


def test_an_unpublished_model_has_no_row() -> None:
    assert published_row("my-run") is None


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('table = "table6", row = "0.1"', "no table 'table6'"),
        ('table = "table6_lambda_sts", row = "0.2"', "no row '0.2'"),
    ],
)
def test_a_row_that_is_not_printed_is_refused(entry: str, said: str, tmp_path: Path) -> None:
    text = f'{TABLE}\n[published]\nmine = {{ {entry}, encoder = "BERT" }}\n'
    with pytest.raises(UsageError, match=f"published.mine: {said}"):
        load_paper(of_the_user(tmp_path, text))
