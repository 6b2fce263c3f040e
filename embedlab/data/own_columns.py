"""What a user's own file holds, detected: the kind of its rows, the column of each part, the
meaning of its labels, its scale.

Training, evaluation and the dashboard read files by this one detection: by what the user says, by
names and by values. A column with the name of a part is read as that part, or the file is refused
with what to type; so is what may be read in two ways.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.first_few import first_few
from embedlab.core.name_options import outside_quotes
from embedlab.core.nearest import nearest_name
from embedlab.core.printable import one_line
from embedlab.data.dataset import NLI_LABELS
from embedlab.data.file_name import LOW_SCORES, TEXT_FILE, FileName, option, parse_file_name
from embedlab.data.table_file import (
    NOTHING,
    PLACE,
    SEPARATORS,
    TABLES,
    class_texts,
    full_rows,
    holds_text_lists,
    number_of,
    other_values,
    read_rows,
    refuse_json_numbers,
    rows_with,
)
from embedlab.data.text_file import read_whole_lines


@dataclass(frozen=True, kw_only=True, eq=False)  # each is there once
class RowKind:
    """One of the things that rows can be."""

    title: str
    columns: Mapping[str, str]  # what a column can hold → its name in the recipes for own rows

    @property
    def texts(self) -> tuple[str, ...]:
        """Those that are sentences."""
        return tuple(role for role in self.columns if role not in {"score", "label"})


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

_USUAL = (1.0, 5.0, 10.0, 100.0)  # highest scores of scales that people use
# up to here, the largest of whole scores is the end of their scale: people use all of it
_WHOLE = 10.0


@dataclass(frozen=True, kw_only=True)
class ScoreScale:
    """The range of the scores that are there."""

    low: float
    high: float
    is_whole: bool = False  # whether all scores are whole numbers

    @classmethod
    def of(cls, scores: pl.Series) -> "ScoreScale":
        """Return the range of SCORES, of which there are some."""
        values = scores.cast(pl.Float64)
        is_whole = bool((values == values.round()).all())
        return cls(low=float(values.min()), high=float(values.max()), is_whole=is_whole)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """The range in words."""
        return f"from {self.low:.4g} to {self.high:.4g}"

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def contradicts(self, highest: float) -> bool:
        """Whether a scale up to HIGHEST is another one than that of the scores: none of them is in
        its upper half.
        """
        return self.largest <= highest / 2

    @property
    def suggested(self) -> tuple[float, float]:
        """The lowest and the highest score of the usual scale that these scores suggest."""
        usual = next((highest for highest in _USUAL if self.largest <= highest), self.largest)
        high = self.largest if self.is_whole and 0 < self.largest <= _WHOLE else usual
        return (-high if self.low < 0 else 1.0 if self.low >= 1 < high else 0.0), high


# Names without case and signs under which people have each part.
_NAMES: Mapping[str, str] = {
    "s1": "sentence1 sentencea text1 texta s1 sent1 question1 q1 premise left phrase1",
    "s2": "sentence2 sentenceb text2 textb s2 sent2 question2 q2 hypothesis right phrase2",
    "score": "score gold goldscore similarity similarityscore sim rating grade relatedness "
    "relatednessscore humanscore meanscore averagescore avgscore",
    "label": "label labels goldlabel class isduplicate duplicate entailment entailmentlabel "
    "entailmentjudgment",
    "anchor": "anchor query question prompt title sent0",
    "positive": "positive pos entailed answer response reply passage document doc context "
    "paragraph body answers passages documents docs",
    "negative": "negative neg hardneg wrong distractor contradicted",
    "sentence": "sentence sentences text texts content line",
}
_ROLES = {name: role for role, names in _NAMES.items() for name in names.split()}
# Names that are those of positives and negatives too: positives, pos_2, hard_negative_passages.
_MORE = re.compile(
    r"(?P<positive>(positives?|pos)\d*|positive(passage|ctx|doc|document|text)s?)"
    r"|(?P<negative>(hard)?(negatives?|neg)\d*|(hard)?negative(passage|ctx|doc|document|text)s?)"
)
_TEXT_ROLES = frozenset(_NAMES) - {"score", "label"}
LISTS = ("positive", "negative")  # parts of which a row may have several
# names of columns that say something about a row alone
_FACTS = frozenset(
    [
        "#",
        "id",
        "ids",
        "idx",
        "index",
        "rowid",
        "pairid",
        "qid",
        "pid",
        "docid",
        "guid",
        "uid",
        "uuid",
        "unnamed0",
        "indexlevel0",
        "number",
        "no",
        "source",
        "split",
        "genre",
        "topic",
        "category",
        "domain",
        "dataset",
        "lang",
        "language",
        "author",
        "user",
        "annotator",
        "tags",
        "keywords",
        "metadata",
        "date",
        "time",
        "timestamp",
        "year",
        "created",
        "updated",
        "url",
        "link",
        "file",
        "filename",
        "page",
    ]
) | {""}
_SPLIT_COLUMNS = re.compile(
    r"splits?|partition|folds?|datasplit|subset|(is)?heldout|(is|in)?(train|test|dev)|(is|in)val"
    r"|is(valid|validation|training)|.*train.*test.*"
)
_SPLITS = re.compile(
    r"train|training|trn|trial|dev|devel|development|val|valid|validation|eval|evaluation|test"
    r"|testing|tst|heldout|entrenamiento|entraînement|addestramento|treinamento|treino|prueba|prova"
    r"|teste|validación|validação|prüfung|обуч\w*|тест\w*|валид\w*|провер\w*|[训訓][练練]集?|[测測][试試]集?"
    r"|[验驗][证證]集?|开发集|(訓練|学習|評価|検証|テスト)(用|データ)?|훈련|학습|검증|평가|테스트|تدريب|اختبار"
)
_MOST_LABELS = 20  # different values of a column of labels
_LABEL_WORDS = 3
# blanks, and letters of scripts that have none between words
_BETWEEN_WORDS = r"\s+|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]{2}"
_NAME_WORDS = 4  # a longer name of a column is a sentence
_SHOWN_ROWS = 2
_SURE_LINES = 10  # with equally many commas
_MARKS = re.compile(r"([^\w\s.?!])\1+|\[sep\]|</?s>", re.I)  # what people put between two texts
_AT_ONCE = 32  # columns

# What labels mean that people write so, without case and signs; of no other a meaning is offered.
_MEANINGS = {
    label: meaning
    for meaning, labels in {
        NLI_LABELS[0]: "entailment entails entailed entail e duplicate isduplicate paraphrase "
        "isparaphrase similar equivalent same yes true",
        NLI_LABELS[1]: "neutral n",
        NLI_LABELS[2]: "contradiction contradicts contradictory c contradicted contradict "
        "different dissimilar notduplicate nonduplicate notparaphrase nonparaphrase notsimilar "
        "notequivalent no false",
    }.items()
    for label in labels.split()
}
_NUMBERED = dict(zip("012", NLI_LABELS, strict=True))  # SNLI on the hub
# in a column that says whether two texts are the same
_TWO_NUMBERED = {"0": NLI_LABELS[2], "1": NLI_LABELS[0]}
_SAME_COLUMNS = ("isduplicate", "duplicate", "isparaphrase", "paraphrase", "issimilar")
# SNLI's files and SNLI on the hub where people did not agree
_NO_LABEL = ("-", "-1")
_NO_MEANING = (*NOTHING, "?", "unknown")
# a number in such a column is no similarity, or the opposite of one
_OPPOSITE = re.compile(r"^(not|non|is(not|non))|differ|distan|dissim|unrelated|contradict|error")
_WRITTEN_LIST = r"""^\s*(\[\s*["'{].*["'}]\s*\]|\{\s*["'].*\})\s*$"""


@dataclass(frozen=True, kw_only=True)
class OwnData:
    """What a file holds, as it was detected or as the user says."""

    file: FileName
    kind: RowKind
    columns: Mapping[str, str]  # one of the kind's columns → that of the file; empty of a text file
    rows: int
    labels: Mapping[str, str] = field(default_factory=dict)  # those of the file that are not ours
    scores: ScoreScale | None = None  # the range of the scores
    unread: tuple[str, ...] = ()  # columns of the file that are not read
    skipped: Mapping[str, int] = field(default_factory=dict)  # reason with its place → rows
    lists: tuple[str, ...] = ()  # columns of lists, of which each text makes a row
    examples: tuple[Mapping[str, str], ...] = ()  # the first rows by column of the file

    @property
    def ours(self) -> dict[str, str]:
        """Return the column of the file by the name that the recipes for own rows have for it,
        where the two differ.
        """
        named = {self.kind.columns[role]: theirs for role, theirs in self.columns.items()}
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
        usual = all(name in {role, self.kind.columns[role]} for role, name in self.columns.items())
        usual = usual and not self.file.roles
        return self.file.with_options(
            roles={} if usual else dict(self.columns),
            labels=dict(self.labels),
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
        parts = [f"{role} = {name}" for role, name in self.columns.items()]
        about = [f"{self.rows} {self.kind.title}{': ' * bool(parts)}{', '.join(parts)}"]
        if self.labels:
            about.append("labels " + ", ".join(f"{a} = {b}" for a, b in self.labels.items()))
        if self.scores is not None and self.scale is not None:
            low, high = self.scale
            about.append(f"scores {self.scores} on a scale from {low:g} to {high:g}")
        if self.lists:
            about.append(f"a row for each text of {' and of '.join(self.lists)}")
        about += [f"left out: {count} {reason}" for reason, count in self.skipped.items()]
        if self.unread:
            about.append(f"not read: {', '.join(self.unread)}")
        report = [f"{self.file.text}: {'; '.join(about)}"]
        report += [
            "  " + "; ".join(f"{name}: {one_line(text)}" for name, text in row.items())
            for row in self.examples
            if has_examples
        ]
        if self.columns:
            values = [f"{role}=NAME" for role in self.columns]
            values += ["scale=LOW-HIGH"] * (self.scores is not None)
            report.append(f"  to read it otherwise: '{self.file.path}?{'&'.join(values)}'")
        return report


def own_data(name: str) -> OwnData:
    """Return what the file holds that a dataset's NAME means; what is ambiguous is refused with
    what to type.
    """
    path = parse_file_name(name).path
    if not path.is_file():
        read_rows(path)  # says why it cannot be read
    status = path.stat()
    return _detected(name, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)  # one command needs it several times; a file is that of its size and time
def _detected(name: str, _size: int, _modified_ns: int) -> OwnData:
    file = parse_file_name(name)
    if file.path.suffix.lower() == TEXT_FILE:
        lines = read_whole_lines(file.path).frame["sentence"].to_list()
        if not file.is_plain:
            raise UsageError(
                f"{file.text!r}: a text file has no columns",
                hint=f"give a file that ends in {', '.join(TABLES)}",
            )
        refuse_fields(file.path, lines)
        shown = tuple({"line": text} for text in lines[:_SHOWN_ROWS])
        return OwnData(file=file, kind=SENTENCES, columns={}, rows=len(lines), examples=shown)
    found = _Columns(file, read_rows(file.path, needed=()))
    kind, columns = found.decide()
    texts = [columns[role] for role in kind.texts]
    lists = [columns[role] for role in LISTS if role in columns]
    rows, skipped = full_rows(file.path, found.rows, texts, lists=lists)
    scores = None
    if kind == SCORED:
        values = found.values(columns["score"])
        scores = ScoreScale.of(values) if len(values) and values.is_finite().all() else None
    _refuse_other_scale(file, kind, scores)
    if gold := columns.get("score") or columns.get("label"):
        without = NOTHING if kind == SCORED else no_labels(file.labels)
        rows, blank = rows_with(file.path, rows, gold, without=without)
        skipped |= blank
    read = {*columns.values(), file.source or "source"}
    first = rows.head(_SHOWN_ROWS).select(pl.col(*columns.values()).cast(pl.String).fill_null(""))
    return OwnData(
        file=file,
        kind=kind,
        columns=columns,
        rows=rows.height,
        labels=found.meanings(columns["label"]) if kind == LABELLED else {},
        scores=scores,
        unread=tuple(name for name in found.names if name not in read),
        skipped=skipped,
        lists=tuple(name for name in lists if holds_text_lists(found.rows, name)),
        examples=tuple(first.iter_rows(named=True)),
    )


def no_labels(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that are no label or score, where LABELS gives them no meaning."""
    return () if _NO_LABEL[0] in labels else _NO_LABEL[:1]


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
    is_outside = scores.low < low or scores.high > high
    if is_outside or (scores.high <= (low + high) / 2 and not file.low_scores):
        hint = f"state their scale: scale={'-'.join(f'{end:g}' for end in scores.suggested)}"
        if not is_outside:
            low_ones = f"'{file.text}&{LOW_SCORES}'"
            hint += f"; where all of them are low on this scale: {low_ones}"
        raise UsageError(
            f"{file.path}: the scores are {scores}, but scale is {low:g}-{high:g}", hint=hint
        )


def refuse_fields(path: Path, lines: Sequence[str]) -> None:
    """Refuse the LINES of a text file that are rows: most have a tab, or all have equally many
    fields with another sign between them.

    Of commas and semicolons, which sentences have too, that is known below names of columns or
    from many lines.
    """
    marks = (mark[0] for mark in _MARKS.finditer(lines[0] if lines else ""))
    for sign in (*dict.fromkeys(marks), *SEPARATORS):
        is_tab, is_mark = sign == "\t", sign not in SEPARATORS
        split = str.split if is_tab or is_mark else outside_quotes
        names = split(next((line for line in lines if sign in line), ""), sign)
        has_names = any(_roles_of(name, has_sent0=False) for name in names)
        is_in_texts = sign in ",;" and not has_names
        if is_tab:
            is_table = 2 * sum(sign in line for line in lines) > len(lines)
        else:
            is_table = len(names) > 1 and len(lines) >= (_SURE_LINES if is_in_texts else 2)
            is_table = is_table and all(len(split(line, sign)) == len(names) for line in lines)
        if is_table:
            hint = "" if has_names else "name the columns in its first line and "
            if is_mark:
                hint += f"replace {sign!r} by tabs and "
            hint += f"call it {path.with_suffix('.tsv' if is_tab or is_mark else '.csv')}"
            raise UsageError(
                f"{path}: each line has {len(names)} fields with "
                f"{'tabs' if is_tab else repr(sign)} between them, but a text file has one "
                f"sentence a line",
                hint=hint,
            )


class _Columns:
    """The columns of a file, by what they hold and how they are called."""

    def __init__(self, file: FileName, rows: pl.DataFrame) -> None:
        """Look at the columns of ROWS, all that FILE has; one that the user names and that is not
        there is refused, and one with the name of a part that does not hold it.
        """
        self.file, self.names = file, [name for name in rows.columns if name != PLACE]
        _refuse_missing_header(file, self.names)
        if rows.is_empty():
            raise MissingError(
                f"{file.path} has no rows below its header", hint="give one example a row"
            )
        stated = [*file.roles.values()]
        for name in (*stated, *([file.source] if file.source else [])):
            if name not in self.names:
                guess = nearest_name(name, self.names)
                raise UsageError(
                    f"{file.path} has no column {name!r}: found {first_few(self.names)}",
                    hint=f"did you mean {guess!r}?"
                    if guess
                    else f"name one of them: {', '.join(self.names)}",
                )
            if stated.count(name) > 1:
                raise UsageError(
                    f"{file.text!r} names the column {name!r} for two parts",
                    hint=f"name one for each: {', '.join(self.names)}",
                )
        self.rows = rows = selected_rows(file.path, rows, file.where, file.drop)
        self._refuse_splits()
        said = {name: role for role, name in file.roles.items()}
        has_sent0 = "sent0" in map(_squeezed, self.names)
        self.roles = {
            name: [said[name]]
            if name in said
            else [
                role
                for role in _roles_of(name, has_sent0=has_sent0)
                if role not in file.roles and name != file.source
            ]
            for name in self.names
        }
        for name in self.names:
            if name in said or (self.roles[name] and not said):
                self._refuse_other_type(name, self.roles[name][0], is_said=name in said)
        has_values = [name for name in self.names if rows[name].null_count() < rows.height]
        self.lists = {name for name in has_values if holds_text_lists(rows, name)}
        plain = [name for name in has_values if not _is_other(rows[name].dtype)]
        self.numbers = {*_are_numbers(rows, plain)}
        self.words = {n for n in plain if n not in self.numbers and _is_of_words(rows[n])}
        texts = [
            name for name in self.names if name in {*plain, *self.lists} and self._may_be_text(name)
        ]
        if len(texts) > 2:
            # one of them without any blank holds names of rows, unless it is called a text
            texts = [n for n in texts if self.roles[n] or n in self.lists or self._has_blanks(n)]
        self.texts = texts

    def _may_be_text(self, name: str) -> bool:
        roles = {*self.roles[name]}
        if name in self.numbers or roles & {"score", "label"} or name == self.file.source:
            return False
        is_unclear = name in self.words or name in self.lists or _squeezed(name) in _FACTS
        return bool(roles & _TEXT_ROLES) or not is_unclear

    def _has_blanks(self, name: str) -> bool:
        texts = self.rows[name].cast(pl.String).str.strip_chars()
        return bool(texts.str.contains(_BETWEEN_WORDS).any())

    def _is_prose(self, name: str) -> bool:
        """Return whether most values of a column have several words."""
        values = self.rows[name]
        is_id = _squeezed(name).endswith(("id", "ids", "idx", "index", "number"))
        if is_id or name in self.numbers or _is_other(values.dtype) or values.dtype == pl.Boolean:
            return False
        words = values.cast(pl.String).str.strip_chars().str.count_matches(_BETWEEN_WORDS)
        return float(words.median() or 0) >= _LABEL_WORDS  # type: ignore[arg-type]

    def _refuse_splits(self) -> None:
        """Refuse rows of several splits, of which the user has not said which are read."""
        file = self.file
        settled = [PLACE, *file.where, *file.drop, *file.roles.values(), file.source or ""]
        if (found := splits_in(self.rows, settled)) is None:
            return
        name, counts = found
        typed = [
            f"'{file.with_options(where={**file.where, name: chosen}).text}'"
            for chosen in (*[*counts][:3], ",".join(counts))
        ]
        each = ", ".join(f"{value} ({count})" for value, count in counts.items())
        raise UsageError(
            f"{file.path}: {name!r} says which split a row is in: {each}",
            hint=f"write {' or '.join(typed[:-1])}; for all rows {typed[-1]}",
        )

    def _refuse_other_type(self, name: str, role: str, *, is_said: bool) -> None:
        """Refuse a column with the name of a part whose values no such part has: it is never left
        out.
        """
        path, rows, values, is_text = (
            self.file.path,
            self.rows,
            self.rows[name],
            role in _TEXT_ROLES,
        )
        other = f"say which columns are read: '{path}?s1=NAME&s2=NAME'"
        is_string = values.dtype == pl.String
        filled = values.str.strip_chars().replace("", None) if is_string else values
        if filled.null_count() == len(values):
            raise MissingError(
                f"{path}: {name} is empty in every row", hint=f"correct it, or {other}"
            )
        if holds_text_lists(rows, name) and role in LISTS:
            return
        if is_text:
            refuse_json_numbers(path, rows, [name])
        if _is_other(values.dtype) or (is_text and values.dtype == pl.Boolean):
            error = other_values(path, rows, name)
            raise MissingError(error.message, hint=f"{error.hint}, or {other}")
        if is_text and is_string:
            some = values.drop_nulls().head(1000)
            if 2 * int(some.str.contains(_WRITTEN_LIST).sum()) > len(some):
                raise MissingError(
                    f"{path}: {name} holds lists written as text: {one_line(some[0])}",
                    hint="write JSON lines, with a list of texts or one text a row",
                )
        is_number = values.dtype.is_numeric() or (not is_said and _are_numbers(rows, [name]))
        if is_text and is_number:
            raise UsageError(
                f"{path}: {name!r} is called a {role}, but holds numbers",
                hint=f"rename it, or {other}",
            )

    def decide(self) -> tuple[RowKind, dict[str, str]]:
        """Return the kind of the rows, and the column of each of its parts; parts that no kind has
        together are a UsageError, as is a column left out that could make them another kind.
        """
        said = {*self.file.roles}
        if said and not any(said <= {*kind.columns} for kind in KINDS):
            raise UsageError(
                f"{self.file.text!r}: {', '.join(self.file.roles)} are not parts of one kind "
                f"of rows",
                hint="; ".join(f"{kind.title}: {', '.join(kind.columns)}" for kind in KINDS),
            )
        kind, columns = self._kind_and_columns(said)
        if not said & {*columns}:
            self._refuse_left_out(kind, columns)
        return kind, columns

    def _kind_and_columns(self, said: set[str]) -> tuple[RowKind, dict[str, str]]:
        file, negatives = self.file, self._called("negative")
        is_pair = said == {"anchor", "positive"}
        if negatives and not is_pair and not said - {"anchor", "positive", "negative"}:
            texts = self._two("anchor", "positive", without=negatives)
            return TRIPLETS, {**texts, "negative": self._one("negative", negatives)}
        if said & {"sentence"} or (len(self.texts) == 1 and not said):
            return SENTENCES, self._sentence()
        if said & {"anchor", "positive"}:
            return PAIRS, self._two("anchor", "positive")
        scores, labels = self._called("score"), self._called("label")
        if "label" in said or file.labels:
            scores = []
        if "score" in said or file.scale is not None:
            scores, labels = scores or labels, []
        if scores and labels:
            why = f"{scores[0]!r} may be their score, and {labels[0]!r} their label"
            raise self._ambiguous(why, [option("score", scores[0]), option("label", labels[0])])
        if scores:
            return SCORED, {**self._two("s1", "s2"), "score": self._one("score", scores)}
        if not labels:
            return PAIRS, self._two("anchor", "positive")
        name, texts = self._one("label", labels), self._two("s1", "s2")
        if name in self.numbers and not file.labels:
            numbers = sorted({*self.values(name)})
            is_same = _squeezed(name) in _SAME_COLUMNS and {*numbers} == {0, 1}
            if any(number % 1 for number in numbers) or (is_same and not said):
                return SCORED, {**texts, "score": name}
            self._refuse_unclear_numbers(name, numbers, is_said="label" in said)
        return LABELLED, {**texts, "label": name}

    def _refuse_unclear_numbers(self, name: str, values: Sequence[float], *, is_said: bool) -> None:
        """Refuse the numbers of a column that is called a label where they may be scores."""
        nothing = {*class_texts(self.rows[name]).drop_nulls()} & {"NaN", "nan", "NAN"}
        numbers = [*(f"{value:g}" for value in values), *nothing]
        meanings = _suggested(name, numbers)
        if is_said and (meanings is not None or len(numbers) <= len(NLI_LABELS)):
            return
        options = [option("score", name)]
        if meanings is not None:
            options.append(_labels_option(name, numbers, meanings))
        elif len(numbers) <= 2 * len(NLI_LABELS):
            options.append(_labels_option(name, numbers, _unknown(numbers)))
        why = f"{name!r} holds {', '.join(numbers[:6])}: scores, or numbers of labels"
        # SNLI's number of no label says that they are labels.
        raise self._ambiguous(why, options[meanings is not None and "-1" in numbers :])

    def _refuse_left_out(self, kind: RowKind, columns: Mapping[str, str]) -> None:
        """Refuse a column beside COLUMNS that is called a part, or that could be one: of pairs and
        sentences it would make another kind.
        """
        left = [
            name
            for name in self.names
            if name not in {*columns.values(), self.file.source}
            and (_squeezed(name) not in _FACTS or self._is_nli(name) or self._is_prose(name))
        ]
        alone = "&".join(option(role, name) for role, name in columns.items())
        excused = {"score", "label"} if self.file.labels or self.file.scale else set()
        for name in left:
            if {*self.roles[name]} - excused:
                why = f"{name!r} is called a {self.roles[name][0]}, and {kind.title} have none"
                raise self._ambiguous(why, [alone], purpose=f" to leave {name!r} out")
        if kind not in {PAIRS, SENTENCES}:
            return
        if label := next((name for name in left if self._is_nli(name)), None):
            raise self._ambiguous(f"{label!r} may be their label", [option("label", label), alone])
        for name in left:
            self._refuse_third(name, kind, columns, alone)

    def _refuse_third(
        self, name: str, kind: RowKind, columns: Mapping[str, str], alone: str
    ) -> None:
        """Refuse a column beside the texts of pairs or sentences that may say something of them."""
        if name in self.numbers:
            if _is_numbering(self.rows[name]):
                return
            if _OPPOSITE.search(_squeezed(name)):
                classes = [f"{value:g}" for value in sorted({*self.values(name)})]
                is_label = len(classes) <= len(NLI_LABELS)
                other = _labels_option(name, classes, _unknown(classes)) if is_label else alone
                raise self._ambiguous(f"{name!r} may be the opposite of their score", [other])
            role, other = "score", option("score", name)
        elif name in self.words:
            role, other = "label", option("label", name)
        elif name not in self.texts and name not in self.lists and not self._is_prose(name):
            return
        elif kind == PAIRS:
            role, other = "negative", f"{alone}&{option('negative', name)}"
        else:
            role, other = "positive", ""
        if kind == SENTENCES:
            other = f"{option('anchor', columns['sentence'])}&{option('positive', name)}"
        offered = [alone] if kind == SENTENCES and role == "score" else [other, alone]
        raise self._ambiguous(f"{name!r} may be their {role}, or say nothing about them", offered)

    def _sentence(self) -> dict[str, str]:
        """Return the column of sentences; one that labels or scores them is not silently left
        out.
        """
        if said := self.file.roles.get("sentence"):
            return {"sentence": said}
        name = self._one("sentence", self.texts)
        if third := next(iter((*self._called("label"), *self._called("score"))), None):
            if alone := next((role for role in ("s1", "s2") if name in self._called(role)), None):
                other = SCORED.columns["s2" if alone == "s1" else "s1"]
                raise MissingError(
                    f"{self.file.path} has no column {other!r}: found {first_few(self.names)}",
                    hint=f"name it {other}",
                )
            why = (
                f"single texts with {third!r}, which no recipe trains on and no task "
                f"evaluates; pairs may have labels or scores"
            )
            alone = option("sentence", name)
            raise self._ambiguous(why, [alone], purpose=" to train on the texts alone")
        return {"sentence": name}

    def meanings(self, name: str) -> dict[str, str]:
        """Return which labels in a column are written otherwise than ours, and their meaning; where
        it is unclear a UsageError.
        """
        labels = class_texts(self.rows[name]).drop_nulls().replace("", None).drop_nulls()
        there = sorted({*labels} - {*no_labels(self.file.labels)})
        if odd := next((m for m in self.file.labels.values() if m not in NLI_LABELS), None):
            raise UsageError(
                f"{self.file.text!r}: {odd!r} is not one of {', '.join(NLI_LABELS)}",
                hint=f"give each label one of them: labels={there[0]}:{NLI_LABELS[0]}",
            )
        ours = {label: label.casefold() for label in there if label.casefold() in NLI_LABELS}
        said = {**ours, **self.file.labels}
        if unknown := [label for label in there if label not in said]:
            if meanings := _suggested(name, there):
                asked, hint = _labels_option(name, there, meanings), "if this is what they mean"
            else:
                asked = _labels_option(name, unknown, {**self.file.labels, **_unknown(unknown)})
                hint = f"say whether each means {' or '.join(NLI_LABELS)}"
            shown = ", ".join(map(repr, unknown[:6]))
            raise UsageError(
                f"{self.file.path}: {name} holds {shown}, not one of {', '.join(NLI_LABELS)}",
                hint=f"{hint}: {self._typed(asked)}",
            )
        return {label: said[label] for label in said if said[label] != label and label in there}

    def values(self, name: str) -> pl.Series:
        """Return the numbers in a column."""
        return self.rows.select(number_of(name)).to_series().drop_nulls().drop_nans()

    def _called(self, role: str) -> list[str]:
        """Return the columns that are called as ROLE is, or the one that is said to be it."""
        return [name for name in self.names if role in self.roles[name]]

    def _one(self, role: str, names: Sequence[str]) -> str:
        if len(names) > 1:
            why = f"{', '.join(map(repr, names))} may each be the {role}"
            raise self._ambiguous(why, [option(role, name) for name in names])
        return names[0]

    def _two(self, first: str, second: str, without: Sequence[str] = ()) -> dict[str, str]:
        """Return the columns of two texts: as they are said, or called, otherwise the only two in
        their order.
        """
        roles = (first, second)
        texts = [name for name in self.texts if name not in without]
        said = {role: self.file.roles[role] for role in roles if role in self.file.roles}
        rest = [name for name in texts if name not in said.values()]
        for names in (roles, ("s1", "s2"), ("anchor", "positive")):
            columns = dict(said)
            for role, name in zip(roles, names, strict=True):
                called = [column for column in self._called(name) if column in rest]
                if role not in said and called:
                    columns[role] = self._one(role, called)
            if len(columns) == 2:
                return {role: columns[role] for role in roles}
        if len(rest) == 2 - len(said):
            return {role: said.get(role) or rest.pop(0) for role in roles}
        path = self.file.path
        if not texts:
            if other := next((n for n in self.names if _is_other(self.rows[n].dtype)), None):
                raise other_values(path, self.rows, other)
            example = "s1=NAME&s2=NAME&score=NAME" if len(self.names) > 1 else "sentence=NAME"
            raise MissingError(
                f"{path} has no column of texts: found {first_few(self.names)}",
                hint=f"say what its columns hold: '{path}?{example}'",
            )
        what = (
            f"{len(texts)} columns of texts ({', '.join(texts)})"
            if len(texts) > 1
            else f"one column of texts, {texts[0]!r}"
        )
        parts = ("anchor", "positive", "negative") if len(texts) > 1 else ("sentence",)
        examples = dict.fromkeys("&".join(map(option, parts, texts[:count])) for count in (2, 3))
        why = f"{what}, whose names do not say what they hold"
        raise self._ambiguous(why, [*examples])

    def _is_nli(self, name: str) -> bool:
        if name not in self.words or name in self.texts:
            return False
        labels = self.rows[name].cast(pl.String).drop_nulls().str.strip_chars().str.to_lowercase()
        return {*labels} <= {*NLI_LABELS, "-"}

    def _ambiguous(self, why: str, options: Iterable[str], purpose: str = "") -> UsageError:
        """Return the error for what may be read as each of OPTIONS says, for a PURPOSE."""
        names = " or ".join(map(self._typed, options))
        return UsageError(f"{self.file.path}: {why}", hint=f"write {names}{purpose}")

    def _typed(self, choice: str) -> str:
        """Return the file's name with a CHOICE of options, and with what was typed of other parts
        and columns.
        """
        file = self.file
        typed = [] if file.is_plain else file.text[len(str(file.path)) + 1 :].split("&")
        settings = [setting.partition("=") for setting in choice.split("&")]
        keys, columns = {key for key, _, _ in settings}, {column for _, _, column in settings}
        parts = [(said, *said.partition("=")[::2]) for said in typed]
        others = [said for said, key, column in parts if key not in keys and column not in columns]
        return f"'{file.path}?{'&'.join([*others, choice])}'"


def selected_rows(
    path: Path, rows: pl.DataFrame, where: Mapping[str, str], drop: Mapping[str, str]
) -> pl.DataFrame:
    """Return the ROWS of a file with one of the values, with commas between them, that WHERE says
    of a column, without those that DROP says.
    """
    is_read = pl.repeat(value=True, n=rows.height, eager=True)
    for said, is_kept in ((where, True), (drop, False)):
        for column, values in said.items():
            if column not in rows.columns:
                raise UsageError(
                    f"{path} has no column {column!r}: found {first_few(rows.drop(PLACE).columns)}",
                    hint="name one of them",
                )
            texts = class_texts(rows[column]).fill_null("")
            wanted, there = [value.strip() for value in values.split(",")], {*texts}
            if absent := next((value for value in wanted if value not in there), None):
                raise UsageError(
                    f"{path}: no row has {absent!r} in {column}",
                    hint=f"it has {first_few(sorted(there))}",
                )
            is_read &= texts.is_in(wanted) == is_kept
    if not is_read.any():
        raise MissingError(f"{path}: all rows are left out", hint="leave out fewer values")
    return rows.filter(is_read)


def splits_in(rows: pl.DataFrame, settled: Sequence[str]) -> tuple[str, dict[str, int]] | None:
    """Return the column of ROWS that says which split a row is in, and the rows of each; None where
    there is none beside those SETTLED, or all are in one.
    """
    for column in rows.get_columns():
        dtype = column.dtype
        texts = {pl.String, pl.Boolean, pl.Categorical, pl.Enum}
        may_say = dtype.base_type() in texts or dtype.is_numeric()
        if not may_say or column.name in settled or column.null_count() == len(column):
            continue
        is_called_so = _SPLIT_COLUMNS.fullmatch(_squeezed(column.name))
        first = column[0] if column[0] is not None else column.drop_nulls()[0]
        if not (is_called_so or _split_said(str(first))):
            continue
        counts = class_texts(column).fill_null("").value_counts(sort=True)
        values = dict(counts.iter_rows())
        said = {_split_said(value) for value in [*values][: _MOST_LABELS + 1]}
        is_of_splits = len(said) > 1 and "" not in said
        if 1 < len(values) <= _MOST_LABELS and (is_called_so or is_of_splits):
            return column.name, values
    return None


def _split_said(value: str) -> str:
    """Return the split that a VALUE of few words names, as sts-train.csv does; empty where it names
    none.
    """
    words = re.findall(r"[^\W\d_]+", value.casefold())
    parts = [_squeezed(value), *(words if len(words) <= _LABEL_WORDS else [])]
    return next((part for part in parts if _SPLITS.fullmatch(part)), "")


def _suggested(column: str, labels: Sequence[str]) -> dict[str, str] | None:
    """Return what LABELS of a COLUMN mean where all of them are written as people write such
    labels; rows without one do not count.
    """
    given = [label for label in labels if not _is_no_label(label)]
    if _OPPOSITE.search(_squeezed(column)):  # "yes" in a column `is_different`
        return None
    tables = [_NUMBERED, *([_TWO_NUMBERED] if _squeezed(column) in _SAME_COLUMNS else [])]
    for meanings in tables:
        if {*given} == {*meanings}:
            return {label: meanings[label] for label in given}
    found = {label: _MEANINGS.get(_squeezed(label), "") for label in given}
    return found if found and all(found.values()) else None


def _is_no_label(label: str) -> bool:
    return label in _NO_LABEL or label.strip().casefold() in _NO_MEANING


def _unknown(labels: Sequence[str]) -> dict[str, str]:
    """Return LABELS with what stands for a meaning that the user knows."""
    return {label: "MEANING" for label in labels if label.casefold() not in _NO_MEANING}


def _labels_option(column: str, labels: Sequence[str], meanings: Mapping[str, str]) -> str:
    """Return MEANINGS as they are typed, and that rows whose label is none are left out."""
    said = ",".join(f"{theirs}:{ours}" for theirs, ours in meanings.items())
    none = ",".join(label for label in labels if _is_no_label(label) and label not in meanings)
    parts = {"label": column, "labels": said, "drop": none and f"{column}:{none}"}
    return "&".join(option(key, value) for key, value in parts.items() if value)


def _squeezed(name: str) -> str:
    """Return the letters and digits of a NAME, of any script, without case; a name of signs alone
    as it is.
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    letters = "".join(sign for sign in text if unicodedata.category(sign)[0] in "LNM")
    return letters or text.strip()


def _roles_of(name: str, *, has_sent0: bool) -> list[str]:
    """Return what a column can be by its name; SimCSE calls anchor and positive sent0 and sent1."""
    squeezed = _squeezed(name)
    if squeezed == "sent1" and has_sent0:
        return ["positive"]
    if more := _MORE.fullmatch(squeezed):
        return ["positive" if more["positive"] else "negative"]
    return [_ROLES[squeezed]] if squeezed in _ROLES else []


def _is_other(dtype: pl.DataType) -> bool:
    """Return whether values of a type are neither texts, numbers nor labels."""
    is_other = dtype.is_nested() or dtype.is_temporal()
    return is_other or dtype.base_type() in {pl.Binary, pl.Object}


def _are_numbers(rows: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Return those of the columns called NAMES that hold numbers alone."""
    found = [
        column.name
        for column in map(rows.get_column, names)
        if (column.dtype == pl.String or column.dtype.is_numeric())
        and column.cast(pl.Float64, strict=False).null_count() == column.null_count() < rows.height
    ]
    other = sorted({*names} - {*found})  # with blanks around them, or a comma in them
    for start in range(0, len(other), _AT_ONCE):  # polars' time grows with the square of them
        few = pl.DataFrame({name: rows[name] for name in other[start : start + _AT_ONCE]})
        texts = pl.all().cast(pl.String).str.strip_chars().replace("", None).null_count()
        numbers = [number_of(name).alias(name).null_count() for name in few.columns]
        counts = zip(few.columns, few.select(numbers).row(0), few.select(texts).row(0), strict=True)
        found += [name for name, number, text in counts if number == text < rows.height]
    return found


def _is_of_words(values: pl.Series) -> bool:
    """Return whether a column has few short values, most of them several times."""
    texts = values.cast(pl.String).str.strip_chars().replace("", None).drop_nulls()
    distinct = texts.unique()
    is_few = 0 < len(distinct) <= min(_MOST_LABELS, len(texts) / 2)
    return is_few and max(len(text.split()) for text in distinct) <= _LABEL_WORDS


def _is_numbering(values: pl.Series) -> bool:
    """Return whether a column numbers the rows, from 0 or 1; of one or two rows it cannot be
    known.
    """
    numbers = pl.DataFrame({"n": values}).select(number_of("n")).to_series().drop_nulls().to_list()
    steps = [[*range(start, start + len(numbers))] for start in (0, 1)]
    return len(numbers) > 2 and numbers in steps


def _refuse_missing_header(file: FileName, names: Sequence[str]) -> None:
    """Refuse a first line that is a row, not names of columns."""
    separator = {".csv": ",", ".tsv": "\t"}.get(file.path.suffix.lower())
    is_known = any(_roles_of(name, has_sent0=False) for name in names)
    odd = [
        name
        for name in names
        if re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?", name)
        or (len(name.split()) > _NAME_WORDS and not is_known)
    ]
    if odd and separator:
        raise MissingError(
            f"{file.path}, line 1: {odd[0]!r} is not the name of a column",
            hint=f"name the columns first, such as "
            f"{separator.join(['sentence1', 'sentence2', 'score'])}",
        )
