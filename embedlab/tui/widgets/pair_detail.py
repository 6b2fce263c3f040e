"""The details of one pair: both sentences with their shared words, gold and cosines on one scale, each model's rank error."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from embedlab.data.words import distinct_words
from embedlab.tui.model_titles import short_name
from embedlab.tui.pairs.columns import LOUD
from embedlab.tui.widgets.bars import bar
from embedlab.tui.widgets.plain import plain
from embedlab.tui.widgets.text import QuickText

_BESIDE = 40  # cells of a line's name, number and rank error
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class ShownPair:
    """A row of the pair table with its models and gold scale."""

    row: Mapping[str, Any]
    models: Sequence[str]
    gold_range: tuple[float, float]


class PairDetail(VerticalScroll):
    """The pair under the cursor."""

    def compose(self) -> ComposeResult:
        yield QuickText(id="pair-sentences")
        yield QuickText(id="pair-scores")

    def show(self, pair: ShownPair | None) -> None:
        """Show a pair, or that there is none."""
        self._pair = pair
        sentences, scores = self.query_one("#pair-sentences", QuickText), self.query_one("#pair-scores", QuickText)
        if pair is None:
            sentences.change("no pair")
            scores.change("")
            return
        sentences.change(_sentences(pair.row))
        scores.change(_scores(pair, min(max(8, self.scrollable_content_region.width - _BESIDE), 80)))

    def on_resize(self) -> None:
        """Fit the bars to the width."""
        if (pair := getattr(self, "_pair", None)) is not None:
            self.show(pair)


def highlighted(sentence: str, shared: frozenset[str]) -> Content:
    """SENTENCE with its words in SHARED highlighted."""
    text = plain(sentence)
    content = Content(text)
    for match in _WORD.finditer(text):
        if match.group().lower() in shared:
            content = content.stylize("$text-accent bold underline", match.start(), match.end())
    return content


def _sentences(row: Mapping[str, Any]) -> Content:
    first, second = row["sentence1"], row["sentence2"]
    shared = distinct_words(first) & distinct_words(second)
    place = " · ".join(str(part) for part in (row["dataset"], row["source"], f"pair {row['pair']}") if part is not None)
    head = Content.styled(f"{place} · Dice {row['dice']:.2f}, {len(shared)} shared words", "$text-muted")
    return Content("\n").join([head, highlighted(first, shared), highlighted(second, shared)])


def _scores(pair: ShownPair, width: int) -> Content:
    """Gold and each model on one scale: the range of gold and the cosines 0–1; it starts below 0 only if a cosine does."""
    row, (low, high) = pair.row, pair.gold_range
    gold = None if row["gold"] is None else (row["gold"] - low) / ((high - low) or 1)
    cosines = {name: row.get(name) for name in pair.models}
    start = min([0.0, *(value for value in cosines.values() if value is not None)])
    lines = [_line("gold", row["gold"], gold, start, width, None, "$text-success")]
    lines += [_line(name, value, value, start, width, row.get(f"error({name})"), "$text-primary") for name, value in cosines.items()]
    if not cosines:
        lines.append(Content.styled("no model is chosen: press c to choose, a to score one", "$text-muted"))
    elif len(cosines) > 1 and row.get("gap") is not None:
        lines.append(Content.styled(f"gap between models {row['gap']:.0f} points of rank", "$text-muted"))
    return Content("\n").join(lines)


def _line(name: str, value: float | None, place: float | None, start: float, width: int, error: float | None, colour: str) -> Content:
    label = short_name(plain(name), 14)
    text = "   ·  " if value is None else f"{value:6.3f}"
    rank_error = "" if error is None else f"  rank error {error:+4.0f}"
    drawn = bar(place, start, 1.0, width)
    filler = " " * (width - cell_len(drawn))
    warning = "$text-error" if error is not None and abs(error) >= LOUD else "$text-muted"
    parts = [Content(f"{label:<14} {text} "), Content.styled(drawn, colour), Content(filler), Content.styled(rank_error, warning)]
    return Content("").join(parts)
