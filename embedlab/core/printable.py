r"""Text for a terminal, made safe to show and short; the signs behind the numbers of tables, pages
and pictures, each with its words.

Sentences, names and messages may contain control characters that a terminal obeys. Such a character
is shown as its Unicode escape, such as `\u001b`, which is also how JSON writes it: escaped JSON
stays exact.
"""

import codecs
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite


@dataclass(frozen=True, kw_only=True)
class Sign:
    """One character behind a number, and what it means in a few words."""

    sign: str
    words: str
    # one character, so that columns stay in line, where a terminal's encoding lacks the sign;
    # empty: it never does
    ascii: str = ""

    def __str__(self) -> str:
        """Return the sign with its words, as below a table."""
        return f"{self.sign} {self.words}"


MODELS = Sign(sign="*", words="these recipes, or published checkpoints")  # a significant difference
# a significant difference that reaches less far
CHECKPOINTS = Sign(sign="°", ascii="~", words="these checkpoints only")
ONE_TOPIC = Sign(sign="§", ascii="$", words="hangs on one topic")
PAIRS_SHARED = Sign(sign="†", ascii="!", words="test pairs")
SENTENCES_SHARED = Sign(sign="‡", ascii="#", words="that share of the test sentences")
UNBEATEN = Sign(
    sign="●",
    ascii="@",
    words="Pareto set: no other row scores as high in as little time and as few bytes, and is "
    "better in one",
)
SIGNS = (MODELS, CHECKPOINTS, ONE_TOPIC, PAIRS_SHARED, SENTENCES_SHARED, UNBEATEN)
FEW = 0.05  # of the sentences: from here on a score has ‡ and the share; fewer have no sign

OVERLAP = "overlap"  # in the title of a table some of whose scores have one of the last three


def overlap_line(pairs: bool, sentences: bool, few: bool) -> str:
    """Return the line below a table that explains its signs of training text."""
    explanations = [str(PAIRS_SHARED)] * pairs + [str(SENTENCES_SHARED)] * sentences
    explanations += ["fewer than 5% of the test sentences, unmarked"] * few
    return f"[{OVERLAP}] in the training data: {', '.join(explanations)}"


# Control characters except tab and line end, line and paragraph separators, changes of text
# direction, halves of surrogate pairs (no encoding can write them) and the two code points that XML
# does not allow.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_BLANK = re.compile(r"\r\n|[\t\n\r]")
_FORMULA = re.compile(r"[=+\-@\t\r]")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)")
# what begins HTML, an entity, or the address of a link or an image
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=\])\(|[\\|]")
# not every program that reads Markdown knows a backslash before these
_AS_TEXT = {
    "<": "&lt;",
    "&": "&amp;",
}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")

# Replacements for characters that an output's encoding lacks; every other one becomes its escape.
_OF_TEXT = {
    "─": "-",
    "━": "-",
    "–": "-",
    "—": "-",
    "−": "-",
    "·": ".",
    "…": "...",
    "±": "+-",
    "×": "x",
    "’": "'",
    "²": "^2",
}
_REPLACEMENTS = {**_OF_TEXT, **{sign.sign: sign.ascii for sign in SIGNS if sign.ascii}}
# the name of the error handler, as `open` and `reconfigure` take it
ERROR_HANDLER = "embedlab.visible"


def visible(text: str) -> str:
    """Return TEXT with each character that a terminal or a page would obey as its escape; tabs and
    line ends stay.
    """
    return text if text.isascii() and text.isprintable() else _OBEYED.sub(_escape, text)


def one_line(text: str) -> str:
    """Return TEXT on one line: tabs and line ends become blanks, other control characters their
    escapes.
    """
    return text if text.isascii() and text.isprintable() else visible(_BLANK.sub(" ", text))


LONGEST_LINE = 400  # characters of a text that a user gave


def short_line(text: str) -> str:
    """Return TEXT on one line; a long one is cut, and says by how much."""
    line = one_line(text)
    hidden_count = len(line) - LONGEST_LINE
    return (
        line
        if hidden_count <= 0
        else f"{line[:LONGEST_LINE]} … and {hidden_count:,} more characters"
    )


def ascii_json(text: str) -> str:
    """Return the JSON TEXT in ASCII, for an output that cannot encode more: it parses to exactly
    the same values.
    """
    return re.sub(r"[^\x00-\x7f]", _escape, text)


def without_formula(text: str) -> str:
    """Return TEXT so that a spreadsheet reads it as text: formulas get an apostrophe in front;
    numbers do not.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def markdown_text(text: str) -> str:
    """Return TEXT for a line of Markdown or a cell of a table: HTML, links and images in it are
    text; code in backticks stays code.
    """
    escaped, end = "", 0
    for code in _CODE.finditer(text):
        escaped += _MARKUP.sub(_as_text, text[end : code.start()]) + code[0].replace("|", "\\|")
        end = code.end()
    escaped += _MARKUP.sub(_as_text, text[end:])
    return escaped.replace("\r", " ").replace("\n", " ")


def _as_text(match: re.Match[str]) -> str:
    return _AS_TEXT.get(match[0], f"\\{match[0]}")


def _escape(character: "re.Match[str] | str") -> str:
    r"""Return `\uXXXX` for a character, twice for one that JSON writes as a surrogate pair."""
    units = character[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[start : start + 2].hex()}" for start in range(0, len(units), 2))


def _replace(error: UnicodeError) -> tuple[str, int]:
    """Return the replacement for characters that the encoding of an output lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unencodable = error.object[error.start : error.end]
    return "".join(
        _REPLACEMENTS.get(character) or _escape(character) for character in unencodable
    ), error.end


codecs.register_error(ERROR_HANDLER, _replace)


MOST_COLUMNS = 12  # that a message names


def first_few(names: Iterable[object], most: int = MOST_COLUMNS, *, separator: str = ", ") -> str:
    """Return the first MOST of NAMES, and how many more there are."""
    texts = [f"{name}" for name in names]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return f"{separator.join(texts[:most])}{more}"


_OF_ONE = {"are": "is", "were": "was", "have": "has", "occur": "occurs"}


def count_text(count: int, things: str) -> str:
    """Return how many THINGS there are, such as "2 rows are left out". For one thing the first
    word, a noun with an s at its end, and the verb are in the singular.
    """
    if count == 1:
        things = re.sub("(ie)?s\\b", lambda ending: "y" * bool(ending[1]), things, count=1)
        things = re.sub(
            rf"\b({'|'.join(_OF_ONE)})\b", lambda verb: _OF_ONE[verb[1]], things, count=1
        )
    return f"{count} {things}"


def duration(seconds: float) -> str:
    """Return a duration in its largest unit and the one below, such as "42s", "3m10s", "2h05m" or
    "3d04h"; empty for NaN.
    """
    if seconds != seconds:
        return ""
    whole_seconds = max(0, round(seconds))
    minutes, seconds_left = divmod(whole_seconds, 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours >= 24:
        return f"{hours // 24}d{hours % 24:02d}h"
    if hours:
        return f"{hours}h{minutes_left:02d}m"
    return f"{minutes}m{seconds_left:02d}s" if minutes else f"{whole_seconds}s"


def thinned(values: Sequence[float], count: int) -> list[float]:
    """Return COUNT means of neighbouring VALUES, or the values themselves where there are fewer."""
    if len(values) <= count:
        return list(values)
    edges = [round(index * len(values) / count) for index in range(count + 1)]
    return [sum(values[low:high]) / (high - low) for low, high in itertools.pairwise(edges)]


def sparkline(values: Sequence[float], width: int) -> str:
    """Return VALUES as bars of eighths in at most WIDTH cells; what is not a number is left out."""
    drawn_values = thinned([value for value in values if isfinite(value)], width)
    low, high = (min(drawn_values), max(drawn_values)) if drawn_values else (0.0, 0.0)
    span = high - low or 1.0
    return "".join("▁▂▃▄▅▆▇█"[round((value - low) / span * 7)] for value in drawn_values)
