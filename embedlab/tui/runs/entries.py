"""The rows of the table of runs: a run, or the seeds of a run folded into one row, those that a
search leaves.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from embedlab.tui.runs.board import SIGNS, Board, BoardRun, board_row, run_note
from embedlab.tui.runs.odd_seeds import ODD


@dataclass(frozen=True, kw_only=True)
class RunEntry:
    """One row."""

    name: str  # the id of the run, or the name that its seeds share
    runs: tuple[BoardRun, ...]

    @property
    def is_folded(self) -> bool:
        """Whether it is more than one run."""
        return len(self.runs) > 1


def entries(
    board: Board, query: str, opened: Collection[str], *, is_folding: bool
) -> list[RunEntry]:
    """The rows of BOARD: with IS_FOLDING the seeds of one name are a row, unless it is among the
    OPENED names.

    QUERY: words of which all must occur in a run's id, objective or state.
    """
    run_entries: list[RunEntry] = []
    matching = [run for run in board.runs if _matches(run, query)]
    for name, seeds in groupby(matching, key=lambda run: run.run.name):
        runs = tuple(seeds)
        if is_folding and len(runs) > 1 and name not in opened:
            run_entries.append(RunEntry(name=name, runs=runs))
        else:
            run_entries += [RunEntry(name=run.run.id, runs=(run,)) for run in runs]
    return run_entries


def _matches(run: BoardRun, query: str) -> bool:
    text = f"{run.run.id} {run.objective} {run.status.shown_state}".lower()
    return all(word in text for word in query.lower().split())


def rows(
    shown: Sequence[RunEntry], now: float, odd: Mapping[str, str]
) -> Iterator[dict[str, object]]:
    """The values of each row: of folded seeds their states, means, and the smallest progress; ODD
    as of `board_row`.
    """
    for entry in shown:
        if not entry.is_folded:
            yield board_row(entry.runs[0], now, odd)
            continue
        each = [board_row(run, now, odd) for run in entry.runs]
        states = [run.status.shown_state for run in entry.runs]
        counts = {state: states.count(state) for state in SIGNS if state in states}
        one_state = f"{SIGNS[states[0]]} {len(states)} {states[0]}"
        mark = f" {ODD}" if any(run.run.id in odd for run in entry.runs) else ""
        steps = [run.status.step.step if run.status.step is not None else -1 for run in entry.runs]
        yield {
            **each[steps.index(min(steps))],
            "run": entry.name,
            "state": (
                one_state
                if len(counts) == 1
                else " ".join(f"{SIGNS[state]}{count}" for state, count in counts.items())
            )
            + mark,
            **{
                key: _mean([values[key] for values in each])
                for key in ("loss", "dev", "rows_per_s", "memory_mib")
            },
            "note": next(
                (text for run in entry.runs if (text := run_note(run, odd.get(run.run.id, "")))), ""
            ),
        }


def _mean(values: Sequence[object]) -> float | None:
    numbers = [value for value in values if isinstance(value, float | int)]
    return fmean(numbers) if numbers else None
