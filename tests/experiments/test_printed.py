"""The printed tables can be found by the names users type."""

import pytest

from embedlab.core.errors import UsageError
from embedlab.experiments.paper_file import published_table


def test_an_unknown_paper_or_table_suggests_the_nearest() -> None:
    with pytest.raises(UsageError) as paper:
        published_table("laio", "table2_sts")
    assert "'liao'" in paper.value.hint
    with pytest.raises(UsageError) as table:
        published_table("liao", "table2")
    assert "table2_sts" in table.value.hint
