"""A grid at one moment: its cells with their progress, scores over seeds, and the best."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean

from embedlab.commands.grid import ScoresOptions, grid_scores
from embedlab.core.errors import EmbedlabError
from embedlab.core.printable import duration, first_few
from embedlab.core.settings import Settings
from embedlab.experiments.pivot import DEV_SCORE, LAST_DIGIT, CellSpread, Pivot
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.progress import GridFollower
from embedlab.tui.runs.model import ENDED, Entry, Training, newest_of, short_labels


@dataclass(frozen=True, kw_only=True)
class BoardRow:
    """One place of the grid: the cells that differ by their seed alone."""

    run: str
    labels: Mapping[str, str]
    seeds: Mapping[int, Training | None]  # None: it waits
    numbers: Mapping[str, CellSpread]  # by column

    @property
    def share(self) -> float:
        """How much of the work of its cells is done, 0 to 1."""
        return sum(training.share for training in self.seeds.values() if training) / len(self.seeds)

    @property
    def losses(self) -> Sequence[float]:
        """The newest losses of the cell that was active last."""
        newest = newest_of(filter(None, self.seeds.values()))
        return newest.status.losses if newest else ()


@dataclass(frozen=True, kw_only=True)
class Board:
    """All places of a grid."""

    plan: GridPlan
    entry: Entry  # of the list: its states and what is done of its work
    rows: Sequence[BoardRow]
    columns: Sequence[str]  # the dev score, then datasets and averages
    verdict: str  # which place is the best, and which may be as good
    left: str  # time, with start-up and scoring, where they were measured

    @property
    def done(self) -> int:
        """Cells that are trained and scored."""
        return self.entry.states.get("finished", 0)


def build_board(entry: Entry, pivot: Pivot | None, left: str = "") -> Board:
    """The board of a grid's ENTRY with the scores of PIVOT, None where no cell has any."""
    plan = entry.plan
    assert plan is not None
    trainings = {training.run.id: training for training in entry.trainings}
    columns = pivot.columns if pivot is not None else ()
    rows = [
        BoardRow(
            run=variant.run,
            labels=variant.labels,
            seeds={seed: trainings.get(f"{variant.run}@{seed}") for seed in plan.seeds},
            numbers=_numbers(pivot, variant.labels) if pivot is not None else {},
        )
        for variant in plan.variants
    ]
    for index, row in enumerate(rows):
        if DEV_SCORE not in row.numbers and (dev := _dev_so_far(row)) is not None:
            rows[index] = replace(row, numbers={DEV_SCORE: dev, **row.numbers})
    if DEV_SCORE not in columns and any(DEV_SCORE in row.numbers for row in rows):
        columns = (DEV_SCORE, *columns)
    return Board(
        plan=plan,
        entry=entry,
        rows=rows,
        columns=columns,
        verdict=_verdict(rows, columns),
        left=left,
    )


def _numbers(pivot: Pivot, labels: Mapping[str, str]) -> Mapping[str, CellSpread]:
    row_key = tuple(labels.get(axis, "") for axis in pivot.row_axes)
    keys = {column: (row_key, column) for column in pivot.columns}
    return {column: pivot.spreads[key] for column, key in keys.items() if key in pivot.spreads}


def _dev_so_far(row: BoardRow) -> CellSpread | None:
    """The mean of the newest dev scores of cells that have no result yet."""
    devs = [
        training.status.dev.score
        for training in row.seeds.values()
        if training and training.status.dev
    ]
    return CellSpread(values=(fmean(devs),)) if devs else None


def spread_text(spread: CellSpread) -> str:
    """The mean, with the deviation over seeds where there are several."""
    return f"{spread.mean:z.2f}" + (f" ± {spread.sd:z.2f}" if spread.sd is not None else "")


def _verdict(rows: Sequence[BoardRow], columns: Sequence[str]) -> str:
    """Which place the dev score chooses, else the last column, and what may be as good."""
    column = DEV_SCORE if DEV_SCORE in columns else columns[-1] if columns else ""
    marked = [(row, row.numbers[column]) for row in rows if column in row.numbers]
    tied = {short_labels(row.labels): spread.mean for row, spread in marked if spread.is_tied}
    best_row = next((pair for pair in marked if pair[1].is_best), None)
    others = sum(not spread.is_flawed for _, spread in marked) - 1
    if marked and others < 0:
        return "none can be the best: no training learnt anything"
    if best_row is None:
        top = max(tied.values(), default=0.0)
        equal = [labels for labels, mean in tied.items() if top - mean < LAST_DIGIT / 2]
        names = first_few(equal, 3, separator="; ")
        return f"none is the best: {names} have the same {column}" if names else ""
    if len(marked) < 2:
        return ""
    row, spread = best_row
    if not others:
        tie_text = "no other setting learnt anything"
    elif spread.sd is None:
        tie_text = "of one seed each, so this may be chance"
    elif not tied:
        tie_text = "it is clearly above every other setting"
    elif len(tied) == others:
        tie_text = "every other setting may be as good"
    else:
        tie_text = f"as good may be {first_few(tied, 3)}"
    test = row.numbers.get(columns[-1]) if len(columns) > 1 else None
    tested = f"; {columns[-1]} {spread_text(test)}" if test is not None else ""
    sentence = (
        f"{column} chooses {short_labels(row.labels)} with {spread_text(spread)}{tested}; "
        f"{tie_text}"
    )
    if (optimism := spread.optimism or 0.0) >= 0.005:
        sentence += f". The best of {len(marked)} has luck too: expect about {optimism:z.2f} less"
    return sentence


def read_scores(plan: GridPlan, settings: Settings) -> Pivot | None:
    """The dev scores of finished cells, then their tests, with their ties; None before the first.
    Reads data and belongs into a thread.
    """
    pivots = []
    for score in (DEV_SCORE, None):
        options = ScoresOptions(grid=plan.name, rows=tuple(plan.axes), score=score)
        with suppress(EmbedlabError, OSError):
            pivots.append(grid_scores(options, settings).pivot)
    if len(pivots) < 2:
        return next(iter(pivots), None)
    dev, tests = pivots
    return replace(
        tests,
        columns=tuple(dict.fromkeys((*dev.columns, *tests.columns))),
        spreads={**tests.spreads, **dev.spreads},
    )


def time_left(plan: GridPlan) -> str:
    """The time that the cells to do will take, with start-up and scoring; empty where a part of it
    was never measured.
    """
    with suppress(EmbedlabError, OSError):
        seconds = GridFollower(plan).look().cost.seconds
        return f"about {duration(seconds)} left" if seconds else ""
    return ""


def score_key(entry: Entry) -> object:
    """A value that changes when a cell has a new result."""
    return tuple(
        (training.run.id, training.scored)
        for training in entry.trainings
        if training.status.shown_state in ENDED
    )
