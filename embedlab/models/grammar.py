"""The grammar of model names: one name with its options, or a combination of several.

(blanks for readability only)

    model  = kind ":" list  |  kind "(" list ")"  |  rerank ":" again  |  rerank "(" again ")"  |
    single
    kind   = "average" | "normalized-average" | "concat" | "ensemble"
    again  = model "," model "," NUMBER     puts the first NUMBER documents that the second finds in
    a new order
    list   = model "," model …          at least two; a list after ":" goes on to the end, or to the
    ")" around it
    single = name { "@" option }
    option = "pooling=" POOLING { "+" POOLING } |
    "prompt=" NAME or TEXT | "role=" ROLE | "dim=" NUMBER | "layer=" NUMBER
           | "whiten=" ( "fit" | FILE ) | "normalise" | "bits=" ( "8" | "1" ) | "adapter=" FOLDER |
           "code=native" | "revision=" REVISION
           | "max_tokens=" NUMBER | "case=" ( "kept" | "lower" )
           | "special=" ( "all" | "no-end" | "none" ) | "padding=" ( "right" | "left" )
           | "dtype=" PRECISION | "label=" NAME or NUMBER | "activation=" FUNCTION

A value with an "@", "&", "?" or "," in it is put in double quotes. `name?option&option` is the
same, and must be quoted in a shell.

So `average:a,concat:b,c` is `average(a,concat(b,c))`. The name of an existing folder or file is
never split, whatever characters it contains. The catalog resolves names to models.
"""

import os.path
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from embedlab.core.errors import UsageError
from embedlab.core.names import option_values, outside_quotes, with_question_marks
from embedlab.core.nearest import unknown_name_error
from embedlab.models.encoder_kind import names_file, prefix_of
from embedlab.models.reading import CHOICES, NATIVE, UsageOptions

Combination = Literal["average", "normalized-average", "concat"]
COMBINATION_NAMES: tuple[Combination, ...] = get_args(Combination)
Ensemble = Literal["ensemble"]  # of runs whose predictions are averaged, not their vectors
_ORDER = (
    "pooling",
    "prompt",
    "role",
    "dim",
    "layer",
    "whiten",
    "normalise",
    "bits",
    "adapter",
    "code",
    "revision",
    "max_tokens",
    "case",
    "special",
    "padding",
    "dtype",
    "label",
    "activation",
)
# how numbers are written, what they are, and what to type
_NUMBERS: Mapping[str, tuple[str, str, str]] = {
    "dim": (r"0*[1-9]\d*", ", not a number of vector components", "for example @dim=256"),
    "max_tokens": (r"0*[1-9]\d*", ", not a number of tokens", "for example @max_tokens=256"),
    "layer": (
        r"-?\d+",
        ", not the number of a layer",
        "for example @layer=-2, the last but one",
    ),
    "bits": ("[81]", "", "@bits=8 stores each number in a byte, @bits=1 only its sign"),
}
_SWITCHES = ("normalise",)  # options without a value
_KEYS = tuple(key for key in _ORDER if key not in _SWITCHES)
BITS = (8, 1)  # that a component can be stored in, instead of the 32 of a float
# the others are of cross-encoders, and of sentence-transformers' own class
OF_ENCODERS = tuple(key for key in _ORDER if key not in {"label", "activation", "role"})
Rerank = Literal["rerank"]  # of what another model finds first
RERANK: Rerank = "rerank"
KINDS: tuple[Combination | Ensemble | Rerank, ...] = (*COMBINATION_NAMES, "ensemble", RERANK)
_OPENING = re.compile(rf"({'|'.join(KINDS)})([:(])")  # of a combination
_PIECE = re.compile(r'"[^"]*"?|[^"]', re.DOTALL)  # what is in quotes, or one character


@dataclass(frozen=True, kw_only=True)
class NameOptions(UsageOptions):
    """What was typed behind a name; None where nothing was."""

    role: str | None = None  # by which sentence-transformers chooses a route
    whiten: str | None = None  # "fit" or a file
    normalise: bool | None = None
    bits: int | None = None  # of a stored component: 8 or 1
    revision: str | None = None
    label: str | None = None  # of a cross-encoder with several: whose number is the similarity
    activation: str | None = None  # of a cross-encoder: the function after its last layer

    @property
    def typed(self) -> dict[str, Any]:
        """The options that were typed, by name."""
        return {key: getattr(self, key) for key in _ORDER if getattr(self, key) is not None}


@dataclass(frozen=True, kw_only=True)
class Single:
    """One name and its options."""

    name: str
    options: NameOptions
    suffix: str = ""  # the options as they were typed, with their "?"

    @property
    def text(self) -> str:
        """The name and its options as they were typed."""
        return self.name + self.suffix


@dataclass(frozen=True, kw_only=True)
class Combined:
    """A combination of two or more models."""

    kind: Combination | Ensemble | Rerank
    parts: tuple["Single | Combined", ...]
    text: str
    depth: int | None = None  # documents of a query that a reranker reads


def parse_model(text: str) -> Single | Combined:
    """Parse a typed model name; a violation of the grammar is a UsageError that quotes it."""
    if _exists(text):
        return Single(name=text, options=NameOptions())
    if (kind := _kind_of(text)) is None:
        name, options = _split_options(text)
        unknown_options = outside_quotes(name, "@")[1:]
        if any(not option.isdigit() for option in unknown_options) and _is_word(name):
            _read_options(text, [*unknown_options, *options])  # refuses what is no seed
        if not name:
            raise UsageError(
                f"{text!r} is not a model name",
                hint="give a run, a folder, a hub id or a published model such as sbert",
            )
        return Single(name=name, options=_read_options(text, options), suffix=text[len(name) :])
    depth = None
    if kind == RERANK:
        names, depth = _reranked(text)
    else:
        names = _split_list(text, kind)
    return Combined(kind=kind, parts=tuple(map(parse_model, names)), text=text, depth=depth)


def name_of(text: str) -> str:
    """Return a typed model without the options behind it."""
    parsed = parse_model(text)
    return parsed.name if isinstance(parsed, Single) else text


def _kind_of(text: str) -> Combination | Ensemble | Rerank | None:
    """Return which combination a typed text opens; None for a single name."""
    match = _OPENING.match(text)
    return None if match is None else next(kind for kind in KINDS if kind == match[1])


def _split_list(text: str, kind: str) -> list[str]:
    """Split at commas outside parentheses; a part that opens a ":" list takes all that follows."""
    inner = text[len(kind) + 1 :]
    is_closed = True
    if text[len(kind)] == "(":
        is_closed = inner.endswith(")")
        inner = inner.removesuffix(")")
    parts = [""]
    depth = 0
    for piece in _PIECE.findall(inner):
        match = _OPENING.match(parts[-1].lstrip())
        if piece == "," and depth == 0 and not (match and match[2] == ":"):
            parts.append("")
            continue
        depth += (piece == "(") - (piece == ")")
        if depth < 0:
            break
        parts[-1] += piece
    if depth != 0 or not is_closed:
        number = ",100" if kind == RERANK else ""
        raise UsageError(
            f"{text!r}: the parentheses do not match",
            hint=f"write {kind}:a,b{number} or {kind}(a,b{number})",
        )
    parts = [part.strip() for part in parts]
    if kind != RERANK and (len(parts) < 2 or not all(parts)):
        raise UsageError(
            f"{text!r}: {kind} takes two or more models", hint=f"for example {kind}:sbert,defsent"
        )
    return parts


def _reranked(text: str) -> tuple[list[str], int]:
    """Return the reranking model and the model that finds documents, and how many of them are
    reranked.
    """
    parts = _split_list(text, RERANK)
    if len(parts) != 3 or not all(parts) or not parts[2].isdecimal() or int(parts[2]) < 2:
        raise UsageError(
            f"{text!r}: {RERANK} takes the reranking model, the model that finds documents, and how "
            "many of them, at least 2",
            hint=f"for example {RERANK}:mpnet,bm25,100",
        )
    return parts[:2], int(parts[2])


def _split_options(text: str) -> tuple[str, list[str]]:
    """The name and the options behind it: the longest name that exists on disk, otherwise all
    before the first option.
    """
    # an address may have parameters of its own, before the name of its model
    start = text.find("#") if prefix_of(text) in {"http", "https"} and "#" in text else 0
    marked = with_question_marks(text[start:], _KEYS, _SWITCHES)
    base, *options = outside_quotes(marked, "?")
    parts = [text[:start] + base, *options]
    for count in range(len(parts), 1, -1):
        name = text[: len("?".join(parts[:count]))]
        if _exists(name):
            return name, parts[count:]
    return parts[0], options


def _exists(name: str) -> bool:
    """Return whether NAME is a folder, or names a file of word vectors."""
    prefix = prefix_of(name)
    path = os.path.expanduser(name if prefix is None else name.removeprefix(f"{prefix}:"))  # noqa: PTH111 - these take any text, Path refuses some
    return os.path.isdir(path) if prefix is None else os.path.exists(path)  # noqa: PTH110, PTH112


def _is_word(name: str) -> bool:
    """Return whether NAME is neither a path nor what a prefix calls."""
    is_path = name.startswith((".", "/", "~")) or os.path.exists(name)  # noqa: PTH110
    return not is_path and prefix_of(name) is None


def _read_options(text: str, parts: Sequence[str]) -> NameOptions:
    values = option_values(text, parts, _KEYS, _SWITCHES)
    if "pooling" in values:
        from embedlab.models.modules import pooling_parts

        pooling_parts(values["pooling"])
    for key, choices in (*CHOICES.items(), ("code", (NATIVE,))):
        if values.get(key, choices[0]) not in choices:
            raise unknown_name_error(key, values[key], choices)
    for key, (pattern, problem, hint) in _NUMBERS.items():
        if key in values and not re.fullmatch(pattern, values[key], re.ASCII):
            raise UsageError(f"{text!r}: {key} is {values[key]!r}{problem}", hint=hint)
    typed: dict[str, Any] = {**values}
    typed |= {key: int(value) for key, value in values.items() if key in _NUMBERS}
    typed |= {key: True for key in _SWITCHES if key in values}
    return NameOptions(**typed)


def options_text(options: NameOptions) -> str:
    """Return OPTIONS as they can be typed behind a name; empty where nothing was."""
    values = []
    for key, value in options.typed.items():
        quote = '"' * bool({*"@&?,"} & {*str(value)})
        values.append(key if key in _SWITCHES else f"{key}={quote}{value}{quote}")
    # recipes of runs hold this form
    return "?" * bool(values) + "&".join(values)


def titles_of(names: Sequence[str]) -> dict[str, str]:
    """Return the title of each model of a table; models that would share a title have their full
    names.
    """
    titles = {name: title_of(name) for name in names}
    all_titles = [*titles.values()]
    return {name: title if all_titles.count(title) == 1 else name for name, title in titles.items()}


def title_of(name: str) -> str:
    """Return the title of a model in tables: the last part of a folder or a file, otherwise the
    full name; in a combination, each model by its title.
    """
    if _exists(name) or _kind_of(name) is None:
        return _title_of_single(name)
    parsed = parse_model(name)
    assert isinstance(parsed, Combined)
    titles = [title_of(part.text) for part in parsed.parts]
    if parsed.depth is not None:
        titles.append(str(parsed.depth))
    opening = name[len(parsed.kind)]
    closing = ")" if opening == "(" else ""
    return f"{parsed.kind}{opening}{','.join(titles)}{closing}"


def _title_of_single(name: str) -> str:
    prefix = prefix_of(name)
    if prefix in {"http", "https"}:
        return name.partition("#")[2]
    path = name if prefix is None else name.removeprefix(f"{prefix}:")
    if prefix == "live":
        return path
    is_path = name.startswith((".", "/", "~")) if prefix is None else names_file(prefix, path)
    return path.rstrip("/").rpartition("/")[2] if is_path else name
