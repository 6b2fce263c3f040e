r"""The filter language of the command line and the dashboard: one line of terms that all must hold.

dice>0.7        a number: gold, dice, gap, pair, a model's name, error(MODEL), with > >= < <= = !=
0.2<dice<0.4    a range, with < <= > >=
"a name"<0.4    a field whose name holds an operator, a blank or a colon, as in
"bert@pooling=mean">0.5
right:A         where the dashboard compares two models: A, B, both or neither is right; numbers A,
B, delta_rank, delta_error
dataset:sts12   also source:headlines,MSR* — a comma means any of them, * any letters;
number:"other numbers" — in quotes what has a blank or a comma in it
tag:negation    a difference between the sentences: negation, number, length; see analysis/tags.py
negation:one    a property: question, number, trained … and words>9, length<2; see
outcomes/properties
trained:*       a pair that one of the models was trained on; trained:*near* one that near was
note:*          a pair with a note; note:*typo* one whose note says so
word "a phrase" in either sentence, whatever the case
s1:word         in the first sentence alone, s2:"a phrase" in the second
/regex/         matches either sentence, whatever the case
@NAME           a selection that was named: `embedlab pairs --where EXPR --name NAME`
-term           does not hold
and             may separate terms and changes nothing
or              separates groups of terms, of which one must hold: dice<0.2 gold>4 or dice>0.8
gold<1

A field may be written as a table's header says it: Dice, and error where there is one model.

A comparison with a score that a pair does not have does not hold; its negation does.
"""

import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from embedlab.analysis.named_selections import named_selections
from embedlab.analysis.tags import TAGS, has_any
from embedlab.core.errors import UnknownFieldError, UsageError
from embedlab.core.nearest import nearest_name

NOTE = "note"  # what users write on pairs
NUMBER = "pair"  # the row of a pair or item in its dataset
OF_PAIR = (NOTE, "trained")  # that a table has only where there is one
NAME_FIELDS = ("dataset", "source", "right", *OF_PAIR)
TAG = "tag"
TEXT_FIELDS = ("sentence1", "sentence2")
_NO_NUMBERS = {*TEXT_FIELDS, "pair_key"}

_EXAMPLES = {TAG: "tag:negation", "note": "note:*typo*", "trained": "trained:*near*"}
_SENTENCES = {"s1": "sentence1", "s2": "sentence2"} | {name: name for name in TEXT_FIELDS}

_SELECTION_NAME = re.compile(r"[A-Za-z][\w.-]{0,39}")
LONGEST = 4_000  # characters of a filter: nobody types more, and long ones take minutes
OPERATOR = r">=|<=|!=|>|<|="
_FIELD = rf'"[^"]+"|(?:(?!{OPERATOR})\S)+'
_TERM = re.compile(
    rf"""(?P<negated>-(?![\d.]+(?:e[-+]?\d+)?\s*[<>]))? (?:
        (?P<lower>[-+]?[\d.]+(?:e[-+]?\d+)?) \s* (?P<from>[<>]=?) \s*
            (?P<middle>{_FIELD}) \s* (?P<to>[<>]=?) \s* (?P<upper>\S+)
      | "(?P<phrase>[^"]*)" (?=\s|$)
      | /(?P<regex>(?:\\.|[^/\\])+)/ (?=\s|$)
      | @(?P<selection>[\w.-]+) (?=\s|$)
      | (?P<field>"[^"]+"(?={OPERATOR}) | (?!["/])(?:(?!{OPERATOR})\S)+) \s*
            (?P<operator>{OPERATOR}) \s* (?P<number>\S*)
      | (?P<open>["/].*)
      | (?P<name>[\w-]+) : (?P<value>"[^"]*"(?=\s|$) | \S*)
      | (?P<stray>{OPERATOR})
      | (?P<word>\S+)
    )""",
    re.VERBOSE,
)
_COMPARISONS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
}
_TURNED = str.maketrans("<>", "><")
_QUOTED = re.compile('"([^"]*)"')


def _error(
    match: re.Match[str],
    message: str,
    *,
    group: str | int = 0,
    hint: str = "",
    kind: Callable[..., UsageError] = UsageError,
) -> UsageError:
    """Return the error of this KIND that points at the GROUP of a term."""
    reason = f"column {match.start(group) + 1}: {message}"
    return kind(f"filter {match.string!r}, {reason}", hint=hint, reason=reason)


@dataclass(frozen=True, kw_only=True)
class _Term:
    """One term of a filter on a table."""

    match: re.Match[str]
    columns: Collection[str]
    names: Collection[str]  # of the columns those that hold names, not numbers

    def compiled(self) -> pl.Expr:
        """Return the rows for which this term holds; never null."""
        condition = self._positive().fill_null(value=False)
        return ~condition if self.match["negated"] else condition

    def _positive(self) -> pl.Expr:
        match, kind = self.match, self.match.lastgroup or ""
        text = match[kind]
        match kind:
            case "upper":
                return self._range()
            case "number":
                return self._comparison("field", match["operator"], "number")
            case "selection":
                return self._selection(text)
            case "value":
                return self._named(match["name"], text)
            case "regex":
                return self._regex(text)
            case "open":
                hint = 'write a literal like this: "a/b"'
                raise _error(match, f"{text[0]!r} is never closed", hint=hint)
            case "stray":
                hint = "write for example dice>0.7"
                raise _error(match, f"{text!r} has no name before it", hint=hint)
        return self._phrase(text)

    def _range(self) -> pl.Expr:
        start, end, middle = self.match.group("from", "to", "middle")
        if start[0] != end[0]:
            hint = f"write for example 0.2<{middle}<0.4"
            message = f"{self.match[0]!r} is not a range"
            raise _error(self.match, message, group="middle", hint=hint)
        above = self._comparison("middle", start.translate(_TURNED), "lower")
        return above & self._comparison("middle", end, "upper")

    def _comparison(self, field_group: str, sign: str, number_group: str) -> pl.Expr:
        field, number = self.match.group(field_group, number_group)
        negation, words = "-" * (sign == "!="), number.strip("='\"") or "VALUE"
        advice = f"write {negation}{field}:{words}, in quotes what has a blank"
        name = self._column(field_group, advice, of_numbers=True)
        try:
            value = float(number)
        except ValueError:
            hint = f"write for example {field}{sign}0.7"
            message = f"{number!r} is not a number"
            raise _error(self.match, message, group=number_group, hint=hint) from None
        condition: pl.Expr = _COMPARISONS[sign](pl.col(name), value)
        return condition

    def _selection(self, name: str) -> pl.Expr:
        saved = named_selections()
        if name not in saved:
            hint = (
                f'named: {", ".join(saved) or "none"}; to search for the text, quote it: "@{name}"'
            )
            message = f"no selection is called {name!r}"
            raise _error(self.match, message, group="selection", hint=hint)
        return compile_expression(saved[name], self.columns, names=self.names)

    def _named(self, field: str, value: str) -> pl.Expr:
        quoted = _QUOTED.fullmatch(value)
        if field in _SENTENCES and value and (quoted or value[0] != '"'):
            return self._phrase(quoted[1] if quoted else value, [_SENTENCES[field]])
        advice = (
            f'write for example {field}>0.7; to search for the text, quote it: "{self.match[0]}"'
        )
        name = self._column("name", advice, of_numbers=False)
        patterns = [quoted[1]] if quoted and quoted[1] else [*filter(None, value.split(","))]
        if not patterns:
            example = _EXAMPLES.get(name, f"{field}:headlines,MSR*")
            hint = f"write for example {example}"
            raise _error(self.match, f"{field!r} names nothing", hint=hint)
        if name == TAG:
            if unknown := next((tag for tag in patterns if tag.lower() not in TAGS), None):
                hint, kind = f"known: {', '.join(TAGS)}", UnknownFieldError
                message = f"unknown tag {unknown!r}"
                raise _error(self.match, message, group="value", hint=hint, kind=kind)
            return has_any([tag.lower() for tag in patterns])
        alternatives = "|".join(pl.escape_regex(each).replace(r"\*", ".*") for each in patterns)
        return pl.col(name).str.contains(f"(?i)^(?:{alternatives})$")

    def _phrase(self, phrase: str, fields: Sequence[str] = TEXT_FIELDS) -> pl.Expr:
        if not phrase.isascii():
            return self._regex(pl.escape_regex(phrase), fields)
        # Four times as fast as a case-insensitive regular expression.
        return pl.any_horizontal(
            pl.col(column).str.contains_any([phrase], ascii_case_insensitive=True)
            for column in fields
        )

    def _regex(self, pattern: str, fields: Sequence[str] = TEXT_FIELDS) -> pl.Expr:
        anycase = f"(?i){pattern}"
        try:
            pl.Series([""]).str.contains(anycase)
        except pl.exceptions.ComputeError as error:
            reason = re.search(r"^(?:regex )?error: (?!regex parse)(.+)$", str(error), re.MULTILINE)
            message = f"bad regular expression{f': {reason[1]}' if reason else ''}"
            hint = f'correct it; to search for the text, quote it: "{pattern}"'
            raise _error(self.match, message, group="regex", hint=hint) from error
        return pl.any_horizontal(pl.col(column).str.contains(anycase) for column in fields)

    def _column(self, group: str, advice: str, *, of_numbers: bool) -> str:
        """Return which column of numbers, or of words, the field in a GROUP of this term is; ADVICE
        is the hint where it is one of the other kind.
        """
        typed = self.match[group]
        field = typed.strip('"')
        no_numbers = {*_NO_NUMBERS, *self.names}
        names = [column for column in self.columns if column not in no_numbers]
        others, kinds = (
            [*(name for name in self.names if name in self.columns), TAG],
            "words, not numbers",
        )
        if not of_numbers:
            names, others, kinds = others, names, "numbers, not words"
        if (name := _column(field, names)) is not None:
            return name
        if _column(field, others) is not None:
            raise _error(self.match, f"{typed!r} holds {kinds}", group=group, hint=advice)
        guess = nearest_name(typed, names)
        offer = f"did you mean {guess!r}? " if guess else ""
        hint = (
            f'{offer}known: {", ".join(names)}; to search for the text, quote it: "{self.match[0]}"'
        )
        kind = partial(UnknownFieldError, field=typed)
        raise _error(self.match, f"unknown field {typed!r}", group=group, hint=hint, kind=kind)


def _column(field: str, columns: Collection[str]) -> str | None:
    """The column that FIELD names, written as in the table or as in its header; None if there is
    none or more than one.
    """
    if field in columns:
        return field
    # as in the headers of two models face to face
    column_name = field.lower().replace("δ", "delta_")
    fitting = [name for name in columns if name.lower() == column_name]
    if not fitting:  # the title of its model: the last part of a path, the name of an object
        fitting = [name for name in columns if _title(name) == column_name]
    if field.lower() == "error":
        fitting = [name for name in columns if name.startswith("error(")]
    return fitting[0] if len(fitting) == 1 else None


def _title(name: str) -> str:
    """The name of a column with the title of the model in it."""
    inner = name.removeprefix("error(").removesuffix(")") if name.startswith("error(") else name
    title = inner.removeprefix("live:").rstrip("/").rpartition("/")[2]
    return name.replace(inner, title).lower()


def compile_expression(
    text: str, columns: Collection[str], *, names: Collection[str] = NAME_FIELDS
) -> pl.Expr:
    """Return the condition of the filter TEXT on a table with COLUMNS, of which NAMES hold no
    numbers; an empty text matches every row.

    An error in TEXT is a UsageError with its column.
    """
    alternatives = []
    for group in _groups(text):
        terms = [_Term(match=match, columns=columns, names=names).compiled() for match in group]
        alternatives.append(pl.all_horizontal(terms) if terms else pl.lit(value=True))
    return pl.any_horizontal(alternatives)


def meanings(text: str) -> Mapping[str, str]:
    """Return the expressions of the named selections that a filter reads, by name."""
    names = _selections_in(text)
    selections = named_selections() if names else {}
    return {name: selections[name] for name in names if name in selections}


def picks_by_hand(text: str) -> bool:
    """Return whether a filter, or a named selection that it reads, names single pairs by their
    numbers: who does so saw them.
    """
    texts = [text, *meanings(text).values()]
    return any(
        (match["field"] or "").strip('"') == NUMBER and match["operator"] in {"=", "!="}
        for filter_text in texts
        for match in _matches(filter_text)
    )


def refuse_unnamable(name: str, text: str) -> None:
    """Refuse a NAME that cannot be written as @NAME, and a filter that picks nothing or reads
    another stored selection.
    """
    if not _SELECTION_NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a selection",
            hint="a letter, then letters, digits, -, _ and ., 40 at most",
        )
    if not text.strip():
        raise UsageError(
            f"--name {name!r} needs items to store",
            hint="write --where EXPRESSION beside --name",
        )
    if inner_selections := _selections_in(text):
        raise UsageError(
            f"{text!r} holds @{inner_selections[0]}, another stored selection",
            hint="write out its expression",
        )


def _selections_in(text: str) -> list[str]:
    return [match["selection"] for match in _matches(text) if match["selection"]]


def with_terms(text: str, terms: Sequence[str]) -> str:
    """Return the filter TEXT with more TERMS that must hold too: beside those of each group that
    "or" separates.
    """
    groups = [[match[0].strip() for match in group] for group in _groups(text)]
    return " or ".join(" ".join(dict.fromkeys([*group, *terms])) for group in groups)


def _groups(text: str) -> list[list[re.Match[str]]]:
    """Return the terms of TEXT in the groups that the bare word "or" separates, without "and"; a
    joining word beside no term is refused.
    """
    groups: list[list[re.Match[str]]] = [[]]
    joining: re.Match[str] | None = None  # the last word, if it joins terms
    for match in _matches(text):
        word = (match["word"] or "").lower()
        if word not in {"and", "or"} or match["negated"]:
            groups[-1].append(match)
            joining = None
            continue
        if joining is not None or not groups[-1]:
            raise _operator_error(match)
        joining = match
        if word == "or":
            groups.append([])
    if joining is not None:
        raise _operator_error(joining)
    return groups


def _operator_error(match: re.Match[str]) -> UsageError:
    hint = f'to search for the text, quote it: "{match[0]}"'
    return _error(match, f"{match[0]!r} joins no terms", hint=hint)


def _matches(text: str) -> Iterator[re.Match[str]]:
    if len(text) > LONGEST:
        raise UsageError(
            f"a filter of {len(text):,} characters is too long",
            hint=f"{LONGEST:,} are the limit; or filter by a column of your file",
        )
    position = len(text) - len(text.lstrip())
    while match := _TERM.match(text, position):
        yield match
        position = match.end() + len(text[match.end() :]) - len(text[match.end() :].lstrip())
