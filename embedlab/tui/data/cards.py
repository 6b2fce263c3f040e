"""The details of an item as cards: the pair with bars, neighbours, notes, where it comes from."""

from math import isfinite, nan

from textual.content import Content

from embedlab.tui.data.model import DICE, Item, words_only_here
from embedlab.tui.plain import safe_line
from embedlab.tui.theme import model_colour, model_sign

_BAR = 36
_LONGEST_NAME = 18
_FAR = 25  # points of rank, from which an error stands out


def item_cards(item: Item, note: str, width: int) -> Content:
    """All that is known of ITEM, in WIDTH cells."""
    first, *others = item.sentences or ("",)
    second = others[0] if others else ""
    lines = [sentence(first, second), *(sentence(text, first) for text in others)]
    names = max(len(name) for name in ("gold", "Dice", *(name for name, *_ in item.models)))
    names = min(names, _LONGEST_NAME) + 2
    bar_width = max(6, min(_BAR, width - names - 28))
    bars = [("  gold", "$gold", item.gold, item.gold_share, item.gold_rank, nan)]
    for name, value, text, rank, error, place in item.models:
        share = value if -1 <= value <= 1 else nan
        bars.append((f"{model_sign(place)} {name}", model_colour(place), text, share, rank, error))
    if isfinite(item.dice) and DICE not in {name for name, *_ in item.models}:
        bars.append(("  Dice", "$faint", f"{item.dice:z.2f}", item.dice, nan, nan))
    head = f"{' ' * (names + 9 + bar_width)} percentile  error" * isfinite(item.gold_rank)
    lines.append(Content.styled(head, "$faint"))
    for name, colour, text, share, rank, error in bars:
        drawn = ""
        if isfinite(share):
            halves = round(min(abs(share), 1.0) * bar_width * 2)
            drawn = ("━" if share >= 0 else "╍") * (halves // 2) + "╸" * (halves % 2)
        of_rank = f"{rank:z11.0f}" if isfinite(rank) else ""
        said = f"{error:>+z7.0f}" if isfinite(error) else ""
        far = isfinite(error) and abs(error) >= _FAR
        lines.append(
            Content.assemble(
                (f"{name[:names]:<{names}} ", colour),
                f"{text[:7]:>7} ",
                (f"{drawn:<{bar_width}}", colour),
                (of_rank, "$faint"),
                (said, "$text-warning" if far else "$faint"),
            )
        )
    lines.append(Content(""))
    if item.source:
        lines.append(Content.assemble(("from   ", "$faint"), safe_line(item.source)))
    if item.trained:
        lines.append(Content.styled(f"trained on by {item.trained}", "$text-warning"))
    if note:
        lines.append(Content.assemble(("note   ", "$faint"), safe_line(note)))
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
        return Content(safe_line(text))
    return Content.assemble(
        *(
            (part, "bold underline" if is_only else "")
            for part, is_only in words_only_here(safe_line(text), other)
        )
    )
