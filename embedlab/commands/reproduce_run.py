"""Tables of a paper reproduced: their models trained or found, evaluated where that is missing, and
compared with the published values; and what its claims are worth on them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from embedlab.analysis.claims import SettledClaim, settle_claims
from embedlab.choices import By
from embedlab.commands.grid_plan import entries_of_runs, lost_encoders
from embedlab.commands.reproduce_models import (
    Members,
    absent_rows,
    evaluate_models,
    training_data_of,
    with_named_rows,
)
from embedlab.commands.reproduce_plan import (
    Recipes,
    ReproductionOptions,
    check_named_rows,
    check_servers,
    find_trained_rows,
    is_startable,
    plan_table,
    select_rows,
    start_of_rows,
    train_rows,
)
from embedlab.commands.training_plan import build_tiny_encoder, starting_encoder
from embedlab.comparison.comparison import Slicing
from embedlab.core.errors import EmbedlabError, MissingError, NotDownloadedError
from embedlab.core.network import is_reachable
from embedlab.core.recipe import Recipe
from embedlab.core.session import Session
from embedlab.core.settings import Settings
from embedlab.data.dataset import DatasetState
from embedlab.data.source import Source
from embedlab.evaluation import load_members, resolve_model
from embedlab.experiments.deviations import deviations
from embedlab.experiments.matching_runs import CellKey, failed_trainings
from embedlab.experiments.paper_file import ALL_TABLES
from embedlab.experiments.paper_table import PaperTable
from embedlab.experiments.paper_trainings import expected_recipe, limit_to_claims, trainings
from embedlab.experiments.progress import seconds_spent
from embedlab.experiments.row_order import MeasuredTable, RowOrder, numbers_frame
from embedlab.reports.papers import (
    Reproduction,
    brief,
    deviations_table,
    epochs_table,
    example_pairs,
    numbers_table,
    orders_table,
    printed_table,
)
from embedlab.reports.scores import comparison_table
from embedlab.reports.tables import Table
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.events import Curve
from embedlab.runs.signature import merged
from embedlab.runs.store import RunFolder
from embedlab.scoring.provenance import training_marks
from embedlab.scoring.task_comparison import ComparisonInput
from embedlab.tasks.task import Selection
from embedlab.tasks.task import task as find_task
from embedlab.training.stage_data import groups_of


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluatedTable(MeasuredTable):
    """A measured table, and how its models came about."""

    # pair by pair, where the table is about STS and its pairs are there
    gathered: ComparisonInput | None
    recipes: Recipes
    training: Mapping[
        str, Sequence[Mapping[str, Any]]
    ]  # by row, the states of the data that its models were trained on
    notes: tuple[str, ...]  # what is missing
    difference_notes: tuple[
        str, ...
    ] = ()  # the note on runs that differ from each other in more than the table's rows do
    has_failed: bool = False  # whether a training failed

    @property
    def marks(self) -> list[str]:
        """What marks its numbers, such as partial."""
        return sorted({mark for each in self.evaluations.values() for mark in each.marks})


def reproduce_tables(
    tables: Sequence[PaperTable], options: ReproductionOptions, session: Session
) -> list[Reproduction]:
    """Train or find the models of TABLES, evaluate what is missing, and compare each table with the
    published one; tables without their data are refused before, or left out if there are others.
    """
    check_named_rows(tables, options)
    check_servers(tables, options)
    start = prepare_start(options, session.settings)
    is_all = options.table in {None, ALL_TABLES}
    shows_stored = options.from_ == "runs"  # whatever is missing
    computable, errors = list[PaperTable](), list[MissingError]()
    for table in tables:
        if not table.sources or (is_all and not is_startable(table, start)):
            continue
        try:
            refuse_uncomputable(table, options, start, session.settings)
        except MissingError as error:
            errors.append(error)
            if not shows_stored:
                continue
        computable.append(table)
    for missing_error in errors if computable else errors[:-1]:
        session.report(missing_error)
    if errors and not computable:
        raise errors[-1]
    return [
        compare_rows(evaluate_table(table, options, start, session), session)
        for table in computable
    ]


def refuse_uncomputable(
    table: PaperTable, options: ReproductionOptions, start: str | None, settings: Settings
) -> None:
    """Refuse TABLE where no number could come of it here: data that a training needs is missing, or
    the encoder of all, or all that is scored; everything is named at once.
    """
    table = select_rows(table, options, start, settings)[0]
    source = replace(Source.from_settings(settings), downloads=False)
    recipes: list[Recipe] = []
    if options.trains and trainings(table):
        table_plan = plan_table(table, options, start, settings)
        entries = entries_of_runs(table_plan.plan) if table_plan.plan is not None else []
        unfinished_runs = {entry.cell.variant.run for entry in entries if entry.state != "done"}
        recipes = [
            expected_recipe(row, options.all_overrides, start)
            for key, (_, row) in trainings(table).items()
            if key not in table_plan.variants or table_plan.variants[key].run in unfinished_runs
        ]
        if not recipes:  # what is scored is stored
            return
    encoders = lost_encoders([recipe.encoder.model for recipe in recipes], settings)
    missing_inputs = [f"the encoder {name}" for name in encoders]
    inputs: list[tuple[list[str], Callable[[], object]]] = [
        ([name], partial(source.open, name, stage.data.split))
        for recipe in recipes
        for stage in recipe.stages
        for name in stage.data.datasets
    ]
    for task in table.tasks:
        slices = {point.measure.slice for point in table.points}
        names = [name for name in find_task(task).datasets if name in slices]
        read_texts = partial(find_task(task).texts, source, Selection(names=tuple(names)))
        inputs.append((names or [task], read_texts))
    refusals: list[MissingError] = []  # what is here, and not as it should be
    for names, load in inputs:
        try:
            load()
        except NotDownloadedError:
            missing_inputs += [] if is_reachable() else names
        except MissingError as error:
            if error.reason == error.message:
                refusals.append(error)
            else:
                missing_inputs += names
        except EmbedlabError:  # the training or the evaluation says it
            pass
    if refusals and not missing_inputs:
        raise refusals[0]
    if missing_inputs:
        raise MissingError(
            f"{table.typed} needs {', '.join(dict.fromkeys(missing_inputs))}, which this machine "
            "does not "
            "have",
            hint=f"`embedlab reproduce {table.typed} --data tiny --seeds 1` runs here, on generated "
            "sentences; for real ones --data DIR and an --encoder of `embedlab models ls`",
        )


def shown_tables(
    tables: Sequence[PaperTable],
    reproductions: Sequence[Reproduction],
    *,
    is_brief: bool,
) -> list[Table]:
    """Return all that is shown of TABLES, or only what answers; a table that is not reproduced is
    shown as published.
    """
    answers_by_table = {
        reproduction.table.name: brief(reproduction) if is_brief else reproduction.tables
        for reproduction in reproductions
    }
    return [
        answer
        for table in tables
        for answer in answers_by_table.get(table.name, (printed_table(table),))
    ]


def prepare_start(options: ReproductionOptions, settings: Settings) -> str | None:
    """Return where every row starts from, None for the papers' encoders; the encoder of the
    generated corpora is built first.
    """
    build_tiny_encoder(starting_encoder(options.encoder, settings), settings)
    return start_of_rows(options, settings)


def compare_rows(rows: EvaluatedTable, session: Session) -> Reproduction:
    """Return the deviations of a table, its numbers next to the published ones, and the order of
    its rows.
    """
    table = rows.table
    seeds = _seeds_behind(table, rows.members)
    deviating = deviations(table, rows.recipes, rows.evaluations.values(), rows.training, seeds)
    base = Reproduction(
        table=table,
        deviations=deviations_table(table, deviating, list(rows.recipes)),
        answers=(),
        has_failed=rows.has_failed,
        numbers=numbers_frame(table, {}),
        scored=rows.gathered,
    )
    if table.by == "source" or table.by == "dice":
        return _figure(rows, base, table.by, session)
    marks, notes = rows.marks, [*rows.absent_slices, *rows.notes]
    row_order: RowOrder | None = None
    if table.pairs:
        values, marks, absence_notes = _similarities(rows, session)
        notes = [*example_pairs(table), *notes, *absence_notes]
    elif table.by == "epoch":
        values = _dev_scores(rows, session)
    elif table.by == "minutes":
        values = _minutes(rows, session)
    else:
        values = rows.values()
        with session.progress("comparing") as progress:
            row_order = rows.order(progress)
    numbers = numbers_frame(table, values)
    if table.by == "epoch":
        return replace(base, answers=(epochs_table(table, numbers, notes),), numbers=numbers)
    own_table = replace(
        numbers_table(table, numbers, marks, notes, row_order),
        signatures=_signatures(rows.members, rows.evaluations),
    )
    answers = [own_table]
    if row_order is not None and table.ranked_by:
        answers.append(orders_table(table, row_order, rows.difference_notes))
    return replace(base, answers=tuple(answers), numbers=numbers)


def evaluate_table(
    table: PaperTable, options: ReproductionOptions, start: str | None, session: Session
) -> EvaluatedTable:
    """Return the models behind the rows of TABLE, trained or found, with what they score."""
    table, selection_notes = select_rows(table, options, start, session.settings)
    if options.trains:
        trained = train_rows(table, options, start, session)
    else:
        trained = find_trained_rows(table, options, start, session.settings.runs)
    everything = with_named_rows(trained.members, options, session)
    evaluated = evaluate_models(table, everything, options, session)
    absence_notes = absent_rows(
        table,
        everything,
        evaluated,
        trained.absence_reasons,
        options,
        session.settings,
    )
    notes = [*trained.difference_notes, *absence_notes, *evaluated.missing_notes, *selection_notes]
    members = {row: models.without(evaluated.absence_reasons) for row, models in everything.items()}
    run_ids = [*dict.fromkeys(chain(*(models.runs for models in members.values())))]
    failed = failed_trainings(
        table,
        session.settings.runs,
        run_ids,
        options.profile_override,
    )
    for reason in dict.fromkeys(failed.values()):
        runs = [run for run in failed if failed[run] == reason]
        run_names = "every run" if len(runs) == len(run_ids) > 1 else ", ".join(runs)
        notes.append(f"{run_names}: {reason}; its place in the order stays open")
    training = training_data_of(members, session)
    return EvaluatedTable(
        table=table,
        members=members,
        evaluations=evaluated.evaluations,
        items=evaluated.items,
        gathered=evaluated.gathered,
        recipes=trained.recipes,
        training=training,
        notes=tuple(notes),
        difference_notes=trained.difference_notes,
        has_failed=trained.has_failed,
        inconclusive=frozenset(
            row for row, models in members.items() if not failed.keys().isdisjoint(models.runs)
        ),
    )


# by cell, the numbers of its members
Values = Mapping[CellKey, Sequence[float]]


def _similarities(rows: EvaluatedTable, session: Session) -> tuple[Values, list[str], list[str]]:
    """Return the similarities of a table's sentence pairs to each model, the marks of these models,
    and notes on those that are absent.
    """
    first_sentences, second_sentences = map(list, zip(*rows.table.pairs, strict=True))
    values: dict[CellKey, list[float]] = {}
    marks, notes = set[str](), list[str]()
    for row in rows.table.sources:
        try:
            models = [resolve_model(member.name, session) for member in rows.members[row].own]
            encoders = [
                scorer for model in models for scorer in load_members(model, session, cached=False)
            ]
        except MissingError as error:
            notes.append(f"absent: {row}: {error.message} ({error.hint})")
            models, encoders = [], []
        marks.update(*(training_marks(spec) for model in models for spec in model.members))
        encoder_scores = [encoder.score(first_sentences, second_sentences) for encoder in encoders]
        for index, column in enumerate(rows.table.columns):
            values[row, column] = [float(scores[index]) for scores in encoder_scores]
    return values, sorted(marks), notes


def _dev_scores(rows: EvaluatedTable, session: Session) -> Values:
    """Return the dev scores that the runs behind each row have in their events, by epoch."""
    values: dict[CellKey, Sequence[float]] = {}
    for row in rows.table.sources:
        curves = [_last_scores(run) for run in _runs_of(rows, row, session)]
        for epoch, scores in enumerate(zip(*filter(None, curves), strict=False), start=1):
            values[row, str(epoch)] = scores
    return values


def _minutes(rows: EvaluatedTable, session: Session) -> Values:
    """Return how long the runs behind each row took, except interrupted runs."""
    values = {}
    for row in rows.table.sources:
        durations = [seconds_spent(run) / 60 for run in _runs_of(rows, row, session)]
        values[row, "minutes"] = [minutes for minutes in durations if minutes > 0]
    return values


def _runs_of(rows: EvaluatedTable, row: str, session: Session) -> list[RunFolder]:
    """Return the runs behind a row; what combines several has no training of its own."""
    ids = [
        run.partition("@")
        for member in rows.members[row].own
        if len(member.runs) == 1
        for run in member.runs
    ]
    return [RunFolder.of(session.settings.runs, name, int(seed)) for name, _, seed in ids]


def _last_scores(run: RunFolder) -> list[float]:
    """Return the dev scores of RUN in the stages that are trained last; in those before, the heads
    have not begun.
    """
    curve = Curve()
    curve.read_on(run.events_file)
    first_stage = groups_of(run.recipe().stages)[-1][0]
    last_earlier_step = max(
        (event.step for event in curve.steps if event.stage < first_stage), default=0
    )
    return [event.score for event in curve.devs if event.step > last_earlier_step]


def _figure(
    rows: EvaluatedTable, base: Reproduction, property_name: By, session: Session
) -> Reproduction:
    """Return a figure: the rows compared slice by slice with the first of them."""
    table, members = rows.table, rows.members
    # as the table of pairs calls them
    columns = [
        replace(
            rows.row_model(row),
            members=tuple(member.name for member in members[row].own),
        )
        for row in table.sources
        if members[row].own
    ]
    title, notes = f"{table.title}: {table.summary}", [*table.notes, *rows.notes]
    scored_rows = rows.gathered
    answers, cuts = list[Table](), list[By]()
    if scored_rows is not None and columns:
        row_scores = scored_rows.with_rows(columns)
        cuts = [property_name, "dataset"] if property_name == "source" else [property_name]
        with session.progress("comparing") as progress:
            comparisons = [row_scores.compare(Slicing(by=cut), progress) for cut in cuts]
        for answer in map(comparison_table, comparisons):
            named = f"{title}; {answer.title}"
            answers.append(replace(answer, title=named, notes=[*notes, *answer.notes]))
    shown_answers = tuple(answers or [Table(title, notes=notes)])
    return replace(base, answers=shown_answers, cuts=cuts)


def _signatures(
    members: Members, evaluations: Mapping[tuple[str, str], Evaluation]
) -> dict[str, str]:
    """Return the signature of each row's numbers, over all its columns."""
    by_row = {
        row: [
            evaluation.signature
            for (name, _), evaluation in evaluations.items()
            if name in models.names
        ]
        for row, models in members.items()
    }
    return {row: str(merged(signatures)) for row, signatures in by_row.items() if signatures}


def _seeds_behind(table: PaperTable, members: Members) -> dict[str, int]:
    """How many seeds are behind each trained row, the most of its columns; a control of two seeds
    is not the paper's.
    """
    counts = {}
    for row, models in members.items():
        seeded = [
            len(group)
            for group in models.groups
            if any(member.seed is not None for member in group)
        ]
        if seeded and not table.sources[row].is_control:
            counts[row] = max(seeded)
    return counts


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperClaims:
    """The claims of a paper with their verdicts."""

    paper: str
    tables: Mapping[str, PaperTable]  # those that claims are about, by name
    verdicts: tuple[SettledClaim, ...]
    marks: tuple[str, ...]  # of the numbers: partial, generated …
    notes: tuple[str, ...]  # what is missing
    states: tuple[DatasetState, ...]  # of the data that was read


def measure_claims(
    tables: Sequence[PaperTable], options: ReproductionOptions, session: Session
) -> PaperClaims:
    """Return the verdicts on the claims about TABLES of one paper, on the models that are there;
    nothing is trained.
    """
    check_named_rows(tables, options)
    check_servers(tables, options)
    claimed = [limit_to_claims(table) for table in tables if table.claims]
    start = prepare_start(options, session.settings)
    evaluated = [
        evaluate_table(table, options, start, session)
        for table in claimed
        if is_startable(table, start)
    ]
    return settle_paper_claims(tables[0].paper, claimed, evaluated)


def settle_paper_claims(
    paper: str, claimed: Sequence[PaperTable], known_tables: Sequence[EvaluatedTable]
) -> PaperClaims:
    """Return the verdicts on the claims about CLAIMED tables, some of whose rows are KNOWN_TABLES;
    that are measured are one family.
    """
    claims = {name: claim for table in claimed for name, claim in table.claims.items()}
    measured_claims = {
        name: difference for rows in known_tables for name, difference in rows.claims().items()
    }
    gathered = [rows.gathered for rows in known_tables if rows.gathered is not None]
    marks = {mark for rows in known_tables for mark in rows.marks}
    marks |= {mark for pairs in gathered for mark in pairs.marks}
    return PaperClaims(
        paper=paper,
        tables={table.name: table for table in claimed},
        verdicts=tuple(settle_claims(claims, measured_claims)),
        marks=tuple(sorted(marks)),
        notes=tuple(dict.fromkeys(note for rows in known_tables for note in rows.notes)),
        states=tuple(state for pairs in gathered for state in pairs.states),
    )
