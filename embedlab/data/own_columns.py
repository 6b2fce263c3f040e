"""What a user's own file holds, detected: the kind of its rows, the column of each part, the
meaning of its labels, its scale.

Training, evaluation and the dashboard read files by this one detection: by what the user says, by
names and by values. A column with the name of a part is read as that part, or the file is refused
with what to type; so is what may be read in two ways.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType

import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.first_few import first_few
from embedlab.core.name_options import outside_quotes
from embedlab.core.nearest import nearest_name
from embedlab.core.printable import one_line
from embedlab.data.dataset import NLI_LABELS
from embedlab.data.file_name import LOW_SCORES, TEXT_FILE, FileName, option, parse_file_name
from embedlab.data.table_file import (
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
from embedlab.data.text_file import read_lines


@dataclass(frozen=True, kw_only=True, eq=False)  # each is there once
class RowKind:
    """One of the things that rows can be."""

    title: str
    columns: Mapping[
        str, str
    ]  # what a column can hold → the name that the recipes for own rows give it
    texts: tuple[str, ...]  # those that are sentences


SCORED = RowKind(
    title="scored pairs",
    columns={"s1": "sentence1", "s2": "sentence2", "score": "gold"},
    texts=("s1", "s2"),
)
LABELLED = RowKind(
    title="labelled pairs",
    columns={"s1": "premise", "s2": "hypothesis", "label": "label"},
    texts=("s1", "s2"),
)
PAIRS = RowKind(
    title="pairs of anchor and positive",
    columns={"anchor": "anchor", "positive": "positive"},
    texts=("anchor", "positive"),
)
TRIPLETS = RowKind(
    title="triplets",
    columns={"anchor": "anchor", "positive": "positive", "negative": "negative"},
    texts=("anchor", "positive", "negative"),
)
SENTENCES = RowKind(title="sentences", columns={"sentence": "sentence"}, texts=("sentence",))
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

    @property
    def usual(self) -> float:
        """The highest score of the usual scale that these scores fit; the largest itself above all
        of them.
        """
        return next((highest for highest in _USUAL if self.largest <= highest), self.largest)

    def contradicts(self, highest: float) -> bool:
        """Whether a scale up to HIGHEST is another one than that of the scores: none of them is in
        its upper half.
        """
        return self.largest <= highest / 2

    @property
    def suggested(self) -> tuple[float, float]:
        """The lowest and the highest score of the scale that these scores suggest."""
        high = self.largest if self.is_whole and 0 < self.largest <= _WHOLE else self.usual
        return (-high if self.low < 0 else 1.0 if self.low >= 1 < high else 0.0), high


# Names without case and signs under which people have each part.
_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "s1": (
            *("sentence1", "sentencea", "text1", "texta", "s1", "sent1", "question1", "q1"),
            *("premise", "left", "phrase1"),
        ),
        "s2": (
            *("sentence2", "sentenceb", "text2", "textb", "s2", "sent2", "question2", "q2"),
            *("hypothesis", "right", "phrase2"),
        ),
        "score": (
            *("score", "gold", "goldscore", "similarity", "similarityscore", "sim", "rating"),
            *("grade", "relatedness", "relatednessscore"),
            *("humanscore", "meanscore", "averagescore", "avgscore"),
        ),
        "label": (
            *("label", "labels", "goldlabel", "class", "isduplicate", "duplicate"),
            *("entailment", "entailmentlabel", "entailmentjudgment"),
        ),
        "anchor": ("anchor", "query", "question", "prompt", "title", "sent0"),
        "positive": (
            *("positive", "pos", "entailed", "answer", "response", "reply", "passage", "document"),
            *("doc", "context", "paragraph", "body", "answers", "passages", "documents", "docs"),
        ),
        "negative": ("negative", "neg", "hardneg", "wrong", "distractor", "contradicted"),
        "sentence": ("sentence", "sentences", "text", "texts", "content", "line"),
    }
)
# Names that begin so are those of positives and negatives too: positives, pos_2, hard_negatives.
_BEGINNINGS = MappingProxyType(
    {"positive": r"(positives?|pos)\d*", "negative": r"(hard)?(negatives?|neg)\d*"}
)
_NESTED_NAMES = re.compile(r"(positive|(hard)?negative)(passages?|ctxs?|docs?|documents?|texts?)")
_TEXT_ROLES = ("s1", "s2", "anchor", "positive", "negative", "sentence")
LISTS = ("positive", "negative")  # parts of which a row may have several
_FACTS = frozenset(  # names of columns that say something about a row alone
    (
        *("", "#", "id", "ids", "idx", "index", "rowid", "pairid", "qid", "pid", "docid", "guid"),
        *("uid", "uuid", "unnamed0", "indexlevel0", "number", "no"),
        *("source", "split", "genre", "topic", "category", "domain", "dataset", "lang"),
        *("language", "author", "user", "annotator", "tags", "keywords", "metadata"),
        *("date", "time", "timestamp", "year", "created", "updated", "url", "link", "file"),
        *("filename", "page"),
    )
)
_SPLIT_COLUMNS = frozenset(
    (
        *("split", "splits", "partition", "fold", "folds", "datasplit", "subset"),
        *(f"{start}{name}" for start in ("is", "in") for name in ("train", "test", "dev", "val")),
        *("isvalid", "isvalidation", "istraining", "isheldout", "heldout"),
    )
)
_SPLITS = frozenset(
    (
        *("train", "training", "trn", "trial", "dev", "devel", "development", "val", "valid"),
        *("validation", "eval", "evaluation", "test", "testing", "tst", "heldout"),
    )
)
_MOST_LABELS = 20  # different values of a column of labels
_LABEL_WORDS = 3
_NAME_WORDS = 4  # a longer name of a column is a sentence
_SHOWN_ROWS = 2
_AT_ONCE = 32  # columns

_SAME, _OTHER = NLI_LABELS[0], NLI_LABELS[2]
# What labels mean that people write so, without case and signs; of no other a meaning is offered.
_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("entailment", "entails", "entailed", "entail", "e"), _SAME),
        **dict.fromkeys(("duplicate", "isduplicate", "paraphrase", "isparaphrase"), _SAME),
        **dict.fromkeys(("similar", "equivalent", "same", "yes", "true"), _SAME),
        **dict.fromkeys(("neutral", "n"), NLI_LABELS[1]),
        **dict.fromkeys(("contradiction", "contradicts", "contradictory", "c"), _OTHER),
        **dict.fromkeys(("contradicted", "contradict", "different", "dissimilar"), _OTHER),
        **dict.fromkeys(("notduplicate", "nonduplicate", "notparaphrase"), _OTHER),
        **dict.fromkeys(("nonparaphrase", "notsimilar", "notequivalent", "no", "false"), _OTHER),
    }
)
_NUMBERED = {"0": NLI_LABELS[0], "1": NLI_LABELS[1], "2": NLI_LABELS[2]}  # SNLI on the hub
_TWO_NUMBERED = {"0": _OTHER, "1": _SAME}  # in a column that says whether two texts are the same
_SAME_COLUMNS = frozenset(("isduplicate", "duplicate", "isparaphrase", "paraphrase", "issimilar"))
# SNLI's files and SNLI on the hub where people did not agree, and how programs write nothing
_NO_LABEL = ("-", "-1")
_NOTHING = frozenset(("nan", "none", "null", "na", "n/a", "–", "—", "?", "unknown"))
# a number in such a column is no similarity, or the opposite of one
_OPPOSITE = re.compile(r"^(not|non|is(not|non))|differ|distan|dissim|unrelated|contradict|error")


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
        if self.lists:
            about.append(f"a row for each text of {' and of '.join(self.lists)}")
        about += [f"left out: {count} {reason}" for reason, count in self.skipped.items()]
        if self.unread:
            about.append(f"not read: {', '.join(self.unread)}")
        report = [f"{self.file.text}: {'; '.join(about)}"]
        report += [
            f"  {'; '.join(f'{name}: {one_line(text)}' for name, text in row.items())}"
            for row in self.examples
        ]
        if self.columns:
            options = [*self.columns, *(["scale"] if self.scores is not None else [])]
            values = [f"{name}={'LOW-HIGH' if name == 'scale' else 'NAME'}" for name in options]
            report.append(f"  another reading: '{self.file.path}?{'&'.join(values)}'")
        return report


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
    found = FoundColumns.of(file, read_rows(file.path, needed=()))
    kind, columns = found.decided()
    texts = [columns[role] for role in kind.texts]
    lists = [columns[role] for role in LISTS if role in columns]
    rows, skipped = full_rows(file.path, found.rows, texts, lists=lists)
    scores = found.range_of(columns["score"]) if kind == SCORED else None
    _refuse_other_scale(file, kind, scores)
    if gold := columns.get("score") or columns.get("label"):
        rows, blank = rows_with(file.path, rows, gold, without=no_labels(file.labels))
        skipped |= blank
    return OwnData(
        file=file,
        kind=kind,
        columns=columns,
        rows=rows.height,
        labels=found.meanings(columns["label"]) if kind == LABELLED else {},
        scores=scores,
        unread=tuple(
            name
            for name in found.names
            if name not in columns.values() and name != (file.source or "source")
        ),
        skipped=skipped,
        lists=tuple(name for name in lists if holds_text_lists(found.rows, name)),
        examples=tuple(
            rows.head(_SHOWN_ROWS)
            .select(pl.col(name).cast(pl.String).fill_null("") for name in columns.values())
            .iter_rows(named=True)
        ),
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
    refuse_fields(file.path, lines)
    return OwnData(
        file=file,
        kind=SENTENCES,
        columns={},
        rows=len(lines),
        examples=tuple({"line": text} for text in lines[:_SHOWN_ROWS]),
    )


def refuse_fields(path: Path, lines: Sequence[str]) -> None:
    """Refuse the LINES of a text file that are rows of equally many fields: with tabs or bars
    between them, or with another sign, which sentences have too, below names of columns.
    """
    for sign in SEPARATORS:
        split = str.split if sign == "\t" else outside_quotes
        names = split(lines[0], sign) if len(lines) else []
        has_names = any(_roles_of(name, has_sent0=False) for name in names)
        may_separate = sign == "\t" or (len(lines) > 1 and (has_names or sign == "|"))
        if len(names) < 2 or not may_separate:
            continue
        if all(len(split(line, sign)) == len(names) for line in lines):
            mark, ending = ("tabs", ".tsv") if sign == "\t" else (repr(sign), ".csv")
            raise UsageError(
                f"{path}: each line has {len(names)} fields with {mark} between them, but a text "
                f"file has a sentence a line",
                hint=f"{'' if has_names else 'name the columns in its first line and '}call it "
                f"{path.with_suffix(ending)}",
            )


@dataclass(frozen=True, kw_only=True)
class FoundColumns:
    """The columns of a file, by what they hold and how they are called."""

    file: FileName
    rows: pl.DataFrame  # those that the user selects
    names: tuple[str, ...]
    numbers: frozenset[str]  # columns of numbers alone
    words: frozenset[str]  # columns of few short values, such as labels
    texts: tuple[str, ...]  # columns of sentences, in their order
    roles: Mapping[str, Sequence[str]]  # column → the parts that it is called or said to be

    @classmethod
    def of(cls, file: FileName, rows: pl.DataFrame) -> "FoundColumns":
        """Return the columns of ROWS, all that FILE has; one that the user names and that is not
        there is refused, and one with the name of a part that does not hold it.
        """
        names = [name for name in rows.columns if name != PLACE]
        _refuse_missing_header(file, names)
        if rows.is_empty():
            raise MissingError(
                f"{file.path} has no rows below its header", hint="give one example a row"
            )
        stated = [*file.roles.values()]
        for name in (*stated, *([file.source] if file.source else [])):
            _refuse_absent(file, names, name)
        if twice := next((name for name in stated if stated.count(name) > 1), None):
            raise UsageError(
                f"{file.text!r} names the column {twice!r} for two parts",
                hint=f"name one for each: {', '.join(names)}",
            )
        rows = selected_rows(file.path, rows, file.where, file.drop)
        _refuse_splits(file, rows)
        said = {name: role for role, name in file.roles.items()}
        has_sent0 = "sent0" in map(_squeezed, names)
        roles = {
            name: [said[name]]
            if name in said
            else [
                role
                for role in _roles_of(name, has_sent0=has_sent0)
                if role not in file.roles and name != file.source
            ]
            for name in names
        }
        for name in names:
            if name in said or (roles[name] and not said):
                _refuse_other_type(file, rows, name, roles[name][0], is_said=name in said)
        plain = [
            name
            for name in names
            if rows[name].null_count() < rows.height
            and (not _is_other(rows[name].dtype) or holds_text_lists(rows, name))
        ]
        lists = [name for name in plain if holds_text_lists(rows, name)]
        numbers = frozenset(_are_numbers(rows, [name for name in plain if name not in lists]))
        others = [name for name in plain if name not in numbers and name not in lists]
        words = frozenset(name for name in others if _is_of_words(rows[name]))
        texts = tuple(
            name
            for name in plain
            if (
                {*roles[name]} & {*_TEXT_ROLES}
                or not (name in words or name in lists or _is_fact(name))
            )
            and name not in numbers
            and not {*roles[name]} & {"score", "label"}
            and name != file.source
        )
        if (
            len(texts) > 2
        ):  # one of them without any blank holds names of rows, unless it is called a text
            texts = tuple(
                name for name in texts if roles[name] or name in lists or _has_blanks(rows[name])
            )
        return cls(
            file=file,
            rows=rows,
            names=tuple(names),
            numbers=numbers,
            words=words,
            texts=texts,
            roles=roles,
        )

    def decided(self) -> tuple[RowKind, dict[str, str]]:
        """Return the kind of the rows, and the column of each of its parts; parts that no kind has
        together are a UsageError, as is a column left out that could make them another kind.
        """
        kind, columns = self._decided()
        if not {*self.file.roles} & {*columns}:
            self._refuse_left_out(kind, columns)
        return kind, columns

    def _decided(self) -> tuple[RowKind, dict[str, str]]:
        said = {*self.file.roles}
        if said and not any(said <= {*kind.columns} for kind in KINDS):
            raise UsageError(
                f"{self.file.text!r}: {', '.join(self.file.roles)} are not parts of one kind "
                f"of rows",
                hint=_KINDS_HINT,
            )
        others = {"s1", "s2", "score", "label", "sentence"}
        is_pair = said == {"anchor", "positive"}
        if (negatives := self._called("negative")) and not said & others and not is_pair:
            return TRIPLETS, {
                **self._two("anchor", "positive", without=negatives),
                "negative": self._one("negative", negatives),
            }
        if said & {"sentence"} or (len(self.texts) == 1 and not said):
            return SENTENCES, self._sentence()
        if said & {"anchor", "positive"}:
            return PAIRS, self._two("anchor", "positive")
        return self._pairs_of_any_kind()

    def _pairs_of_any_kind(self) -> tuple[RowKind, dict[str, str]]:
        """Return scored or labelled pairs by the third column, pairs without one."""
        scores, labels = self._called("score"), self._called("label")
        if "label" in self.file.roles or self.file.labels:
            scores = ()
        if "score" in self.file.roles or self.file.scale is not None:
            scores, labels = scores or labels, ()
        if scores and labels:
            why = f"{scores[0]!r} may be their score, and {labels[0]!r} their label"
            raise self._ambiguous(why, [option("score", scores[0]), option("label", labels[0])])
        if scores:
            return SCORED, {**self._two("s1", "s2"), "score": self._one("score", scores)}
        if labels:
            return self._labelled(self._one("label", labels))
        return PAIRS, self._two("anchor", "positive")

    def _labelled(self, name: str) -> tuple[RowKind, dict[str, str]]:
        """Return pairs by a column that is called a label: of numbers it may be a score."""
        texts = self._two("s1", "s2")
        if name in self.numbers and not self.file.labels:
            values = self._values(name)
            if any(value != round(value) for value in values):
                return SCORED, {**texts, "score": name}
            numbers = [*(f"{value:g}" for value in values), *self._nothing(name)]
            meanings = _suggested(name, numbers)
            if "label" not in self.file.roles or (meanings is None and len(numbers) > 3):
                options = [option("score", name)]
                if meanings is not None:
                    options.append(_labels_option(name, numbers, meanings))
                elif len(numbers) <= 2 * len(NLI_LABELS):
                    given = [label for label in numbers if label.casefold() not in _NOTHING]
                    options.append(_labels_option(name, numbers, dict.fromkeys(given, "MEANING")))
                why = f"{name!r} holds {', '.join(numbers[:6])}: scores, or numbers of labels"
                # SNLI's number of no label says that they are labels.
                is_certain = meanings is not None and "-1" in numbers
                raise self._ambiguous(why, options[is_certain:])
        return LABELLED, {**texts, "label": name}

    def _refuse_left_out(self, kind: RowKind, columns: Mapping[str, str]) -> None:
        """Refuse a column beside COLUMNS that is called a part, or that could be one: of pairs and
        sentences it would make another kind.
        """
        left = [
            name
            for name in self.names
            if name not in columns.values()
            and name != self.file.source
            and not (_is_fact(name) and not self._is_nli(name))
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
        shown = self.numbers | self.words | {*self.texts}
        for name in left:
            is_open = name in shown or holds_text_lists(self.rows, name)
            if not is_open or (name in self.numbers and _is_numbering(self.rows[name])):
                continue
            role = (
                "score"
                if name in self.numbers
                else "label"
                if name in self.words
                else "negative"
                if kind == PAIRS
                else "positive"
            )
            other = option(role, name)
            if role == "negative":
                other = f"{alone}&{other}"
            elif kind == SENTENCES:
                other = f"{option('anchor', columns['sentence'])}&{option('positive', name)}"
            why = f"{name!r} may be their {role}, or say nothing about them"
            offered = [alone] if kind == SENTENCES and role == "score" else [other, alone]
            if role == "score" and _OPPOSITE.search(_squeezed(name)):
                why = f"{name!r} may be the opposite of their score"
                classes = [f"{value:g}" for value in self._values(name)]
                meanings = dict.fromkeys(classes, "MEANING")
                is_label = len(classes) <= len(NLI_LABELS)
                offered = [_labels_option(name, classes, meanings) if is_label else alone]
            raise self._ambiguous(why, offered)

    def _sentence(self) -> dict[str, str]:
        """Return the column of sentences; one that labels or scores them is not silently left
        out.
        """
        name = self._one(
            "sentence",
            (self.file.roles["sentence"],) if "sentence" in self.file.roles else self.texts,
        )
        third = next(iter((*self._called("label"), *self._called("score"))), None)
        if third is not None and "sentence" not in self.file.roles:
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
            raise self._ambiguous(
                why, [option("sentence", name)], purpose=" to train on the texts alone"
            )
        return {"sentence": name}

    def meanings(self, name: str) -> dict[str, str]:
        """Return which labels in a column are written otherwise than ours, and their meaning; where
        it is unclear a UsageError.
        """
        labels = class_texts(self.rows[name]).drop_nulls().replace("", None).drop_nulls()
        there = sorted({*labels} - {*no_labels(self.file.labels)})
        if odd := next(
            (ours for ours in self.file.labels.values() if ours not in NLI_LABELS), None
        ):
            raise UsageError(
                f"{self.file.text!r}: {odd!r} is none of {', '.join(NLI_LABELS)}",
                hint=f"give each label one of them: labels={there[0]}:{NLI_LABELS[0]}",
            )
        said = {
            **{label: label.casefold() for label in there if label.casefold() in NLI_LABELS},
            **self.file.labels,
        }
        if unknown := [label for label in there if label not in said]:
            fault = (
                f"{self.file.path}: {name} holds {', '.join(map(repr, unknown[:6]))}, none "
                f"of {', '.join(NLI_LABELS)}"
            )
            meanings = _suggested(name, there)
            example = _labels_option(name, there, meanings) if meanings else ""
            hint = f"if this is what they mean: '{self.file.path}?{example}'"
            if not meanings:
                given = [label for label in unknown if label.casefold() not in _NOTHING]
                asked = _labels_option(name, unknown, dict.fromkeys(given, "MEANING"))
                hint = (
                    f"say what they mean, each {', '.join(NLI_LABELS[:-1])} or {NLI_LABELS[-1]}: "
                    f"'{self.file.path}?{asked}'"
                )
            raise UsageError(fault, hint=hint)
        return {theirs: ours for theirs, ours in said.items() if theirs != ours and theirs in there}

    def range_of(self, name: str) -> ScoreScale | None:
        """Return the range of the scores in a column; None where some are not numbers, which their
        reader refuses with its place.
        """
        values = self.rows.select(number_of(name)).to_series().drop_nulls()
        return ScoreScale.of(values) if len(values) and values.is_finite().all() else None

    def _called(self, role: str) -> tuple[str, ...]:
        """Return the columns that are called as ROLE is, or the one that is said to be it."""
        return tuple(name for name in self.names if role in self.roles[name])

    def _one(self, role: str, names: Sequence[str]) -> str:
        if len(names) > 1:
            raise self._ambiguous(
                f"{', '.join(map(repr, names))} may each be the {role}",
                [option(role, name) for name in names],
            )
        return names[0]

    def _two(self, first: str, second: str, without: Sequence[str] = ()) -> dict[str, str]:
        """Return the columns of two texts: as they are said, or called, otherwise the only two in
        their order.
        """
        texts = [name for name in self.texts if name not in without]
        said = {role: self.file.roles[role] for role in (first, second) if role in self.file.roles}
        if len(said) == 2:
            return said
        rest = [name for name in texts if name not in said.values()]
        for roles in ((first, second), ("s1", "s2"), ("anchor", "positive")):
            called = [[name for name in self._called(role) if name in rest] for role in roles]
            columns = {
                role: said.get(role) or self._one(role, names)
                for role, names in zip((first, second), called, strict=True)
                if names or role in said
            }
            if len(columns) == 2:
                return columns
        if len(rest) == 2 - len(said):
            return {role: said.get(role) or rest.pop(0) for role in (first, second)}
        if not texts:
            example = f"'{self.file.path}?{'s1=NAME&s2=NAME&score=NAME' if len(self.names) > 1 else 'sentence=NAME'}'"
            raise MissingError(
                f"{self.file.path} has no column of texts: found {first_few(self.names)}",
                hint=f"say what its columns hold: {example}",
            )
        what = (
            f"{len(texts)} columns of texts ({', '.join(texts)})"
            if len(texts) > 1
            else f"one column of texts, {texts[0]!r}"
        )
        raise self._ambiguous(
            f"{what}, of which the names do not say what they hold", self._examples(texts)
        )

    def _examples(self, texts: Sequence[str]) -> list[str]:
        """Return the readings of two columns, and where there are more, of the first three."""
        counts = {1: (1,), 2: (2,)}.get(len(texts), (2, 3))
        roles = ("anchor", "positive", "negative") if len(texts) != 1 else ("sentence",)
        return [
            "&".join(option(role, name) for role, name in zip(roles[:count], texts, strict=False))
            for count in counts
        ]

    def _values(self, name: str) -> list[float]:
        numbers = self.rows.select(number_of(name)).to_series().drop_nulls()
        return sorted({*numbers.drop_nans()})

    def _nothing(self, name: str) -> list[str]:
        """Return how the column NAME of numbers writes that a row has none."""
        return sorted({*class_texts(self.rows[name]).drop_nulls()} & {"NaN", "nan", "NAN"})

    def _is_nli(self, name: str) -> bool:
        if name not in self.words or name in self.texts:
            return False
        labels = self.rows[name].cast(pl.String).drop_nulls().str.strip_chars().str.to_lowercase()
        return {*labels} <= {*NLI_LABELS, "-"}

    def _ambiguous(self, why: str, options: Sequence[str], purpose: str = "") -> UsageError:
        """Return the error for what may be read as each of OPTIONS says, for a PURPOSE."""
        typed = self.file.text.partition("?")[2].split("&") if not self.file.is_plain else []
        names = []
        for choice in options:
            keys, _, columns = zip(
                *(setting.partition("=") for setting in choice.split("&")), strict=True
            )
            # What was said of the same part, or of the same column, is said anew.
            others = [
                setting
                for setting in typed
                if setting.partition("=")[0] not in keys
                and setting.partition("=")[2] not in columns
            ]
            names.append(f"'{self.file.path}?{'&'.join([*others, choice])}'")
        return UsageError(f"{self.file.path}: {why}", hint=f"write {' or '.join(names)}{purpose}")


_KINDS_HINT = "; ".join(f"{kind.title}: {', '.join(kind.columns)}" for kind in KINDS)


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
        name, dtype = column.name, column.dtype
        is_other = not (dtype in {pl.String, pl.Boolean, pl.Categorical} or dtype.is_numeric())
        if name in settled or is_other or column.null_count() == len(column):
            continue
        is_called_so = _squeezed(name) in _SPLIT_COLUMNS
        first = column[0] if column[0] is not None else column.drop_nulls()[0]
        if not (is_called_so or _squeezed(str(first)) in _SPLITS):
            continue
        counts = class_texts(rows[name]).fill_null("").value_counts(sort=True)
        values = dict(counts.iter_rows())
        is_of_splits = all(_squeezed(value) in _SPLITS for value in values)
        if 1 < len(values) <= _MOST_LABELS and (is_called_so or is_of_splits):
            return name, values
    return None


def _refuse_splits(file: FileName, rows: pl.DataFrame) -> None:
    """Refuse rows of several splits, of which the user has not said which are read."""
    found = splits_in(
        rows, [PLACE, *file.where, *file.drop, *file.roles.values(), file.source or ""]
    )
    if found is None:
        return
    name, counts = found
    each = [file.with_options(where={**file.where, name: value}).text for value in counts]
    every = file.with_options(where={**file.where, name: ",".join(counts)}).text
    shown = " or ".join(f"'{text}'" for text in each[:3])
    raise UsageError(
        f"{file.path}: {name!r} says which split a row is in: "
        + ", ".join(f"{value} ({count})" for value, count in counts.items()),
        hint=f"write {shown}; for all rows '{every}'",
    )


def _refuse_absent(file: FileName, names: Sequence[str], name: str) -> None:
    if name not in names:
        guess = nearest_name(name, names)
        hint = f"did you mean {guess!r}?" if guess else f"name one of them: {', '.join(names)}"
        raise UsageError(f"{file.path} has no column {name!r}: found {first_few(names)}", hint=hint)


def _refuse_other_type(
    file: FileName, rows: pl.DataFrame, name: str, role: str, *, is_said: bool
) -> None:
    """Refuse a column with the name of a part whose values no such part has: it is never left
    out.
    """
    values, is_text = rows[name], role in _TEXT_ROLES
    other = f"say which columns are read: '{file.path}?s1=NAME&s2=NAME'"
    is_blank = values.dtype == pl.String and (values.str.strip_chars() == "").fill_null(value=True)
    if values.null_count() == len(values) or (is_blank is not False and is_blank.all()):
        raise MissingError(
            f"{file.path}: {name} is empty in every row", hint=f"correct it, or {other}"
        )
    if holds_text_lists(rows, name) and role in LISTS:
        return
    if is_text:
        refuse_json_numbers(file.path, rows, [name])
    if _is_other(values.dtype) or (is_text and values.dtype == pl.Boolean):
        error = other_values(file.path, rows, name)
        raise MissingError(error.message, hint=f"{error.hint}, or {other}")
    if is_text and values.dtype == pl.String and _are_written_lists(values):
        raise MissingError(
            f"{file.path}: {name} holds lists written as text: {one_line(values.drop_nulls()[0])}",
            hint="write JSON lines, with a list of texts or one text a row",
        )
    if is_text and (values.dtype.is_numeric() or (not is_said and _are_numbers(rows, [name]))):
        raise UsageError(
            f"{file.path}: {name!r} is called a {role}, but holds numbers",
            hint=f"rename it, or {other}",
        )


def _suggested(column: str, labels: Sequence[str]) -> dict[str, str] | None:
    """Return what LABELS mean where all of them are written as people write such labels; rows
    without one do not count.
    """
    given = [label for label in labels if not _is_no_label(label)]
    if {*given} == {*_NUMBERED}:
        return {label: _NUMBERED[label] for label in given}
    if {*given} == {*_TWO_NUMBERED} and _squeezed(column) in _SAME_COLUMNS:
        return {label: _TWO_NUMBERED[label] for label in given}
    found = {label: _MEANINGS.get(_squeezed(label), "") for label in given}
    return found if found and all(found.values()) else None


def _is_no_label(label: str) -> bool:
    return label in _NO_LABEL or label.strip().casefold() in _NOTHING


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
    if nested := _NESTED_NAMES.fullmatch(squeezed):
        return ["positive" if nested[1] == "positive" else "negative"]
    return [
        role
        for role, known in _NAMES.items()
        if squeezed in known or re.fullmatch(_BEGINNINGS.get(role, r"(?!)"), squeezed)
    ]


def _is_fact(name: str) -> bool:
    return _squeezed(name) in _FACTS


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
        some = other[start : start + _AT_ONCE]
        few = pl.DataFrame({name: rows[name] for name in some})
        numbers = few.select(number_of(name).alias(name).null_count() for name in some).row(0)
        texts = few.select(
            pl.col(name).cast(pl.String).str.strip_chars().replace("", None).null_count()
            for name in some
        ).row(0)
        counts = zip(some, numbers, texts, strict=True)
        found += [name for name, number, text in counts if number == text < rows.height]
    return found


def _are_written_lists(values: pl.Series) -> bool:
    """Return whether most texts are lists or tables as JSON or Python writes them."""
    texts = values.drop_nulls().head(1000).str.strip_chars()
    written = texts.str.contains(r"""^(\[\s*["'{].*["'}]\s*\]|\{\s*["'].*\})$""")
    return 2 * int(written.sum()) > len(texts)


def _is_of_words(values: pl.Series) -> bool:
    """Return whether a column has few short values, most of them several times."""
    texts = values.cast(pl.String).str.strip_chars().replace("", None).drop_nulls()
    distinct = texts.unique()
    return (
        len(distinct) <= min(_MOST_LABELS, len(texts) / 2)
        and max(len(text.split()) for text in distinct) <= _LABEL_WORDS
    )


def _has_blanks(values: pl.Series) -> bool:
    return bool(values.cast(pl.String).str.strip_chars().str.contains(r"\s").any())


def _is_numbering(values: pl.Series) -> bool:
    """Return whether a column numbers the rows, from 0 or 1; of one or two rows it cannot be
    known.
    """
    numbers = pl.DataFrame({"n": values}).select(number_of("n")).to_series().drop_nulls()
    return len(numbers) > 2 and any(
        numbers.to_list() == [*range(start, start + len(numbers))] for start in (0, 1)
    )


def _refuse_missing_header(file: FileName, names: Sequence[str]) -> None:
    """Refuse a first line that is a row, not names of columns."""
    if file.path.suffix.lower() not in {".csv", ".tsv"}:
        return
    is_known = any(_roles_of(name, has_sent0=False) for name in names)
    odd = [
        name
        for name in names
        if re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?", name)
        or (len(name.split()) > _NAME_WORDS and not is_known)
    ]
    if odd:
        example = ("\t" if file.path.suffix.lower() == ".tsv" else ",").join(
            ["sentence1", "sentence2", "score"]
        )
        raise MissingError(
            f"{file.path}, line 1: {odd[0]!r} is not the name of a column",
            hint=f"name the columns first, such as {example}",
        )
