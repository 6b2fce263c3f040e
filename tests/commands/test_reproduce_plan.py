"""The trainings that a table of a paper needs."""

from pathlib import Path

from embedlab.commands.grid_plan import entries_of_runs, estimate
from embedlab.commands.reproduce_plan import ReproductionOptions, planned_trainings
from embedlab.commands.reproduce_run import prepare_start
from embedlab.core.settings import Settings
from embedlab.experiments.paper_file import select_tables


def test_the_plan_of_a_table_writes_nothing_and_names_the_runs_once_the_sample_encoder_is_built(
    tmp_path: Path, settings: Settings
) -> None:
    tables = select_tables("liao", "table6")
    options = ReproductionOptions(
        encoder="nobody/nothing", seeds=1, workers=2, cluster="slurm:partition=gpu"
    )
    (planned,) = planned_trainings(tables, options, settings)
    assert (len(planned.plan), planned.run_options.workers, planned.run_options.cluster) == (
        5,
        2,
        "slurm:partition=gpu",
    )
    assert "as jobs of Slurm" in estimate(planned, entries_of_runs(planned.plan)).text
    assert not list(tmp_path.iterdir())
    own = ReproductionOptions(seeds=1)
    prepare_start(own, settings)
    (prepared,) = planned_trainings(tables, own, settings)
    assert Path(prepared.plan.cell(1).variant.recipe["encoder"]["model"]).is_relative_to(
        settings.cache
    )
