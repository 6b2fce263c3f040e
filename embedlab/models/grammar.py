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
           | "dtype=" PRECISION
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
from embedlab.core.name_options import option_values, outside_quotes, with_question_marks
from embedlab.core.nearest import unknown
from embedlab.models.encoder_kind import names_file, prefix_of
from embedlab.models.reading import CHOICES, NATIVE, Wishes

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
_NUMBERS = {"dim", "layer", "bits", "max_tokens"}
_SWITCHES = ("normalise",)  # options without a value
_KEYS = tuple(key for key in _ORDER if key not in _SWITCHES)
BITS = (8, 1)  # that a component can be stored in, instead of the 32 of a float
OF_ENCODERS = tuple(
    key for key in _ORDER if key not in {"label", "activation", "role"}
)  # those are of cross-encoders, and of sentence-transformers' own class
Rerank = Literal["rerank"]  # of what another model finds first
RERANK: Rerank = "rerank"
KINDS: tuple[Combination | Ensemble | Rerank, ...] = (*COMBINATION_NAMES, "ensemble", RERANK)
_OPENING = re.compile(rf"({'|'.join(KINDS)})([:(])")  # of a combination


@dataclass(frozen=True, kw_only=True)
class NameOptions(Wishes):
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
        return _parse_single(text)
    parts, depth = _reranked(text) if kind == RERANK else (_split_list(text, kind), None)
    return Combined(kind=kind, parts=tuple(map(parse_model, parts)), text=text, depth=depth)


def name_of(text: str) -> str:
    """Return a typed model without the options behind it."""
    parsed = parse_model(text)
    return parsed.name if isinstance(parsed, Single) else text


def _kind_of(text: str) -> Combination | Ensemble | Rerank | None:
    """Return which combination a typed text opens; None for a single name."""
    opening = _OPENING.match(text)
    return next(kind for kind in KINDS if kind == opening[1]) if opening is not None else None


def _split_list(text: str, kind: str) -> list[str]:
    """Split at commas outside parentheses; a part that opens a ":" list takes all that follows."""
    inner = text[len(kind) + 1 :]
    if text[len(kind)] == "(":
        if not inner.endswith(")"):
            raise UsageError(f"{text!r}: it should end with )", hint=f"write {_written(kind)}")
        inner = inner[:-1]
    parts, depth, start, is_quoted = [], 0, 0, False
    for index, character in enumerate(inner):
        is_quoted ^= character == '"'
        depth += 0 if is_quoted else (character == "(") - (character == ")")
        if depth < 0:
            break
        if character == "," and depth == 0 and not is_quoted and not _opens_list(inner[start:]):
            parts.append(inner[start:index].strip())
            start = index + 1
    parts.append(inner[start:].strip())
    if depth != 0:
        raise UsageError(f"{text!r}: the parentheses do not match", hint=f"write {_written(kind)}")
    if kind != RERANK and (len(parts) < 2 or not all(parts)):
        raise UsageError(
            f"{text!r}: {kind} takes two or more models", hint=f"for example {kind}:sbert,defsent"
        )
    return parts


def _written(kind: str) -> str:
    return f"{kind}:a,b,100 or {kind}(a,b,100)" if kind == RERANK else f"{kind}:a,b or {kind}(a,b)"


def _reranked(text: str) -> tuple[list[str], int]:
    """Return the model that reads again, the one that finds documents first, and how many of
    them.
    """
    parts, hint = _split_list(text, RERANK), f"for example {RERANK}:mpnet,bm25,100"
    if len(parts) != 3 or not all(parts):
        raise UsageError(
            f"{text!r}: {RERANK} takes the reranking model, the model that finds documents, "
            f"and their number",
            hint=hint,
        )
    if not parts[2].isdecimal() or int(parts[2]) < 2:
        what = (
            f"not a number of documents: {parts[2]!r}"
            if not parts[2].isdecimal()
            else f"{parts[2]} document cannot be reordered"
        )
        raise UsageError(f"{text!r}: {what}", hint=hint)
    return parts[:2], int(parts[2])


def _opens_list(part: str) -> bool:
    opening = _OPENING.match(part.lstrip())
    return opening is not None and opening[2] == ":"


def _parse_single(text: str) -> Single:
    name, options = _split_options(text)
    if not name:
        raise UsageError(
            f"{text!r} is not a model name",
            hint="give a run, a folder, a hub id or a published model such as sbert",
        )
    return Single(name=name, options=_read_options(text, options), suffix=text[len(name) :])


def _split_options(text: str) -> tuple[str, list[str]]:
    """The name and the options behind it: the longest name that exists on disk, otherwise all
    before the first option.
    """
    # an address may have parameters of its own, before the name of its model
    start = text.find("#") if prefix_of(text) in {"http", "https"} and "#" in text else 0
    marked = with_question_marks(text[start:], _KEYS, _SWITCHES)
    first, *options = outside_quotes(marked, "?")
    parts = [text[:start] + first, *options]
    ends = [len("?".join(parts[:count])) for count in range(len(parts) + 1)]
    count = next((count for count in range(len(parts), 1, -1) if _exists(text[: ends[count]])), 1)
    return text[: ends[count]], parts[count:]


def _exists(name: str) -> bool:
    """Return whether NAME is a folder, or names a file of word vectors."""
    prefix = prefix_of(name)
    path = os.path.expanduser(name if prefix is None else name.removeprefix(f"{prefix}:"))  # noqa: PTH111 - these take any text, Path refuses some
    return os.path.isdir(path) if prefix is None else os.path.exists(path)  # noqa: PTH110, PTH112


def _read_options(text: str, parts: Sequence[str]) -> NameOptions:
    if any(option.startswith("backend=") for part in parts for option in outside_quotes(part, "&")):
        raise UsageError(
            f"{text!r}: embedlab runs no ONNX or OpenVINO weights: the packages for them "
            f"need an older transformers",
            hint="encode in another environment and name the result vectors:FILE",
        )
    values = option_values(text, parts, _KEYS, _SWITCHES)
    if "pooling" in values:
        from embedlab.models.modules import pooling_parts

        pooling_parts(values["pooling"])
    if (code := values.get("code")) is not None and code != NATIVE:
        raise unknown("code", code, [NATIVE])
    for key, choices in CHOICES.items():
        if values.get(key, choices[0]) not in choices:
            raise unknown(key, values[key], choices)
    texts: dict[str, Any] = {key: values.get(key) for key in _KEYS if key not in _NUMBERS}
    return NameOptions(
        dim=_positive(text, values, "dim", "vector components"),
        max_tokens=_positive(text, values, "max_tokens", "tokens"),
        layer=_layer(text, values),
        normalise="normalise" in values or None,
        bits=_bits(text, values),
        **texts,
    )


def _positive(text: str, values: Mapping[str, str], key: str, unit: str) -> int | None:
    value = values.get(key)
    if value is not None and not (value.isdecimal() and int(value) > 0):
        raise UsageError(
            f"{text!r}: {key} is {value!r}, not a number of {unit}", hint=f"for example @{key}=256"
        )
    return None if value is None else int(value)


def _bits(text: str, values: Mapping[str, str]) -> int | None:
    bits = values.get("bits")
    if bits is not None and bits not in {str(number) for number in BITS}:
        raise UsageError(
            f"{text!r}: bits is {bits!r}",
            hint="@bits=8 stores each number in a byte, @bits=1 only its sign",
        )
    return None if bits is None else int(bits)


def _layer(text: str, values: Mapping[str, str]) -> int | None:
    layer = values.get("layer")
    if layer is not None and not layer.removeprefix("-").isdecimal():
        raise UsageError(
            f"{text!r}: layer is {layer!r}, not the number of a layer",
            hint="for example @layer=-2, the last but one",
        )
    return None if layer is None else int(layer)


def options_text(options: NameOptions) -> str:
    """Return OPTIONS as they can be typed behind a name; empty where nothing was."""
    quoted = {
        key: f'"{value}"' if set("@&?,") & set(str(value)) else str(value)
        for key, value in options.typed.items()
    }
    values = [key if key in _SWITCHES else f"{key}={value}" for key, value in quoted.items()]
    # recipes of runs hold this form
    return f"?{'&'.join(values)}" if values else ""


def titles_of(names: Sequence[str]) -> dict[str, str]:
    """Return the title of each of the models of one table; those that would share a title have
    their names in full.
    """
    titles = {name: title_of(name) for name in names}
    all_titles = list(titles.values())
    return {name: title if all_titles.count(title) == 1 else name for name, title in titles.items()}


def title_of(name: str) -> str:
    """Return the title of a model in tables: the last part of a folder or a file, any other name in
    full; of parts the same.
    """
    if _exists(name) or _kind_of(name) is None:
        return _title_of_single(name)
    parsed = parse_model(name)
    assert isinstance(parsed, Combined)
    kind = parsed.kind
    inner = ",".join(
        [
            *(title_of(part.text) for part in parsed.parts),
            *([str(parsed.depth)] if parsed.depth is not None else []),
        ]
    )
    return f"{kind}({inner})" if name[len(kind)] == "(" else f"{kind}:{inner}"


def _title_of_single(name: str) -> str:
    prefix = prefix_of(name)
    if prefix in {"http", "https"}:
        return name.partition("#")[2]
    path = name if prefix is None else name.removeprefix(f"{prefix}:")
    if prefix == "live":
        return path
    is_path = name.startswith((".", "/", "~")) if prefix is None else names_file(prefix, path)
    return path.rstrip("/").rpartition("/")[2] if is_path else name
