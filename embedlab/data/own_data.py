"""What a user's own file holds, detected: the kind of its rows, the column of each part, the
meaning of its labels, its scale.

Training, evaluation and the dashboard read files by this one detection. What may be read in two
ways is refused with what to type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.printable import one_line
from embedlab.data.column_roles import FoundColumns
from embedlab.data.file_name import LOW_SCORES, TEXT_FILE, FileName, parse_file_name
from embedlab.data.row_file import TABLES, read_rows
from embedlab.data.row_kind import LABELLED, SCORED, SENTENCES, RowKind
from embedlab.data.score_scale import ScoreScale
from embedlab.data.text_file import read_lines

_SHOWN_ROWS = 2


@dataclass(frozen=True, kw_only=True)
class OwnData:
    """What a file holds, as it was detected or as the user says."""

    file: FileName
    kind: RowKind
    columns: Mapping[
        str, str
    ]  # one of the kind's columns → the column of the file; empty of a text file
    rows: int
    labels: Mapping[str, str] = field(
        default_factory=dict
    )  # label in the file → ours, where they differ
    scores: ScoreScale | None = None  # the range of the scores
    unread: tuple[str, ...] = ()  # columns of the file that are not read
    examples: tuple[Mapping[str, str], ...] = ()  # the first rows by column of the file

    @property
    def ours(self) -> dict[str, str]:
        """Return the column of the file by the name that the recipes for own rows have for it,
        where the two differ.
        """
        named = {
            ours: self.columns[role]
            for role, ours in self.kind.columns.items()
            if role in self.columns
        }
        return {ours: theirs for ours, theirs in named.items() if ours != theirs}

    @property
    def texts(self) -> list[str]:
        """Return the columns of the file that hold sentences."""
        return [self.columns[role] for role in self.kind.texts]

    @property
    def said(self) -> FileName:
        """Return the name by which the same rows are read without detection; without options where
        the columns have our names.
        """
        usual = all(
            theirs in {role, self.kind.columns[role]} for role, theirs in self.columns.items()
        )
        return self.file.with_options(
            roles={} if usual else dict(self.columns),
            labels=dict(self.labels),
            scale=None,
            low_scores=False,
        )

    @cached_property
    def scale(self) -> tuple[float, float] | None:
        """Return the lowest and highest score that there can be: as the user says, otherwise as the
        scores suggest.
        """
        if self.file.scale is not None or self.scores is None:
            return self.file.scale
        return self.scores.suggested

    def lines(self) -> list[str]:
        """Return what was found, the first rows, and how to correct it."""
        parts = [f"{role} = {name}" for role, name in self.columns.items()]
        about = [f"{self.rows} {self.kind.title}{': ' * bool(parts)}{', '.join(parts)}"]
        if self.labels:
            about.append(
                "labels " + ", ".join(f"{theirs} = {ours}" for theirs, ours in self.labels.items())
            )
        if self.scores is not None and self.scale is not None:
            about.append(
                f"scores {self.scores} on a scale from {self.scale[0]:g} to {self.scale[1]:g}"
            )
        if self.unread:
            about.append(f"not read: {', '.join(self.unread)}")
        report = [f"{self.file.text}: {'; '.join(about)}"]
        report += [
            f"  {'; '.join(f'{name}: {one_line(text)}' for name, text in row.items())}"
            for row in self.examples
        ]
        if self.columns:
            report.append(
                f"  another reading: "
                f"{correction(self.file, [*self.columns, *(['scale'] if self.scores is not None else [])])}"
            )
        return report


def correction(file: FileName, options: Sequence[str]) -> str:
    """Return how a user says what the columns of FILE hold."""
    values = [f"{option}={'LOW-HIGH' if option == 'scale' else 'NAME'}" for option in options]
    return f"'{file.path}?{'&'.join(values)}'"


def own_data(name: str) -> OwnData:
    """Return what the file holds that a dataset's NAME means; what is ambiguous is refused with
    what to type.
    """
    file = parse_file_name(name)
    if file.path.is_file():
        status = file.path.stat()
        return _detected(name, status.st_size, status.st_mtime_ns)
    read_rows(file.path)  # says why it cannot be read
    raise MissingError(f"no file {str(file.path)!r}", hint="give the path of a file")


@lru_cache(maxsize=16)  # one command needs it several times; a file is that of its size and time
def _detected(name: str, _size: int, _modified_ns: int) -> OwnData:
    file = parse_file_name(name)
    if file.path.suffix.lower() == TEXT_FILE:
        return _of_lines(file)
    found_columns = FoundColumns.of(file, read_rows(file.path, needed=()))
    kind, columns = found_columns.decided()
    scores = found_columns.range_of(columns["score"]) if kind == SCORED else None
    _refuse_other_scale(file, kind, scores)
    return OwnData(
        file=file,
        kind=kind,
        columns=columns,
        rows=found_columns.rows.height,
        labels=found_columns.meanings(columns["label"]) if kind == LABELLED else {},
        scores=scores,
        unread=tuple(
            name
            for name in found_columns.names
            if name not in columns.values() and name != (file.source or "source")
        ),
        examples=_examples(found_columns.rows, list(columns.values())),
    )


def _refuse_other_scale(file: FileName, kind: RowKind, scores: ScoreScale | None) -> None:
    """Refuse a scale that was said of rows without scores, or that the scores contradict."""
    if kind != SCORED and (file.scale is not None or file.low_scores):
        raise UsageError(
            f"{file.text!r}: it holds {kind.title}, which have no scores",
            hint="remove the scale, or say ?score=NAME",
        )
    if file.scale is None or scores is None:
        return
    low, high = file.scale
    if scores.low < low or scores.high > high:
        options = "-".join(f"{end:g}" for end in scores.suggested)
        raise UsageError(
            f"{file.path}: the scores are {scores}, but scale is {low:g}-{high:g}",
            hint=f"state their scale: scale={options}",
        )
    if scores.high <= (low + high) / 2 and not file.low_scores:
        options = "-".join(f"{end:g}" for end in scores.suggested)
        hint = (
            f"state their scale: scale={options}; where all of them are low on this scale: "
            f"'{file.text}&{LOW_SCORES}'"
        )
        raise UsageError(
            f"{file.path}: the scores are {scores}, but scale is {low:g}-{high:g}", hint=hint
        )


def _of_lines(file: FileName) -> OwnData:
    """Return what a text file holds: a sentence a line."""
    lines = [line for line in read_lines(file.path) if line.strip()]
    if not file.is_plain:
        raise UsageError(
            f"{file.text!r}: a text file has no columns",
            hint=f"give a file that ends in {', '.join(TABLES)}",
        )
    tabs = {line.count("\t") for line in lines}
    if tabs != {0} and len(tabs) == 1:
        raise UsageError(
            f"{file.path}: each line has {min(tabs) + 1} fields with tabs between them, but "
            f"a text file has a sentence a line",
            hint=f"name the columns in its first line and call it {file.path.with_suffix('.tsv')}",
        )
    return OwnData(
        file=file,
        kind=SENTENCES,
        columns={},
        rows=len(lines),
        examples=tuple({"line": text} for text in lines[:_SHOWN_ROWS]),
    )


def _examples(rows: pl.DataFrame, columns: Sequence[str]) -> tuple[Mapping[str, str], ...]:
    texts = rows.head(_SHOWN_ROWS).select(
        pl.col(name).cast(pl.String).fill_null("") for name in columns
    )
    return tuple(texts.iter_rows(named=True))
