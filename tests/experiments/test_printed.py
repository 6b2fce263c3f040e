"""The printed tables can be found by the names users type."""

from embedlab.experiments.paper_file import published_table
from tests.refusal import refused


def test_an_unknown_paper_or_table_suggests_the_nearest() -> None:
    with refused("'laio'", "'liao'"):
        published_table("laio", "table2_sts")
    with refused("'table2'", "table2_sts"):
        published_table("liao", "table2")
