"""The functions of `import embedlab`: each takes what its command takes, and gives a frozen result instead of printing it."""

import html
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.comparison import compare_models as compare_columns
from embedlab.analysis.expressions import compile_expression
from embedlab.analysis.rank_errors import with_rank_errors
from embedlab.choices import Aggregate, By, SettingName, Test
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.progress import ProgressDisplay
from embedlab.core.settings import Format, Settings, load_settings
from embedlab.encoders.encoder import PairScorer, Vectors
from embedlab.evaluation.selection import SelectedTask, select_tasks
from embedlab.models.catalog import Model
from embedlab.reports.comparison_table import comparison_table
from embedlab.reports.frames import compared_frame, evaluated_frame
from embedlab.reports.notes import data_notes
from embedlab.reports.pair_tables import dataset_table
from embedlab.reports.suite_table import suite_table
from embedlab.reports.tables import Table
from embedlab.reports.task_comparison import task_comparison_table
from embedlab.workflows.compare import compare_tasks
from embedlab.workflows.models import load_members, resolve_model
from embedlab.workflows.scoring import chosen_datasets, evaluate_members, score
from embedlab.workflows.suites import Work, encode_for_all, evaluate_task

Similarities = NDArray[np.float32]

AGGREGATES: tuple[Aggregate, ...] = ("all", "mean", "wmean")


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """Numbers of models: a tidy frame, and the tables that the command prints."""

    frame: pl.DataFrame
    tables: tuple[Table, ...]
    notes: tuple[str, ...]  # what must be said beside the numbers, and what was said on the way

    def table(self, format: Format = "table") -> str:
        """The tables as text, Markdown, CSV or JSON."""
        write = {"table": Table.to_plain, "markdown": Table.to_markdown, "csv": Table.to_csv, "json": Table.to_json}
        if format not in write:
            raise UsageError(f"no format named {format!r}", hint=f"one of {', '.join(write)}")
        return "\n".join(write[format](table) for table in self.tables)

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return f"{self.frame._repr_html_()}<ul>{notes}</ul>"


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A model of one or several seeds, ready to encode and to score."""

    name: str
    members: tuple[PairScorer, ...]

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """The vectors of SENTENCES, (sentences, dim) in float32; a model of several seeds, or without vectors, is a UsageError."""
        if len(self.members) > 1:
            raise UsageError(f"{self.name!r} has {len(self.members)} seeds", hint=f"load one: {self.members[0].name}")
        encode_sentences: Callable[[Sequence[str]], Vectors] | None = getattr(self.members[0], "encode", None)
        if encode_sentences is None:
            raise UsageError(f"{self.name!r} has no vectors of sentences", hint="score() compares pairs with it")
        return encode_sentences(list(sentences))

    def score(self, first: Sequence[str], second: Sequence[str]) -> Similarities:
        """The similarity of each pair, (pairs,): the mean over the seeds."""
        mean: Similarities = np.mean([member.score(list(first), list(second)) for member in self.members], axis=0)
        return mean


@dataclass(frozen=True, kw_only=True)
class NotebookSession:
    """A session without a terminal: what is said is gathered, progress is shown as bars where that is wanted."""

    settings: Settings
    shows_progress: bool = False
    said: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Gather TEXT."""
        self.said.append(text)

    def warn(self, text: str) -> None:
        """Gather TEXT."""
        self.said.append(text)

    def report(self, error: EmbedlabError) -> None:
        """Gather the message of an error."""
        self.said.append(error.message)

    @contextmanager
    def progress(self, label: str) -> Iterator[ProgressDisplay]:
        """Show a bar with a LABEL, or nothing."""
        if not self.shows_progress:
            yield lambda _done, _total, _text="": None
            return
        from tqdm.auto import tqdm

        with tqdm(desc=label) as bar:

            def tick(done: int, total: int, /, text: str = "") -> None:
                bar.total = total
                bar.set_postfix_str(text, refresh=False)
                bar.update(done - bar.n)

            yield tick

    @contextmanager
    def progresses(self) -> Iterator[Callable[[str], ProgressDisplay]]:
        """Show one bar after the other."""
        with ExitStack() as stack:

            def start(label: str) -> ProgressDisplay:
                stack.close()
                return stack.enter_context(self.progress(label))

            yield start


def load(name: str, *, progress: bool = False, **settings: Any) -> LoadedModel:
    """Load the model NAME (a run, run@seed, folder, hub id, catalog name, combination, word-vectors:FILE or dice)."""
    session = _session(progress, settings)
    found = resolve_model(name, session)
    return LoadedModel(name=name, members=tuple(load_members(found, session, cached=True)))


def encode(model: str, sentences: Sequence[str], *, progress: bool = False, **settings: Any) -> Vectors:
    """The vectors of SENTENCES by MODEL, (sentences, dim) in float32."""
    return load(model, progress=progress, **settings).encode(sentences)


def score_pairs(model: str, first: Sequence[str], second: Sequence[str], *, progress: bool = False, **settings: Any) -> Similarities:
    """The similarity of each pair of sentences by MODEL, (pairs,)."""
    return load(model, progress=progress, **settings).score(first, second)


def evaluate(
    models: str | Sequence[str],
    *,
    suite: str | None = None,
    tasks: Sequence[str] = (),
    setting: SettingName = "literature",
    progress: bool = False,
    **settings: Any,
) -> Result:
    """Evaluate MODELS on a SUITE (a task, or "all"; sts where nothing is named) or on the datasets and files called TASKS."""
    session, names = _session(progress, settings), _names(models)
    selected = select_tasks(suite, tasks, session.settings.data)
    found = [resolve_model(name, session) for name in names]
    work = Work(selected=selected, setting=setting)
    known = encode_for_all(found, work, session)
    parts = [_evaluated(one, found, work, known, session) for one in selected if one not in known.ready.missing]
    frames, tables = [frame for frame, _ in parts], [table for _, table in parts if table is not None]
    frame = pl.concat(frames) if frames else evaluated_frame({})
    return Result(frame=frame, tables=tuple(tables), notes=_notes(tables, session))


def compare(
    models: Sequence[str],
    *,
    suite: str | None = None,
    tasks: Sequence[str] = (),
    by: By = "dataset",
    aggregate: Aggregate = "all",
    test: Test = "dyadic",
    equivalent: float | None = None,
    setting: SettingName = "literature",
    progress: bool = False,
    **settings: Any,
) -> Result:
    """Compare MODELS with the first of them, with 95% intervals; EQUIVALENT is a margin in points."""
    session, names = _session(progress, settings), _names(models)
    selected = select_tasks(suite, tasks, session.settings.data)
    margin = None if equivalent is None else equivalent / 100
    if len(selected) > 1 or not selected[0].scores_pairs:
        compared = compare_tasks(names, selected, session, test=test, margin=margin, setting=setting)
        table = task_comparison_table(compared)
        return Result(frame=compared_frame(compared.slices, compared.marks), tables=(table,), notes=_notes([table], session))
    if test == "mcnemar":
        raise UsageError("test 'mcnemar' is for classified items, not for pairs", hint="use dyadic, williams or steiger")
    scored, _ = score(names, session, datasets=chosen_datasets(list(selected[0].names), by), fifths=by == "dice")
    comparison = compare_columns(scored.table, scored.models, by=by, aggregate=aggregate, test=test, margin=margin)
    table = comparison_table(comparison, scored, [])
    return Result(frame=compared_frame(comparison.slices, scored.marks), tables=(table,), notes=_notes([table], session))


def pairs(
    models: str | Sequence[str], *, where: str = "", datasets: Sequence[str] | None = None, progress: bool = False, **settings: Any
) -> pl.DataFrame:
    """Single pairs with every model's similarity and rank error and the gap between models; WHERE is the filter of `embedlab pairs`."""
    session, names = _session(progress, settings), _names(models)
    scored, _ = score(names, session, datasets=datasets)
    ranked = with_rank_errors(scored.table, scored.models)
    shown = ["dataset", "source", "pair", "sentence1", "sentence2", "gold", "dice", *names, *(f"error({name})" for name in names), "gap"]
    columns = list(dict.fromkeys(shown))  # the model "dice" is the column of that name
    return ranked.filter(compile_expression(where, columns)).select(columns)


def _evaluated(
    one: SelectedTask, models: Sequence[Model], work: Work, known: Any, session: NotebookSession
) -> tuple[pl.DataFrame, Table | None]:
    """The numbers of one task, and its table; none where it applies to no model."""
    if not one.scores_pairs:
        found = evaluate_task(models, one, work, known, session)
        return evaluated_frame(found), suite_table(one, found) if found else None
    scored, _ = score([model.name for model in models], session, datasets=one.names or None, fifths=one.is_whole, is_reported=True)
    evaluations = evaluate_members(scored)
    by_model = {model.name: [evaluations[member] for member in model.members] for model in scored.models}
    table = replace(dataset_table(scored, evaluations, AGGREGATES, "spearman"), notes=data_notes(scored))
    return evaluated_frame(by_model), table


def _session(progress: bool, settings: dict[str, Any]) -> NotebookSession:
    """The settings of the command line as keywords; what is not given comes from the environment and the files."""
    return NotebookSession(settings=load_settings(settings)[0], shows_progress=progress)


def _names(models: str | Sequence[str]) -> list[str]:
    names = [models] if isinstance(models, str) else list(models)
    if not names:
        raise UsageError("no model is named", hint='for example embedlab.evaluate(["dice"], sample=True)')
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"model {twice!r} is named twice", hint="name each model once")
    return names


def _notes(tables: Sequence[Table], session: NotebookSession) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(note for table in tables for note in table.notes), *session.said]))
