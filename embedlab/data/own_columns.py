"""Detect what a user's own file holds: the kind of its rows, the column of each part, the meaning
of its labels, its scale.

Training, evaluation and the dashboard all read files by this detection, which looks at what the
user says, at names and at values. A column with the name of a part is read as that part. A file
where that is impossible, or that can be read in two ways, is refused with what to type.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.names import outside_quotes
from embedlab.core.nearest import nearest_hint
from embedlab.core.note import Note
from embedlab.core.printable import count_text, first_few, short_line
from embedlab.data.dataset import NLI_LABELS
from embedlab.data.file_name import LOW_SCORES, ROLES, TEXT_FILE, FileName, option, parse_file_name
from embedlab.data.overlaps import LEAST_ROWS, is_held_out
from embedlab.data.table_file import (
    NOTHING,
    ROUNDING,
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

Options = Mapping[str, Any]  # of a file's name: a part → its column, and labels or drop


@dataclass(frozen=True, kw_only=True, eq=False)  # compared by identity
class RowKind:
    """What each row of a file is, such as a scored pair."""

    title: str
    columns: Mapping[str, str]  # what a column can hold → its name in the recipes for own rows

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that hold sentences."""
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
    """The range of a file's scores."""

    low: float
    high: float
    is_whole: bool = False  # whether all scores are whole numbers

    @classmethod
    def of(cls, scores: pl.Series) -> "ScoreScale":
        """Return the range of SCORES, which are not empty."""
        values = scores.cast(pl.Float64)
        is_whole = bool(((values - values.round()).abs() <= ROUNDING).all())
        return cls(low=float(values.min()), high=float(values.max()), is_whole=is_whole)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """The range in words."""
        return f"from {self.low:.4g} to {self.high:.4g}"

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def refuse_other(
        self, title: str, scale: tuple[float, float], low_name: str | None = ""
    ) -> None:
        """Refuse a SCALE of the scores of TITLE if a score is outside it, or none is in its upper
        half. LOW_NAME is the file's name with the statement that low scores are right; None where
        the user states it.
        """
        low, high = scale
        slack = ROUNDING * max(map(abs, scale))
        is_outside = self.low < low - slack or self.high > high + slack
        is_low = self.high <= (low + high) / 2 and self.contradicts(scale)
        if is_outside or (is_low and low_name is not None):
            fitting_low, fitting_high = self.fitting
            hint = f"state their scale: scale={fitting_low:g}-{fitting_high:g}"
            if low_name and not is_outside:
                hint += f"; where all of them are low on this scale: {low_name}"
            raise UsageError(
                f"{title}: the scores are {self}, but scale is {low:g}-{high:g}", hint=hint
            )

    def contradicts(self, scale: tuple[float, float]) -> bool:
        """Whether SCALE is not that of the scores, because its upper half, or that of its opposite,
        holds none of them; 0 alone fits each scale.
        """
        return 0 < self.largest <= max(map(abs, scale)) / 2

    @property
    def fitting(self) -> tuple[float, float]:
        """The suggested scale, or where the scores contradict it, one that ends at them."""
        if self.contradicts(self.suggested):
            return min(0.0, self.low), max(0.0, self.high)
        return self.suggested

    @property
    def suggested(self) -> tuple[float, float]:
        """The lowest and the highest score of the usual scale that these scores suggest."""
        slack = ROUNDING * self.largest
        usual = (highest for highest in _USUAL if self.largest <= highest + slack)
        high = next(usual, self.largest)
        if self.is_whole and 0 < self.largest <= _WHOLE + slack:
            high = float(round(self.largest))
        if self.low < -slack:
            return -high, high
        starts_at_one = self.low >= 1 - slack and 1 < high <= _WHOLE
        return float(starts_at_one), high


_WITHIN = 0.95  # of the scores, whose usual scale is that of the file


def unusual_scores(scores: pl.Series) -> tuple[ScoreScale | None, pl.Series]:
    """Return the usual scale that nearly all SCORES, numbers, are on, and which of them are not;
    None where all are, many are not, or no usual scale reaches so far.
    """
    low = scores.quantile((1 - _WITHIN) / 2) or 0.0
    high = scores.quantile(_WITHIN) or 0.0
    scale_low, scale_high = ScoreScale(low=low, high=high).suggested
    is_below = scores < min(scale_low, low)
    is_outside = (is_below | (scores > scale_high)).fill_null(False)
    are_few = 0 < is_outside.sum() <= (1 - _WITHIN) * len(scores)
    if high > _USUAL[-1] or not are_few:
        return None, is_outside
    return ScoreScale(low=scale_low, high=scale_high), is_outside


_IN_QUOTES = r"(?s)^\s*['\"‘‚“„«»].*['\"’‘”“»«]\s*$"
_MISSING = rf"(?i)^\s*(?:{'|'.join(NOTHING)})\s*$"


def _unusual_scores(rows: pl.DataFrame, column: str) -> Iterator[str]:
    """Yield the doubt about scores in a COLUMN that are off the scale of nearly all others."""
    usual_scale, is_outside = unusual_scores(_numbers(rows[column]))
    if usual_scale is not None:
        outside = rows[column].filter(is_outside).cast(pl.String)
        yield (
            f"nearly all scores are {usual_scale}, {len(outside)} not: {outside[0]}"
            f"{_drop_hint(column, outside.head(1))}"
        )


def _missing_words(path: Path, rows: pl.DataFrame, texts: Sequence[str]) -> Iterator[str]:
    """Yield a doubt for each of the columns TEXTS with words for a missing text, such as NA."""
    for name in texts:
        doubtful_rows = rows.filter(pl.col(name).cast(pl.String).str.contains(_MISSING))
        if not doubtful_rows.is_empty():
            words = doubtful_rows[name].cast(pl.String).unique(maintain_order=True)
            listing = ", ".join(map(repr, words))
            places = row_places(path, doubtful_rows)
            yield f"the whole {name} is {listing} at {places}{_drop_hint(name, words)}"


def _kept_quotes(rows: pl.DataFrame, texts: Sequence[str]) -> Iterator[str]:
    """Yield the doubt about columns whose texts are all in quotes that no format removes."""
    names = [name for name in texts if rows[name].cast(pl.String).str.contains(_IN_QUOTES).all()]
    if rows.height > 1 and names:
        yield f"each {' and each '.join(names)} is in quotes, which are kept as a part of it"


def _drop_hint(column: str, values: pl.Series) -> str:
    """Return how to leave out rows whose COLUMN has one of VALUES; empty if it cannot be typed."""
    if values.str.contains(",", literal=True).any():
        return ""
    drop = option("drop", f"{column}:{','.join(values)}")
    return f"; if it means that there is none, leave it out with {drop}"


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
_FACT_NAMES = (
    "# id ids idx index rowid pairid qid pid docid guid uid uuid unnamed0 indexlevel0 number no "
    "source split genre topic category domain dataset lang language author user annotator tags "
    "keywords metadata date time timestamp year created updated url link file filename page"
)
_FACTS = {"", *_FACT_NAMES.split()}
_SPLIT_COLUMNS = re.compile(
    r"splits?|partition|datasplit|subset|cv|(cv|k)?folds?(id|no|number)?|.*train.*test.*"
    r"|(is|in|for)?(train|training|test|testing|dev|development|val|valid|validation|eval"
    r"|evaluation|heldout|holdout)(set|split)?"
)
_SPLITS = re.compile(
    r"train|training|trn|trial|dev|devel|development|val|valid|validation|eval|evaluation|test"
    r"|testing|tst|heldout|entrenamiento|entraînement|addestramento|treinamento|treino|prueba|prova"
    r"|teste|validación|validação|prüfung|обуч\w*|тест\w*|валид\w*|провер\w*|[训訓][练練]集?|[测測][试試]集?"
    r"|[验驗][证證]集?|开发集|(訓練|学習|評価|検証|テスト)(用|データ)?|훈련|학습|검증|평가|테스트|تدريب|اختبار"
)
_HELD_OUT = ("dev", "val", "eval", "test", "tst", "heldout")
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
# labels that say something only together with the name of their column: "yes" of `mismatch`
_TRUTHS = ("yes", "no", "true", "false")
# SNLI's files and SNLI on the hub where people did not agree
_NO_LABEL = ("-", "-1")
_NO_MEANING = (*NOTHING, "?", "unknown")
# a number in such a column is no similarity, or the opposite of one
_OPPOSITE = re.compile(r"^(not|non|is(not|non))|differ|distan|dissim|unrelated|contradict|error")
_WRITTEN_LIST = r"""^\s*(\[\s*["'{].*["'}]\s*\]|\{\s*["'].*\})\s*$"""


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
    unread: tuple[str, ...] = ()  # columns of the file that are not read
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
        our_names = self.kind.columns
        return {
            our_names[role]: name for role, name in self.columns.items() if our_names[role] != name
        }

    @property
    def texts(self) -> list[str]:
        """Return the columns of the file that hold sentences."""
        return [self.columns[role] for role in self.kind.texts]

    @property
    def is_certain(self) -> bool:
        """Whether every column has a usual name of its part, and all rows are read."""
        roles_by_name = {role: _ROLES.get(_name_key(name)) for role, name in self.columns.items()}
        is_usual = all(usual_role in {role, "label"} for role, usual_role in roles_by_name.items())
        return is_usual and not (self.labels or self.lists or self.skipped)

    @property
    def explicit_name(self) -> FileName:
        """Return the name by which the same rows are read without detection; without options where
        the columns have our names.
        """
        our_names = self.kind.columns
        is_usual = all(name in {role, our_names[role]} for role, name in self.columns.items())
        needs_no_roles = is_usual and not self.file.roles
        return self.file.with_options(
            roles={} if needs_no_roles else dict(self.columns),
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
        columns = ", ".join(f"{role} = {name}" for role, name in self.columns.items())
        findings = [f"{count_text(self.rows, self.kind.title)}: {columns}"]
        if self.labels:
            meanings = [f"{label} = {meaning}" for label, meaning in self.labels.items()]
            findings.append(f"labels {', '.join(meanings)}")
        if self.scores is not None and self.scale is not None:
            low, high = self.scale
            findings.append(f"scores {self.scores} on a scale from {low:g} to {high:g}")
        if self.lists:
            findings.append(f"a row for each text of {' and of '.join(self.lists)}")
        findings += [f"left out: {count} {reason}" for reason, count in self.skipped.items()]
        findings += self.doubts
        if self.unread:
            findings.append(f"not read: {', '.join(self.unread)}")
        first_rows = self.frame.head(_SHOWN_ROWS * has_examples).select(*self.columns.values())
        details = []
        for row in first_rows.cast(pl.String).fill_null("").iter_rows(named=True):
            values = [f"{name}: {short_line(text)}" for name, text in row.items()]
            details.append("; ".join(values))
        if self.file.is_table:
            values = [f"{role}=NAME" for role in self.columns]
            values += ["scale=LOW-HIGH"] * (self.scores is not None)
            details.append(f"to read it otherwise: '{self.file.path}?{'&'.join(values)}'")
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
    detection = _Columns(file, read_own_rows(file.path))
    kind, columns = detection.decide()
    lists = [columns[role] for role in LISTS if role in columns]
    texts = [columns[role] for role in kind.texts]
    if any(detection.rows[name].null_count() for name in texts):
        read_own_rows(file.path, texts)  # refuses a row that ends before one of them
    rows, skipped = full_rows(file.path, detection.rows, texts, lists=lists)
    if file.held_out:
        is_part = is_held_out(rows, texts, file.held_out)
        if not is_part.any():
            least = f": it takes {LEAST_ROWS} rows" if rows.height < LEAST_ROWS else ""
            raise UsageError(
                f"{file.path}: no part of its {rows.height} rows is large enough and shares no "
                f"sentence with the rest{least}",
                hint="remove held-out",
            )
        rows = rows.filter(is_part)
    scores = None
    if kind == SCORED:
        values = detection.values(columns["score"])
        if len(values) and values.is_finite().all():
            scores = ScoreScale.of(values)
    _refuse_unread_options(file, kind)
    if file.scale is not None and scores is not None:
        low_name = None if file.low_scores else f"'{file.text}&{LOW_SCORES}'"
        scores.refuse_other(str(file.path), file.scale, low_name)
    if file.low_scores and scores and not scores.contradicts(file.scale or scores.suggested):
        message = f"{file.path}: the scores are {scores}, not all in the lower half of their scale"
        raise UsageError(message, hint=f"remove {LOW_SCORES}")
    if gold := columns.get("score") or columns.get("label"):
        no_gold = NOTHING if kind == SCORED else no_labels(file.labels)
        rows, blank = rows_with(file.path, rows, gold, without=no_gold)
        skipped |= blank
    text_lists = [name for name in lists if holds_text_lists(detection.rows, name)]
    plain_texts = [name for name in texts if name not in text_lists]
    doubts = [*_missing_words(file.path, rows, plain_texts), *_kept_quotes(rows, texts)]
    if scores is not None:
        doubts += _unusual_scores(rows, columns["score"])
    read_columns = {*columns.values(), file.source or "source"}
    return OwnData(
        file=file,
        kind=kind,
        columns=columns,
        frame=rows,
        labels=detection.meanings(columns["label"]) if kind == LABELLED else {},
        scores=scores,
        doubts=tuple(doubts),
        unread=tuple(
            name or f"column {number} (without a name)"
            for number, name in enumerate(detection.columns, 1)
            if name not in read_columns
        ),
        skipped=skipped,
        lists=tuple(text_lists),
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


def read_own_rows(path: Path, needed: Sequence[str] = ()) -> pl.DataFrame:
    """Return the rows of a file as `read_rows` does; a text file has the column sentence."""
    if path.suffix.lower() != TEXT_FILE:
        return read_rows(path, needed=needed)
    rows = pl.DataFrame({"sentence": read_lines(path)}).with_row_index(PLACE, offset=1)
    _refuse_table(path, rows["sentence"].filter(is_seen(rows["sentence"])).to_list())
    return rows


def _refuse_table(path: Path, lines: Sequence[str]) -> None:
    """Refuse a text file whose LINES are rows: most have a tab, or all have equally many fields
    with another sign between them.

    Sentences have commas and semicolons too, so these need names of columns or many lines.
    """
    first_line = lines[0] if lines else ""
    marks = [mark[0] for mark in _MARKS.finditer(first_line)]
    for sign in dict.fromkeys((*marks, *SEPARATORS, *re.findall(r"[^\w\s.'-]", first_line))):
        split = outside_quotes if sign in ",;|" else str.split
        with_sign = [split(line, sign) for line in lines if sign in line]
        names = with_sign[0] if with_sign else []
        roles = [_role_of(name) for name in names]
        has_names = any(roles)
        fewest = _SURE_LINES if sign in ",;" and not has_names else 2
        is_even = {*map(len, with_sign)} == {len(names)}
        is_grid = is_even and len(with_sign) == len(lines) >= fewest
        is_separator = sign in {*marks, *SEPARATORS}
        is_table = len(names) > 1 and ((is_grid and is_separator) or all(roles))
        is_tab = sign == "\t"
        if is_table or (is_tab and 2 * len(with_sign) > len(lines)):
            separators = "tabs" if is_tab else repr(sign)
            hint = f"call it {path.with_suffix('.csv' if sign in ',;|' else '.tsv')}"
            if sign not in SEPARATORS:
                hint = f"replace {sign!r} by tabs and {hint}"
            if not has_names:
                hint = f"name the columns in its first line and {hint}"
            raise UsageError(
                f"{path}: each line has {len(names)} fields with {separators} between them, but a "
                f"text file has one sentence a line",
                hint=hint,
            )


def no_labels(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that are no label or score, where LABELS gives them no meaning."""
    return () if _NO_LABEL[0] in labels else _NO_LABEL[:1]


@dataclass(frozen=True, kw_only=True)
class _Column:
    """A column of a file."""

    values: pl.Series
    trimmed: pl.Series  # without blanks at the ends of texts, null for empty ones
    key: str  # its name without case and signs
    role: str  # the part that it is by its name, or as the user says; empty: none
    holds: str  # numbers, words, lists, nothing, other values, or texts
    is_text: bool  # whether it may be one of the texts of a row

    @property
    def is_prose(self) -> bool:
        """Whether most of its values have several words."""
        is_id = self.key.endswith(("id", "ids", "idx", "index", "number"))
        if is_id or self.holds in {"numbers", "other", "lists"} or self.values.dtype == pl.Boolean:
            return False
        words = self.values.cast(pl.String).str.strip_chars().str.count_matches(_BETWEEN_WORDS)
        return float(words.median() or 0) >= _LABEL_WORDS  # type: ignore[arg-type]

    @property
    def is_nli(self) -> bool:
        """Whether its values are labels of NLI, whatever it is called."""
        is_words = self.holds == "words" and not self.is_text
        return is_words and {*self.trimmed.drop_nulls().str.to_lowercase()} <= {*NLI_LABELS, "-"}


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
        self.trimmed = _trimmed(self.rows)
        roles = {name: _role_of(name) for name in names}
        if "sent0" in map(_name_key, names):  # SimCSE calls anchor and positive sent0 and sent1
            roles |= {name: "positive" for name in names if _name_key(name) == "sent1"}
        roles = {name: "" if role in file.roles else role for name, role in roles.items()}
        roles[file.source or ""] = ""
        roles |= {name: role for role, name in file.roles.items()}
        self.columns = {name: self._column(name, roles[name]) for name in names}
        if sum(column.is_text for column in self.columns.values()) > 2:
            # one of them without any blank holds names of rows, unless it is called a text
            unsure = [
                name
                for name, column in self.columns.items()
                if column.is_text and not column.role and column.holds != "lists"
            ]
            has_blank = self.trimmed.select(pl.col(unsure).str.contains(_BETWEEN_WORDS).any())
            for name, is_text in zip(unsure, *has_blank.rows(), strict=True):
                self.columns[name] = replace(self.columns[name], is_text=is_text)
        self.texts = [name for name, column in self.columns.items() if column.is_text]

    def _column(self, name: str, role: str) -> _Column:
        values, trimmed, key = self.rows[name], self.trimmed[name], _name_key(name)
        if role and (name in self.file.roles.values() or not self.file.roles):
            self._refuse_other_type(name, role)
        if values.null_count() == len(values):
            content = "nothing"
        elif holds_text_lists(self.rows, name):
            content = "lists"
        elif _is_other(values.dtype):
            content = "other"
        elif _are_numbers(trimmed):
            content = "numbers"
        else:
            content = "words" if _are_words(trimmed) else "texts"
        is_called = role in _TEXT_ROLES and content in {"texts", "words", "lists"}
        is_unnamed = content == "texts" and not role and key not in _FACTS
        is_text = (is_called or is_unnamed) and name != self.file.source
        return _Column(
            values=values, trimmed=trimmed, key=key, role=role, holds=content, is_text=is_text
        )

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

    def _refuse_other_type(self, name: str, role: str) -> None:
        """Refuse a column with the name of a part but other values; such a column is never silently
        left out.
        """
        path = self.file.path
        values = self.rows[name]
        present_values = self.trimmed[name].drop_nulls()
        if present_values.is_empty():
            raise MissingError(
                f"{path}: {name} is empty in every row",
                hint=f"fill in {name}, or remove the column",
            )
        if role in LISTS and holds_text_lists(self.rows, name):
            return
        is_text = role in _TEXT_ROLES
        if is_text:
            refuse_json_numbers(path, self.rows, [name])
        if _is_other(values.dtype) or (is_text and values.dtype == pl.Boolean):
            raise unsupported_type(path, self.rows, name)
        if not is_text:
            return
        sample = present_values.cast(pl.String).head(1000)
        if 2 * int(sample.str.contains(_WRITTEN_LIST).sum()) > len(sample):
            raise MissingError(
                f"{path}: {name} holds lists written as text: {short_line(sample[0])}",
                hint="write JSON lines, with a list of texts or one text a row",
            )
        if values.dtype.is_numeric() or (
            role not in self.file.roles and _are_numbers(self.trimmed[name])
        ):
            raise UsageError(
                f"{path}: {name!r} is called a {role}, but holds numbers",
                hint="rename the column",
            )

    def decide(self) -> tuple[RowKind, dict[str, str]]:
        """Return the kind of the rows, and the column of each of its parts; parts that no kind has
        together are a UsageError, as is a column left out that could make them another kind.
        """
        stated_roles = {*self.file.roles}
        if stated_roles and not any(stated_roles <= {*kind.columns} for kind in KINDS):
            raise UsageError(
                f"{self.file.text!r}: {', '.join(self.file.roles)} are not parts of one kind "
                f"of rows",
                hint="; ".join(f"{kind.title}: {', '.join(kind.columns)}" for kind in KINDS),
            )
        kind, columns = self._kind_and_columns(stated_roles)
        if not stated_roles & {*columns}:
            self._refuse_left_out(kind, columns)
        return kind, columns

    def _kind_and_columns(self, stated_roles: set[str]) -> tuple[RowKind, dict[str, str]]:
        file = self.file
        negatives = self._columns_called("negative")
        if negatives and stated_roles != {*PAIRS.columns} and stated_roles <= {*TRIPLETS.columns}:
            texts = self._two_columns("anchor", "positive", without=negatives)
            return TRIPLETS, {**texts, "negative": self._one_column("negative", negatives)}
        if "sentence" in stated_roles or (len(self.texts) == 1 and not stated_roles):
            name = file.roles.get("sentence") or self._one_column("sentence", self.texts)
            extra_columns = self._columns_called("label") + self._columns_called("score")
            if extra_columns and not stated_roles:  # they are not silently left out
                reason = (
                    f"single texts with {extra_columns[0]!r}, which no recipe trains on and no "
                    f"task evaluates; pairs may have labels or scores"
                )
                purpose = " to train on the texts alone"
                raise self._ambiguous(reason, {"sentence": name}, purpose=purpose)
            return SENTENCES, {"sentence": name}
        scores = self._columns_called("score")
        labels = self._columns_called("label")
        if "label" in stated_roles or file.labels:
            scores = []
        if "score" in stated_roles or file.scale is not None:
            scores, labels = scores or labels, []
        if stated_roles & {*PAIRS.columns} or not (scores or labels):
            return PAIRS, self._two_columns("anchor", "positive")
        if scores and labels:
            reason = f"{scores[0]!r} may be their score, and {labels[0]!r} their label"
            raise self._ambiguous(reason, {"score": scores[0]}, {"label": labels[0]})
        texts = self._two_columns("s1", "s2")
        if scores:
            return SCORED, {**texts, "score": self._one_column("score", scores)}
        name = self._one_column("label", labels)
        if self.columns[name].holds == "numbers" and not file.labels:
            numbers = sorted({*self.values(name)})
            is_same = self.columns[name].key in _SAME_COLUMNS and {*numbers} == {0, 1}
            if any(number % 1 for number in numbers) or (is_same and not stated_roles):
                return SCORED, {**texts, "score": name}
            self._refuse_unclear_numbers(name, is_said="label" in stated_roles)
        return LABELLED, {**texts, "label": name}

    def _written_numbers(self, name: str) -> list[str]:
        """Return the different numbers of a column in their order, as labels are written."""
        texts = class_texts(self.rows[name]).replace("", None).drop_nulls().unique()
        ordered = texts.alias(name).to_frame().sort(number_of(name).fill_nan(None), nulls_last=True)
        return ordered[name].to_list()

    def _refuse_unclear_numbers(self, name: str, *, is_said: bool) -> None:
        """Refuse the numbers of a column that is called a label where they may be scores."""
        numbers = self._written_numbers(name)
        meanings = _suggested_meanings(name, numbers)
        if is_said and (meanings is not None or len(numbers) <= len(NLI_LABELS)):
            return
        whole_numbers = [_whole(number) for number in numbers]
        if meanings is None and whole_numbers == [*_TWO_NUMBERED]:
            meanings = dict(zip(numbers, _TWO_NUMBERED.values(), strict=True))
        options: list[Options] = [{"score": name}]
        if meanings is not None or len(numbers) <= 2 * len(NLI_LABELS):
            options.append(_labels_options(name, numbers, meanings or _unknown(numbers)))
        reason = f"{name!r} holds {', '.join(numbers[:6])}: scores, or numbers of labels"
        # SNLI's number of no label says that they are labels.
        is_labels = meanings is not None and "-1" in whole_numbers
        raise self._ambiguous(reason, *options[is_labels:])

    def _refuse_left_out(self, kind: RowKind, chosen: Mapping[str, str]) -> None:
        """Refuse a column beside the CHOSEN ones that is called a part. Beside pairs and sentences
        also refuse a column that could be a part, as it would make them another kind.
        """
        splits = [
            name
            for name, values in self.file.where.items()
            if _SPLIT_COLUMNS.fullmatch(_name_key(name)) or _named_split(values)
        ]
        left_out = {
            name: column
            for name, column in self.columns.items()
            if name not in {*chosen.values(), self.file.source, *splits}
            and (column.key not in _FACTS or column.is_nli or column.is_prose)
        }
        allowed_roles = {"", "score", "label"} if self.file.labels or self.file.scale else {""}
        for name, column in left_out.items():
            if column.role not in allowed_roles:
                reason = f"{name!r} is called a {column.role}, and {kind.title} have none"
                raise self._ambiguous(reason, chosen, purpose=f" to leave {name!r} out")
        if kind in {PAIRS, SENTENCES}:
            for name, column in sorted(left_out.items(), key=lambda item: not item[1].is_nli):
                self._refuse_third(name, column, kind, chosen)

    def _refuse_third(
        self, name: str, column: _Column, kind: RowKind, chosen: Mapping[str, str]
    ) -> None:
        """Refuse a column beside the texts of pairs or sentences that may say something of them."""
        if column.holds == "numbers":
            numbers = self.values(name).to_list()  # of one or two rows it cannot be known
            counts = [*range(len(numbers) + 1)]
            if len(numbers) > 2 and numbers in (counts[:-1], counts[1:]):
                return
            if _OPPOSITE.search(column.key):
                classes = self._written_numbers(name)
                is_label = len(classes) <= len(NLI_LABELS)
                reading = _labels_options(name, classes, _unknown(classes)) if is_label else chosen
                raise self._ambiguous(f"{name!r} may be the opposite of their score", reading)
            role = "score"
        elif column.holds == "words":
            role = "label"
        elif column.holds == "other" and column.values.dtype.is_nested():
            raise self._ambiguous(f"{name!r} holds lists or tables that may be their score", chosen)
        elif column.is_text or column.holds == "lists" or column.is_prose:
            role = "negative" if kind == PAIRS else "positive"
        else:
            return
        option: Options = {**(chosen if role == "negative" else {}), role: name}
        if kind == SENTENCES:
            option = {"anchor": chosen["sentence"], "positive": name}
        options = [chosen] if kind == SENTENCES and role == "score" else [option, chosen]
        alternative = "" if column.is_nli else ", or say nothing about them"
        raise self._ambiguous(f"{name!r} may be their {role}{alternative}", *options)

    def meanings(self, name: str) -> dict[str, str]:
        """Return which labels in a column are written otherwise than ours, and their meaning; an
        unclear meaning is a UsageError.
        """
        labels = sorted({*class_texts(self.rows[name])} - {None, "", *no_labels(self.file.labels)})
        valid = ", ".join(NLI_LABELS)
        for meaning in self.file.labels.values():
            if meaning not in NLI_LABELS:
                raise UsageError(
                    f"{self.file.text!r}: {meaning!r} is not one of {valid}",
                    hint=f"give each label one of them: labels={labels[0]}:{NLI_LABELS[0]}",
                )
        meaning_of = {text: text.casefold() for text in labels if text.casefold() in NLI_LABELS}
        meaning_of |= self.file.labels
        if unknown := [text for text in labels if text not in meaning_of]:
            hint = f"say whether each means {' or '.join(NLI_LABELS)}"
            options = _labels_options(name, unknown, {**self.file.labels, **_unknown(unknown)})
            if meanings := _suggested_meanings(name, labels):
                hint = "if this is what they mean"
                options = _labels_options(name, labels, meanings)
            raise UsageError(
                f"{self.file.path}: {name} holds {', '.join(map(repr, unknown[:6]))}, not one of {valid}",
                hint=f"{hint}: {self._file_name_with(options)}",
            )
        return {text: meaning_of[text] for text in labels if meaning_of[text] != text}

    def values(self, name: str) -> pl.Series:
        """Return the numbers in a column."""
        values = self.rows[name]
        values = values.cast(pl.Int8) if values.dtype == pl.Boolean else values
        return _numbers(values).drop_nulls().drop_nans()

    def _columns_called(self, role: str) -> list[str]:
        """Return the columns with a usual name of ROLE, or the column that the user says is it."""
        return [name for name, column in self.columns.items() if column.role == role]

    def _one_column(self, role: str, names: Sequence[str]) -> str:
        if len(names) > 1:
            reason = f"{', '.join(map(repr, names))} may each be the {role}"
            raise self._ambiguous(reason, *({role: name} for name in names))
        return names[0]

    def _two_columns(self, *roles: str, without: Sequence[str] = ()) -> dict[str, str]:
        """Return the columns of two texts: those that the user says, or with usual names, otherwise
        the only two columns of texts in their order.
        """
        texts = [name for name in self.texts if name not in without]
        stated_columns = {role: name for role, name in self.file.roles.items() if role in roles}
        remaining = [name for name in texts if name not in stated_columns.values()]
        for names in (roles, ("s1", "s2"), ("anchor", "positive")):
            columns = dict(stated_columns)
            for role, name in zip(roles, names, strict=True):
                candidates = [
                    column for column in self._columns_called(name) if column in remaining
                ]
                if role not in stated_columns and candidates:
                    columns[role] = self._one_column(role, candidates)
            if len(columns) == 2:
                return {role: columns[role] for role in roles}
        if len(remaining) == 2 - len(stated_columns):
            return {role: stated_columns.get(role) or remaining.pop(0) for role in roles}
        if not texts:
            for name, column in self.columns.items():
                if column.holds in {"other", "lists"}:
                    raise unsupported_type(self.file.path, self.rows, name)
            example = "s1=NAME&s2=NAME&score=NAME" if len(self.columns) > 1 else "sentence=NAME"
            raise MissingError(
                f"{self.file.path} has no column of texts: found {first_few(self.columns)}",
                hint=f"say what its columns hold: '{self.file.path}?{example}'",
            )
        parts = TRIPLETS.texts if len(texts) > 1 else SENTENCES.texts
        counts = (2, 3)[: max(len(texts) - 1, 1)]
        reason = (
            f"{len(texts)} columns of texts ({first_few(texts)}), whose names do not say what they "
            f"hold"
        )
        options = [dict(zip(parts, texts[:count], strict=False)) for count in counts]
        raise self._ambiguous(reason, *options)

    def _ambiguous(self, reason: str, *options: Options, purpose: str = "") -> UsageError:
        """Return the error for a file that may be read by any of OPTIONS, for a PURPOSE."""
        can_be_typed = [option for option in options if "" not in option.values()]
        names = " or ".join(map(self._file_name_with, can_be_typed))
        if len(can_be_typed) < len(options):  # a column without a name
            purpose += ", or give each column a name"
        if ":MEANING" in names:
            purpose += f"; a MEANING is one of {', '.join(NLI_LABELS)}"
        return UsageError(f"{self.file.path}: {reason}", hint=f"write {names}{purpose}")

    def _file_name_with(self, options: Options) -> str:
        """Return the file's name with OPTIONS, and with what the user typed about other parts and
        columns.
        """
        other_options = {**options}
        roles = {role: other_options.pop(role) for role in options if role in ROLES}
        kept_roles = {
            role: column
            for role, column in self.file.roles.items()
            if role not in roles and column not in roles.values()
        }
        return f"'{self.file.with_options(roles=kept_roles | roles, **other_options).text}'"


def _refuse_missing_header(path: Path, rows: pl.DataFrame) -> None:
    """Refuse a CSV or TSV file whose first line is a row: it holds a sentence, label or number."""
    separator = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    if separator is None:
        return
    # a question may be a row whose words look like a name
    known_names = [name for name in rows.columns if _role_of(name) and not name.endswith("?")]
    sentences = {
        name
        for name in rows.columns
        if len(name.split()) > (_LABEL_WORDS - 1 if name.endswith("?") else _NAME_WORDS)
    }
    if known_names or (sentences and any(map(_are_numbers, _trimmed(rows).get_columns()))):
        sentences = set()
    for name in rows.columns:
        is_label = _name_key(name) in NLI_LABELS and known_names == [name]
        if name in sentences or is_label or re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?", name):
            header = separator.join(("sentence1", "sentence2", "score"))
            raise MissingError(
                f"{path}, line 1: {name!r} is not the name of a column",
                hint=f"name the columns first, such as {header}",
            )


def split_column(
    rows: pl.DataFrame, settled_columns: Sequence[str]
) -> tuple[str, dict[str, int]] | None:
    """Return the column of ROWS that says which split a row is in, with the number of rows of each
    split; otherwise a column that says that all are for testing; otherwise None. SETTLED COLUMNS do
    not count.
    """
    columns = []
    for column in rows.get_columns():
        is_null = column.null_count() == len(column)
        if column.name in settled_columns or is_null or _is_other(column.dtype):
            continue
        is_called_so = bool(_SPLIT_COLUMNS.fullmatch(_name_key(column.name)))
        first_value = next(value for value in column if value is not None)
        if not (is_called_so or _named_split(str(first_value))):
            continue
        counts = class_texts(column).fill_null("").value_counts(sort=True)
        values = dict(counts.iter_rows())
        if len(values) > _MOST_LABELS:
            continue
        splits = {*map(_named_split, values)}
        if len(values) == 1:
            is_split_column = is_called_so and splits.pop().startswith(_HELD_OUT)
        else:
            is_split_column = is_called_so or ("" not in splits and len(splits) > 1)
        if is_split_column:
            columns.append((column.name, values))
    return max(columns, key=lambda named_counts: len(named_counts[1]) > 1, default=None)


def _named_split(value: str) -> str:
    """Return the split that a VALUE of few words names, as sts-train.csv does; otherwise an empty
    text.
    """
    words = re.findall(r"[^\W\d_]+", value.casefold())
    candidates = [_name_key(value)]
    if len(words) <= _LABEL_WORDS:
        candidates += words
    return next(filter(_SPLITS.fullmatch, candidates), "")


def _suggested_meanings(column: str, labels: Sequence[str]) -> dict[str, str] | None:
    """Return what LABELS of a COLUMN mean if all of them are usual ways to write such labels;
    values that mean "no label" do not count.
    """
    given_labels = [label for label in labels if not _is_no_label(label)]
    keys = [_name_key(label) for label in given_labels]
    column_key = _name_key(column)
    is_of_same = column_key in _SAME_COLUMNS
    is_label = is_of_same or _ROLES.get(column_key) == "label"
    if not given_labels or (not is_label and any(key in _TRUTHS for key in keys)):
        return None
    if all(key in _MEANINGS for key in keys):
        return {label: _MEANINGS[key] for label, key in zip(given_labels, keys, strict=True)}
    numbers = {label: _whole(label) for label in given_labels}
    for meanings in (_NUMBERED, _TWO_NUMBERED if is_of_same else {}):
        if {*numbers.values()} == {*meanings}:
            return {label: meanings[number] for label, number in numbers.items()}
    return None


def _whole(label: str) -> str:
    """Return a LABEL that is a whole number with a point without the point."""
    return label.removesuffix(".0")


def _is_no_label(label: str) -> bool:
    return _whole(label) in _NO_LABEL or label.strip().casefold() in _NO_MEANING


def _unknown(labels: Sequence[str]) -> dict[str, str]:
    """Return LABELS with what stands for a meaning that the user knows."""
    return {label: "MEANING" for label in labels if label.casefold() not in _NO_MEANING}


def _labels_options(column: str, labels: Sequence[str], meanings: Mapping[str, str]) -> Options:
    """Return MEANINGS as options, which also leave out rows with a value that is no label."""
    options = {"label": column, "labels": meanings}
    no_label = [label for label in labels if _is_no_label(label) and label not in meanings]
    if no_label:
        options["drop"] = {column: ",".join(no_label)}
    return options


@lru_cache(maxsize=10_000)
def _name_key(name: str) -> str:
    """Return the letters and digits of a NAME, of any script, without case; a name of signs only is
    returned as it is.
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    letters = "".join(sign for sign in text if unicodedata.category(sign)[0] in "LNM")
    return letters or text.strip()


def _role_of(name: str) -> str:
    """Return the part that a column is by its NAME, or an empty text."""
    key = _name_key(name)
    match = _MORE.fullmatch(key)
    return (match.lastgroup or "") if match else _ROLES.get(key, "")


def _is_other(dtype: pl.DataType) -> bool:
    """Return whether values of a type are neither texts, numbers nor labels."""
    is_other = dtype.is_nested() or dtype.is_temporal()
    return is_other or dtype.base_type() in {pl.Binary, pl.Object}


def _trimmed(rows: pl.DataFrame) -> pl.DataFrame:
    """Return ROWS with columns of texts and labels as texts without blanks at their ends, null for
    empty ones; in one step, as each step takes the same time for a short column as for many.
    """
    texts = [
        column.name
        for column in rows.get_columns()
        if not (column.dtype.is_numeric() or _is_other(column.dtype))
    ]
    return rows.with_columns(pl.col(texts).cast(pl.String).str.strip_chars().replace("", None))


def _numbers(values: pl.Series) -> pl.Series:
    return values.to_frame().select(number_of(values.name)).to_series()


def _are_numbers(trimmed: pl.Series) -> bool:
    """Return whether a column holds numbers alone; plain ones are looked at first."""
    if trimmed.dtype.is_numeric():
        return True
    sample = trimmed.head(_SURE_LINES)
    signs = "".join(text or "" for text in sample)
    may_be_numbers = "," in signs and " " not in signs
    if (
        not may_be_numbers
        and sample.cast(pl.Float64, strict=False).null_count() > sample.null_count()
    ):
        return False
    return trimmed.null_count() < len(trimmed) and all(
        part.cast(pl.Float64, strict=False).null_count() == part.null_count()
        or _numbers(part).null_count() == part.null_count()
        for part in (sample, trimmed)
    )


def _are_words(trimmed: pl.Series) -> bool:
    """Return whether a column has few short values, most of them several times."""
    filled = len(trimmed) - trimmed.null_count()
    if filled == 0 or trimmed.n_unique() > min(_MOST_LABELS, filled / 2) + 1:
        return False
    distinct = trimmed.drop_nulls().unique()
    is_few = len(distinct) <= min(_MOST_LABELS, filled / 2)
    return is_few and all(len(text.split()) <= _LABEL_WORDS for text in distinct)
