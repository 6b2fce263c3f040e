"""One table of a paper reproduced: its models trained or found, evaluated where that is missing, and its numbers put beside print."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from embedlab.analysis.comparison import Comparison, compare
from embedlab.analysis.scores import ModelColumns
from embedlab.cli.compare import comparison_table
from embedlab.cli.evaluate import By, chosen_datasets, evaluate_members, keep, score
from embedlab.cli.grid import run_plan
from embedlab.cli.output import Terminal, report
from embedlab.cli.reproduce import Asked
from embedlab.cli.reproduce_tables import deviations_table, numbers_table, orders_table
from embedlab.cli.train import starting_encoder
from embedlab.encoders.catalog import finished_seeds, resolve
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.errors import MissingError
from embedlab.grids.deviations import deviations
from embedlab.grids.item_draws import Kept
from embedlab.grids.judgement import Items, Judgement, Number, judge, numbers_of
from embedlab.grids.paper_table import PaperTable
from embedlab.grids.plan import GridFolder, Place, Plan
from embedlab.grids.reproduce import Cells, expected_recipe, for_encoder, plan_cells, trainings
from embedlab.grids.row_models import Member, RowModels, Spot, find_runs_of, settings_apart
from embedlab.recipe import to_table
from embedlab.reports.tables import Table
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import Outcomes, kept_outcomes
from embedlab.runs.store import RunFolder
from embedlab.settings import Settings
from embedlab.tasks.judged import judge as evaluate_on
from embedlab.tasks.sts import ScoredPairs


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """A table of a paper beside ours."""

    table: PaperTable
    deviations: Table
    answers: tuple[Table, ...]  # the numbers, and whether the order holds
    numbers: Mapping[Spot, Number]  # empty for a figure
    judgement: Judgement | None
    comparison: Comparison | None  # of a figure
    scored: ScoredPairs | None
    failed: bool  # whether a training failed

    @property
    def tables(self) -> tuple[Table, ...]:
        """What is shown, deviations first."""
        return self.deviations, *self.answers


@dataclass(frozen=True, kw_only=True)
class _Trained:
    """The runs behind the trained rows of a table."""

    models: RowModels
    recipes: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]  # by row: the paper's, resolved, and the run's
    failed: bool
    apart: tuple[str, ...] = ()  # what is said of runs that differ from each other in more than the table's rows do


@dataclass(frozen=True, kw_only=True)
class _Evaluated:
    """What is known of the models of a table."""

    evaluations: Mapping[tuple[str, str], Evaluation]  # by member and task
    answers: Kept
    scored: ScoredPairs | None  # pair by pair, where the table is about STS and its pairs are there
    missing: tuple[str, ...]

    @property
    def items(self) -> Items:
        """What the models are resampled over."""
        return Items(pairs=self.scored.table if self.scored is not None else None, answers=self.answers)


def reproduce_table(table: PaperTable, asked: Asked, terminal: Terminal) -> Reproduction:
    """Train or find the models of TABLE, evaluate what is missing, and judge it."""
    encoder = starting_encoder(asked.encoder, terminal.settings)
    kept, left_out = for_encoder(table, encoder)
    trained = _train(kept, asked, encoder, terminal) if asked.trains else _find(kept, asked, encoder, terminal)
    members = trained.models.all_members()
    known = _evaluate(kept, members, asked, terminal)
    missing = [*trained.apart, *_absent(kept, members, asked, _again(terminal.settings, encoder=asked.encoder)), *known.missing]
    missing += [f"left out with one encoder for every row: {', '.join(left_out)}"] if left_out else []
    names = {member.name for models in members.values() for member in models}
    seeds = [len(models) for models in members.values() if models and models[0].seed is not None]
    found = deviations(kept, trained.recipes, known.evaluations.values(), _learnt_from(names, terminal), seeds)
    told = deviations_table(kept, found)
    if table.by is not None:
        return _figure(kept, members, known, told, missing, failed=trained.failed, terminal=terminal)
    numbers = numbers_of(kept, members, known.evaluations)
    with terminal.progress("resampling") as tick:
        judgement = judge(kept, members, known.evaluations, known.items, tick)
    marks = sorted({mark for evaluation in known.evaluations.values() for mark in evaluation.marks})
    answers = (numbers_table(kept, numbers, marks, missing), orders_table(kept, judgement, trained.apart))
    return Reproduction(
        table=kept,
        deviations=told,
        answers=answers if kept.judge else answers[:1],
        numbers=numbers,
        judgement=judgement,
        comparison=None,
        scored=known.scored,
        failed=trained.failed,
    )


def planned(tables: Sequence[PaperTable], asked: Asked, settings: Settings) -> list[Plan]:
    """What would be trained for TABLES."""
    encoder = starting_encoder(asked.encoder, settings)
    plans = (_cells(for_encoder(table, encoder)[0], asked, encoder, settings).plan for table in tables)
    return [plan for plan in plans if plan is not None]


def _train(table: PaperTable, asked: Asked, encoder: str | None, terminal: Terminal) -> _Trained:
    """Run the cells that are not done."""
    settings = terminal.settings
    cells = _cells(table, asked, encoder, settings)
    failed = False
    if cells.plan is not None:
        folder = GridFolder.of(settings.runs_folder, cells.plan.name)
        entries = run_plan(cells.plan, folder, (), asked.workers, None, terminal)
        failures = [entry for entry in entries if entry.state == "failed"]
        for entry in failures:
            terminal.warn(f"{entry.run}@{entry.seed} failed: {entry.reason}")
        failed = bool(failures)
    recipes = {label: (to_table(expected_recipe(making)), cells.variants[key].recipe) for key, (label, making) in trainings(table).items()}
    started = encoder or next((ours["encoder"]["model"] for _, ours in recipes.values()), "")
    run_of = {key: variant.run for key, variant in cells.variants.items()}
    models = RowModels(table=table, runs=settings.runs_folder, run_of=run_of, encoder=started, seeds=_seeds(table, asked))
    return _Trained(models=models, recipes=recipes, failed=failed)


def _cells(table: PaperTable, asked: Asked, encoder: str | None, settings: Settings) -> Cells:
    overrides = [*([f"encoder.model={encoder}"] if encoder is not None else []), *asked.overrides]
    return plan_cells(table, Place.of(settings), seeds=_seeds(table, asked), threads=settings.threads or 1, overrides=overrides)


def _seeds(table: PaperTable, asked: Asked) -> range:
    return range(1, (asked.seeds or table.seeds) + 1)


def _find(table: PaperTable, asked: Asked, encoder: str | None, terminal: Terminal) -> _Trained:
    """Take the finished runs that fit the rows best."""
    runs = terminal.settings.runs_folder
    run_of = find_runs_of(table, runs, asked.overrides, encoder)
    recipes = {}
    for key, (label, making) in trainings(table).items():
        if (name := run_of.get(key)) is not None:
            seed = next(iter(finished_seeds(runs, name)))
            recipes[label] = to_table(expected_recipe(making)), to_table(RunFolder.of(runs, name, seed).recipe())
    started = encoder or next((ours["encoder"]["model"] for _, ours in recipes.values()), "")
    seeds = range(1, asked.seeds + 1) if asked.seeds is not None else None
    models = RowModels(table=table, runs=runs, run_of=run_of, encoder=started, seeds=seeds)
    apart = tuple(f"{key} ({', '.join(values).replace('null', 'not set')})" for key, values in settings_apart(table, runs, run_of).items())
    said = (f"the runs behind the rows differ from each other in {'; '.join(apart)}: their order is no evidence for the rows' own",)
    return _Trained(models=models, recipes=recipes, failed=False, apart=said if apart else ())


def _again(settings: Settings, *, encoder: str | None = None) -> str:
    """What a command that is suggested takes over from this one."""
    return (" --sample" if settings.sample else "") + (f" --encoder {encoder}" if encoder is not None else "")


def _absent(table: PaperTable, members: Mapping[Spot, Sequence[Member]], asked: Asked, again: str) -> Iterator[str]:
    """What is said of the rows that have no model here."""
    untrained = []
    for row, making in table.makings.items():
        if making.lacks is not None:
            yield f"{row}: {making.lacks}"
        elif not any(members.get((row, column)) for column in ("", *table.columns)):
            untrained.append(row)
    if untrained:
        hint = "" if asked.trains else f"; `embedlab reproduce {table.paper} {table.name}{again}` trains what is missing"
        yield f"no finished run stands for {', '.join(untrained)}{hint}"


def _evaluate(table: PaperTable, members: Mapping[Spot, Sequence[Member]], asked: Asked, terminal: Terminal) -> _Evaluated:
    """The evaluations of every model on the tasks of its columns; what no cell of a grid has evaluated is evaluated now.

    Without training, only pairs are scored: the fits of transfer and probing take as long as a training.
    """
    if table.by is not None:
        names = {member.name for row in table.makings for member in members[row, ""]}
        return _Evaluated(evaluations={}, answers={}, scored=_score(sorted(names), table.by, terminal), missing=())
    wanted = {(member.name, point.measure.task) for point in table.points for member in members[point.row, point.column]}
    scored = _score(sorted(name for name, task in wanted if task == "sts"), "dataset", terminal)
    evaluations: dict[tuple[str, str], Evaluation] = {}
    answers: dict[tuple[str, str], list[Outcomes]] = {}
    missing = []
    for name, task in sorted(wanted):
        path = _evaluation_file(name, task, asked, terminal)
        if path.is_file():
            evaluations[name, task] = Evaluation.load(path)
            answers[name, task] = list(kept_outcomes(path.parent, task))
        else:
            missing.append(f"{name} is not evaluated: embedlab evaluate '{name}' --suite {task}{_again(terminal.settings)}")
    return _Evaluated(evaluations=evaluations, answers=answers, scored=scored, missing=tuple(missing))


def _evaluation_file(name: str, task: str, asked: Asked, terminal: Terminal) -> Path:
    """Where the evaluation of a model on a task is, or would be where it could not be made."""
    (spec,) = resolve(name, terminal.settings.runs_folder).members
    folder = ScorePlace.of(spec, terminal.settings).evaluations
    path = folder / f"{task}.json"
    if asked.trains and task != "sts" and not path.is_file():
        with terminal.progresses() as watch:
            judged = evaluate_on(task, spec, terminal.settings, lambda work: watch(f"{name}: {work}"))
        for error in judged.missing:
            report(error)
        judged.keep(folder)
    return path


def _score(names: Sequence[str], by: By, terminal: Terminal) -> ScoredPairs | None:
    """The STS pairs scored by the models called NAMES, and evaluations of the whole suite kept; None where there are no pairs or names."""
    if not names:
        return None
    try:
        scored, _ = score(names, terminal, datasets=chosen_datasets(None, by), fifths=by != "source")
    except MissingError as error:
        report(error)
        return None
    if by == "dataset":
        lacking = {name: place for name, place in scored.places.items() if not (place.evaluations / "sts.json").is_file()}
        part = replace(scored, places=lacking)
        keep(part, evaluate_members(part))
    return scored


def _learnt_from(names: set[str], terminal: Terminal) -> Iterator[Mapping[str, Any]]:
    """The states of the data that the runs among the models were trained on."""
    for name in sorted(names):
        (spec,) = resolve(name, terminal.settings.runs_folder).members
        if spec.kind == "run" and spec.seed is not None:
            yield from RunFolder.of(terminal.settings.runs_folder, name.partition("@")[0], spec.seed).environment().data


def _figure(
    table: PaperTable,
    members: Mapping[Spot, Sequence[Member]],
    known: _Evaluated,
    told: Table,
    missing: Sequence[str],
    *,
    failed: bool,
    terminal: Terminal,
) -> Reproduction:
    """A figure: the rows compared slice by slice with the first of them."""
    assert table.by is not None
    columns = tuple(_columns(row, members[row, ""]) for row in table.makings if members[row, ""])
    comparison, scored = None, known.scored
    answer = Table(title=f"{table.paper} {table.name}: {table.summary}", columns=(), rows=(), notes=[*table.notes, *missing])
    if scored is not None and columns:
        scored = replace(scored, models=columns)
        with terminal.progress("resampling") as tick:
            comparison = compare(scored.table, columns, by=table.by, watch=tick)
        found = comparison_table(comparison, scored, [])
        answer = replace(found, title=f"{table.paper} {table.name}: {table.summary}; {found.title}", notes=[*answer.notes, *found.notes])
    return Reproduction(
        table=table, deviations=told, answers=(answer,), numbers={}, judgement=None, comparison=comparison, scored=scored, failed=failed
    )


def _columns(row: str, members: Sequence[Member]) -> ModelColumns:
    seeds = tuple(member.seed for member in members if member.seed is not None)
    return ModelColumns(name=row, members=tuple(member.name for member in members), seeds=seeds)
