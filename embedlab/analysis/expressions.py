r"""The filter language of the command line and the dashboard: one line of terms that all must hold.

dice>0.7        a number: gold, dice, gap, pair, a model's name, error(MODEL), with > >= < <= = !=
dataset:sts12   also source:headlines,MSR* — a comma means any of them, * any letters
word "a phrase" in either sentence, whatever the case
/regex/         matches either sentence, whatever the case
-term           does not hold
and             may separate terms and changes nothing

A comparison with a score that a pair does not have does not hold; its negation does.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import UsageError
from embedlab.core.nearest import nearest_name

NAME_FIELDS = ("dataset", "source")
TEXT_FIELDS = ("sentence1", "sentence2")
_NO_NUMBERS = {*NAME_FIELDS, *TEXT_FIELDS, "pair_key"}

_OPERATOR = r">=|<=|!=|>|<|="
_TERM = re.compile(
    rf"""(?P<negated>-)? (?:
        "(?P<phrase>[^"]*)" (?=\s|$)
      | /(?P<regex>(?:\\.|[^/\\])+)/ (?=\s|$)
      | (?P<open>["/].*)
      | (?P<field>(?:(?!{_OPERATOR})\S)+) \s* (?P<operator>{_OPERATOR}) \s* (?P<number>\S*)
      | (?P<name>[\w-]+) : (?P<patterns>\S*)
      | (?P<stray>{_OPERATOR})
      | (?P<word>\S+)
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, kw_only=True)
class _Term:
    """One term of a filter and its position."""

    match: re.Match[str]
    line: str
    columns: Collection[str]

    def error(self, what: str, *, group: str | int = 0, hint: str = "") -> UsageError:
        """Return the error that points at the GROUP of this term."""
        return UsageError(f"filter {self.line!r}, column {self.match.start(group) + 1}: {what}", hint=hint)

    def compiled(self) -> pl.Expr:
        """Return the rows for which this term holds; never null."""
        holds = self._positive().fill_null(value=False)
        return ~holds if self.match["negated"] else holds

    def _positive(self) -> pl.Expr:
        match = self.match
        if match["open"] or match["stray"]:
            what = f"{match['open'][0]!r} is never closed" if match["open"] else f"{match['stray']!r} has no name before it"
            raise self.error(what, hint='write a literal like this: "a/b"' if match["open"] else "write for example dice>0.7")
        if match["operator"]:
            return self._comparison()
        if match["name"]:
            return self._names()
        if match["regex"]:
            return self._regex(match["regex"])
        return self._phrase(match["phrase"] if match["phrase"] is not None else match["word"])

    def _comparison(self) -> pl.Expr:
        field, operator, number = self.match.group("field", "operator", "number")
        known = [column for column in self.columns if column not in _NO_NUMBERS]
        if field not in known:
            raise self._unknown(field, known, group="field")
        try:
            value = float(number)
        except ValueError:
            raise self.error(f"{number!r} is not a number", group="number", hint=f"write for example {field}{operator}0.7") from None
        column = pl.col(field)
        return {
            ">": column > value,
            ">=": column >= value,
            "<": column < value,
            "<=": column <= value,
            "=": column == value,
            "!=": column != value,
        }[operator]

    def _names(self) -> pl.Expr:
        field, patterns = self.match.group("name", "patterns")
        known = [column for column in NAME_FIELDS if column in self.columns]
        if field not in known:
            raise self._unknown(field, known, group="name")
        wanted = [pattern for pattern in patterns.split(",") if pattern]
        if not wanted:
            raise self.error(f"{field!r} names nothing", hint=f"write for example {field}:headlines,MSR*")
        alternatives = "|".join(pl.escape_regex(pattern).replace(r"\*", ".*") for pattern in wanted)
        return pl.col(field).str.contains(f"(?i)^(?:{alternatives})$")

    def _phrase(self, phrase: str) -> pl.Expr:
        if not phrase.isascii():
            return self._regex(pl.escape_regex(phrase))
        # Four times as fast as a case-insensitive regular expression.
        return pl.any_horizontal(pl.col(column).str.contains_any([phrase], ascii_case_insensitive=True) for column in TEXT_FIELDS)

    def _regex(self, pattern: str) -> pl.Expr:
        pattern = f"(?i){pattern}"
        try:
            pl.Series([""]).str.contains(pattern)
        except pl.exceptions.ComputeError as error:
            reason = re.search(r"^(?:regex )?error: (?!regex parse)(.+)$", str(error), re.MULTILINE)
            raise self.error(f"bad regular expression{f': {reason[1]}' if reason else ''}", group="regex") from error
        return pl.any_horizontal(pl.col(column).str.contains(pattern) for column in TEXT_FIELDS)

    def _unknown(self, field: str, known: Collection[str], group: str) -> UsageError:
        guess = nearest_name(field, known)
        hint = f"did you mean {guess!r}? To" if guess else f"known: {', '.join(known)}; to"
        return self.error(f"unknown field {field!r}", group=group, hint=f'{hint} search for the text, quote it: "{self.match[0]}"')


def compile_expression(text: str, columns: Collection[str]) -> pl.Expr:
    """Return the condition of the filter TEXT on a table with COLUMNS; an empty text matches every row.

    An error in TEXT is a UsageError with its column.
    """
    terms = compile_terms(text, columns)
    return pl.all_horizontal(terms) if terms else pl.lit(value=True)


def compile_terms(text: str, columns: Collection[str]) -> list[pl.Expr]:
    """Return the conditions of the filter TEXT, the numbers first: they are the cheapest."""
    terms = _without_joining_words([_Term(match=match, line=text, columns=columns) for match in _matches(text)])
    return [term.compiled() for term in sorted(terms, key=lambda term: term.match["operator"] is None)]


def rows_that_hold(terms: Sequence[pl.Expr], table: pl.DataFrame) -> NDArray[np.bool_]:
    """Return which rows fulfil all TERMS; a term is evaluated only on the rows left by those before it, unless these are most of all."""
    found = np.ones(table.height, dtype=bool)
    for term in terms:
        if 2 * np.count_nonzero(found) > len(found):
            found = found & table.select(term).to_series().to_numpy()
        else:
            rows = np.flatnonzero(found)
            found[rows] = table.select(term.meta.root_names())[rows].select(term).to_series().to_numpy()
    return found


def _without_joining_words(terms: list[_Term]) -> list[_Term]:
    """Return TERMS without the bare word "and" between two of them; "or", and an "and" that joins nothing, are refused."""
    remaining = []
    for at, term in enumerate(terms):
        word = term.match[0]
        is_joining = term.match["word"] is not None and word.lower() in {"and", "or"}
        if is_joining and (word.lower() == "or" or at in {0, len(terms) - 1}):
            raise term.error(f"{word!r} joins no terms", hint=f'terms are joined by AND; to search for the text, quote it: "{word}"')
        if not is_joining:
            remaining.append(term)
    return remaining


def _matches(text: str) -> Iterator[re.Match[str]]:
    position = len(text) - len(text.lstrip())
    while match := _TERM.match(text, position):
        yield match
        position = match.end() + len(text[match.end() :]) - len(text[match.end() :].lstrip())
