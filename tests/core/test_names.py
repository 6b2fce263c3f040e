"""Names are found by listing, and a wrong one gets the nearest right one."""

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.names import (
    recipe_path,
)
from embedlab.core.nearest import nearest_name, unknown_name_error


def test_nearest_ignores_case_first_and_gives_up_on_strangers() -> None:
    assert nearest_name("SBERT", ["sbert", "defsent"]) == "sbert"
    assert nearest_name("qqqq", ["sbert", "defsent"]) is None
    known = ["sts12", "sts-benchmark-long", "sts-benchmark"]
    assert nearest_name("sts-b", known) == "sts-benchmark"


def test_an_unknown_name_with_nothing_near_lists_what_there_is() -> None:
    several = [f"a{number:02}" for number in range(13)]
    assert unknown_name_error("task", "zzz", ["sts", "glue"]).hint == "known: sts, glue"
    assert unknown_name_error("task", "zzz", several, listing="`x` lists all").hint.endswith(
        ", a11, …; `x` lists all"
    )


@pytest.mark.parametrize(
    "name", ["../secrets", "no/such", "missing.toml", "a" * 300, f"{'a' * 300}.toml"]
)
def test_a_recipe_name_is_no_way_around_the_folder(name: str) -> None:
    with pytest.raises(UsageError):
        recipe_path(name)
