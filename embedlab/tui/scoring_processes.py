"""The detached `embedlab evaluate` processes that the dashboard started, and their progress."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.paths import state_folder
from embedlab.core.settings import Settings
from embedlab.tui.model_titles import short_name

if TYPE_CHECKING:
    from embedlab.runs.launch import Detached

_TAIL = 4096
_NAME = 32  # cells of a model


@dataclass(frozen=True, kw_only=True)
class _Scoring:
    name: str
    process: "Detached"
    start: int  # offset of its part of the log


class ScoringProcesses:
    """The running processes."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._running: list[_Scoring] = []

    def start(self, name: str, tasks: Sequence[str]) -> None:
        """Score the model NAME on TASKS; an unknown name is an error before a process starts."""
        from embedlab.models.catalog import resolve
        from embedlab.runs.launch import shared_flags, start_detached

        resolve(name, self._settings.runs)
        if any(scoring.name == name for scoring in self._running):
            raise UsageError(f"{name!r} is being scored already")
        log = state_folder() / "evaluations" / f"{re.sub(r'[^A-Za-z0-9._@-]+', '-', name)}.log"
        start = log.stat().st_size if log.exists() else 0
        chosen = [word for task in tasks for word in ("--task", task)]
        process = start_detached(["evaluate", name, *chosen, *shared_flags(self._settings)], log)
        self._running.append(_Scoring(name=name, process=process, start=start))

    def poll(self) -> Sequence[tuple[str, EmbedlabError | None]]:
        """The models whose processes ended since the last call, each with its error."""
        codes = [(scoring, scoring.process.exit_code()) for scoring in self._running]
        self._running = [scoring for scoring, code in codes if code is None]
        return [
            (
                scoring.name,
                scoring.process.error(code, f"scoring {scoring.name!r}") if code else None,
            )
            for scoring, code in codes
            if code is not None
        ]

    @property
    def progress(self) -> str:
        """One line about all processes; empty when none runs."""
        return "   ".join(
            f"scoring {short_name(scoring.name, _NAME)}: {_step(scoring) or 'starting'}"
            for scoring in self._running
        )


def _step(scoring: _Scoring) -> str:
    """The last line of the process, without the name of the model that it begins with."""
    return _last_line(scoring).removeprefix("scoring ").removeprefix(f"{scoring.name}: ").strip()


def _last_line(scoring: _Scoring) -> str:
    with suppress(OSError), scoring.process.log.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(scoring.start, size - _TAIL))
        lines = [
            line
            for line in re.split(r"[\r\n]+", file.read().decode(errors="replace"))
            if line.strip()
        ]
        return lines[-1].strip() if lines else ""
    return ""
