"""Names are found by listing, and a wrong one gets the nearest right one."""

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.names import (
    objective_names,
    objective_options,
    recipe_names,
    recipe_path,
)
from embedlab.core.nearest import nearest_name, unknown


def test_recipes_and_objectives_are_found_by_listing_their_folders() -> None:
    assert {"snli-ce", "snli-supcl", "sbert"} <= set(recipe_names())
    assert {"nli_softmax", "supervised_contrastive"} <= set(objective_names())


@pytest.mark.parametrize("name", objective_names())
def test_every_objective_has_options_needs_and_a_summary(name: str) -> None:
    module = objective_options(name)
    assert module.SUMMARY
    assert module.needs(module.Options()).columns
    assert module.Options


def test_nearest_ignores_case_first_and_gives_up_on_strangers() -> None:
    assert nearest_name("SBERT", ["sbert", "defsent"]) == "sbert"
    assert nearest_name("qqqq", ["sbert", "defsent"]) is None


def test_an_unknown_name_with_nothing_near_lists_what_there_is() -> None:
    assert unknown("task", "zzz", ["sts", "glue"]).hint == "known: glue, sts"
    assert (
        unknown("task", "zzz", ["sts"], listing="`x` lists all").hint == "known: sts; `x` lists all"
    )
    assert unknown("task", "zzz", [f"a{number:02}" for number in range(13)]).hint.endswith(
        ", a11, …"
    )


def test_the_shortest_name_that_begins_with_what_was_typed_is_the_nearest() -> None:
    assert (
        nearest_name("sts-b", ["sts12", "sts-benchmark-long", "sts-benchmark"]) == "sts-benchmark"
    )


@pytest.mark.parametrize(
    "name", ["../secrets", "no/such", "missing.toml", "a" * 300, f"{'a' * 300}.toml"]
)
def test_a_recipe_name_is_no_way_around_the_folder(name: str) -> None:
    with pytest.raises(UsageError):
        recipe_path(name)
