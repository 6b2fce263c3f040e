"""A table to print or to write as JSON, CSV or Markdown: the same rows with the same keys in every
format.
"""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from embedlab.core.note import SHOWN, shown_notes
from embedlab.core.printable import markdown_text, one_line, visible, without_formula

if TYPE_CHECKING:
    import polars as pl

Value = str | float | int | bool | None
Align = Literal["left", "right"]
ABSENT = "–"
_MINUS_ZERO = re.compile(
    r"(?<![\w.])[-−+](?=0(?:\.0+)?(?![\d.]))"
)  # the sign of a number that is shown as zero


Role = Literal["key", "group", "score", "difference", "minor", "text", "sentence"]
"""What a column is where there are few cells: the name of its row, or of several rows; a score of a
model, or a difference from it; what is left out first; a text that wraps; a sentence of a block."""


@dataclass(frozen=True)
class TableCell:
    """A raw value for machines and the text that people read, such as 0.7842 and "78.4 ± 0.3 a"."""

    value: Value
    text: str
    raised: str = ""  # the end of the text that print raises, such as "a"
    is_best: bool = False  # of the models in its row
    is_dim: bool = False  # says less than it seems: an interval without 0 that is not significant
    hover: str = ""  # what a page or notebook shows where a pointer rests on it


def number(
    value: float | None,
    *,
    digits: int = 2,
    is_signed: bool = False,
    mark: str = "",
    sd: float | None = None,
    low: float | None = None,
    high: float | None = None,
    sign: str = "",
    **more: Any,
) -> TableCell:
    """Return a cell such as "78.40† ± 0.31 a" or "+1.20 [-0.30, +2.70]*": the number, then its
    MARK, standard deviation, interval and SIGN as far as given; MORE is the rest of the cell.
    """
    if _finite(value) is None:
        return TableCell(value, ABSENT)
    form = f"{'+' * is_signed}z.{digits}f"
    spread = "" if _finite(sd) is None else f" ± {sd:z.{digits}f}"
    interval = ""
    if low is not None and high is not None and math.isfinite(low):
        interval = f" [{low:{form}}, {high:{form}}]"
    return TableCell(value, f"{value:{form}}{mark}{spread}{interval}{sign}", **more)


@dataclass(frozen=True)
class Column:
    """One column: KEY in JSON and CSV, TITLE for people."""

    key: str
    title: str
    role: Role | None = None
    align: Align | None = None  # None: right when it holds nothing but numbers
    digits: int | None = None  # after the point, for people; None: Python's own format

    @property
    def is_text(self) -> bool:
        """Whether the column holds words that wrap."""
        return self.role in {"text", "sentence"}


_COLUMN = re.compile(r"(\S+)(?: = (.+?))?(?: \[(\w+)\])?(?: \.(\d))?(?: ([<>]))?")
_SIDES: Mapping[str, Align] = {"<": "left", ">": "right"}


def columns_of(*described: str) -> list[Column]:
    """Return the columns that are DESCRIBED, such as "loss = last loss [minor] .4 >": the key, then
    its title (else the key), role, digits and alignment, as far as given.
    """
    columns = []
    for text in described:
        match = _COLUMN.fullmatch(text)
        assert match, text
        key, title, role, digits, side = match.groups()
        column_role = cast("Role | None", role)
        column = Column(
            key, title or key, column_role, _SIDES.get(side), int(digits) if digits else None
        )
        columns.append(column)
    return columns


def score_columns(titles: Mapping[str, str], align: Align = "right") -> list[Column]:
    """Return a column of scores for each of TITLES, by key."""
    return [Column(key, title, "score", align) for key, title in titles.items()]


def model_columns(titles: Mapping[str, str], align: Align = "right") -> list[Column]:
    """Return a column of scores for each model, by name: one may be called as another column is."""
    return score_columns({f"{name}.score": title for name, title in titles.items()}, align)


@dataclass(frozen=True)
class Table:
    """Rows under columns, with a title above and notes below.

    A row may lack a column, and may have keys without a column: those are for JSON and CSV only.
    Where there is a tidy FRAME, JSON and CSV hold its rows instead: one row a model and number,
    while people compare models in columns. A table without columns is only its title and notes.
    """

    title: str = ""
    columns: Sequence[Column] = ()
    rows: Sequence[Mapping[str, Value | TableCell]] = ()
    notes: Sequence[str] = ()
    frame: "pl.DataFrame | None" = field(default=None, compare=False)
    # what the numbers are of, where no column says it; people see it in front of the title
    subject: str = ""
    answer: Sequence[str] = ()  # in words, above the table
    # of each model's numbers; always in JSON and on pages
    signatures: Mapping[str, str] = field(default_factory=dict)
    is_signed: bool = False  # people see them too, below the notes
    titles: Mapping[str, str] = field(default_factory=dict)  # of the models, in columns and notes
    # of JSON and CSV, where they are not those of the columns and rows in their order
    keys: Sequence[str] = ()
    score_columns: str = "model"  # what each column of scores is
    brief: Sequence[int] = ()  # the rows that a terminal shows without all notes; empty: every one
    most_notes: int = SHOWN  # that people see at first
    hidden_note: str = ""  # what else there is, as the last note says
    is_detail: bool = False  # people see it with all notes alone
    has_all_notes: bool = False  # people see also those that do not change how a number is read
    # in JSON alone: what is of no row, by its key
    records: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    # of a paper's table: what the numbers are, of how many items, and what marks and intervals mean
    caption: Callable[[], str] = str

    @property
    def shown_title(self) -> str:
        """Return the title as people read it."""
        return one_line(f"{self.subject}: {self.title}" if self.subject else self.title)

    @property
    def signature_lines(self) -> list[str]:
        """Return the signatures as people read them."""
        return [
            f"signature of {one_line(model)}: {line}" for model, line in self.signatures.items()
        ]

    def data(self) -> dict[str, Any]:
        """Return the table as plain values at full precision; nan and infinity are None."""
        keys, rows = self._keys(), self.rows if self.frame is None else self.frame.to_dicts()
        optional_values: dict[str, Any] = {
            "answer": [*self.answer],
            "signatures": dict(self.signatures),
            **self.records,
        }
        return {
            "title": self.title,
            "rows": [{key: _finite(_raw(row.get(key))) for key in keys} for row in rows],
            "notes": [*self.notes],
            **{key: value for key, value in optional_values.items() if value},
        }

    def to_json(self) -> str:
        """Return one JSON object: title, rows with stable keys, notes, and signatures where there
        are any.
        """
        return json.dumps(self.data(), ensure_ascii=False, allow_nan=False, indent=2)

    def to_csv(self) -> str:
        """Return a header of keys and the raw values; absent values are empty, and a text that
        would be a formula gets an apostrophe.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(_field, self._keys()))
        writer.writerows([_field(value) for value in row.values()] for row in self.data()["rows"])
        return text.getvalue()

    def texts(self) -> list[list[str]]:
        """Return the titles, then each row, as people read them: control characters are escaped;
        only a cell's own line breaks remain.
        """
        return [
            [one_line(column.title) for column in self.columns],
            *([_text(row.get(column.key), column) for column in self.columns] for row in self.rows),
        ]

    def align(self, column: Column) -> Align:
        """Return the alignment of a column's texts."""
        if column.align:
            return column.align
        return "right" if self.is_numeric(column) else "left"

    def is_numeric(self, column: Column) -> bool:
        """Return whether a column holds nothing but numbers."""
        values = [value for row in self.rows if (value := _raw(row.get(column.key))) is not None]
        return bool(values) and all(
            isinstance(value, int | float) and not isinstance(value, bool) for value in values
        )

    def to_markdown(self) -> str:
        """Return a Markdown table of what people read, with numbers aligned to the right."""
        rows = [[*map(markdown_text, texts)] for texts in self.texts()]
        rule = ["---:" if self.align(column) == "right" else "---" for column in self.columns]
        rows.insert(1, rule)  # below the titles
        lines = [f"| {' | '.join(cells)} |" for cells in rows if self.columns]
        notes = [f"- {markdown_text(note)}" for note in self.shown_notes]
        # Signatures are code, which needs no escaping: a reader can copy them.
        for model, line in self.signatures.items() if self.is_signed else ():
            notes.append(f"- signature of {markdown_text(one_line(model))}: `{line}`")
        title = f"**{markdown_text(self.shown_title)}**" if self.shown_title else ""
        answer_lines = [markdown_text(one_line(text)) for text in self.answer]
        blocks = [*answer_lines, title, "\n".join(lines), "\n".join(notes)]
        return "\n\n".join(filter(None, blocks)) + "\n"

    @property
    def shown_notes(self) -> list[str]:
        """Return the notes as people read them."""
        if self.has_all_notes:
            return [one_line(note) for note in self.notes]
        notes = shown_notes(self.notes, self.titles, most=self.most_notes)
        if self.hidden_note and notes and notes[-1].startswith("--notes shows"):
            return [
                *notes[:-1],
                f"{self.hidden_note}, and{notes[-1].removeprefix('--notes shows')}",
            ]
        return [*notes, *filter(None, [self.hidden_note])]

    def _keys(self) -> list[str]:
        """The keys of JSON and CSV."""
        if self.frame is not None:
            return self.frame.columns
        of_rows = (key for row in self.rows for key in row)
        all_keys = dict.fromkeys([*(column.key for column in self.columns), *of_rows])
        return [*(self.keys or all_keys)]


def attributes(owner: object, names: str, scale: float = 1) -> dict[str, Any]:
    """Return the attributes of OWNER with these NAMES, multiplied by SCALE."""
    values = {name: getattr(owner, name) for name in names.split()}
    return values if scale == 1 else {name: scale * value for name, value in values.items()}


def _raw(value: Value | TableCell) -> Value:
    return value.value if isinstance(value, TableCell) else value


def _finite(value: Value) -> Value:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(value: Value | TableCell, column: Column) -> str:
    if isinstance(value, TableCell):
        text = visible(value.text).replace("\t", " ")
        return text if isinstance(value.value, str) else _MINUS_ZERO.sub("", text)
    if _finite(value) is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if column.digits is not None and isinstance(value, int | float):
        return _MINUS_ZERO.sub("", f"{value:z.{column.digits}f}")
    return one_line(str(value))


def _field(value: Value) -> Value:
    return without_formula(value) if isinstance(value, str) else value
