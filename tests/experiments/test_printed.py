"""The printed numbers can be found by the names users type."""

import tomllib

import pytest

from embedlab.core.errors import UsageError
from embedlab.experiments.printed import PAPERS, REFERENCE_FOLDER, published_row, published_table, published_tables

MODELS = sorted(tomllib.loads((REFERENCE_FOLDER / "published.toml").read_text()))


def test_a_printed_row_is_found_by_its_recipe() -> None:
    row = published_row("snli-supcl")
    assert row is not None
    assert (row.paper, row.aggregate, row.scores["sts13"], row.average) == ("liao", "wmean", 69.48, 70.44)


@pytest.mark.parametrize("model", MODELS)
def test_every_entry_points_at_exactly_one_printed_row_whose_average_is_the_mean_of_its_scores(model: str) -> None:
    row = published_row(model)
    assert row is not None
    assert row.average == pytest.approx(sum(row.scores.values()) / len(row.scores), abs=0.01)
    entry = tomllib.loads((REFERENCE_FOLDER / "published.toml").read_text())[model]
    assert published_table(row.paper, row.table).filter(**entry["row"]).height == 1


def test_an_unpublished_model_has_no_row() -> None:
    assert published_row("my-run") is None


@pytest.mark.parametrize("paper", PAPERS)
def test_every_printed_table_reads(paper: str) -> None:
    assert published_tables(paper)
    assert all(published_table(paper, table).height for table in published_tables(paper))


def test_an_unknown_paper_or_table_suggests_the_nearest() -> None:
    with pytest.raises(UsageError) as paper:
        published_table("laio", "table2_sts")
    assert "'liao'" in paper.value.hint
    with pytest.raises(UsageError) as table:
        published_table("liao", "table2")
    assert "table2_sts" in table.value.hint
