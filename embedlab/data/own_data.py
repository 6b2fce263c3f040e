"""What a user's own file holds, detected: the kind of its rows, the column of each part, the meaning of its labels, its scale.

Training, evaluation and the dashboard read files by this one detection. What may be read in two ways is refused with what to type.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType

import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.nearest import nearest_name
from embedlab.core.printable import one_line
from embedlab.data.dataset import NLI_LABELS
from embedlab.data.file_name import LOW_SCORES, ROLES, TEXT_FILE, FileName, option, parse_file_name
from embedlab.data.row_file import PLACE, TABLES, number_of, read_rows
from embedlab.data.score_scale import ScoreScale
from embedlab.data.text_file import read_lines


@dataclass(frozen=True, kw_only=True, eq=False)  # each is there once
class RowKind:
    """One of the things that rows can be."""

    title: str
    columns: Mapping[str, str]  # what a column can hold → the name that the recipes for own rows give it
    texts: tuple[str, ...]  # those that are sentences


SCORED = RowKind(title="scored pairs", columns={"s1": "sentence1", "s2": "sentence2", "score": "gold"}, texts=("s1", "s2"))
LABELLED = RowKind(title="labelled pairs", columns={"s1": "premise", "s2": "hypothesis", "label": "label"}, texts=("s1", "s2"))
PAIRS = RowKind(title="pairs of anchor and positive", columns={"anchor": "anchor", "positive": "positive"}, texts=("anchor", "positive"))
TRIPLETS = RowKind(
    title="triplets",
    columns={"anchor": "anchor", "positive": "positive", "negative": "negative"},
    texts=("anchor", "positive", "negative"),
)
SENTENCES = RowKind(title="sentences", columns={"sentence": "sentence"}, texts=("sentence",))
KINDS = (SCORED, LABELLED, TRIPLETS, PAIRS, SENTENCES)

# Names without case and signs under which people have each part.
_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "s1": ("sentence1", "sentencea", "text1", "texta", "s1", "sent1", "question1", "q1", "premise", "left", "phrase1"),
        "s2": ("sentence2", "sentenceb", "text2", "textb", "s2", "sent2", "question2", "q2", "hypothesis", "right", "phrase2"),
        "score": (
            *("score", "gold", "goldscore", "similarity", "similarityscore", "sim", "rating", "grade", "relatedness", "relatednessscore"),
            *("humanscore", "meanscore", "averagescore", "avgscore"),
        ),
        "label": (
            *("label", "labels", "goldlabel", "class", "isduplicate", "duplicate"),
            *("entailment", "entailmentlabel", "entailmentjudgment"),
        ),
        "anchor": ("anchor", "query", "question", "prompt", "title", "sent0"),
        "positive": ("positive", "pos", "answer", "response", "reply", "passage", "document", "doc", "context", "paragraph", "body"),
        "negative": ("negative", "neg", "hardnegative", "hardneg", "wrong", "distractor"),
        "sentence": ("sentence", "sentences", "text", "texts", "content", "line"),
    }
)
_TEXT_ROLES = ("s1", "s2", "anchor", "positive", "negative", "sentence")
_FACTS = frozenset(  # names of columns that say something about a row and are no part of it
    (
        *("", "id", "ids", "idx", "index", "rowid", "pairid", "qid", "pid", "docid", "guid", "uid", "uuid", "unnamed0", "number", "no"),
        *("source", "split", "genre", "topic", "category", "domain", "dataset", "lang", "language", "author", "user", "annotator"),
        *("date", "time", "timestamp", "year", "created", "updated", "url", "link", "file", "filename", "page"),
    )
)
_MOST_LABELS = 20  # different values of a column of labels
_LABEL_WORDS = 3
_NAME_WORDS = 4  # a longer name of a column is a sentence
_SHOWN_ROWS = 2


@dataclass(frozen=True, kw_only=True)
class OwnData:
    """What a file holds, as it was detected or as the user says."""

    file: FileName
    kind: RowKind
    columns: Mapping[str, str]  # one of the kind's columns → the column of the file; empty of a text file
    rows: int
    labels: Mapping[str, str] = field(default_factory=dict)  # label in the file → ours, where they differ
    scores: ScoreScale | None = None  # the range of the scores
    unread: tuple[str, ...] = ()  # columns of the file that are not read
    examples: tuple[Mapping[str, str], ...] = ()  # the first rows by column of the file

    @property
    def ours(self) -> dict[str, str]:
        """Return the column of the file by the name that the recipes for own rows have for it, where the two differ."""
        named = {ours: self.columns[role] for role, ours in self.kind.columns.items() if role in self.columns}
        return {ours: theirs for ours, theirs in named.items() if ours != theirs}

    @property
    def texts(self) -> list[str]:
        """Return the columns of the file that hold sentences."""
        return [self.columns[role] for role in self.kind.texts]

    @property
    def said(self) -> FileName:
        """Return the name by which the same rows are read without detection; without options where the columns have our names."""
        usual = all(theirs in {role, self.kind.columns[role]} for role, theirs in self.columns.items())
        return self.file.with_options(roles={} if usual else dict(self.columns), labels=dict(self.labels), scale=None, low_scores=False)

    @cached_property
    def scale(self) -> tuple[float, float] | None:
        """Return the lowest and highest score that there can be: as the user says, otherwise as the scores suggest."""
        if self.file.scale is not None or self.scores is None:
            return self.file.scale
        return self.scores.suggested

    def lines(self) -> list[str]:
        """Return what was found, the first rows, and how to correct it."""
        parts = [f"{role} = {name}" for role, name in self.columns.items()]
        about = [f"{self.rows} {self.kind.title}{': ' * bool(parts)}{', '.join(parts)}"]
        if self.labels:
            about.append("labels " + ", ".join(f"{theirs} = {ours}" for theirs, ours in self.labels.items()))
        if self.scores is not None and self.scale is not None:
            about.append(f"scores {self.scores} on a scale from {self.scale[0]:g} to {self.scale[1]:g}")
        if self.unread:
            about.append(f"not read: {', '.join(self.unread)}")
        found = [f"{self.file.text}: {'; '.join(about)}"]
        found += [f"  {'; '.join(f'{name}: {one_line(text)}' for name, text in row.items())}" for row in self.examples]
        if self.columns:
            found.append(f"  another reading: {correction(self.file, [*self.columns, *(['scale'] if self.scores is not None else [])])}")
        return found


def correction(file: FileName, options: Sequence[str]) -> str:
    """Return how a user says what the columns of FILE hold."""
    values = [f"{option}={'LOW-HIGH' if option == 'scale' else 'NAME'}" for option in options]
    return f"'{file.path}?{'&'.join(values)}'"


def own_data(name: str) -> OwnData:
    """Return what the file holds that a dataset's NAME means; what is ambiguous is refused with what to type."""
    file = parse_file_name(name)
    if file.path.is_file():
        status = file.path.stat()
        return _detected(name, status.st_size, status.st_mtime_ns)
    read_rows(file.path)  # says why it cannot be read
    raise MissingError(f"no file {str(file.path)!r}", hint="give the path of a file")


@lru_cache(maxsize=16)  # one command asks several times; a file is that of its size and time
def _detected(name: str, _size: int, _modified_ns: int) -> OwnData:
    file = parse_file_name(name)
    if file.path.suffix.lower() == TEXT_FILE:
        return _of_lines(file)
    found = _Found.of(file, read_rows(file.path, needed=()))
    kind, columns = found.decided()
    scores = found.range_of(columns["score"]) if kind == SCORED else None
    _refuse_other_scale(file, kind, scores)
    return OwnData(
        file=file,
        kind=kind,
        columns=columns,
        rows=found.rows.height,
        labels=found.meanings(columns["label"]) if kind == LABELLED else {},
        scores=scores,
        unread=tuple(name for name in found.names if name not in columns.values() and name != (file.source or "source")),
        examples=_examples(found.rows, list(columns.values())),
    )


def _refuse_other_scale(file: FileName, kind: RowKind, scores: ScoreScale | None) -> None:
    """Refuse a scale that was said of rows without scores, or that the scores contradict."""
    if kind != SCORED and (file.scale is not None or file.low_scores):
        raise UsageError(f"{file.text!r}: it holds {kind.title}, which have no scores", hint="remove the scale, or say ?score=NAME")
    if file.scale is None or scores is None:
        return
    low, high = file.scale
    if scores.low < low or scores.high > high:
        options = "-".join(f"{end:g}" for end in scores.suggested)
        raise UsageError(f"{file.path}: the scores are {scores}, but scale is {low:g}-{high:g}", hint=f"state their scale: scale={options}")
    if scores.high <= (low + high) / 2 and not file.low_scores:
        options = "-".join(f"{end:g}" for end in scores.suggested)
        hint = f"state their scale: scale={options}; where all of them are low on this scale: '{file.text}&{LOW_SCORES}'"
        raise UsageError(f"{file.path}: the scores are {scores}, but scale is {low:g}-{high:g}", hint=hint)


def _of_lines(file: FileName) -> OwnData:
    """Return what a text file holds: a sentence a line."""
    lines = [line for line in read_lines(file.path) if line.strip()]
    if not file.is_plain:
        raise UsageError(f"{file.text!r}: a text file has no columns", hint=f"give a file that ends in {', '.join(TABLES)}")
    tabs = {line.count("\t") for line in lines}
    if tabs != {0} and len(tabs) == 1:
        raise UsageError(
            f"{file.path}: each line has {min(tabs) + 1} fields with tabs between them, but a text file has a sentence a line",
            hint=f"name the columns in its first line and call it {file.path.with_suffix('.tsv')}",
        )
    return OwnData(file=file, kind=SENTENCES, columns={}, rows=len(lines), examples=tuple({"line": text} for text in lines[:_SHOWN_ROWS]))


def _examples(rows: pl.DataFrame, columns: Sequence[str]) -> tuple[Mapping[str, str], ...]:
    texts = rows.head(_SHOWN_ROWS).select(pl.col(name).cast(pl.String).fill_null("") for name in columns)
    return tuple(texts.iter_rows(named=True))


@dataclass(frozen=True, kw_only=True)
class _Found:
    """The columns of a file, by what they hold and how they are called."""

    file: FileName
    rows: pl.DataFrame
    names: tuple[str, ...]
    numbers: frozenset[str]  # columns of numbers alone
    words: frozenset[str]  # columns of few short values, such as labels
    texts: tuple[str, ...]  # columns of sentences, in their order
    named: Mapping[str, tuple[str, ...]]  # role → columns that are called so; those that the user says alone

    @classmethod
    def of(cls, file: FileName, rows: pl.DataFrame) -> "_Found":
        names = [name for name in rows.columns if name != PLACE]
        _refuse_missing_header(file, names)
        if rows.is_empty():
            raise MissingError(f"{file.path} has no rows below its header", hint="give one example a row")
        if unknown := next((name for name in (*file.roles.values(), *([file.source] if file.source else [])) if name not in names), None):
            guess = nearest_name(unknown, names)
            hint = f"did you mean {guess!r}?" if guess else f"name one of them: {', '.join(names)}"
            raise UsageError(f"{file.path} has no column {unknown!r}: found {', '.join(names)}", hint=hint)
        said = {name: role for role, name in file.roles.items()}
        roles = {name: [said[name]] if name in said else _roles_of(name, names) for name in names}
        named = {role: (file.roles[role],) if role in file.roles else tuple(n for n in names if role in roles[n]) for role in ROLES}
        plain = [name for name in names if not _is_other(rows.schema[name]) and rows[name].null_count() < rows.height]
        numbers = frozenset(name for name in plain if _is_of_numbers(rows, name))
        words = frozenset(name for name in plain if name not in numbers and _is_of_words(rows[name]))
        is_text = {name: bool({*roles[name]} & {*_TEXT_ROLES}) or (name not in words and not _is_fact(name)) for name in plain}
        texts = tuple(n for n in plain if n not in numbers and is_text[n] and not {*roles[n]} & {"score", "label"} and n != file.source)
        return cls(file=file, rows=rows, names=tuple(names), numbers=numbers, words=words, texts=texts, named=named)

    def decided(self) -> tuple[RowKind, dict[str, str]]:
        """Return the kind of the rows, and the column of each of its parts."""
        said = {*self.file.roles}
        if said and not any(said <= {*kind.columns} for kind in KINDS):
            raise UsageError(f"{self.file.text!r}: {', '.join(self.file.roles)} are not parts of one kind of rows", hint=_KINDS_HINT)
        if (negatives := self._called("negative")) and not said & {"s1", "s2", "score", "label", "sentence"}:
            return TRIPLETS, {**self._two("anchor", "positive", without=negatives), "negative": self._one("negative", negatives)}
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
        texts = self._two("anchor", "positive")
        self._refuse_open_columns(texts)
        return PAIRS, texts

    def _labelled(self, name: str) -> tuple[RowKind, dict[str, str]]:
        """Return pairs by a column that is called a label: of numbers it may be a score."""
        texts = self._two("s1", "s2")
        if name in self.numbers and not self.file.labels:
            values = self._values(name)
            if any(value != round(value) for value in values):
                return SCORED, {**texts, "score": name}
            if "label" not in self.file.roles or len(values) > len(NLI_LABELS):
                numbers = [f"{value:g}" for value in values]
                as_labels = f"{option('label', name)}&{option('labels', _meanings_to_type(numbers))}"
                why = f"{name!r} holds {', '.join(numbers[:6])}: scores, or numbers of labels"
                raise self._ambiguous(why, [option("score", name), *([as_labels] if len(numbers) <= len(NLI_LABELS) else [])])
        return LABELLED, {**texts, "label": name}

    def _refuse_open_columns(self, texts: Mapping[str, str]) -> None:
        """Refuse pairs with a further column of which it is open whether it is a score or a label."""
        others = [name for name in self.names if name in self.numbers | self.words and name not in texts.values() and not _is_fact(name)]
        others = [name for name in others if name != self.file.source and not _is_numbering(self.rows[name])]
        alone = "&".join(option(role, name) for role, name in texts.items())
        if name := next((name for name in others if self._is_nli(name)), None):
            raise self._ambiguous(f"{name!r} may be their label", [option("label", name), alone])
        if others:
            role = "score" if others[0] in self.numbers else "label"
            raise self._ambiguous(f"{others[0]!r} may be their {role}, or say nothing about them", [option(role, others[0]), alone])

    def _sentence(self) -> dict[str, str]:
        """Return the column of sentences; one that labels or scores them is not silently left out."""
        name = self._one("sentence", (self.file.roles["sentence"],) if "sentence" in self.file.roles else self.texts)
        third = next(iter((*self._called("label"), *self._called("score"))), None)
        if third is not None and "sentence" not in self.file.roles:
            if alone := next((role for role in ("s1", "s2") if name in self.named[role]), None):
                other = SCORED.columns["s2" if alone == "s1" else "s1"]
                raise MissingError(f"{self.file.path} has no column {other!r}: found {', '.join(self.names)}", hint=f"name it {other}")
            raise self._ambiguous(f"single texts with {third!r}: only pairs are trained on labels or scores", [option("sentence", name)])
        return {"sentence": name}

    def meanings(self, name: str) -> dict[str, str]:
        """Return which of the labels in a column are written otherwise than ours, and their meaning."""
        values = self.rows[name]
        if values.dtype.is_float():
            values = values.cast(pl.Int64, strict=False)
        there = sorted(set(values.cast(pl.String).str.strip_chars().drop_nulls().replace("", None).drop_nulls()))
        said = {**{label: label.casefold() for label in there if label.casefold() in NLI_LABELS}, **self.file.labels}
        if unknown := [label for label in there if label not in said and label != "-"]:
            fault = f"{self.file.path}: {name} holds {', '.join(map(repr, unknown[:6]))}, none of {', '.join(NLI_LABELS)}"
            options = f"{option('label', name)}&{option('labels', _meanings_to_type(there[: len(NLI_LABELS)]))}"
            raise UsageError(fault, hint=f"say what they mean, in this or another order: '{self.file.path}?{options}'")
        return {theirs: ours for theirs, ours in said.items() if theirs != ours and theirs in there}

    def range_of(self, name: str) -> ScoreScale | None:
        """Return the range of the scores in a column; None where some are not numbers, which their reader refuses with its place."""
        values = self.rows.select(number_of(name)).to_series().drop_nulls()
        return ScoreScale.of(values) if len(values) and values.is_finite().all() else None

    def _called(self, role: str) -> tuple[str, ...]:
        """Return the columns that are called as ROLE is."""
        return self.named[role]

    def _one(self, role: str, names: Sequence[str]) -> str:
        if len(names) > 1:
            raise self._ambiguous(f"{', '.join(map(repr, names))} may each be the {role}", [option(role, name) for name in names])
        return names[0]

    def _two(self, first: str, second: str, without: Sequence[str] = ()) -> dict[str, str]:
        """Return the columns of two texts: as they are said, or called, otherwise the only two in their order."""
        texts = [name for name in self.texts if name not in without]
        said = {role: self.file.roles[role] for role in (first, second) if role in self.file.roles}
        if len(said) == 2:
            return said
        rest = [name for name in texts if name not in said.values()]
        for roles in ((first, second), ("s1", "s2"), ("anchor", "positive")):
            called = [[name for name in self.named[role] if name in rest] for role in roles]
            found = {
                role: said.get(role) or self._one(role, own)
                for role, own in zip((first, second), called, strict=True)
                if own or role in said
            }
            if len(found) == 2:
                return found
        if len(rest) == 2 - len(said):
            return {role: said.get(role) or rest.pop(0) for role in (first, second)}
        if not texts:
            raise MissingError(f"{self.file.path} has no column of texts: found {', '.join(self.names)}", hint="give one example a row")
        what = f"{len(texts)} columns of texts ({', '.join(texts)})" if len(texts) > 1 else f"one column of texts, {texts[0]!r}"
        raise self._ambiguous(f"{what}, of which the names do not say what they hold", [self._example(texts)])

    def _example(self, texts: Sequence[str]) -> str:
        roles = ("anchor", "positive", "negative")[: len(texts)] if len(texts) != 1 else ("sentence",)
        return "&".join(option(role, name) for role, name in zip(roles, texts, strict=False))

    def _values(self, name: str) -> list[float]:
        return sorted(set(self.rows.select(number_of(name)).to_series().drop_nulls().to_list()))

    def _is_nli(self, name: str) -> bool:
        labels = self.rows[name].cast(pl.String).drop_nulls().str.strip_chars().str.to_lowercase()
        return name in self.words and {*labels} <= {*NLI_LABELS, "-"}

    def _ambiguous(self, why: str, options: Sequence[str]) -> UsageError:
        """Return the error for what may be read as each of OPTIONS says."""
        typed = self.file.text.partition("?")[2].split("&") if not self.file.is_plain else []
        names = []
        for one in options:
            keys = {part.partition("=")[0] for part in one.split("&")}
            names.append(f"'{self.file.path}?{'&'.join([*(part for part in typed if part.partition('=')[0] not in keys), one])}'")
        return UsageError(f"{self.file.path}: {why}", hint=f"write {' or '.join(names)}")


_KINDS_HINT = "; ".join(f"{kind.title}: {', '.join(kind.columns)}" for kind in KINDS)
_ORDER = {2: (NLI_LABELS[2], NLI_LABELS[0]), 3: NLI_LABELS}  # of two labels the first is the negative one, as 0 and 1


def _meanings_to_type(labels: Sequence[str]) -> str:
    """Return a meaning of each of LABELS as it is typed, to be put into another order where it is another one."""
    return ",".join(f"{theirs}:{ours}" for theirs, ours in zip(labels, _ORDER.get(len(labels), NLI_LABELS), strict=False))


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _roles_of(name: str, names: Sequence[str]) -> list[str]:
    """Return what a column can be by its name; SimCSE calls anchor and positive sent0 and sent1."""
    squeezed = _squeezed(name)
    if squeezed == "sent1" and "sent0" in map(_squeezed, names):
        return ["positive"]
    return [role for role, known in _NAMES.items() if squeezed in known]


def _is_fact(name: str) -> bool:
    return _squeezed(name) in _FACTS


def _is_other(dtype: pl.DataType) -> bool:
    """Return whether values of a type are neither texts nor numbers."""
    return dtype.is_nested() or dtype.is_temporal() or dtype.base_type() in {pl.Binary, pl.Object, pl.Boolean}


def _is_of_numbers(rows: pl.DataFrame, name: str) -> bool:
    numbers = rows.select(number_of(name)).to_series()
    texts = rows[name].cast(pl.String).str.strip_chars().replace("", None)
    return numbers.null_count() == texts.null_count() < rows.height


def _is_of_words(values: pl.Series) -> bool:
    """Return whether a column has few short values, most of them several times."""
    texts = values.cast(pl.String).str.strip_chars().replace("", None).drop_nulls()
    distinct = texts.unique()
    return len(distinct) <= min(_MOST_LABELS, len(texts) / 2) and max(len(text.split()) for text in distinct) <= _LABEL_WORDS


def _is_numbering(values: pl.Series) -> bool:
    """Return whether a column numbers the rows, from 0 or 1; of one or two rows it cannot be known."""
    numbers = pl.DataFrame({"n": values}).select(number_of("n")).to_series().drop_nulls()
    return len(numbers) > 2 and any(numbers.to_list() == [*range(start, start + len(numbers))] for start in (0, 1))


def _refuse_missing_header(file: FileName, names: Sequence[str]) -> None:
    """Refuse a first line that is a row, not names of columns."""
    if file.path.suffix.lower() not in {".csv", ".tsv"}:
        return
    is_known = any(_roles_of(name, names) for name in names)
    odd = [name for name in names if re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?", name) or (len(name.split()) > _NAME_WORDS and not is_known)]
    if odd:
        example = ("\t" if file.path.suffix.lower() == ".tsv" else ",").join(["sentence1", "sentence2", "score"])
        raise MissingError(
            f"{file.path}, line 1: {odd[0]!r} is not the name of a column", hint=f"name the columns first, such as {example}"
        )
