"""The functions of `import embedlab`, made from the commands: each takes what its command takes,
and gives a frozen result instead of printing it.
"""

import html
import inspect
import operator
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import MISSING, dataclass, field, fields, replace
from importlib import import_module
from inspect import signature
from itertools import chain
from os import PathLike
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, get_args

import numpy as np
import polars as pl
import xxhash
from numpy.typing import NDArray
from pydantic import ValidationError

from embedlab.commands.command import answer, help_of
from embedlab.commands.options import Option, options_of
from embedlab.commands.terminal import Terminal
from embedlab.core.errors import EmbedlabError, UsageError, with_hint
from embedlab.core.nearest import unknown_name_error
from embedlab.core.overrides import overrides_of
from embedlab.core.printable import count_text, one_line
from embedlab.core.schema import adapter, quote, reason_of
from embedlab.core.session import ProgressDisplay, successive
from embedlab.core.settings import Settings, load_settings
from embedlab.data.file_name import ROWS_IN_MEMORY
from embedlab.data.text_file import refuse_half
from embedlab.encoders.encoder import PairScorer, Vectors
from embedlab.encoders.kinds.live import live_models, live_name, session_folder
from embedlab.evaluation import load_members, resolve_model
from embedlab.models.aliases import take_alias, temporary_aliases
from embedlab.reports.report import Report
from embedlab.reports.runs import runs_table

_SHOWN_STEPS = 200  # of a bar in a notebook: each is a message to the browser
Similarities = NDArray[np.float32]
OneModel = Any
"""A name, an object with `encode(sentences)`, or a function from texts to vectors."""


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A model of one or several seeds, ready to encode and to score."""

    name: str
    members: tuple[PairScorer, ...]

    @with_hint
    def encode(self, sentences: Sequence[str]) -> Vectors:
        """The vectors of SENTENCES, (sentences, dim) in float32; a model of several seeds, or
        without vectors, is a UsageError.
        """
        if len(self.members) > 1:
            raise UsageError(
                f"{self.name!r} has {len(self.members)} seeds",
                hint=f"load one: {self.members[0].name}",
            )
        encode_sentences: Callable[[Sequence[str]], Vectors] | None = getattr(
            self.members[0], "encode", None
        )
        if encode_sentences is None:
            raise UsageError(
                f"{self.name!r} has no vectors of sentences", hint="score() compares pairs with it"
            )
        return encode_sentences(check_texts(sentences, "sentences"))

    @with_hint
    def score(self, first: Sequence[str], second: Sequence[str]) -> Similarities:
        """The similarity of each pair, (pairs,): the mean over the seeds."""
        pairs = pairs_of(first, second)
        mean: Similarities = np.mean([member.score(*pairs) for member in self.members], axis=0)
        return mean


@with_hint
def load(name: OneModel, *, progress: bool = False, **settings: Any) -> LoadedModel:
    """Load the model NAME (a run, run@seed, folder, hub id, catalog name, combination,
    word-vectors:FILE or dice).
    """
    session = session_of(load, progress, settings)
    with live_models():
        model = resolve_model(model_name(name), session)
        members = tuple(load_members(model, session, cached=True))
    return LoadedModel(name=model.name, members=members)


@with_hint
def encode(
    model: OneModel, sentences: Sequence[str], *, progress: bool = False, **settings: Any
) -> Vectors:
    """The vectors of SENTENCES by MODEL, (sentences, dim) in float32."""
    return load(model, progress=progress, **settings).encode(sentences)


@with_hint
def score_pairs(
    model: OneModel,
    first: Sequence[str],
    second: Sequence[str],
    *,
    progress: bool = False,
    **settings: Any,
) -> Similarities:
    """The similarity of each pair of sentences by MODEL, (pairs,)."""
    return load(model, progress=progress, **settings).score(first, second)


def _python_function(command: str) -> Callable[..., Any]:
    """Return the function of a COMMAND, as MODULE:NAME: its options are arguments, those without a
    default first, and settings are keywords; it gives what the command would print.
    """
    work = resolve_name(f"embedlab.commands.{command}")
    kind: type = work.__globals__[work.__annotations__["options"]]
    option_of_argument = {option.argument: option for option in options_of(kind) if option.argument}

    @with_hint
    def function(*positional: Any, progress: bool = False, **keywords: Any) -> Any:
        try:
            given = parameters.bind(*positional, progress=progress, **keywords).arguments
        except TypeError as error:
            listing = f"help(embedlab.{function.__name__}) lists what it takes"
            raise TypeError(f"{function.__name__}(): {error}; {listing}") from None
        session = session_of(function, given.pop("progress"), given.pop("settings", {}))
        with temporary_aliases(), live_models():
            values = {
                option_of_argument[key].name: _value(option_of_argument[key], value)
                for key, value in given.items()
            }
            return _answered(work, kind(**values), session)

    # Sorting keeps the order among those that are alike.
    arguments = sorted(
        option_of_argument.values(),
        key=lambda option: (option.default is not MISSING, bool(option.names)),
    )
    kinds, options = inspect.Parameter, []
    for option in arguments:
        has_default = option.default is not MISSING
        is_keyword = option.names and has_default
        options.append(
            inspect.Parameter(
                option.argument,
                kinds.KEYWORD_ONLY if is_keyword else kinds.POSITIONAL_OR_KEYWORD,
                default=option.default if has_default else kinds.empty,
                annotation=option.kind,
            )
        )
    parameters = inspect.Signature(
        [
            *options,
            inspect.Parameter("progress", kinds.KEYWORD_ONLY, default=False, annotation=bool),
            inspect.Parameter("settings", kinds.VAR_KEYWORD, annotation=Any),
        ]
    )
    function.__signature__ = parameters  # type: ignore[attr-defined]
    function.__doc__ = "\n".join(
        [
            help_of(work),
            "",
            *(f"- {option.argument}: {option.flag.help}" for option in arguments),
        ]
    )
    function.options = kind  # type: ignore[attr-defined]
    return function


def _answered(work: Callable[..., Any], options: Any, session: "NotebookSession") -> Any:
    """The report of a command with what was said on the way; an error carries that too, for its
    traceback.
    """
    try:
        report = answer(work, options, session)
    except EmbedlabError as error:
        for text in session.said:
            error.add_note(text)
        raise
    if report is None:
        return options.folder  # of an export
    return replace(report, notes=tuple(dict.fromkeys([*report.notes, *session.said])))


def _value(option: Option, given: Any) -> Any:
    """Return what is GIVEN of an option as the command takes it; what a command line cannot get
    wrong is refused.
    """
    flag, name = option.flag, option.argument
    if name == "set":
        return given_values(given)
    if flag.completes == "models" and option.is_several:
        names = name_models(given)
        if not names:
            hint = 'for example embedlab.evaluate(["dice"], data="starter")'
            raise UsageError("no model is named", hint=hint)
        return names
    if option.is_several:
        values = _several_values(option, given)
        is_blank_list = name == "tasks" and given is not None  # without tasks= all are scored
        if not values and (option.default is MISSING or is_blank_list):
            raise UsageError(f"{name} is empty", hint="give one or more")
        return values
    if given is None and option.default is None:
        return None
    if flag.completes == "models":
        return model_name(given)
    if Path in (option.kind, *get_args(option.kind)):
        is_path = isinstance(given, str | PathLike) and "\0" not in str(given)
        if not is_path and name != "file":
            raise UsageError(f"{name} is {quote(given)}", hint="give a path")
        return Path(given if is_path else _written(given, name))
    value = _checked(option.kind, given, name)
    for bound, is_beyond, alternative in (
        (flag.min, operator.lt, "more"),
        (flag.max, operator.gt, "less"),
    ):
        if bound is not None and is_beyond(value, bound):
            raise UsageError(f"option {name} is {value}", hint=f"give {bound} or {alternative}")
    return value


def _several_values(option: Option, given: Any) -> tuple[Any, ...]:
    """Return what is GIVEN of an option that takes several values; of None none."""
    if given is None:
        return ()
    if isinstance(given, Mapping) and option.argument == "row":
        return tuple(f"{row}={model_name(model)}" for row, model in given.items())
    if option.flag.completes in {"datasets", "tasks"}:
        return tuple(name_tasks(given))
    is_one = isinstance(given, str | Mapping) or not isinstance(given, Iterable)
    values = [given] if is_one else given
    kind = get_args(option.kind)[0]
    return tuple(_checked(kind, value, option.argument) for value in values)


def _checked(kind: Any, given: Any, name: str) -> Any:
    """Return what is GIVEN as a plain value of a KIND; a value of another one is a UsageError."""
    given = os.fspath(given) if isinstance(given, PathLike) else given
    given = given.item() if isinstance(given, np.generic) else given
    try:
        return adapter(kind).validate_python(given, strict=True)
    except ValidationError as error:
        reason = reason_of(error.errors(include_url=False)[0])
        raise UsageError(f"{name} is {quote(given)}", hint=reason) from error


FUNCTIONS = {
    "evaluate": "evaluate:evaluate",
    "compare": "compare:compare",
    "power": "power:power",
    "why": "why:why",
    "pairs": "pairs:pairs",
    "explain": "explain:explain",
    "nearest": "nearest:nearest",
    "score": "score:score",
    "verify": "same:verify",
    "export": "export:export",
    "train": "train:train",
    "run": "runs:run",
    "grid": "grid:grid",
    "grid_status": "grid:status",
    "grid_table": "grid:table",
    "reproduce": "reproduce:reproduce",
    "items": "data:items",
    "overlaps": "data:overlaps",
}


@with_hint
def list_runs(**settings: Any) -> Report:
    """Every run with its state and latest numbers."""
    folder = session_of(list_runs, False, settings).settings.runs
    return Report.of(runs_table(folder))


def __getattr__(name: str) -> Any:
    if name not in FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = _python_function(FUNCTIONS[name])
    function.__name__ = function.__qualname__ = name
    function.__module__ = "embedlab"
    globals()[name] = function
    return function


@dataclass(frozen=True, kw_only=True)
class NotebookSession:
    """A session without a terminal: what is said is gathered, progress is shown as bars where that
    is wanted.
    """

    settings: Settings
    shows_progress: bool = False
    said: list[str] = field(default_factory=list)

    def note(self, text: str, **_facts: Any) -> None:
        """Gather TEXT."""
        self.said.append(text)

    warn = done = note

    def report(self, error: EmbedlabError) -> None:
        """Gather the message of an error."""
        self.note(error.message)

    def progress(self, label: str) -> AbstractContextManager[ProgressDisplay]:
        """Show a bar with a LABEL, as the command line does outside notebooks, or nothing."""
        if not self.shows_progress:
            return nullcontext(lambda _done, _total, text="": None)
        return _notebook_bar(label) if is_notebook() else Terminal(self.settings).progress(label)

    def progresses(self) -> AbstractContextManager[Callable[[str], ProgressDisplay]]:
        """Show one bar after the other."""
        return successive(self.progress)


def session_of(
    function: Callable[..., Any], progress: bool, settings: dict[str, Any]
) -> NotebookSession:
    """The settings of the command line as keywords; what is not given comes from the environment
    and the files.
    """
    _refuse_unknown_keywords(settings, function)
    if _is_frame(settings.get("data")):
        raise UsageError("data is a data frame, not a folder", hint="give rows as tasks=")
    if is_notebook():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # when a library first imports it, it warns of an extension that no bar here needs
            import_module("tqdm.auto")
    effective, _ = load_settings(settings, given_as="keyword")
    return NotebookSession(settings=effective, shows_progress=progress)


def is_notebook() -> bool:
    """Whether a kernel runs this code, whose outputs a browser shows."""
    ipython = sys.modules.get("IPython")  # which a kernel has imported before
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


@contextmanager
def _notebook_bar(label: str) -> Iterator[ProgressDisplay]:
    """A bar of the browser's own, which needs no extension and no escape codes; it is gone when the
    work is done.
    """
    notebook: Any = import_module("IPython.display")
    handle = notebook.display(notebook.HTML(_bar_html(label, 0, 0, "")), display_id=True)
    shown = -1

    def tick(done: int, total: int, /, text: str = "") -> None:
        nonlocal shown
        if (step := _SHOWN_STEPS * done // max(total, 1)) != shown:
            shown = step
            handle.update(notebook.HTML(_bar_html(label, done, total, text)))

    try:
        yield tick
    finally:
        handle.update(notebook.HTML(""))


def _bar_html(label: str, done: int, total: int, text: str) -> str:
    value = f' value="{done}" max="{total}"' if total else ""
    count_text = " ".join(filter(None, (f"{done:,} of {total:,}" if total else "", one_line(text))))
    return (
        f"<div>{html.escape(one_line(label))} <progress{value}></progress> "
        f"{html.escape(count_text)}</div>"
    )


def name_models(models: Any) -> list[str]:
    """Return the names of MODELS: names, live models, both in a list, or live models by name."""
    if isinstance(models, Mapping):
        return [model_name(model, name) for name, model in models.items()]
    models_listed = list(models) if isinstance(models, list | tuple | set) else [models]
    return [model_name(model) for model in models_listed]


def model_name(model: Any, name: str = "") -> str:
    """Return the name of a MODEL that is typed, or is an object with `encode` or a function."""
    if isinstance(model, str | Path):
        is_named = name not in {"", str(model)}
        return take_alias(f"{name}={model}" if is_named else str(model), is_of_call=is_named)
    return live_name(model, name)


def name_tasks(tasks: Any) -> list[str]:
    """Return the names of TASKS: names, and data frames or lists of pairs, which are written to
    files of this session.
    """
    if tasks is None:
        return []
    tasks = list(tasks) if isinstance(tasks, Iterator) else tasks
    is_rows = isinstance(tasks, list | tuple) and len(tasks) > 0 and not isinstance(tasks[0], str)
    if is_rows and not any(map(_is_frame, tasks)):
        return [_written(tasks)]
    tasks_listed = tasks if isinstance(tasks, list | tuple | set) else [tasks]
    return [str(task) if isinstance(task, str | Path) else _written(task) for task in tasks_listed]


def _is_frame(rows: Any) -> bool:
    kind = type(rows)  # the columns of a lazy frame take time
    return hasattr(kind, "columns") or hasattr(kind, "to_polars")


def _written(rows: Any, argument: str = "tasks") -> str:
    """Write a data frame, rows of two texts and a score, or sentences to a file, and return its
    path.
    """
    is_text = argument == "file"
    try:
        if is_text and not _is_frame(rows):
            frame = pl.DataFrame({"sentence": check_texts(rows, argument)})
        else:
            frame = _row_frame(rows)
    except UnicodeEncodeError as error:
        refuse_half(error.object, argument)
        raise
    except (TypeError, ValueError, LookupError, AttributeError, pl.exceptions.PolarsError) as error:
        shape = "sentences" if is_text else "(sentence1, sentence2, score)"
        raise UsageError(
            f"{argument} is {quote(rows)}: neither names nor rows",
            hint=f"give a name or path, a data frame, or a list of {shape}",
        ) from error
    key = str(frame.columns).encode() + frame.hash_rows(seed=0).to_numpy().tobytes()
    path = session_folder() / f"rows-{xxhash.xxh3_64_hexdigest(key)[:6]}.parquet"
    frame.write_parquet(path)
    ROWS_IN_MEMORY.add(path)
    return str(path)


def _row_frame(rows: Any) -> pl.DataFrame:
    """Return the data frame that ROWS are, or that holds them: of any library, dictionaries, or two
    texts and a score each. NaN, which pandas writes for what is missing, is null.
    """
    if isinstance(rows, pl.DataFrame):
        return rows
    if isinstance(rows, pl.LazyFrame):
        return rows.collect()
    if hasattr(rows, "to_polars"):  # a dataset of the hub
        return pl.DataFrame(rows.to_polars())
    if hasattr(rows, "to_pydict"):  # a table of Arrow
        return pl.DataFrame(rows)
    rows = list(rows) if isinstance(rows, Iterator) else rows
    if _is_frame(rows):
        columns = rows.to_dict("list")
    elif all(isinstance(row, Mapping) for row in rows):
        columns = {key: [row.get(key) for row in rows] for key in dict.fromkeys(chain(*rows))}
    else:
        names = ("sentence1", "sentence2", "score")[: len(rows[0])]
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return pl.DataFrame({key: _without_nan(values) for key, values in columns.items()})


def _without_nan(values: Iterable[Any]) -> list[Any]:
    return [None if isinstance(value, float) and value != value else value for value in values]


def check_texts(texts: Iterable[str], argument: str) -> list[str]:
    """Return TEXTS as a list; a single text, whose letters would be encoded one by one, and what is
    not text are UsageErrors.
    """
    if isinstance(texts, str):
        raise UsageError(
            f"{argument} is one text: {quote(texts)}", hint=f"give a list: [{quote(texts)}]"
        )
    text_list = list(texts)
    for number, text in enumerate(text_list):
        if not isinstance(text, str):
            raise UsageError(
                f"{argument}[{number}] is {quote(text)}: not a text",
                hint="give texts alone; an empty one is ''",
            )
        refuse_half(text, f"{argument}[{number}]")
    return text_list


def pairs_of(first: Iterable[str], second: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return both sides of pairs, which must have as many texts."""
    text_lists = check_texts(first, "first"), check_texts(second, "second")
    if len(text_lists[0]) != len(text_lists[1]):
        raise UsageError(
            f"first has {count_text(len(text_lists[0]), 'texts')}, second {len(text_lists[1])}",
            hint="give the two texts of each pair",
        )
    return text_lists


def _refuse_unknown_keywords(given: Iterable[str], function: Callable[..., Any]) -> None:
    """Refuse what is neither an argument of FUNCTION nor a setting, with the nearest name of
    either.
    """
    settings = [field.name for field in fields(Settings)]
    parameters = [name for name in signature(function).parameters if name != "settings"]
    if unknown_keyword := next((name for name in given if name not in settings), None):
        raise unknown_name_error("keyword", unknown_keyword, [*parameters, *settings])


def given_values(values: Mapping[str, object] | None) -> tuple[str, ...]:
    """Return the VALUES that a recipe is trained with, by key, as `--set` takes them."""
    if values is not None and not isinstance(values, Mapping):
        raise UsageError(
            f"set is {quote(values)}: not a dictionary", hint='for example set={"optim.lr": 1e-5}'
        )
    return overrides_of(values or {})
