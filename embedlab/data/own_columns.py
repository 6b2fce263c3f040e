"""Detect what a user's own file holds: the kind of its rows, the column of each part, the meaning
of its labels, its scale.

Training, evaluation and the dashboard all read files by this detection, which looks at what the
user says, at names and at values. A column with the name of a part is read as that part. A file
where that is impossible, or that can be read in two ways, is refused with what to type.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import polars as pl

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.names import outside_quotes
from embedlab.core.nearest import nearest_hint
from embedlab.core.note import Note
from embedlab.core.printable import count_text, first_few, short_line
from embedlab.data.column_names import (
    FACTS,
    LABEL_WORDS,
    MOST_LABELS,
    NO_MEANING,
    SAME_COLUMNS,
    is_no_label,
    is_opposite,
    is_other,
    name_key,
    no_labels,
    role_of,
    says_split,
    split_column,
    suggested_meanings,
    usual_role,
    whole,
)
from embedlab.data.dataset import NLI_LABELS
from embedlab.data.file_name import LOW_SCORES, TEXT_FILE, FileName, option, parse_file_name
from embedlab.data.overlaps import held_out_rows
from embedlab.data.score_scale import ScoreScale, unusual_scores
from embedlab.data.table_file import (
    NOTHING,
    SEPARATORS,
    class_texts,
    full_rows,
    holds_text_lists,
    no_rows,
    number_of,
    read_rows,
    refuse_json_numbers,
    require_columns,
    require_file,
    row_places,
    rows_with,
    selected_rows,
    unsupported_type,
)
from embedlab.data.text_file import PLACE, is_seen, read_lines


@dataclass(frozen=True, kw_only=True, eq=False)  # compared by identity
class RowKind:
    """What each row of a file is, such as a scored pair."""

    title: str
    columns: Mapping[str, str]  # what a column can hold → its name in the recipes for own rows

    @property
    def texts(self) -> list[str]:
        """The columns that hold sentences."""
        return [role for role in self.columns if role in _TEXT_ROLES]


SCORED = RowKind(
    title="scored pairs", columns={"s1": "sentence1", "s2": "sentence2", "score": "gold"}
)
LABELLED = RowKind(
    title="labelled pairs", columns={"s1": "premise", "s2": "hypothesis", "label": "label"}
)
PAIRS = RowKind(
    title="pairs of anchor and positive", columns={"anchor": "anchor", "positive": "positive"}
)
TRIPLETS = RowKind(title="triplets", columns={**PAIRS.columns, "negative": "negative"})
SENTENCES = RowKind(title="sentences", columns={"sentence": "sentence"})
KINDS = (SCORED, LABELLED, TRIPLETS, PAIRS, SENTENCES)
LISTS = ("positive", "negative")  # parts of which a row may have several
_TEXT_ROLES = ("s1", "s2", "anchor", *LISTS, "sentence")

_NAME_WORDS = 4  # a longer name of a column is a sentence
_SHOWN_ROWS = 2
_SURE_LINES = 10  # with equally many commas
_JSON_START = re.compile(r'\s*(\[?\s*\{\s*"|\[\s*")')
_MARKS = re.compile(r"([^\w\s.?!])\1+|\[sep\]|</?s>", re.I)  # what people put between two texts
# blanks, and letters of scripts that have none between words
_BETWEEN_WORDS = r"\s+|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]{2}"
_WRITTEN_LIST = r"""^\s*(\[\s*["'{].*["'}]\s*\]|\{\s*["'].*\})\s*$"""
_IN_QUOTES = r"(?s)^\s*['\"‘‚“„«»].*['\"’‘”“»«]\s*$"
_MISSING = rf"(?i)^\s*(?:{'|'.join(NOTHING)})\s*$"


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnData:
    """What a file holds, as it was detected or as the user says."""

    file: FileName
    kind: RowKind
    columns: Mapping[str, str]  # one of the kind's columns → that of the file
    # all columns and PLACE of the rows that its name selects and holds out, and that have all texts
    # and a score or label; a text a row
    frame: pl.DataFrame
    labels: Mapping[str, str] = field(default_factory=dict)  # those of the file that are not ours
    scores: ScoreScale | None = None  # the range of the scores
    # values that may stand for missing ones, and quotes around all texts, in words
    doubts: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)  # reason with its place → rows
    lists: tuple[str, ...] = ()  # columns of lists, of which each text makes a row

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.frame.height

    @property
    def renamed_columns(self) -> dict[str, str]:
        """Return the column of the file by the name that the recipes for own rows have for it,
        where the two differ.
        """
        columns = {self.kind.columns[role]: name for role, name in self.columns.items()}
        return {our_name: name for our_name, name in columns.items() if our_name != name}

    @property
    def texts(self) -> list[str]:
        """Return the columns of the file that hold sentences."""
        return [self.columns[role] for role in self.kind.texts]

    @property
    def is_certain(self) -> bool:
        """Whether every column has a usual name of its part, and all rows are read."""
        is_usual = all(usual_role(name) in {role, "label"} for role, name in self.columns.items())
        return is_usual and not (self.labels or self.lists or self.skipped)

    @property
    def explicit_name(self) -> FileName:
        """Return the name by which the same rows are read without detection; without options where
        the columns have our names.
        """
        our_names = self.kind.columns
        is_usual = all(name in {role, our_names[role]} for role, name in self.columns.items())
        return self.file.with_options(
            roles={} if is_usual and not self.file.roles else self.columns,
            labels=self.labels,
            scale=None,
            low_scores=False,
        )

    @property
    def scale(self) -> tuple[float, float] | None:
        """Return the lowest and highest score that there can be: as the user says, otherwise as the
        scores suggest.
        """
        return self.file.scale or (self.scores.suggested if self.scores is not None else None)

    def lines(self, *, has_examples: bool = True) -> list[str]:
        """Return what was found, the first rows if wanted, and how to correct it."""
        columns = ", ".join(f"{role} = {name}" for role, name in self.columns.items())
        findings = [f"{count_text(self.rows, self.kind.title)}: {columns}"]
        if self.labels:
            meanings = ", ".join(f"{label} = {meaning}" for label, meaning in self.labels.items())
            findings.append(f"labels {meanings}")
        if self.scores is not None and self.scale is not None:
            low, high = self.scale
            findings.append(f"scores {self.scores} on a scale from {low:g} to {high:g}")
        if self.lists:
            findings.append(f"a row for each text of {' and of '.join(self.lists)}")
        findings += [f"left out: {count} {reason}" for reason, count in self.skipped.items()]
        findings += self.doubts
        read_columns = {*self.columns.values(), self.file.source or "source"}
        unread = [
            name or f"column {number} (without a name)"
            for number, name in enumerate(self.frame.drop(PLACE).columns, 1)
            if name not in read_columns
        ]
        if unread:
            findings.append(f"not read: {', '.join(unread)}")
        details = []
        examples = self.frame.select(self.columns.values()).head(_SHOWN_ROWS * has_examples)
        for row in examples.cast(pl.String).fill_null("").iter_rows(named=True):
            values = [f"{name}: {short_line(text)}" for name, text in row.items()]
            details.append("; ".join(values))
        if self.file.is_table:
            options = [f"{role}=NAME" for role in self.columns]
            options += ["scale=LOW-HIGH"] * (self.scores is not None)
            details.append(f"to read it otherwise: '{self.file.path}?{'&'.join(options)}'")
        notes = [Note(f"  {detail}", kind="detail") for detail in details]
        return [f"{self.file.text}: {'; '.join(findings)}", *notes]


def own_data(name: str) -> OwnData:
    """Return what the file that a dataset's NAME means holds; an ambiguous file is refused with
    what to type.
    """
    path = parse_file_name(name).path
    require_file(path)
    status = path.stat()
    data = _detected(name, status.st_size, status.st_mtime_ns)
    if isinstance(data, EmbedlabError):
        raise data
    return data


@lru_cache(maxsize=4)  # one command needs it several times; a file is that of its size and time
def _detected(name: str, _size: int, _modified_ns: int) -> OwnData | EmbedlabError:
    """Return what the file holds, or why it is refused, without the rows that a traceback keeps."""
    try:
        return _detect(parse_file_name(name))
    except EmbedlabError as error:
        return error.with_traceback(None)


def _detect(file: FileName) -> OwnData:
    path = file.path
    table = _Columns(file, read_own_rows(path))
    kind, columns, labels = table.decide()
    texts = [columns[role] for role in kind.texts]
    positives = [columns[role] for role in LISTS if role in columns]
    lists = [name for name in positives if table.columns[name].content == "lists"]
    if any(table.rows[name].null_count() for name in texts):
        read_own_rows(path, texts)  # refuses a row that ends before one of them
    rows, skipped = full_rows(path, table.rows, texts, lists=lists)
    if file.held_out:
        hint = "remove held-out"
        rows = rows.filter(held_out_rows(path, rows, texts, file.held_out, hint=hint))
    scores = None
    if kind == SCORED:
        numbers = table.numbers(columns["score"])
        if len(numbers) and numbers.is_finite().all():
            scores = ScoreScale.of(numbers)
    _refuse_unread_options(file, kind)
    if file.scale is not None and scores is not None:
        low_name = None if file.low_scores else f"'{file.text}&{LOW_SCORES}'"
        scores.refuse_other(str(path), file.scale, low_name)
    if file.low_scores and scores and not scores.contradicts(file.scale or scores.suggested):
        message = f"{path}: the scores are {scores}, not all in the lower half of their scale"
        raise UsageError(message, hint=f"remove {LOW_SCORES}")
    if gold := columns.get("score") or columns.get("label"):
        no_gold = NOTHING if kind == SCORED else no_labels(file.labels)
        rows = rows_with(path, rows, gold, no_gold, skipped)
    doubts = [*_doubtful_texts(path, rows, texts, lists)]
    if scores is not None:
        doubts += _doubtful_scores(rows, columns["score"])
    return OwnData(
        file=file,
        kind=kind,
        columns=columns,
        frame=rows,
        labels=labels,
        scores=scores,
        doubts=tuple(doubts),
        skipped=skipped,
        lists=tuple(lists),
    )


def _refuse_unread_options(file: FileName, kind: RowKind) -> None:
    """Refuse options of a FILE that rows of this KIND do not have."""
    for is_said, is_read, noun, hint in (
        (file.scale or file.low_scores, kind == SCORED, "scores", "the scale, or say ?score=NAME"),
        (file.labels, kind == LABELLED, "labels", "labels, or say ?label=NAME"),
        (file.source, kind != SENTENCES, "source", "source"),
    ):
        if is_said and not is_read:
            raise UsageError(
                f"{file.text!r}: it holds {kind.title}, which have no {noun}", hint=f"remove {hint}"
            )


def _doubtful_texts(
    path: Path, rows: pl.DataFrame, texts: Sequence[str], lists: Sequence[str]
) -> Iterator[str]:
    """Yield a doubt for each of the columns TEXTS with words for a missing text, such as NA, where
    LISTS have none, and one for columns whose texts are all in quotes that no format removes.
    """
    for name in texts:
        doubtful_rows = rows.filter(pl.col(name).str.contains(_MISSING))
        if name not in lists and not doubtful_rows.is_empty():
            words = doubtful_rows[name].unique(maintain_order=True)
            places = row_places(path, doubtful_rows)
            listing = ", ".join(map(repr, words))
            yield f"the whole {name} is {listing} at {places}{_drop_hint(name, words)}"
    quoted = [name for name in texts if rows[name].str.contains(_IN_QUOTES).all()]
    if rows.height > 1 and quoted:
        yield f"each {' and each '.join(quoted)} is in quotes, which are kept as a part of it"


def _doubtful_scores(rows: pl.DataFrame, column: str) -> Iterator[str]:
    """Yield the doubt about scores in a COLUMN that are off the scale of nearly all others."""
    numbers = rows.select(number_of(column)).to_series()
    usual_scale, is_outside = unusual_scores(numbers)
    if usual_scale is not None:
        outside = rows[column].filter(is_outside).cast(pl.String)
        yield (
            f"nearly all scores are {usual_scale}, {len(outside)} not: {outside[0]}"
            f"{_drop_hint(column, outside.head(1))}"
        )


def _drop_hint(column: str, values: pl.Series) -> str:
    """Return how to leave out rows whose COLUMN has one of VALUES; empty if it cannot be typed."""
    if values.str.contains(",", literal=True).any():
        return ""
    drop = option("drop", f"{column}:{','.join(values)}")
    return f"; if it means that there is none, leave it out with {drop}"


def read_own_rows(path: Path, needed: Sequence[str] = ()) -> pl.DataFrame:
    """Return the rows of a file as `read_rows` does; a text file has the column sentence."""
    if path.suffix.lower() != TEXT_FILE:
        return read_rows(path, needed=needed)
    rows = pl.DataFrame({"sentence": read_lines(path)}).with_row_index(PLACE, offset=1)
    refuse_table(path, rows["sentence"].filter(is_seen(rows["sentence"])).to_list())
    return rows


def refuse_table(path: Path, lines: Sequence[str]) -> None:
    """Refuse a text file whose LINES are rows: they are JSON, most have a tab, or all have equally
    many fields with another sign between them.

    Sentences have commas and semicolons too, so these need names of columns or many lines.
    """
    if _JSON_START.match("".join(lines[:3])):
        raise UsageError(
            f"{path} is JSON, but a text file has one sentence a line",
            hint=f"write one object a line and call it {path.with_suffix('.jsonl')}",
        )
    first_line = lines[0] if lines else ""
    separators = [*(mark[0] for mark in _MARKS.finditer(first_line)), *SEPARATORS]
    for sign in dict.fromkeys((*separators, *re.findall(r"[^\w\s.'-]", first_line))):
        split = outside_quotes if sign in ",;|" else str.split
        rows = [split(line, sign) for line in lines if sign in line]
        names = rows[0] if rows else []
        roles = [*map(role_of, names)]
        fewest = _SURE_LINES if sign in ",;" and not any(roles) else 2
        is_even = {*map(len, rows)} == {len(names)} and len(rows) == len(lines) >= fewest
        is_table = len(names) > 1 and (all(roles) or (is_even and sign in separators))
        if is_table or (sign == "\t" and 2 * len(rows) > len(lines)):
            steps = ["name the columns in its first line"] * (not any(roles))
            steps += [f"replace {sign!r} by tabs"] * (sign not in SEPARATORS)
            steps.append(f"call it {path.with_suffix('.csv' if sign in ',;|' else '.tsv')}")
            title = "tabs" if sign == "\t" else repr(sign)
            raise UsageError(
                f"{path}: each line has {len(names)} fields with {title} between them, but a "
                f"text file has one sentence a line",
                hint=" and ".join(steps),
            )


@dataclass(frozen=True, kw_only=True)
class _Column:
    """A column of a file."""

    values: pl.Series
    trimmed: pl.Series  # without blanks at the ends of texts, null for empty ones
    role: str  # the part that it is by its name, or as the user says; empty: none
    content: str  # numbers, words, lists, nothing, other values, or texts

    @property
    def key(self) -> str:
        """Its name without case and signs."""
        return name_key(self.values.name)

    @property
    def is_prose(self) -> bool:
        """Whether most of its values have several words."""
        is_id = self.key.endswith(("id", "ids", "idx", "index", "number"))
        if is_id or self.content in {"numbers", "other", "lists"}:
            return False
        words = self.values.cast(pl.String).str.strip_chars().str.count_matches(_BETWEEN_WORDS)
        return float(words.median() or 0) >= LABEL_WORDS  # type: ignore[arg-type]

    @property
    def is_nli(self) -> bool:
        """Whether its values are labels of NLI, whatever it is called."""
        labels = {*NLI_LABELS, "-"}
        is_words = self.content == "words" and self.role not in _TEXT_ROLES
        return is_words and {*self.trimmed.drop_nulls().str.to_lowercase()} <= labels


class _Columns:
    """The columns of a file, by what they hold and how they are called."""

    def __init__(self, file: FileName, rows: pl.DataFrame) -> None:
        """Look at the columns of all ROWS of FILE. A column that the user names must be there, and
        a column with the name of a part must hold that part.
        """
        names = rows.drop(PLACE).columns
        if not file.roles:
            _refuse_missing_header(file.path, rows.drop(PLACE))
        if rows.is_empty():
            raise no_rows(file.path)
        stated_names = [*file.roles.values()]
        for name in filter(None, (*stated_names, file.source)):
            hint = nearest_hint(name, names, "name one of its columns")
            require_columns(file.path, rows, [name], hint=hint, error=UsageError)
            if stated_names.count(name) > 1:
                raise UsageError(
                    f"{file.text!r} names the column {name!r} for two parts",
                    hint=f"name one for each: {', '.join(names)}",
                )
        self.file, self.rows = file, selected_rows(file.path, rows, file.where, file.drop)
        self._refuse_splits()
        trimmed, contents = _contents(self.rows.drop(PLACE))
        self.columns: dict[str, _Column] = {}
        self.called: dict[str, list[str]] = defaultdict(list)  # role → its columns
        self.texts: list[str] = []  # columns that may be one of the texts of a row
        for name, role in self._roles(names).items():
            column = _Column(
                values=self.rows[name], trimmed=trimmed[name], role=role, content=contents[name]
            )
            if role and (name in stated_names or not file.roles):
                self._refuse_other_type(column)
            self.columns[name] = column
            self.called[role].append(name)
            is_called = role in _TEXT_ROLES and column.content in {"texts", "words", "lists"}
            is_unnamed = column.content == "texts" and not role and column.key not in FACTS
            if (is_called or is_unnamed) and name != file.source:
                self.texts.append(name)
        if len(self.texts) > 2:
            # one of them without any blank holds names of rows, unless it is called a text
            unsure = [name for name in self.texts if not self.columns[name].role]
            has_blank = trimmed.select(pl.col(unsure).str.contains(_BETWEEN_WORDS).any())
            row_names = [name for name in unsure if not has_blank[name].item()]
            self.texts = [name for name in self.texts if name not in row_names]

    def _roles(self, names: Sequence[str]) -> dict[str, str]:
        """Return the part that each column is, as the user says or by its name."""
        stated = {name: role for role, name in self.file.roles.items()}
        roles = {}
        for name in names:
            role = role_of(name)
            # SimCSE calls anchor and positive sent0 and sent1
            if name_key(name) == "sent1" and "sent0" in map(name_key, names):
                role = "positive"
            is_free = role not in self.file.roles and name != self.file.source
            roles[name] = stated.get(name, role if is_free else "")
        return roles

    def _refuse_splits(self) -> None:
        """Refuse rows of several splits if the user has not said which to read."""
        file = self.file
        settled_columns = [PLACE, *file.where, *file.drop, *file.roles.values(), file.source or ""]
        name, counts = split_column(self.rows, settled_columns) or ("", {})
        if len(counts) < 2:
            return
        *some, all_rows = (
            f"'{file.with_options(where={**file.where, name: values}).text}'"
            for values in (*[*counts][:3], ",".join(counts))
        )
        listing = ", ".join(f"{value} ({count})" for value, count in counts.items())
        raise UsageError(
            f"{file.path}: {name!r} says which split a row is in: {listing}",
            hint=f"write {' or '.join(some)}; for all rows {all_rows}",
        )

    def _refuse_other_type(self, column: _Column) -> None:
        """Refuse a column with the name of a part but other values; such a column is never silently
        left out.
        """
        path, name, role = self.file.path, column.values.name, column.role
        present_values = column.trimmed.drop_nulls()
        if present_values.is_empty():
            raise MissingError(
                f"{path}: {name} is empty in every row",
                hint=f"fill in {name}, or remove the column",
            )
        if role in LISTS and column.content == "lists":
            return
        is_text = role in _TEXT_ROLES
        if is_text:
            refuse_json_numbers(path, self.rows, [name])
        dtype = column.values.dtype
        if is_other(dtype) or (is_text and dtype == pl.Boolean):
            raise unsupported_type(path, self.rows, name)
        if not is_text:
            return
        sample = present_values.cast(pl.String).head(1000)
        if 2 * sample.str.contains(_WRITTEN_LIST).sum() > len(sample):
            raise MissingError(
                f"{path}: {name} holds lists written as text: {short_line(sample[0])}",
                hint="write JSON lines, with a list of texts or one text a row",
            )
        is_stated = role in self.file.roles
        if dtype.is_numeric() or (column.content == "numbers" and not is_stated):
            raise UsageError(
                f"{path}: {name!r} is called a {role}, but holds numbers",
                hint="rename the column",
            )

    def decide(self) -> tuple[RowKind, dict[str, str], dict[str, str]]:
        """Return the kind of the rows, the column of each of its parts, and the meaning of labels
        that are not ours; parts that no kind has together are a UsageError, as is a column left out
        that could make them another kind.
        """
        stated_roles = self.file.roles.keys()
        if not _are_of_one_kind(stated_roles):
            raise UsageError(
                f"{self.file.text!r}: {', '.join(stated_roles)} are not parts of one kind of rows",
                hint="; ".join(f"{kind.title}: {', '.join(kind.columns)}" for kind in KINDS),
            )
        kind, columns = self._kind_and_columns(stated_roles)
        labels = self._meanings(columns["label"]) if kind == LABELLED else {}
        if stated_roles.isdisjoint(columns):
            self._refuse_left_out(kind, columns)
        return kind, columns, labels

    def _kind_and_columns(self, stated_roles: Set[str]) -> tuple[RowKind, dict[str, str]]:
        file, called = self.file, self.called
        scores, labels, negatives = called["score"], called["label"], called["negative"]
        if negatives and stated_roles != {*PAIRS.columns} and stated_roles <= {*TRIPLETS.columns}:
            texts = self._two_columns("anchor", "positive", without=negatives)
            return TRIPLETS, {**texts, "negative": self._one_column("negative", negatives)}
        if "sentence" in stated_roles or (len(self.texts) == 1 and not stated_roles):
            return SENTENCES, {"sentence": file.roles.get("sentence") or self.texts[0]}
        if "label" in stated_roles or file.labels:
            scores = []
        if "score" in stated_roles or file.scale is not None:
            scores, labels = scores or labels, []
        if stated_roles & {*PAIRS.columns} or not (scores or labels):
            return PAIRS, self._two_columns("anchor", "positive")
        if scores and labels:
            raise self._ambiguous(
                f"{scores[0]!r} may be their score, and {labels[0]!r} their label",
                self._typed({"score": scores[0]}),
                self._typed({"label": labels[0]}),
            )
        texts = self._two_columns("s1", "s2")
        if labels and not self._are_scores(label := self._one_column("label", labels)):
            return LABELLED, {**texts, "label": label}
        return SCORED, {**texts, "score": self._one_column("score", scores or labels)}

    def _are_scores(self, name: str) -> bool:
        """Return whether a column that is called a label holds fractions, or says by 0 and 1
        whether two texts are the same.
        """
        column = self.columns[name]
        if column.content != "numbers" or self.file.labels:
            return False
        numbers = {*self.numbers(name)}
        is_same = column.key in SAME_COLUMNS and numbers == {0, 1} and not self.file.roles
        return is_same or any(number % 1 for number in numbers)

    def _meanings(self, name: str) -> dict[str, str]:
        """Return which labels in a column are written otherwise than ours, and their meaning; an
        unclear meaning, and numbers that may be scores, are refused.
        """
        stated = self.file.labels
        labels = [label for label in self._labels(name) if label not in no_labels(stated)]
        meaning_of = {label: stated.get(label, label.casefold()) for label in labels}
        unknown = [label for label, meaning in meaning_of.items() if meaning not in NLI_LABELS]
        if not unknown:
            return {label: meaning for label, meaning in meaning_of.items() if label != meaning}
        meanings = {} if stated else suggested_meanings(name, labels)
        is_said = "label" in self.file.roles and (meanings or len(labels) <= len(NLI_LABELS))
        may_be_scores = self.columns[name].content == "numbers" and not (stated or is_said)
        fault = f"not one of {', '.join(NLI_LABELS)}"
        options = []
        if may_be_scores:
            fault = "which may be scores, or numbers of labels"
            # SNLI's number of no label says that they are labels
            if not meanings or "-1" not in map(whole, labels):
                options.append(self._typed({"score": name}))
        if meanings or not may_be_scores or len(labels) <= 2 * len(NLI_LABELS):
            stated_or_unknown = {**stated, **_unknown(unknown)}
            options.append(self._typed_labels(name, labels, meanings or stated_or_unknown))
        raise self._ambiguous(
            f"{name!r} holds {', '.join(map(repr, unknown[:6]))}, {fault}",
            *options,
            purpose=" if this is what they mean" if meanings else "",
        )

    def _labels(self, name: str) -> list[str]:
        """Return the different values of a column as labels, numbers in their order."""
        texts = class_texts(self.rows[name]).replace("", None).drop_nulls().unique().to_frame()
        number = number_of(name).fill_nan(None)
        return texts.sort(number, name, nulls_last=True)[name].to_list()

    def _refuse_left_out(self, kind: RowKind, chosen: Mapping[str, str]) -> None:
        """Refuse a column beside the CHOSEN ones that is called a part. Beside pairs and sentences
        also refuse a column that could be a part, as it would make them another kind.
        """
        file = self.file
        splits = [name for name, values in file.where.items() if says_split(name, values)]
        left_out = [
            column
            for name, column in self.columns.items()
            if name not in {*chosen.values(), file.source, *splits}
            and (column.key not in FACTS or column.is_nli or column.is_prose)
        ]
        is_gold_stated = kind in {SCORED, LABELLED} and (file.labels or file.scale)
        allowed_roles = {"", "score", "label"} if is_gold_stated else {""}
        for column in left_out:
            if column.role not in allowed_roles:
                name = column.values.name
                raise self._ambiguous(
                    f"{name!r} is called a {column.role}, and {kind.title} have none",
                    self._typed(chosen),
                    purpose=f" to leave {name!r} out",
                )
        if kind in {PAIRS, SENTENCES}:
            for column in sorted(left_out, key=lambda column: not column.is_nli):
                self._refuse_third(column, kind, chosen)

    def _refuse_third(self, column: _Column, kind: RowKind, chosen: Mapping[str, str]) -> None:
        """Refuse a column beside the texts of pairs or sentences that may say something of them."""
        name, content = column.values.name, column.content
        as_chosen = self._typed(chosen)
        reading: Mapping[str, str] = {}
        if content == "numbers":
            numbers = self.numbers(name)
            offsets = {number - row for row, number in enumerate(numbers)}
            if len(numbers) > 2 and offsets in ({0}, {1}):  # of fewer rows it cannot be known
                return
            part = "their score"
            if is_opposite(name):
                part, labels = "the opposite of their score", self._labels(name)
                if len(labels) <= len(NLI_LABELS):
                    as_chosen = self._typed_labels(name, labels, {})
            elif kind == PAIRS:
                reading = {"score": name}
        elif content == "other" and column.values.dtype.is_nested():
            part = "their score, in lists or tables"
        elif content == "words":
            part, reading = "their label", {"label": name}
        elif name in self.texts or content == "lists" or column.is_prose:
            role = "negative" if kind == PAIRS else "positive"
            part, reading = f"their {role}", {**chosen, role: name}
        else:
            return
        if reading and kind == SENTENCES:
            reading = {"anchor": chosen["sentence"], "positive": name}
        options = [self._typed(reading), as_chosen] if reading else [as_chosen]
        alternative = "" if column.is_nli else ", or say nothing about them"
        raise self._ambiguous(f"{name!r} may be {part}{alternative}", *options)

    def numbers(self, name: str) -> pl.Series:
        """Return the numbers in a column."""
        numbers = self.rows.select(number_of(name)).to_series()
        return numbers.drop_nulls().drop_nans()

    def _one_column(self, role: str, names: Sequence[str]) -> str:
        """Return the only one of the columns NAMES, empty without any; several are refused."""
        if len(names) > 1:
            reason = f"{', '.join(map(repr, names))} may each be the {role}"
            raise self._ambiguous(reason, *(self._typed({role: name}) for name in names))
        return "".join(names)

    def _two_columns(self, *roles: str, without: Sequence[str] = ()) -> dict[str, str]:
        """Return the columns of two texts: those that the user says, or with usual names, otherwise
        the only two columns of texts in their order.
        """
        stated = {role: name for role, name in self.file.roles.items() if role in roles}
        texts = [name for name in self.texts if name not in without]
        for other_roles in (roles, SCORED.texts, PAIRS.texts):
            columns = {}
            for role, other_role in zip(roles, other_roles, strict=True):
                names = [name for name in self.called[other_role] if name in texts]
                columns[role] = stated.get(role) or self._one_column(role, names)
            if all(columns.values()):
                return columns
        remaining = [name for name in texts if name not in stated.values()]
        if len(remaining) == 2 - len(stated):
            return {role: stated.get(role) or remaining.pop(0) for role in roles}
        path = self.file.path
        if not texts:
            for name, column in self.columns.items():
                if column.content in {"other", "lists"}:
                    raise unsupported_type(path, self.rows, name)
            example = "s1=NAME&s2=NAME&score=NAME" if len(self.columns) > 1 else "sentence=NAME"
            raise MissingError(
                f"{path} has no column of texts: found {first_few(self.columns)}",
                hint=f"say what its columns hold: '{path}?{example}'",
            )
        kinds = [PAIRS, TRIPLETS][: len(texts) - 1] or [SENTENCES]
        raise self._ambiguous(
            f"{count_text(len(texts), 'columns of texts')} ({first_few(texts)}), whose names do not "
            f"say what they hold",
            *(self._typed(dict(zip(kind.texts, texts, strict=False))) for kind in kinds),
        )

    def _ambiguous(self, reason: str, *typed_names: str, purpose: str = "") -> UsageError:
        """Return the error for a file that may be read as any of the TYPED NAMES say, for a
        PURPOSE.
        """
        names = " or ".join(filter(None, typed_names))
        if "" in typed_names:
            purpose += ", or give each column a name"
        if ":MEANING" in names:
            purpose += f"; a MEANING is one of {', '.join(NLI_LABELS)}"
        return UsageError(f"{self.file.path}: {reason}", hint=f"write {names}{purpose}")

    def _typed(self, roles: Mapping[str, str], **options: object) -> str:
        """Return the file's name as one types it with ROLES and OPTIONS, and with what the user
        typed about other parts and columns of such rows; empty where a column has no name.
        """
        stated = self.file.roles.items()
        other_roles = {role: name for role, name in stated if name not in roles.values()}
        if not _are_of_one_kind({*other_roles, *roles}):
            other_roles = {}
        if {"anchor", "sentence"} & roles.keys():  # whose rows have no labels and no scale
            options = {"labels": {}, "scale": None, "low_scores": False, **options}
        file = self.file.with_options(roles=other_roles | {**roles}, **options)
        return "" if "" in roles.values() else f"'{file.text}'"

    def _typed_labels(self, name: str, labels: Sequence[str], meanings: Mapping[str, str]) -> str:
        """Return the file's name as one types it with the MEANINGS of LABELS in a column, or what
        stands for them; it also leaves out rows with a value that is no label.
        """
        meanings = meanings or _unknown(labels)
        no_label = [label for label in labels if is_no_label(label) and label not in meanings]
        drop = {name: ",".join(no_label)} if no_label else self.file.drop
        return self._typed({"label": name}, labels=meanings, drop=drop)


def _are_of_one_kind(roles: Set[str]) -> bool:
    return any(roles <= kind.columns.keys() for kind in KINDS)


def _unknown(labels: Sequence[str]) -> dict[str, str]:
    """Return LABELS with what stands for a meaning that the user knows."""
    return {label: "MEANING" for label in labels if label.casefold() not in NO_MEANING}


def _refuse_missing_header(path: Path, rows: pl.DataFrame) -> None:
    """Refuse a CSV or TSV file whose first line is a row: it holds a sentence, label or number."""
    separator = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    if separator is None:
        return
    questions = [name for name in rows.columns if name.endswith("?")]
    # a question may be a row whose words look like a name
    known_names = [name for name in rows.columns if role_of(name) and name not in questions]
    sentences = [
        name
        for name in rows.columns
        if len(name.split()) > (LABEL_WORDS - 1 if name in questions else _NAME_WORDS)
    ]
    if known_names or (sentences and "numbers" in _contents(rows)[1].values()):
        sentences = []
    for name in rows.columns:
        is_label = name_key(name) in NLI_LABELS and known_names == [name]
        if name in sentences or is_label or re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?", name):
            header = separator.join(("sentence1", "sentence2", "score"))
            raise MissingError(
                f"{path}, line 1: {name!r} is not the name of a column",
                hint=f"name the columns first, such as {header}",
            )


def _contents(rows: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return ROWS with columns of texts and labels as texts without blanks at their ends, null for
    empty ones, and what each column holds: numbers, words, lists, nothing, other values, or texts.

    A step of polars takes the same time for a short column as for many: each is taken for all.
    """
    others = {name: dtype for name, dtype in rows.schema.items() if is_other(dtype)}
    texts = [
        name for name, dtype in rows.schema.items() if not dtype.is_numeric() and name not in others
    ]
    trimmed = rows.with_columns(pl.col(texts).cast(pl.String).str.strip_chars().replace("", None))
    numbers = texts
    for part in (trimmed.head(_SURE_LINES), trimmed):  # few rows tell nearly all texts from numbers
        values = part.select(numbers).unpivot(variable_name="name").group_by("name")
        counts = values.agg(number_of("value").count() == pl.col("value").count())
        is_number = dict(counts.iter_rows())
        numbers = [name for name in numbers if is_number.get(name, True)]
    contents = {}
    for column in trimmed.get_columns():
        name = column.name
        if rows[name].null_count() == rows.height:
            contents[name] = "nothing"
        elif name in others:
            contents[name] = "lists" if holds_text_lists(others[name]) else "other"
        elif column.null_count() < rows.height and (name in numbers or name not in texts):
            contents[name] = "numbers"
        else:
            contents[name] = "words" if _are_words(column) else "texts"
    return trimmed, contents


def _are_words(trimmed: pl.Series) -> bool:
    """Return whether a column of texts has few short ones, most of them several times."""
    count = trimmed.n_unique() - trimmed.has_nulls()
    if not 0 < count <= min(MOST_LABELS, trimmed.count() / 2):
        return False
    return all(len((text or "").split()) <= LABEL_WORDS for text in trimmed.unique())
