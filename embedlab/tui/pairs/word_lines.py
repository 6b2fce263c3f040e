"""Both sentences of a pair with a number below each word that does something: signs and numbers say
the same as the colours.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.cells import cell_len
from textual.content import Content

from embedlab.analysis.word_effects import Floats
from embedlab.tui.key_table import shown_key
from embedlab.tui.model_titles import short_name
from embedlab.tui.pairs.word_effects import PairWords, next_view
from embedlab.tui.widgets.plain import plain

QUIET = 0.5  # points of rank below which a word has no number
_STRONG = 5.0  # points of rank from which a word is underlined, too
_NAME = 20  # cells of a model
_VIEWS = {None: "off", "difference": "difference", "A": "A", "B": "B"}
_LEGEND = {
    "difference": "points of rank: + brings together more under B, - more under A",
    "A": "points of rank: + brings together, - sets apart",
}


def word_lines(pair: PairWords, width: int) -> Content:
    """The model or the two models, then the sentences in lines of at most WIDTH cells."""
    then = f" · {shown_key('words')}: {_VIEWS[next_view(pair.view, len(pair.models))]}"
    heading = Content.assemble((_title(pair), "bold"), (then, "$text-faint"))
    lines = [heading, *_troubles(pair)]
    effects = pair.effects
    if effects is None and len(lines) == 1:
        lines.append(Content.styled("leaving out each word …", "$text-faint"))
    for number, sentence in enumerate(pair.sentences):
        if effects is None:
            lines.append(Content(plain(sentence)))
        else:
            lines += _sentence(
                [plain(text) for text in _parts(pair, number)], effects[number], width
            )
    if effects is not None:
        lines.append(Content.styled(_LEGEND.get(pair.view, _LEGEND["A"]), "$text-faint"))
    return Content("\n").join(lines)


def _title(pair: PairWords) -> str:
    names = [short_name(plain(model.name), _NAME) for model in pair.shown_models]
    whole = pair.whole
    if pair.view == "difference":
        return f"B {names[1]} - A {names[0]}" + ("" if whole is None else f": {whole:+z.1f}")
    return f"{pair.view} {names[0]}" + ("" if whole is None else f": rank {whole:z.1f}")


def _troubles(pair: PairWords) -> Iterator[Content]:
    for model in pair.shown_models:
        if trouble := pair.troubles.get(model.name):
            yield Content.styled(f"{plain(model.name)} {plain(trouble)}", "$text-error")


def _parts(pair: PairWords, number: int) -> list[str]:
    """A sentence cut so that each part has one word, with the signs around it."""
    sentence, words = pair.sentences[number], pair.words[number]
    starts = [0, *(word.start for word in words[1:]), len(sentence)]
    return [sentence[start:end].strip() for start, end in pairwise(starts)] if words else []


def _sentence(parts: Sequence[str], effects: Floats, width: int) -> Iterator[Content]:
    """Lines of words in pairs: the words, and below them their numbers."""
    words, numbers = Content(""), ""
    for word, effect in zip(parts, effects.tolist(), strict=True):
        number = "" if abs(effect) < QUIET else f"{effect:+z.0f}"
        cells = max(cell_len(word), len(number))
        if words and words.cell_length + cells > width:
            yield from (words, Content.styled(numbers, "$text-faint"))
            words, numbers = Content(""), ""
        words = Content.assemble(words, (word, _style(effect)), " " * (cells - cell_len(word) + 1))
        numbers += f"{number:<{cells}} "
    if words:
        yield from (words, Content.styled(numbers, "$text-faint"))


def _style(effect: float) -> str:
    if abs(effect) < QUIET:
        return ""
    colour = "$text-success" if effect > 0 else "$text-error"
    return f"{colour} bold underline" if abs(effect) >= _STRONG else colour
