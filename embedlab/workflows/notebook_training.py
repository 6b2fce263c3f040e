"""The functions of `import embedlab` that train, and that read what was trained: runs, grids, the
tables of papers, exported models.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from embedlab.choices import Tracker
from embedlab.core.errors import UsageError
from embedlab.models.aliases import declared, declared_or_none
from embedlab.workflows.arguments import given_seeds, given_values, names_of
from embedlab.workflows.export import export_model
from embedlab.workflows.grid.report import GridReport, GridRun, grid_report, grid_run, status_report
from embedlab.workflows.notebook_session import reported, session_of
from embedlab.workflows.options.grid import GridOptions, ScoresOptions, StatusOptions
from embedlab.workflows.options.reproduce import ReproductionOptions
from embedlab.workflows.options.train import TrainOptions
from embedlab.workflows.report import Report
from embedlab.workflows.reproduce.report import claims_report, reproduction_report
from embedlab.workflows.run_report import RunReport, run_report, runs_report
from embedlab.workflows.train.report import TrainingReport, training_report


def train(
    recipe: str,
    *,
    set: Mapping[str, object] | None = None,
    profile: str | None = None,
    seeds: int | Sequence[int] = (),
    epochs: int | None = None,
    lr: float | None = None,
    batch_size: int | None = None,
    max_steps: int | None = None,
    name: str | None = None,
    encoder: str | None = None,
    dev: str | None = None,
    resume: bool = False,
    keep_checkpoints: bool = False,
    track: Tracker | None = None,
    progress: bool = False,
    **settings: Any,
) -> TrainingReport:
    """Train RECIPE in this process with other values SET, one run for each of SEEDS, and evaluate
    the models on the recipe's tasks.

    A file of rows in place of a recipe is trained on as `embedlab train FILE` does; DEV is the
    dataset or file of the dev score. A run that is finished is not trained again. RESUME continues
    unfinished runs from their checkpoints.
    """
    options = TrainOptions(
        recipe=recipe,
        overrides=given_values(set),
        seeds=given_seeds(seeds),
        profile=profile,
        epochs=epochs,
        lr=lr,
        batch_size=batch_size,
        max_steps=max_steps,
        name=name,
        encoder=declared_or_none(encoder),
        dev=dev,
        resume=resume,
        keeps_checkpoints=keep_checkpoints,
        track=track,
    )
    return reported(train, lambda session: training_report(options, session), progress, settings)


def export(model: str, folder: str | Path, *, progress: bool = False, **settings: Any) -> Path:
    """Write MODEL into FOLDER, which is new or empty, as transformers and sentence-transformers
    load it; returns the folder.
    """
    export_model(declared(model), Path(folder), session_of(export, progress, settings))
    return Path(folder)


def list_runs(**settings: Any) -> Report:
    """Every run with its state and latest numbers."""
    return reported(list_runs, lambda session: runs_report(session.settings), False, settings)


def run(name: str, **settings: Any) -> RunReport:
    """What the run NAME is, what it ran on and how far it is; its frame has the loss and the dev
    scores, `.plot()` draws them.
    """
    return reported(run, lambda session: run_report(name, session.settings), False, settings)


def grid(
    grid: str,
    *,
    workers: int | None = None,
    set: Mapping[str, object] | None = None,
    profile: str | None = None,
    seeds: int | None = None,
    encoder: str | None = None,
    cluster: str | None = None,
    progress: bool = False,
    **settings: Any,
) -> GridRun:
    """Run the cells of a GRID that are not done yet, each in a process of its own; the report has a
    row a cell.

    `grid_table` has the scores. A cell that fails stops no other: `.has_failed`.
    """
    options = GridOptions(
        grid=grid,
        workers=workers,
        overrides=given_values(set),
        profile=profile,
        seeds=seeds,
        encoder=declared_or_none(encoder),
        cluster=cluster,
    )
    return reported(_GRID, lambda session: grid_run(options, session), progress, settings)


_GRID = grid  # whose name its argument has


def grid_status(grid: str | None = None, **settings: Any) -> Report:
    """How far a GRID is, one row a cell; without a name all grids."""
    return reported(
        grid_status,
        lambda session: status_report(StatusOptions(grid=grid), session.settings),
        False,
        settings,
    )


def grid_table(
    grid: str,
    *,
    rows: str | Sequence[str] = (),
    columns: str | None = None,
    score: str | None = None,
    where: Mapping[str, object] | None = None,
    task: str = "sts",
    metric: str | None = None,
    aggregate: str | None = None,
    by: str | Sequence[str] = ("dataset", "average"),
    **settings: Any,
) -> GridReport:
    """The scores of a started GRID along its axes: mean and spread over seeds, the best and what is
    not distinguishable from it.

    WHERE holds the values of axes by their names; `.plot()` draws the score along the first axis.
    """
    options = ScoresOptions(
        grid=grid,
        task=task,
        metric=metric,
        setting=aggregate,
        by=tuple(names_of(by)),
        rows=tuple(names_of(rows)),
        columns=columns,
        score=score,
        where=tuple(f"{axis}={value}" for axis, value in (where or {}).items()),
    )
    return reported(
        grid_table, lambda session: grid_report(options, session.settings), False, settings
    )


def reproduce(
    paper: str,
    table: str | None = None,
    *,
    published_only: bool = False,
    claims: bool = False,
    from_: Literal["runs", "scores"] | None = None,
    row: Mapping[str, str] | None = None,
    seeds: int | None = None,
    set: Mapping[str, object] | None = None,
    profile: str | None = None,
    encoder: str | None = None,
    unseen: bool = False,
    workers: int | None = None,
    cluster: str | None = None,
    progress: bool = False,
    **settings: Any,
) -> Report:
    """A paper's TABLE, or all of them, next to ours: trained here, or FROM_ the runs that are
    there, or PUBLISHED_ONLY.

    ROW gives the model of a row in place of a run. CLAIMS returns the verdicts on the paper's
    claims instead, and trains nothing. UNSEEN leaves out what a model was trained on.
    """
    if table is None and from_ is None and not published_only and not claims:
        raise UsageError(
            f"no table of {paper!r} is named",
            hint='name one, or give from_="runs" or published_only=True',
        )
    options = ReproductionOptions(
        paper=paper,
        table=table,
        published_only=published_only,
        claims=claims,
        from_=from_,
        models=tuple(f"{name}={model}" for name, model in (row or {}).items()),
        seeds=seeds,
        overrides=given_values(set),
        profile=profile,
        encoder=declared_or_none(encoder),
        unseen=unseen,
        workers=workers,
        cluster=cluster,
    )
    make = claims_report if claims else reproduction_report
    return reported(reproduce, lambda session: make(options, session), progress, settings)
