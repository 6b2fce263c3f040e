"""The sections of the detail pane, in order; a new kind of explanation is one function and its line
in SECTIONS.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
from rich.cells import cell_len, set_cell_size
from textual.content import Content

from embedlab.data.words import distinct_words
from embedlab.scoring.provenance import overlap_sign
from embedlab.tui.key_table import shown_key
from embedlab.tui.model_colours import model_colour
from embedlab.tui.model_titles import short_name
from embedlab.tui.pair_table.data import ANSWER, GOLD_TEXT
from embedlab.tui.pairs.columns import LOUD
from embedlab.tui.pairs.pair_facts import ModelNeighbours
from embedlab.tui.pairs.shown_pair import ShownPair
from embedlab.tui.pairs.word_lines import word_lines
from embedlab.tui.widgets.bars import bar
from embedlab.tui.widgets.plain import plain

if TYPE_CHECKING:
    from embedlab.workflows.neighbours import Corpus

_BESIDE = 40  # cells of a line's name, number and rank error
_SENTENCE_LINES = 4  # of a sentence, unless its pane has the whole screen
_PLACES = 3  # other appearances that are named
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class DetailSection:
    """One kind of information about a pair; without content it takes no line."""

    name: str
    draw: Callable[
        [ShownPair, int], Content | None
    ]  # of the pair, in lines of at most so many cells
    column: int = 0  # 0, 1 or 2: where a wide pane shows it


def highlighted(sentence: str, shared: frozenset[str]) -> Content:
    """SENTENCE with its words in SHARED highlighted."""
    text = plain(sentence)
    content = Content(text)
    for match in _WORD.finditer(text):
        if match.group().lower() in shared:
            content = content.stylize("$text-accent bold underline", match.start(), match.end())
    return content


def _sentences(pair: ShownPair, width: int) -> Content:
    row = pair.row
    first, second = row["sentence1"], row["sentence2"]
    shared = distinct_words(first) & distinct_words(second)
    origin = " · ".join(
        str(text)
        for text in (row["dataset"], row["source"], f"pair {row['pair']}")
        if text is not None
    )
    overlap = f" · Dice {row['dice']:z.2f}, {len(shared)} shared words" if second else ""
    if pair.words is not None:
        lines = [word_lines(pair.words, width)]
    else:
        lines = [
            _folded(highlighted(text, shared), width, is_whole=pair.is_whole)
            for text in (first, second)
            if text or text is first
        ]
    return Content("\n").join([Content.styled(f"{origin}{overlap}", "$text-faint"), *lines])


def _folded(text: Content, width: int, *, is_whole: bool) -> Content:
    """TEXT, of which a very long one is cut: the scores below it remain in sight."""
    most = _SENTENCE_LINES * width
    if is_whole or text.cell_length <= most:
        return text
    note = (
        f"… {text.cell_length - most:,} more characters: focus this pane, "
        f"{shown_key('zoom')} shows all"
    )
    return Content.assemble(text[:most], (f" {note}", "$text-faint"))


def _answers(pair: ShownPair) -> Content:
    """The right class, and the one that each model answers; or the rank that each gives to the
    relevant text.
    """
    gold = pair.row[GOLD_TEXT]
    lines = [Content.assemble(f"{'gold':<14} ", (plain(gold), "$gold"))] if gold is not None else []
    for name in pair.models:
        answer = pair.row.get(f"{ANSWER}{name}")
        style = "$text-faint" if answer is None else "$text-error" if answer.startswith("✗") else ""
        lines.append(
            Content.assemble(
                (f"{short_name(plain(name), 14):<14} ", model_colour(name)),
                (plain(answer or "no answer"), style),
            )
        )
    return Content("\n").join(lines)


def _scores(pair: ShownPair, width: int) -> Content:
    """Gold and each model on one scale: the range of gold and the cosines 0–1; it starts below 0
    only if a cosine does.
    """
    if pair.has_answers:
        return _answers(pair)
    row, (low, high) = pair.row, pair.gold_range
    room = min(max(8, width - _BESIDE), 80)
    gold = None if row["gold"] is None else (row["gold"] - low) / ((high - low) or 1)
    cosines = {name: row.get(name) for name in pair.models}
    start = min([0.0, *(value for value in cosines.values() if value is not None)])
    lines = [_line("gold", row["gold"], gold, start, room, None, "$gold")]
    lines += [
        _line(name, value, value, start, room, row.get(f"error({name})"), model_colour(name))
        for name, value in cosines.items()
    ]
    if not cosines:
        lines.append(
            Content.styled(
                f"no model is chosen: press {shown_key('models')} to choose, "
                f"{shown_key('add_model')} to score one",
                "$text-faint",
            )
        )
    elif len(cosines) > 1 and row.get("gap") is not None:
        gap = f"{row['gap']:z.0f}"
        lines.append(
            Content.styled(
                f"gap between models {gap} point{'' if gap == '1' else 's'} of rank", "$text-faint"
            )
        )
    return Content("\n").join(lines)


def _line(
    name: str,
    value: float | None,
    position: float | None,
    start: float,
    width: int,
    error: float | None,
    colour: str,
) -> Content:
    label = short_name(plain(name), 14)
    text = "   ·  " if value is None else f"{value:z6.3f}"
    rank_error = "" if error is None else f"  rank error {error:+z4.0f}"
    drawn = bar(position, start, 1.0, width)
    filler = " " * (width - cell_len(drawn))
    warning = "$text-error" if error is not None and abs(error) >= LOUD else "$text-faint"
    parts = [
        Content(f"{label:<14} {text} "),
        Content.styled(drawn, colour),
        Content(filler),
        Content.styled(rank_error, warning),
    ]
    return Content("").join(parts)


def _note(pair: ShownPair, width: int) -> Content | None:
    return (
        Content.assemble(("note  ", "$text-faint"), (plain(pair.note), "$text-warning"))
        if pair.note
        else None
    )


def _tags(pair: ShownPair, width: int) -> Content | None:
    contents = [
        Content.assemble(
            (tag.name, "$text-accent"),
            (f" ({plain(first) or 'none'} | {plain(second) or 'none'})", "$text-faint"),
        )
        for tag, first, second in pair.facts.tags
    ]
    return (
        Content.assemble(("tags  ", "$text-faint"), Content(" · ").join(contents))
        if contents
        else None
    )


def _training(pair: ShownPair, width: int) -> Content | None:
    """Whether the pair, or a sentence of it, is in the training text of each model, with the signs
    of the command line.
    """
    if not pair.facts.shared:
        return None
    lines, clean, unknown = [], [], []
    for name, shared in pair.facts.shared.items():
        if shared is None:
            unknown.append(name)
        elif not shared:
            clean.append(name)
        else:
            count = (
                "the pair"
                if shared.shared_pairs
                else "both sentences"
                if shared.shared_sentences > 1
                else "one sentence"
            )
            lines.append(
                Content.styled(
                    f"{overlap_sign(shared)} {plain(name)} was trained on {count}", "$text-error"
                )
            )
    for names, what in (
        (clean, "neither sentence is in the training text of"),
        (unknown, "training text unknown:"),
    ):
        if names:
            lines.append(
                Content.styled(
                    f"{what} {', '.join(short_name(plain(name), 40) for name in names)}",
                    "$text-faint",
                )
            )
    return Content("\n").join(lines)


def _appearances(pair: ShownPair, width: int) -> Content | None:
    appearances, table = pair.facts.appearances, pair.table
    if appearances is None or table is None:
        return None
    lines = [f"the same pair: {_named(table, appearances.of_pair)}"] if appearances.of_pair else []
    lines += [
        f"sentence {number} in {len(rows)} other pair{'s' if len(rows) > 1 else ''}: "
        f"{_counted(table, rows)}"
        for number, rows in enumerate(appearances.of_sentences, start=1)
        if rows
    ]
    return Content.styled("\n".join(lines), "$text-faint") if lines else None


def _named(table: pl.DataFrame, rows: Sequence[int]) -> str:
    """The first of ROWS with dataset, number and gold score."""
    facts = table[list(rows[:_PLACES])].select("dataset", "pair", "gold").iter_rows()
    named = [
        f"{plain(dataset)} {pair}" + (f" (gold {gold:z.2f})" if gold is not None else "")
        for dataset, pair, gold in facts
    ]
    return ", ".join(named) + (f" and {len(rows) - _PLACES} more" if len(rows) > _PLACES else "")


def _counted(table: pl.DataFrame, rows: Sequence[int]) -> str:
    """How many of ROWS each dataset has."""
    counts = Counter(table["dataset"].gather(list(rows)).to_list())
    return ", ".join(f"{plain(name)} {count}" for name, count in counts.items())


def _nearest(side: int) -> Callable[[ShownPair, int], Content | None]:
    """The section of what the models find closest to the first (0) or second (1) sentence."""

    def draw(pair: ShownPair, width: int) -> Content | None:
        facts = pair.facts
        if facts.corpus is None:
            return None
        lines = [
            Content.styled(
                f"nearest to sentence {side + 1} among {len(facts.corpus.sentences):,}", "bold"
            )
        ]
        shown = 5 if len(pair.models) < 3 else 3
        for name in pair.models:
            neighbours = facts.neighbours.get(name)
            lines += (
                [Content.styled("…", "$text-faint")]
                if neighbours is None
                else _of_model(name, neighbours, side, facts.corpus, shown, width)
            )
        return Content("\n").join(lines)

    return draw


def _of_model(
    name: str, neighbours: ModelNeighbours, side: int, corpus: "Corpus", shown: int, width: int
) -> Iterator[Content]:
    """What one model finds closest: the rank of the pair's other sentence, then the closest
    ones.
    """
    label = short_name(plain(name), 14)
    if neighbours.trouble:
        yield Content.assemble(
            (label, model_colour(name)),
            (_cut(f"  {plain(neighbours.trouble)}", width - cell_len(label)), "$text-faint"),
        )
        return
    sentence = neighbours.of_sentences[side]
    if not sentence.searched:
        text = _cut("  its vector of this sentence is not cached", width - cell_len(label))
        yield Content.assemble((label, model_colour(name)), (text, "$text-faint"))
        return
    rank = f"  the other sentence is number {sentence.rank:,}" if sentence.rank is not None else ""
    fewer = (
        f"  ({sentence.searched:,} searched)"
        if sentence.searched < len(corpus.sentences) - 1
        else ""
    )
    yield Content.assemble(
        (label, model_colour(name)),
        (_cut(f"{rank}{fewer}", width - cell_len(label)), "$text-faint"),
    )
    for neighbour in sentence.found[:shown]:
        yield Content.assemble(
            (f"{neighbour.similarity:z6.3f} ", "$text-faint"),
            _cut(plain(corpus.sentences[neighbour.number]), width - 7),
        )


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else f"{set_cell_size(text, max(0, width - 1))}…"


SECTIONS = (
    DetailSection(name="sentences", draw=_sentences),
    DetailSection(name="scores", draw=_scores),
    DetailSection(name="note", draw=_note, column=1),
    DetailSection(name="tags", draw=_tags, column=1),
    DetailSection(name="training", draw=_training, column=1),
    DetailSection(name="appearances", draw=_appearances, column=1),
    DetailSection(name="nearest-1", draw=_nearest(0), column=1),
    DetailSection(name="nearest-2", draw=_nearest(1), column=2),
)
