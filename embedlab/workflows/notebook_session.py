"""The session of a call from Python: settings as keywords, what is said gathered, progress as bars
of the notebook or terminal.
"""

import html
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, TypeVar

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.printable import one_line
from embedlab.core.progress import ProgressDisplay
from embedlab.core.settings import Settings, load_settings
from embedlab.workflows.arguments import model_names, refuse_unknown_keywords
from embedlab.workflows.report import Report
from embedlab.workflows.session import successive

AnyReport = TypeVar("AnyReport", bound=Report)
_SHOWN_STEPS = 200  # of a bar in a notebook: each is a message to the browser


@dataclass(frozen=True, kw_only=True)
class NotebookSession:
    """A session without a terminal: what is said is gathered, progress is shown as bars where that
    is wanted.
    """

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
        elif is_notebook():
            with _notebook_bar(label) as tick:
                yield tick
        else:
            with _terminal_bar(label) as tick:
                yield tick

    def progresses(self) -> AbstractContextManager[Callable[[str], ProgressDisplay]]:
        """Show one bar after the other."""
        return successive(self.progress)


def reported(
    function: Callable[..., Any],
    work: Callable[[NotebookSession], AnyReport],
    progress: bool,
    settings: dict[str, Any],
) -> AnyReport:
    """The report of a workflow with what was said on the way; an error carries that too, for its
    traceback.
    """
    session = session_of(function, progress, settings)
    try:
        report = work(session)
    except EmbedlabError as error:
        for text in session.said:
            error.add_note(text)
        raise
    return replace(report, notes=tuple(dict.fromkeys([*report.notes, *session.said])))


def session_of(
    function: Callable[..., Any], progress: bool, settings: dict[str, Any]
) -> NotebookSession:
    """The settings of the command line as keywords; what is not given comes from the environment
    and the files.
    """
    refuse_unknown_keywords(settings, function)
    if is_notebook():
        _import_quietly(
            "tqdm.auto"
        )  # it warns of a missing extension, which no bar here needs, when a library first imports it
    effective, _ = load_settings(settings, given_as="keyword")
    return NotebookSession(settings=effective, shows_progress=progress)


def typed_models(models: Any) -> list[str]:
    """The names of models, with the aliases that they declare; none is a UsageError."""
    names = model_names(models)
    if not names:
        raise UsageError(
            "no model is named", hint='for example embedlab.evaluate(["dice"], data="starter")'
        )
    return names


def is_notebook() -> bool:
    """Whether a kernel runs this code, whose outputs a browser shows."""
    ipython = sys.modules.get("IPython")  # which a kernel has imported before
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _import_quietly(module: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module(module)


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
    said = " ".join(filter(None, (f"{done:,} of {total:,}" if total else "", one_line(text))))
    return (
        f"<div>{html.escape(one_line(label))} <progress{value}></progress> "
        f"{html.escape(said)}</div>"
    )


@contextmanager
def _terminal_bar(label: str) -> Iterator[ProgressDisplay]:
    from tqdm.auto import tqdm

    with tqdm(
        desc=label, disable=False
    ) as bar:  # also while the bars of other programs are silenced

        def tick(done: int, total: int, /, text: str = "") -> None:
            bar.total = total
            bar.set_postfix_str(text, refresh=False)
            bar.update(done - bar.n)

        yield tick
