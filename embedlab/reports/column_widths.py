"""The widths of a table's columns where there are few cells: which texts break, and where."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len, chop_cells

Kind = Literal["number", "name", "text"]

LEAST_SENTENCE, LEAST_TEXT, LEAST_NAME = (
    32,
    28,
    12,
)  # cells: a sentence, a text or a name is not broken into less
WIDE_GAP, GAP = 3, 2  # blanks between columns
LONGEST_WORD = 20  # cells: a longer word is broken where there is no room
_PARTS = {
    "number": re.compile(
        r" (?=[±\[])"
    ),  # a score from its spread, a difference from its interval, never inside either
    "name": re.compile(r"(?<!−) |(?<=[-_/,:+&=])(?=.)|(?<=.)(?=[@?])"),
    "text": re.compile(r" "),
}


@dataclass(frozen=True, kw_only=True)
class ColumnTexts:
    """The texts of one column: its title, its cells, and how they may break."""

    title: str
    cells: tuple[str, ...]
    kind: Kind
    is_right: bool
    is_sentence: bool = False

    @property
    def natural(self) -> int:
        """The width at which nothing breaks."""
        return max(_widest(self.title), self.unbroken)

    @property
    def unbroken(self) -> int:
        """The width at which no cell breaks, but the title may."""
        return max(self._title_least, *map(_widest, self.cells), 0)

    @property
    def least(self) -> int:
        """The smallest width that is acceptable."""
        if self.kind == "number":
            return max(
                self._title_least, *(_longest_part(cell, "number") for cell in self.cells), 0
            )
        bound = (
            LEAST_SENTENCE
            if self.is_sentence
            else LEAST_TEXT
            if self.kind == "text"
            else LEAST_NAME
        )
        words = max([self._title_least, *(_longest_part(cell, self.kind) for cell in self.cells)])
        return min(self.natural, max(min(words, LONGEST_WORD), min(bound, self.natural)))

    @property
    def _title_least(self) -> int:
        return min(_longest_part(self.title, "name"), LEAST_NAME)

    def lines(self, text: str, width: int, *, is_title: bool = False) -> list[str]:
        """Return TEXT, a cell or the title, in lines of WIDTH cells."""
        kind = "name" if is_title else self.kind
        return [line for paragraph in text.split("\n") for line in broken(paragraph, width, kind)]


def fitted(
    columns: Sequence[ColumnTexts], width: int | None, *, breaks_numbers: bool
) -> tuple[list[int], int] | None:
    """Return the widths of COLUMNS within WIDTH cells, and the gap between them; None where they do
    not fit.

    Room goes first to names, then to titles, then to texts. The gap is smaller where names would
    break otherwise.
    """
    naturals = [column.natural for column in columns]
    if width is None or _total(naturals, WIDE_GAP) <= width:
        return naturals, WIDE_GAP
    possible = [
        (widths, gap)
        for gap in (WIDE_GAP, GAP)
        if (widths := _widths(columns, width, gap, breaks_numbers=breaks_numbers))
    ]
    return min(possible, key=lambda fit: _broken_names(columns, fit[0]), default=None)


def _broken_names(columns: Sequence[ColumnTexts], widths: Sequence[int]) -> int:
    return sum(
        column.kind == "name" and width < column.unbroken
        for column, width in zip(columns, widths, strict=True)
    )


def _widths(
    columns: Sequence[ColumnTexts], width: int, gap: int, *, breaks_numbers: bool
) -> list[int]:
    """Return the widths with this GAP; none where they do not fit."""
    naturals = [column.natural for column in columns]
    widths = [
        column.least if breaks_numbers or column.kind != "number" else column.unbroken
        for column in columns
    ]
    room = width - _total(widths, gap)
    if room < 0:
        return []
    numbers = [index for index, column in enumerate(columns) if column.kind == "number"]
    if sum(columns[number].unbroken - widths[number] for number in numbers) <= room:
        for number in numbers:
            room -= columns[number].unbroken - widths[number]
            widths[number] = columns[number].unbroken
    order = {"name": 0, "number": 1, "text": 2}
    for index in sorted(
        range(len(columns)),
        key=lambda column: (order[columns[column].kind], naturals[column] - widths[column]),
    ):
        more = naturals[index] - widths[index]
        if columns[index].kind == "number" and (
            more > room or widths[index] < columns[index].unbroken
        ):
            # a title that breaks anyway needs no more; numbers break in all columns or in none
            continue
        widths[index] += min(room, more)
        room -= min(room, more)
    return widths


def broken(text: str, width: int, kind: Kind) -> list[str]:
    """Return TEXT in lines of at most WIDTH cells, broken where its KIND allows it; a word that is
    longer is cut.
    """
    if cell_len(text) <= width:
        return [text]
    lines = [""]
    for piece, blank in _parts(text, kind):
        joined = f"{lines[-1]}{blank}{piece}" if lines[-1] else piece
        if cell_len(joined) <= width:
            lines[-1] = joined
            continue
        lines += chop_cells(piece, max(width, 2))  # a character may take two cells
    return [line for line in lines if line] or [""]


def _parts(text: str, kind: Kind) -> list[tuple[str, str]]:
    """Return the parts of TEXT, each with the blank that was in front of it."""
    pieces, start = [], 0
    for match in _PARTS[kind].finditer(text):
        pieces.append(
            (text[start : match.start()], " " if start and text[start - 1] == " " else "")
        )
        start = match.end()
    return [*pieces, (text[start:], " " if start and text[start - 1] == " " else "")]


def _longest_part(text: str, kind: Kind) -> int:
    return max(
        (cell_len(piece) for line in text.split("\n") for piece, _ in _parts(line, kind)), default=0
    )


def _widest(text: str) -> int:
    return max((cell_len(line) for line in text.split("\n")), default=0)


def _total(widths: Sequence[int], gap: int) -> int:
    return 1 + sum(widths) + gap * (len(widths) - 1)
