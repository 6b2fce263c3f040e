"""`embedlab evaluate`: a model's numbers on the tasks."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan, nan
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.choices import Aggregate, By, Correlation, SettingName
from embedlab.cli import completion
from embedlab.cli.comparison_cells import pair_footnotes, shared_fields
from embedlab.cli.models import ModelNames, one_member, resolve_model, title_of
from embedlab.cli.notes import data_notes, marked, undefined_notes, usage_notes
from embedlab.cli.options import Signed, common, examples
from embedlab.cli.suites import Work, check_device, encode_for_all, judge_models
from embedlab.cli.terminal import Terminal, report, to_stderr
from embedlab.core.errors import ExitCode, MissingError, UsageError

if TYPE_CHECKING:
    from embedlab.analysis.scores import ModelColumns
    from embedlab.data.shared_text import Overlap
    from embedlab.evaluation.scored_pairs import ScoredPairs
    from embedlab.evaluation.selection import Asked
    from embedlab.models.catalog import ModelSpec
    from embedlab.reports.tables import Cell, Table, Value
    from embedlab.runs.evaluations import Evaluation

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
    suite: Annotated[
        str | None,
        typer.Option("--suite", metavar="TASK", help="What to evaluate: a task, or all. [default: sts]", autocompletion=completion.tasks),
    ] = None,
    task: TaskNames = None,
    by: Annotated[By, typer.Option("--by", help="What a number stands for.")] = "dataset",
    aggregate: Annotated[Aggregate | None, typer.Option("--aggregate", help="Only this aggregation of a dataset's sources.")] = None,
    metric: Annotated[Correlation, typer.Option("--metric", help="The correlation to show.")] = "spearman",
    setting: Annotated[SettingName, typer.Option("--setting", help="How transfer and probing train their classifiers.")] = "literature",
    again: Annotated[bool, typer.Option("--again", help="Evaluate also what was evaluated before on the same data.")] = False,
    signature: Signed = False,
    mteb: Annotated[
        Path | None, typer.Option("--mteb", metavar="DIR", help="Also write the STS results into DIR as files that mteb reads.")
    ] = None,
    submission: Annotated[
        Path | None,
        typer.Option("--submission", metavar="DIR", help="Also write predictions of GLUE's test splits into DIR, for its server."),
    ] = None,
    *,
    terminal: Terminal,
) -> None:
    """Evaluate MODELs: correlations with human scores of pairs (sts), accuracies of linear classifiers (transfer, probing) …, x 100.

    Aggregations: `all` correlates a dataset's pairs at once, `mean` averages its sources, `wmean` weights them by pairs. Dice fifths
    are those of all STS-B pairs, unless --task names others. A run with several seeds shows mean ± standard deviation. Everything
    measured is kept in the run's folder, or in the cache.
    """
    if aggregate is not None and by != "dataset":
        raise UsageError(f"--aggregate is for datasets: a {by} is correlated at once", hint="leave --aggregate out, or take --by dataset")

    from embedlab.evaluation.selection import ask

    asked = ask(suite, task or (), terminal.settings.data)
    if not (len(asked) == 1 and asked[0].scores_pairs):
        _refuse_options_of_sts(by=by != "dataset", aggregate=aggregate is not None, metric=metric != "spearman", mteb=mteb is not None)
        return _evaluate_others(models, Work(asked=asked, setting=setting, again=again, is_signed=signature), submission, terminal)
    if submission is not None:
        raise _not_glue()
    if setting != "literature":
        raise UsageError(f"--setting {setting} is for classifiers: sts has none", hint="take --suite transfer or probing")
    if mteb is not None:
        refuse_file("--mteb", mteb)
    datasets = chosen_datasets(list(asked[0].names), by)
    scored, is_whole = score(models, terminal, datasets=datasets, fifths=datasets is None or by == "dice")
    evaluations = evaluate_members(scored)
    if datasets is None:
        keep(scored, evaluations)
    if mteb is not None:
        _write_for_mteb(mteb, evaluations, terminal)
    aggregates: Sequence[Aggregate] = (aggregate,) if aggregate else ("all", "mean", "wmean")
    table = dataset_table(scored, evaluations, aggregates, metric) if by == "dataset" else _slice_table(scored, evaluations, by, metric)
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


def _evaluate_others(names: Sequence[str], work: Work, submission: Path | None, terminal: Terminal) -> None:
    """Every task that was asked for, one table each; all their sentences are encoded before, each once."""
    if submission is not None and not (work.is_one and work.asked[0].has_submission):
        raise _not_glue()
    models = [resolve_model(name, terminal) for name in dict.fromkeys(names)]
    predicting = [one_member(model) for model in models] if submission is not None else []
    if submission is not None:
        from embedlab.evaluation.submission import check_submission

        refuse_file("--submission", submission)
        check_submission(predicting, terminal.settings)
    known = encode_for_all(models, work, terminal)
    tables, is_whole = [], known.is_whole
    for one in work.asked:
        if one in known.ready.missing:
            continue
        try:
            table = _sts_table(names, one, terminal) if one.scores_pairs else judge_models(models, one, work, known, terminal)
        except MissingError as error:
            if work.is_one:
                raise
            report(error)
            is_whole = False
            continue
        tables += [table] if table else []
    if tables:
        terminal.show(*(replace(table, is_signed=work.is_signed) for table in tables))
    if submission is not None:
        _write_submission(predicting, submission, terminal)
    if not is_whole:
        raise typer.Exit(ExitCode.MISSING)


def _sts_table(names: Sequence[str], one: "Asked", terminal: Terminal) -> "Table":
    scored, _ = score(names, terminal, datasets=one.names or None, fifths=one.is_whole, is_reported=True)
    evaluations = evaluate_members(scored)
    if one.is_whole:
        keep(scored, evaluations)
    return dataset_table(scored, evaluations, ("all", "mean", "wmean"), "spearman")


def chosen_datasets(task: list[str] | None, by: By) -> list[str] | None:
    """The datasets that were typed, or the whole suite (None); fifths are those of STS-B, as in tsukagoshi, unless others are typed."""
    return task or (["sts-benchmark"] if by == "dice" else None)


def score(
    names: Sequence[str], terminal: Terminal, *, datasets: Sequence[str] | None = None, fifths: bool = False, is_reported: bool = False
) -> "tuple[ScoredPairs, bool]":
    """Every pair scored by every model, and whether no dataset was missing; what is missing is reported, unless it was before."""
    models = [resolve_model(name, terminal) for name in dict.fromkeys(names)]
    check_device(terminal)

    from embedlab.data.source import Source
    from embedlab.evaluation.scored_pairs import score_models
    from embedlab.tasks.sts import DATASETS, open_parts

    parts, missing = open_parts(Source.from_settings(terminal.settings), datasets or DATASETS, fifths=fifths)
    for error in missing if not is_reported else ():
        report(error)
    with terminal.progresses() as watch:
        scored = score_models(models, parts, terminal.settings, watch=lambda member: watch(f"scoring {member}"), note=terminal.note)
    return scored, not missing


def evaluate_members(scored: "ScoredPairs") -> Evaluations:
    """Every member's evaluation."""
    from embedlab.evaluation.scored_pairs import evaluate as evaluate_member

    return {member: evaluate_member(scored, member) for member in scored.places}


def keep(scored: "ScoredPairs", evaluations: Evaluations) -> None:
    """Write every member's evaluation to where its scores are kept; a disk that refuses costs the file, not the answer."""
    for member, evaluation in evaluations.items():
        try:
            evaluation.save(scored.places[member].evaluations)
        except MissingError as error:
            to_stderr(f"embedlab: warning: {member} is not kept: {error.message}")


def evaluate_tasks(names: Sequence[str], tasks: Sequence[str], terminal: Terminal) -> None:
    """What `train` shows at its end: the models on a recipe's tasks."""
    from embedlab.evaluation.selection import Asked

    _evaluate_others(names, Work(asked=[Asked(task=task) for task in tasks]), None, terminal)


def dataset_table(scored: "ScoredPairs", evaluations: Evaluations, aggregates: Sequence[Aggregate], metric: Correlation) -> "Table":
    """One row a model and aggregation, one column a dataset and average."""
    from embedlab.reports.tables import Column, Table

    keys = _slices(evaluations, "dataset") + _slices(evaluations, "average")
    rows = [_dataset_row(evaluations, model, keys, metric, aggregate) for model in scored.models for aggregate in aggregates]
    columns = [Column(key="model", title="model"), Column(key="aggregate", title="aggregate")]
    columns += [Column(key=key, title=key, align="right") for key in keys]
    return Table(
        title=_title(scored, metric),
        columns=columns,
        rows=rows,
        notes=_notes(scored, "dataset", aggregates),
        signatures=_signatures(scored, "dataset", aggregates, metric),
    )


def _signatures(scored: "ScoredPairs", by: By, aggregates: Sequence[Aggregate], metric: Correlation) -> dict[str, str]:
    from embedlab.evaluation.scored_pairs import signature_of
    from embedlab.tasks.sts import suite_slices

    rows = sum(part.pairs.height for part in suite_slices(scored.table, by))
    return {
        model.name: str(signature_of(scored, model, by=by, aggregation=aggregates, metric=metric, rows=rows)) for model in scored.models
    }


def _dataset_row(
    evaluations: Evaluations, model: "ModelColumns", keys: Sequence[str], metric: Correlation, aggregate: Aggregate
) -> "dict[str, Value | Cell]":
    from embedlab.reports.tables import Cell

    row: dict[str, Value | Cell] = {"model": Cell(value=model.name, text=title_of(model.name)), "aggregate": aggregate}
    for key in keys:
        values = _values(evaluations, model, ("dataset", "average"), key, metric, aggregate)
        shared = next((found[key] for member in model.members if key in (found := evaluations[member].overlaps)), None)
        row[key] = _cell(values, shared)
        if len(model.members) > 1:  # for machines, beside each mean
            row[f"{key}.sd"] = _sd(values)
        row |= shared_fields(key, shared)
    return row


def _slice_table(scored: "ScoredPairs", evaluations: Evaluations, by: By, metric: Correlation) -> "Table":
    """One row a source or Dice fifth, one column a model."""
    from embedlab.reports.tables import Cell, Column, Table
    from embedlab.tasks.sts import suite_slices

    rows: list[dict[str, Value | Cell]] = []
    notes = list(_notes(scored, by, ("all",)))
    overlaps = {model.name: scored.model_overlaps(model, by) for model in scored.models}
    for part in suite_slices(scored.table, by):
        row: dict[str, Value | Cell] = {"slice": Cell(value=part.key, text=part.title), "pairs": part.pairs.height}
        for model in scored.models:
            shared = overlaps[model.name].get(part.key)
            row[model.name] = _cell(_values(evaluations, model, (by,), part.key, metric, "all"), shared)
            row |= shared_fields(model.name, shared)
        rows.append(row)
        notes += part.notes
    columns = [Column(key="slice", title=by), Column(key="pairs", title="pairs")]
    columns += [Column(key=model.name, title=title_of(model.name), align="right") for model in scored.models]
    signatures = _signatures(scored, by, ("all",), metric)
    return Table(title=_title(scored, metric), columns=columns, rows=rows, notes=notes, signatures=signatures)


def _slices(evaluations: Evaluations, by: str) -> list[str]:
    return list(dict.fromkeys(score.slice for evaluation in evaluations.values() for score in evaluation.scores if score.by == by))


def _values(
    evaluations: Evaluations, model: "ModelColumns", by: Sequence[str], key: str, metric: Correlation, aggregate: Aggregate
) -> list[float]:
    """The score x 100 of each member; without sources a dataset and its only source have one name, so BY tells them apart."""
    return [
        100 * score.value
        for member in model.members
        for score in evaluations[member].scores
        if score.by in by and (score.slice, score.metric, score.setting) == (key, metric, aggregate)
    ]


def _cell(values: Sequence[float], shared: "Overlap | None") -> "Cell":
    """Mean ± standard deviation over the members, with the mark of text seen in training; one that is undefined for a member is absent."""
    from embedlab.evaluation.provenance import overlap_mark
    from embedlab.reports.tables import ABSENT, Cell

    mean, sd = fmean(values), _sd(values)
    spread = f" ± {sd:.2f}" if sd == sd else ""
    return Cell(value=mean, text=f"{mean:.2f}{overlap_mark(shared)}{spread}" if mean == mean else ABSENT)


def _sd(values: Sequence[float]) -> float:
    """Standard deviation (n − 1); nan for a single value, or where one is nan."""
    return stdev(values) if len(values) > 1 and not any(map(isnan, values)) else nan


def _title(scored: "ScoredPairs", metric: Correlation) -> str:
    return marked(f"{metric.title()} x 100", scored.marks)


def _notes(scored: "ScoredPairs", by: By, aggregates: Sequence[Aggregate]) -> tuple[str, ...]:
    """What must be said beside the numbers, and where one is absent."""
    undefined = undefined_notes(scored, by, aggregates)
    return (*data_notes(scored), *undefined, *pair_footnotes(scored, by), *usage_notes(scored.models, scored.facts))
