"""Which column of a user's own file holds what: by what the user says, by names and by values; what
may be either is refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.first_few import first_few
from embedlab.core.nearest import nearest_name
from embedlab.data.dataset import NLI_LABELS
from embedlab.data.file_name import ROLES, FileName, option
from embedlab.data.row_file import PLACE, number_of
from embedlab.data.row_kind import KINDS, LABELLED, PAIRS, SCORED, SENTENCES, TRIPLETS, RowKind
from embedlab.data.score_scale import ScoreScale

# Names without case and signs under which people have each part.
_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "s1": (
            "sentence1",
            "sentencea",
            "text1",
            "texta",
            "s1",
            "sent1",
            "question1",
            "q1",
            "premise",
            "left",
            "phrase1",
        ),
        "s2": (
            "sentence2",
            "sentenceb",
            "text2",
            "textb",
            "s2",
            "sent2",
            "question2",
            "q2",
            "hypothesis",
            "right",
            "phrase2",
        ),
        "score": (
            *(
                "score",
                "gold",
                "goldscore",
                "similarity",
                "similarityscore",
                "sim",
                "rating",
                "grade",
                "relatedness",
                "relatednessscore",
            ),
            *("humanscore", "meanscore", "averagescore", "avgscore"),
        ),
        "label": (
            *("label", "labels", "goldlabel", "class", "isduplicate", "duplicate"),
            *("entailment", "entailmentlabel", "entailmentjudgment"),
        ),
        "anchor": ("anchor", "query", "question", "prompt", "title", "sent0"),
        "positive": (
            "positive",
            "pos",
            "entailed",
            "answer",
            "response",
            "reply",
            "passage",
            "document",
            "doc",
            "context",
            "paragraph",
            "body",
        ),
        "negative": (
            "negative",
            "neg",
            "hardnegative",
            "hardneg",
            "wrong",
            "distractor",
            "contradicted",
        ),
        "sentence": ("sentence", "sentences", "text", "texts", "content", "line"),
    }
)
_TEXT_ROLES = ("s1", "s2", "anchor", "positive", "negative", "sentence")
_FACTS = frozenset(  # names of columns that say something about a row alone
    (
        *(
            "",
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
            "number",
            "no",
        ),
        *(
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
        ),
        *(
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
        ),
    )
)
_MOST_LABELS = 20  # different values of a column of labels
_LABEL_WORDS = 3
_NAME_WORDS = 4  # a longer name of a column is a sentence


@dataclass(frozen=True, kw_only=True)
class FoundColumns:
    """The columns of a file, by what they hold and how they are called."""

    file: FileName
    rows: pl.DataFrame
    names: tuple[str, ...]
    numbers: frozenset[str]  # columns of numbers alone
    words: frozenset[str]  # columns of few short values, such as labels
    texts: tuple[str, ...]  # columns of sentences, in their order
    named: Mapping[
        str, tuple[str, ...]
    ]  # role → columns that are called so; those that the user says alone

    @classmethod
    def of(cls, file: FileName, rows: pl.DataFrame) -> "FoundColumns":
        """Return the columns of ROWS, all that FILE has; one that the user names and that is not
        there is refused.
        """
        names = [name for name in rows.columns if name != PLACE]
        _refuse_missing_header(file, names)
        if rows.is_empty():
            raise MissingError(
                f"{file.path} has no rows below its header", hint="give one example a row"
            )
        stated = [*file.roles.values()]
        if unknown := next(
            (
                name
                for name in (*stated, *([file.source] if file.source else []))
                if name not in names
            ),
            None,
        ):
            guess = nearest_name(unknown, names)
            hint = f"did you mean {guess!r}?" if guess else f"name one of them: {', '.join(names)}"
            raise UsageError(
                f"{file.path} has no column {unknown!r}: found {first_few(names)}", hint=hint
            )
        if twice := next((name for name in stated if stated.count(name) > 1), None):
            raise UsageError(
                f"{file.text!r} names the column {twice!r} for two parts",
                hint=f"name one for each: {', '.join(names)}",
            )
        said = {name: role for role, name in file.roles.items()}
        roles = {name: [said[name]] if name in said else _roles_of(name, names) for name in names}
        named = {
            role: (file.roles[role],)
            if role in file.roles
            else tuple(n for n in names if role in roles[n])
            for role in ROLES
        }
        plain = [
            name
            for name in names
            if not _is_other(rows.schema[name]) and rows[name].null_count() < rows.height
        ]
        numbers = frozenset(name for name in plain if _is_of_numbers(rows, name))
        words = frozenset(
            name for name in plain if name not in numbers and _is_of_words(rows[name])
        )
        is_text = {
            name: bool({*roles[name]} & {*_TEXT_ROLES})
            or (name not in words and not _is_fact(name))
            for name in plain
        }
        texts = tuple(
            n
            for n in plain
            if n not in numbers
            and is_text[n]
            and not {*roles[n]} & {"score", "label"}
            and n != file.source
        )
        if (
            len(texts) > 2
        ):  # of three columns or more, one without any blank holds names of rows, unless it is called a text
            texts = tuple(name for name in texts if roles[name] or _has_blanks(rows[name]))
        return cls(
            file=file,
            rows=rows,
            names=tuple(names),
            numbers=numbers,
            words=words,
            texts=texts,
            named=named,
        )

    def decided(self) -> tuple[RowKind, dict[str, str]]:
        """Return the kind of the rows, and the column of each of its parts; parts that no kind has
        together are a UsageError.
        """
        said = {*self.file.roles}
        if said and not any(said <= {*kind.columns} for kind in KINDS):
            raise UsageError(
                f"{self.file.text!r}: {', '.join(self.file.roles)} are not parts of one kind "
                f"of rows",
                hint=_KINDS_HINT,
            )
        if (negatives := self._called("negative")) and not said & {
            "s1",
            "s2",
            "score",
            "label",
            "sentence",
        }:
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
                as_labels = (
                    f"{option('label', name)}&{option('labels', _meanings_to_type(numbers))}"
                )
                why = f"{name!r} holds {', '.join(numbers[:6])}: scores, or numbers of labels"
                raise self._ambiguous(
                    why,
                    [
                        option("score", name),
                        *([as_labels] if len(numbers) <= len(NLI_LABELS) else []),
                    ],
                )
        return LABELLED, {**texts, "label": name}

    def _refuse_open_columns(self, texts: Mapping[str, str]) -> None:
        """Refuse pairs with a further column of which it is open whether it is a score or a
        label.
        """
        others = [
            name
            for name in self.names
            if name in self.numbers | self.words
            and name not in texts.values()
            and not _is_fact(name)
        ]
        others = [
            name
            for name in others
            if name != self.file.source and not _is_numbering(self.rows[name])
        ]
        alone = "&".join(option(role, name) for role, name in texts.items())
        if name := next((name for name in others if self._is_nli(name)), None):
            raise self._ambiguous(f"{name!r} may be their label", [option("label", name), alone])
        if others:
            role = "score" if others[0] in self.numbers else "label"
            raise self._ambiguous(
                f"{others[0]!r} may be their {role}, or say nothing about them",
                [option(role, others[0]), alone],
            )

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
            if alone := next((role for role in ("s1", "s2") if name in self.named[role]), None):
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
        values = self.rows[name]
        if values.dtype.is_float():
            values = values.cast(pl.Int64, strict=False)
        there = sorted(
            set(
                values.cast(pl.String).str.strip_chars().drop_nulls().replace("", None).drop_nulls()
            )
        )
        said = {
            **{label: label.casefold() for label in there if label.casefold() in NLI_LABELS},
            **self.file.labels,
        }
        if unknown := [label for label in there if label not in said and label != "-"]:
            fault = (
                f"{self.file.path}: {name} holds {', '.join(map(repr, unknown[:6]))}, none "
                f"of {', '.join(NLI_LABELS)}"
            )
            options = f"{option('label', name)}&{option('labels', _meanings_to_type(there[: len(NLI_LABELS)]))}"
            raise UsageError(
                fault,
                hint=f"say what they mean, in this or another order: '{self.file.path}?{options}'",
            )
        return {theirs: ours for theirs, ours in said.items() if theirs != ours and theirs in there}

    def range_of(self, name: str) -> ScoreScale | None:
        """Return the range of the scores in a column; None where some are not numbers, which their
        reader refuses with its place.
        """
        values = self.rows.select(number_of(name)).to_series().drop_nulls()
        return ScoreScale.of(values) if len(values) and values.is_finite().all() else None

    def _called(self, role: str) -> tuple[str, ...]:
        """Return the columns that are called as ROLE is."""
        return self.named[role]

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
            called = [[name for name in self.named[role] if name in rest] for role in roles]
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
        return sorted(set(self.rows.select(number_of(name)).to_series().drop_nulls().to_list()))

    def _is_nli(self, name: str) -> bool:
        labels = self.rows[name].cast(pl.String).drop_nulls().str.strip_chars().str.to_lowercase()
        return name in self.words and {*labels} <= {*NLI_LABELS, "-"}

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
_ORDER = {
    2: (NLI_LABELS[2], NLI_LABELS[0]),
    3: NLI_LABELS,
}  # of two labels the first is the negative one, as 0 and 1


def _meanings_to_type(labels: Sequence[str]) -> str:
    """Return a meaning of each of LABELS as it is typed, to be put into another order where it is
    another one.
    """
    return ",".join(
        f"{theirs}:{ours}"
        for theirs, ours in zip(labels, _ORDER.get(len(labels), NLI_LABELS), strict=False)
    )


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
    return (
        dtype.is_nested()
        or dtype.is_temporal()
        or dtype.base_type() in {pl.Binary, pl.Object, pl.Boolean}
    )


def _is_of_numbers(rows: pl.DataFrame, name: str) -> bool:
    numbers = rows.select(number_of(name)).to_series()
    texts = rows[name].cast(pl.String).str.strip_chars().replace("", None)
    return numbers.null_count() == texts.null_count() < rows.height


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
    is_known = any(_roles_of(name, names) for name in names)
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
