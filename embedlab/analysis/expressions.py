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
      | (?P<named>"[^"]+") (?P<operates>{OPERATOR}) \s* (?P<limit>\S*)
      | "(?P<phrase>[^"]*)" (?=\s|$)
      | /(?P<regex>(?:\\.|[^/\\])+)/ (?=\s|$)
      | @(?P<selection>[\w.-]+) (?=\s|$)
      | (?P<open>["/].*)
      | (?P<field>(?:(?!{OPERATOR})\S)+) \s* (?P<operator>{OPERATOR}) \s* (?P<number>\S*)
      | (?P<sentence>s1|s2|sentence1|sentence2) : (?: "(?P<quoted>[^"]*)" (?=\s|$) | (?P<part>[^\s"]\S*) )
      | (?P<name>[\w-]+) : (?: "(?P<value>[^"]+)" (?=\s|$) | (?P<patterns>\S*) )
      | (?P<stray>{OPERATOR})
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
    names: Collection[str] = NAME_FIELDS  # of the columns those that hold names, not numbers

    def error(
        self,
        message: str,
        *,
        group: str | int = 0,
        hint: str = "",
        kind: Callable[..., UsageError] = UsageError,
    ) -> UsageError:
        """Return the error of this KIND that points at the GROUP of this term."""
        reason = f"column {self.match.start(group) + 1}: {message}"
        return kind(f"filter {self.line!r}, {reason}", hint=hint, reason=reason)

    @property
    def _name_fields(self) -> list[str]:
        return [*(column for column in self.names if column in self.columns), TAG]

    @property
    def _number_fields(self) -> list[str]:
        no_numbers = {*_NO_NUMBERS, *self.names}
        return [column for column in self.columns if column not in no_numbers]

    def compiled(self) -> pl.Expr:
        """Return the rows for which this term holds; never null."""
        condition = self._positive().fill_null(value=False)
        return ~condition if self.match["negated"] else condition

    def _positive(self) -> pl.Expr:
        match = self.match
        if match["open"] or match["stray"]:
            message = (
                f"{match['open'][0]!r} is never closed"
                if match["open"]
                else f"{match['stray']!r} has no name before it"
            )
            raise self.error(
                message,
                hint='write a literal like this: "a/b"'
                if match["open"]
                else "write for example dice>0.7",
            )
        if match["middle"]:
            return self._range()
        if match["named"]:
            field, operator, number = match.group("named", "operates", "limit")
            return self._comparison(field, operator, number, "named", "limit")
        if match["operator"]:
            return self._comparison(*match.group("field", "operator", "number"))
        if match["selection"]:
            return self._selection(match["selection"])
        if match["sentence"]:
            text = match["quoted"] if match["quoted"] is not None else match["part"]
            return self._phrase(text, [_SENTENCES[match["sentence"]]])
        if match["name"]:
            return self._names()
        if match["regex"]:
            return self._regex(match["regex"])
        return self._phrase(match["phrase"] if match["phrase"] is not None else match["word"])

    @property
    def is_numeric(self) -> bool:
        """Whether the term compares a number, which is cheaper than a search in texts."""
        return bool(self.match["operator"] or self.match["named"] or self.match["middle"])

    def _range(self) -> pl.Expr:
        lower, start, middle, end, upper = self.match.group(
            "lower", "from", "middle", "to", "upper"
        )
        if start[0] != end[0]:
            raise self.error(
                f"{self.match[0]!r} is not a range",
                group="middle",
                hint=f"write for example 0.2<{middle}<0.4",
            )
        lower_operator = start.replace("<", "\0").replace(">", "<").replace("\0", ">")
        return self._comparison(
            middle, lower_operator, lower, "middle", "lower"
        ) & self._comparison(middle, end, upper, "middle", "upper")

    def _comparison(
        self,
        field: str,
        operator: str,
        number: str,
        field_group: str = "field",
        number_group: str = "number",
    ) -> pl.Expr:
        name = _column(field.strip('"'), self._number_fields)
        if name is None and _column(field.strip('"'), self._name_fields) is not None:
            negation, words = "-" * (operator == "!="), number.strip("='\"") or "VALUE"
            raise self.error(
                f"{field!r} holds words, not numbers",
                group=field_group,
                hint=f"write {negation}{field}:{words}, in quotes what has a blank",
            )
        if name is None:
            raise self._unknown_field_error(field, self._number_fields, group=field_group)
        try:
            value = float(number)
        except ValueError:
            raise self.error(
                f"{number!r} is not a number",
                group=number_group,
                hint=f"write for example {field}{operator}0.7",
            ) from None
        column = pl.col(name)
        return {
            ">": column > value,
            ">=": column >= value,
            "<": column < value,
            "<=": column <= value,
            "=": column == value,
            "!=": column != value,
        }[operator]

    def _selection(self, name: str) -> pl.Expr:
        saved = named_selections()
        if name not in saved:
            hint = (
                f'named: {", ".join(saved) or "none"}; to search for the text, quote it: "@{name}"'
            )
            raise self.error(f"no selection is called {name!r}", group="selection", hint=hint)
        return compile_expression(saved[name], self.columns, names=self.names)

    def _names(self) -> pl.Expr:
        field, value, patterns = self.match.group("name", "value", "patterns")
        name = _column(field, self._name_fields)
        if name is None and _column(field, self._number_fields) is not None:
            raise self.error(
                f"{field!r} holds numbers, not words",
                group="name",
                hint=f'write for example {field}>0.7; to search for the text, quote it: "{self.match[0]}"',
            )
        if name is None:
            raise self._unknown_field_error(field, self._name_fields, group="name")
        wanted_patterns = [value] if value else [each for each in patterns.split(",") if each]
        if not wanted_patterns:
            raise self.error(
                f"{field!r} names nothing",
                hint=f"write for example {_EXAMPLES.get(name, f'{field}:headlines,MSR*')}",
            )
        if name == TAG:
            if unknown := next((tag for tag in wanted_patterns if tag.lower() not in TAGS), None):
                raise self.error(
                    f"unknown tag {unknown!r}",
                    group="patterns",
                    hint=f"known: {', '.join(TAGS)}",
                    kind=UnknownFieldError,
                )
            return has_any([tag.lower() for tag in wanted_patterns])
        alternatives = "|".join(
            pl.escape_regex(pattern).replace(r"\*", ".*") for pattern in wanted_patterns
        )
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
            hint = f'correct it; to search for the text, quote it: "{pattern}"'
            raise self.error(
                f"bad regular expression{f': {reason[1]}' if reason else ''}",
                group="regex",
                hint=hint,
            ) from error
        return pl.any_horizontal(pl.col(column).str.contains(anycase) for column in fields)

    def _unknown_field_error(self, field: str, names: Collection[str], group: str) -> UsageError:
        guess = nearest_name(field, names)
        offer = f"did you mean {guess!r}? " if guess else ""
        hint = (
            f'{offer}known: {", ".join(names)}; to search for the text, quote it: "{self.match[0]}"'
        )
        return self.error(
            f"unknown field {field!r}",
            group=group,
            hint=hint,
            kind=partial(UnknownFieldError, field=field),
        )


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
    terms = compile_terms(text, columns, names=names)
    return pl.all_horizontal(terms) if terms else pl.lit(value=True)


def compile_terms(
    text: str, columns: Collection[str], *, names: Collection[str] = NAME_FIELDS
) -> list[pl.Expr]:
    """Return the conditions of the filter TEXT, of which all must hold, the numbers first: they are
    the cheapest.
    """
    alternatives = [
        [term.compiled() for term in sorted(group, key=lambda term: not term.is_numeric)]
        for group in _groups(_terms(text, columns, names))
    ]
    if len(alternatives) == 1:
        return alternatives[0]
    return [pl.any_horizontal([pl.all_horizontal(group) for group in alternatives])]


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
    comparisons = [
        match.group(*groups)
        for text in texts
        for match in _matches(text)
        for groups in (("field", "operator"), ("named", "operates"))
    ]
    numbered = {(field, sign) for field in (NUMBER, f'"{NUMBER}"') for sign in ("=", "!=")}
    return not numbered.isdisjoint(comparisons)


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
    groups = [[term.match[0].strip() for term in group] for group in _groups(_terms(text, ()))]
    return " or ".join(" ".join(dict.fromkeys([*group, *terms])) for group in groups)


def _terms(
    text: str, columns: Collection[str], names: Collection[str] = NAME_FIELDS
) -> list[_Term]:
    return [_Term(match=match, line=text, columns=columns, names=names) for match in _matches(text)]


def _groups(terms: list[_Term]) -> list[list[_Term]]:
    """Return the groups that the bare word "or" separates, without "and"; a joining word beside no
    term is refused.
    """
    groups: list[list[_Term]] = [[]]
    joining: _Term | None = None  # the last word, if it joins terms
    for term in terms:
        word = (term.match["word"] or "").lower()
        if word not in {"and", "or"} or term.match["negated"]:
            groups[-1].append(term)
            joining = None
            continue
        if joining is not None or not groups[-1]:
            raise _operator_error(term)
        joining = term
        if word == "or":
            groups.append([])
    if joining is not None:
        raise _operator_error(joining)
    return groups


def _operator_error(term: _Term) -> UsageError:
    word = term.match[0]
    return term.error(
        f"{word!r} joins no terms", hint=f'to search for the text, quote it: "{word}"'
    )


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
