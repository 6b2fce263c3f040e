"""`embedlab evaluate`: a model's numbers on the tasks."""

from collections.abc import Sequence

from embedlab.cli.evaluation_options import (
    Again,
    ClassifierSetting,
    MtebFolder,
    OnlyAggregate,
    ShownMetric,
    SlicesBy,
    SubmissionFolder,
    SuiteName,
    TaskNames,
)
from embedlab.cli.models import ModelNames
from embedlab.cli.options import Signed, common, examples
<<<<<<< HEAD
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal
=======
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from embedlab.models.catalog import ModelSpec
    from embedlab.runs.evaluations import Evaluation
    from embedlab.workflows.suites import Work

TaskNames = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        metavar="NAME",
        help="Only this dataset, a file of your own pairs, a set of probing files (gum-probing, probing:DIR) or a whole task.",
        autocompletion=completion.datasets,
    ),
]
Evaluations = dict[str, "Evaluation"]  # by member
>>>>>>> e883585 (Train in a workflow: plan, preview, run and log)

EXAMPLES = examples(
    "embedlab evaluate snli-supcl dice --suite sts --data DIR",
    "embedlab evaluate sbert --task sts12 --task my-pairs.tsv --by source --metric pearson --json",
    "embedlab evaluate sbert --task mrpc --task trec --task gum-probing --setting prototyping",
    "embedlab evaluate sbert --suite all",
    "embedlab evaluate glue-finetune@1 --suite glue --submission predictions",
)


@common("data", "runs", "machine", "output")
def evaluate(
    models: ModelNames,
    suite: SuiteName = None,
    task: TaskNames = None,
    by: SlicesBy = "dataset",
    aggregate: OnlyAggregate = None,
    metric: ShownMetric = "spearman",
    setting: ClassifierSetting = "literature",
    again: Again = False,
    signature: Signed = False,
    mteb: MtebFolder = None,
    submission: SubmissionFolder = None,
    *,
    terminal: Terminal,
) -> None:
    """Evaluate MODELs: correlations with human scores of pairs (sts), accuracies of linear classifiers (transfer, probing) …, x 100.

    Aggregations: `all` correlates a dataset's pairs at once, `mean` averages its sources, `wmean` weights them by pairs. Dice fifths
    are those of all STS-B pairs, unless --task names others. A run with several seeds shows mean ± standard deviation. Everything
    measured is stored in the run's folder, or in the cache.
    """
    from embedlab.workflows.evaluate import EvaluateOptions, evaluation_report

<<<<<<< HEAD
    options = EvaluateOptions(
        models=models,
        suite=suite,
        tasks=task or (),
        by=by,
        aggregate=aggregate,
        metric=metric,
        setting=setting,
        again=again,
        mteb=mteb,
        submission=submission,
    )
    report = evaluation_report(options, terminal)
    show_report(report, terminal, is_signed=signature)
    end(report)


def evaluate_tasks(names: Sequence[str], tasks: Sequence[str], terminal: Terminal) -> None:
    """What `train` shows at its end: the models on a recipe's tasks."""
    from embedlab.workflows.evaluate import EvaluateOptions, evaluation_report

    report = evaluation_report(EvaluateOptions(models=names, tasks=tasks), terminal)
    show_report(report, terminal)
    end(report)
=======
    if aggregate is not None and by != "dataset":
        raise UsageError(f"--aggregate is for datasets: a {by} is correlated at once", hint="leave --aggregate out, or take --by dataset")

    from embedlab.evaluation.selection import select_tasks

    selected = select_tasks(suite, task or (), terminal.settings.data)
    if not (len(selected) == 1 and selected[0].scores_pairs):
        _refuse_options_of_sts(by=by != "dataset", aggregate=aggregate is not None, metric=metric != "spearman", mteb=mteb is not None)
        return _evaluate_others(models, Work(selected=selected, setting=setting, again=again, is_signed=signature), submission, terminal)
    if submission is not None:
        raise _not_glue()
    if setting != "literature":
        raise UsageError(f"--setting {setting} is for classifiers: sts has none", hint="take --suite transfer or probing")
    if mteb is not None:
        refuse_file("--mteb", mteb)
    datasets = chosen_datasets(list(selected[0].names), by)
    scored, is_whole = score(models, terminal, datasets=datasets, fifths=datasets is None or by == "dice")
    evaluations = evaluate_members(scored)
    if datasets is None:
        keep(scored, evaluations, terminal)
    if mteb is not None:
        _write_for_mteb(mteb, evaluations, terminal)
    aggregates: Sequence[Aggregate] = (aggregate,) if aggregate else ("all", "mean", "wmean")
    table = dataset_table(scored, evaluations, aggregates, metric) if by == "dataset" else slice_table(scored, evaluations, by, metric)
    terminal.show(replace(table, is_signed=signature))
    if not is_whole:
        raise typer.Exit(ExitCode.MISSING)
    return None


def _write_for_mteb(folder: Path, evaluations: Evaluations, terminal: Terminal) -> None:
    from embedlab.reports.mteb import write_mteb

    for evaluation in evaluations.values():
        written = write_mteb(folder, evaluation)
        terminal.note(f"{evaluation.model}: {len(written) - 1} results for mteb in {written[0].parent}")


def _refuse_options_of_sts(**is_typed: bool) -> None:
    for name, typed in is_typed.items():
        if typed:
            raise UsageError(f"--{name} is for the task sts alone", hint="take --suite sts")


def refuse_file(option: str, folder: Path) -> None:
    """Refuse what an OPTION names as its folder where that is a file, before anything is computed for it."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{option} is {str(folder)!r}, a file", hint="give the name of a folder")


def _not_glue() -> UsageError:
    return UsageError("--submission writes predictions of the task glue alone", hint="take --suite glue")


def _write_submission(specs: "Sequence[ModelSpec]", folder: Path, terminal: Terminal) -> None:
    from embedlab.evaluation.submission import write_submission

    for path, author in write_submission(folder, specs, terminal.settings).items():
        terminal.note(f"{author}: predictions for GLUE's server in {path}")


def _evaluate_others(names: Sequence[str], work: "Work", submission: Path | None, terminal: Terminal) -> None:
    """Every task that was asked for, one table each; all their sentences are encoded before, each once."""
    from embedlab.workflows.evaluate import evaluate_selected
    from embedlab.workflows.models import one_member, resolve_model

    if submission is not None and not (work.is_one and work.selected[0].has_submission):
        raise _not_glue()
    models = [resolve_model(name, terminal) for name in dict.fromkeys(names)]
    predicting = [one_member(model) for model in models] if submission is not None else []
    if submission is not None:
        from embedlab.evaluation.submission import check_submission

        refuse_file("--submission", submission)
        check_submission(predicting, terminal.settings)
    found = evaluate_selected(models, work, terminal)
    if found.tables:
        terminal.show(*(replace(table, is_signed=work.is_signed) for table in found.tables))
    if submission is not None:
        _write_submission(predicting, submission, terminal)
    if not found.is_whole:
        raise typer.Exit(ExitCode.MISSING)
>>>>>>> e883585 (Train in a workflow: plan, preview, run and log)
