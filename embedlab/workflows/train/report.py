"""A training from its options to the scores of its runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from embedlab.reports.runs import trained_frame
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.store import RunFolder
from embedlab.scoring.selection import recipe_evaluations
from embedlab.workflows.options.train import TrainOptions
from embedlab.workflows.report import Report
from embedlab.workflows.session import Session
from embedlab.workflows.train.plan import plan_training
from embedlab.workflows.train.run import TrainedRun, check_training, train_plan


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TrainingReport(Report):
    """The scores of trained runs, and the tables of the recipe's tasks."""

    command: ClassVar[str] = "runs"
    runs: tuple[TrainedRun, ...]

    def drawn(self) -> Mapping[str, Any]:
        """The runs."""
        return {"runs": [run.run for run in self.runs]}


def training_report(options: TrainOptions, session: Session) -> TrainingReport:
    """Train what OPTIONS select in this process; the frame has one row a run and score."""
    plan = plan_training(options, session.settings)
    check_training(plan, session)
    result = train_plan(plan, session)
    selected, report = result.recipe.evaluate, result.evaluated
    stored = recipe_evaluations(selected.tasks)
    evaluations = {run.run.id: _stored(run.run, stored) for run in result.runs}
    return TrainingReport(
        frame=trained_frame([(run.run, run.status) for run in result.runs], selected, evaluations),
        tables=report.tables if report is not None else (),
        notes=report.notes if report is not None else (),
        is_whole=report is None or report.is_whole,
        runs=result.runs,
    )


def _stored(run: RunFolder, tasks: Iterable[str]) -> list[Evaluation]:
    """What the evaluation of the run's model stored of each task; a task that was missing has
    none.
    """
    return [
        Evaluation.load(path)
        for task in tasks
        if (path := run.evaluations / f"{task}.json").is_file()
    ]
