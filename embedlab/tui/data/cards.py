"""The details of an item as cards: the pair with bars, neighbours, notes, where it comes from."""

from math import isfinite

from textual.content import Content

from embedlab.core.printable import one_line
from embedlab.tui.data.model import Item, words_only_here
from embedlab.tui.theme import model_colour, model_sign

_BAR = 20


def item_cards(item: Item, note: str, width: int) -> Content:
    """All that is known of ITEM, in WIDTH cells."""
    first, *others = item.sentences or ("",)
    second = others[0] if others else ""
    lines = [sentence(first, second), *(sentence(text, first) for text in others), Content("")]
    bar_width = max(6, min(_BAR, width - 42))
    lines.append(_number_line("gold", "$gold", item.gold, item.gold_share, bar_width))
    for place, (name, value, text, error) in enumerate(item.models):
        share = value if -1 <= value <= 1 else float("nan")
        line = _number_line(
            f"{model_sign(place)} {name}", model_colour(place), text, share, bar_width
        )
        if isfinite(error):
            said = "too high" if error > 0 else "too low"
            line = Content.assemble(line, (f" {abs(error):.0f} {said}", "$faint"))
        lines.append(line)
    if isfinite(item.dice):
        lines.append(_number_line("Dice", "$faint", f"{item.dice:.2f}", item.dice, bar_width))
    facts = [item.dataset, f"item {item.number}", item.source and f"source {item.source}"]
    lines += [Content(""), Content.styled(" · ".join(filter(None, facts)), "$faint")]
    if item.trained:
        lines.append(Content.styled(f"trained on by {item.trained}", "$text-warning"))
    if note:
        lines.append(Content.assemble(("note  ", "$faint"), one_line(note)))
    if item.neighbours:
        lines += [Content(""), Content.styled("the same sentence in", "bold")]
        lines += [
            Content.assemble((f"{gold:>6}  ", "$gold"), sentence(text, first))
            for _, gold, text in item.neighbours
        ]
    return Content("\n").join(lines)


def sentence(text: str, other: str) -> Content:
    """TEXT with the words that OTHER lacks standing out."""
    if not other:
        return Content(one_line(text))
    return Content.assemble(
        *(
            (part, "bold underline" if is_only else "")
            for part, is_only in words_only_here(one_line(text), other)
        )
    )


def _number_line(name: str, colour: str, text: str, share: float, width: int) -> Content:
    bar = ""
    if isfinite(share):
        halves = round(min(abs(share), 1.0) * width * 2)
        bar = ("━" if share >= 0 else "╍") * (halves // 2) + "╸" * (halves % 2)
    return Content.assemble(
        (f"{name[:16]:<16} ", colour), f"{text[:9]:>9} ", (f"{bar:<{width}}", colour)
    )
