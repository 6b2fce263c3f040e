"""The details of an item as cards: the pair with bars, neighbours, notes, where it comes from."""

from collections.abc import Sequence
from math import isfinite

from textual.content import Content

from embedlab.tui.data.model import Bar, Item, words_only_here
from embedlab.tui.plain import faint, half_bar, safe_line, shorten_middle

_BAR = 24
_LONGEST_NAME = 18
_FAR = 25  # points of rank, from which an error stands out


def item_cards(
    item: Item, note: str, width: int, nearest: tuple[str, Sequence[tuple[float, str]]] = ("", ())
) -> tuple[Content, Content, Content]:
    """The sentences of ITEM, its bars in WIDTH cells, and what else is known of it, with what is
    NEAREST to its first sentence by a model.
    """
    first_text, *other_texts = item.sentences or ("",)
    second_text = other_texts[0] if other_texts else ""
    texts = [
        sentence(first_text, second_text),
        *(sentence(text, first_text) for text in other_texts),
    ]
    names = min(max(len(bar.name) for bar in item.bars), _LONGEST_NAME)
    bar_width = max(6, min(_BAR, width - names - 28))
    bars = [_bar(bar, names, bar_width) for bar in item.bars]
    if any(isfinite(bar.rank) for bar in item.bars):
        bars.insert(0, faint(f"{'percentile  error':>{names + bar_width + 28}}"))
    lines_of_facts = [
        Content.assemble((f"{name:<7}", "$faint"), safe_line(text))
        for name, text in (("source", item.source), ("note", note))
        if text
    ]
    if item.trained:
        lines_of_facts.append(Content.styled(f"trained on by {item.trained}", "$text-warning"))
    if item.neighbours:
        lines_of_facts.append(faint("the same sentence in"))
        lines_of_facts += [
            Content.assemble((f"{gold:>5}  ", "$gold"), sentence(text, first_text))
            for gold, text in item.neighbours
        ]
    model, sentences = nearest
    if sentences:
        lines_of_facts.append(faint(f"nearest to the first, by {model}"))
        lines_of_facts += [
            Content(f"{cosine:z5.2f}  {safe_line(text)}") for cosine, text in sentences
        ]
    lines = Content("\n")
    return lines.join(texts), lines.join(bars), lines.join(lines_of_facts)


def _bar(bar: Bar, names: int, width: int) -> Content:
    """A line with its number, a bar of it in WIDTH cells, its percentile and its error."""
    bar_text = ""
    if isfinite(bar.share):
        bar_text = half_bar(min(abs(bar.share), 1.0), width, "━" if bar.share >= 0 else "╍")
    is_far = isfinite(bar.error) and abs(bar.error) >= _FAR
    return Content.assemble(
        (f"{shorten_middle(bar.name, names):<{names}} ", bar.colour),
        f"{bar.text[:7]:>7} ",
        (f"{bar_text:<{width}}", bar.colour),
        (f"{bar.rank:z12.0f}" if isfinite(bar.rank) else "", "$faint"),
        (
            f"{bar.error:>+z7.0f}" if isfinite(bar.error) else "",
            "$text-warning" * is_far or "$faint",
        ),
    )


def sentence(text: str, other: str) -> Content:
    """TEXT with the words that OTHER lacks standing out."""
    if not other:
        return Content(safe_line(text))
    return Content.assemble(
        *(
            (piece, "bold underline" if is_only else "")
            for piece, is_only in words_only_here(safe_line(text), other)
        )
    )
