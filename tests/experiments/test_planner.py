"""Grids and papers' tables are planned by the same code: equal trainings have equal identities, and
none is repeated.
"""

from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.experiments.paper_file import select_tables
from embedlab.experiments.paper_trainings import expand_table, limit_to_profile
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.planner import run_identity
from embedlab.runs.store import RunFolder
from tests.experiments.conftest import plan_of

SAME_AS_TABLE_6 = """
summary = "The weights of liao's table 6."
base = "snli-supcl"
tasks = ["sts"]

[axes]
"objective.weight" = [0.1, 0.3]
"""


def begin(plan: GridPlan, run: str, *, is_finished: bool = False) -> None:
    folder = RunFolder.of(plan.place.runs, run, 1)
    (folder.model if is_finished else folder.path).mkdir(parents=True)


def names(plan: GridPlan) -> list[str]:
    return [variant.run for variant in plan.variants]


@pytest.fixture
def grid(tmp_path: Path) -> GridPlan:
    return plan_of(tmp_path, SAME_AS_TABLE_6)


def table_6(place: Settings) -> GridPlan:
    (table,) = select_tables("liao", "table6")
    plan = expand_table(table, place, seeds=[1], threads=1, overrides=[]).plan
    assert plan is not None
    return plan


def test_a_grid_and_a_table_give_one_training_one_identity(grid: GridPlan) -> None:
    assert [*map(run_identity, names(grid))] == [*map(run_identity, names(table_6(grid.place)))][:2]


def test_rows_that_changed_since_the_last_plan_are_another_training(tmp_path: Path) -> None:
    rows = tmp_path / "rows.tsv"
    text = SAME_AS_TABLE_6.replace("snli-supcl", "own-pairs").replace("[axes]", "[set]")
    text = text.replace('"objective.weight" = [0.1, 0.3]', f'"data.files" = ["{rows}"]')
    plans = []
    for row in ("a cat\ta kitten\n", "a dog\ta puppy\n"):
        rows.write_text("anchor\tpositive\n" + row * 20)
        plans += names(plan_of(tmp_path, f'{text}[axes]\n"optim.lr" = [1e-5]\n'))
    assert len({*plans}) == 2


def test_a_grid_goes_on_with_what_a_table_has_trained(grid: GridPlan, tmp_path: Path) -> None:
    theirs = names(table_6(grid.place))[1]
    begin(grid, theirs, is_finished=True)
    assert names(plan_of(tmp_path, SAME_AS_TABLE_6)) == [names(grid)[0], theirs]


def test_a_cell_keeps_its_own_name_where_another_is_only_begun(
    grid: GridPlan, tmp_path: Path
) -> None:
    own, theirs = names(grid)[0], names(table_6(grid.place))[0]
    begin(grid, own)
    assert names(table_6(grid.place))[0] == own
    begin(grid, theirs)
    assert names(plan_of(tmp_path, SAME_AS_TABLE_6)) == names(grid)
    assert names(table_6(grid.place))[0] == theirs


def test_rows_that_are_one_training_are_trained_once(place: Settings) -> None:
    """In the authors' code of liao "3p3n" and "3palln" with λ 0.5 have the same negatives."""
    (table,) = select_tables("liao", "table2")
    code, _ = limit_to_profile(table, "code")
    found = expand_table(code, place, seeds=[1], threads=1, overrides=["profile=code"])
    assert found.plan is not None
    identities = [run_identity(run) for run in names(found.plan)]
    assert (
        len(identities)
        == len(set(identities))
        == len({variant.run for variant in found.variants.values()})
    )
    assert len(found.variants) == len(identities) + 2


def test_an_axis_whose_value_cannot_be_trained_is_named_and_set_in_no_other_way(
    tmp_path: Path,
) -> None:
    axis = '[axes]\n"optim.batch_size" = [1, 8]'
    with pytest.raises(UsageError, match=r"with optim.batch_size = 1: .* none$") as caught:
        plan_of(tmp_path, f'base = "simcse"\ntasks = []\n{axis}')
    assert "--set" not in caught.value.hint


def test_a_grid_that_nobody_has_is_not_offered_to_be_started(tmp_path: Path) -> None:
    for name, is_offered in (("sbert-lr", True), ("nosuch", False)):
        with pytest.raises(UsageError, match="has been started") as caught:
            GridPlan.find(tmp_path, name)
        assert ("grid run" in caught.value.hint) == is_offered
