"""What the words of two sentences do, as tables: the pair, each word, two words together, edits;
and the sum over pairs of tokens.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from embedlab.analysis.word_effects import ExplainedModel, Floats, TokenView, WordEffects
from embedlab.core.note import Note
from embedlab.data.words import ShownWord
from embedlab.models.grammar import titles_of
from embedlab.reports.frames import Row, Schema, tidy_frame
from embedlab.reports.notes import generated_note, with_marks
from embedlab.reports.tables import Column, Table, TableCell, Value

_NUMBER, _TEXT, _COUNT = pl.Float64(), pl.String(), pl.Int64()

EXPLAINED: Schema = {
    # "pair", "word", "words" (two together), "edit"; of the view tokens "part" and "parts"
    "kind": _TEXT,
    "model": _TEXT,
    "seeds": _COUNT,
    "sentence": _COUNT,  # 1 or 2: of the word, or what an edit replaces
    # of the word in its sentence, from 1; of two words the one in the first sentence
    "place": _COUNT,
    "word": _TEXT,
    "second_place": _COUNT,
    "second_word": _TEXT,
    "text": _TEXT,  # the edited sentence
    "rule": _TEXT,  # by which it was edited; null where the user wrote it
    "similarity": _NUMBER,  # of the pair, or without the word, or edited
    "rank": _NUMBER,  # the same as a percentile rank among the reference
    # points of rank that are lost without the word; of an edit those that it adds
    "effect": _NUMBER,
    "sd": _NUMBER,  # of the effect over the seeds
    "difference": _NUMBER,  # of the effect from that of the first model
    "part": _NUMBER,  # of the cosine, in the view tokens
    "reference": _TEXT,
    "reference_pairs": _COUNT,
}
TOGETHER = 5  # interactions that people see
MOST = 3  # words that are named as those of the largest difference

_OTHER = "(other tokens)"
_RANKED = (
    "effects in points of percentile rank: what the pair loses without the word, + brings "
    "the sentences together, - sets them apart"
)


def effect_tables(
    effects: WordEffects, *, marks: Sequence[str] = (), notes: Sequence[str] = ()
) -> list[Table]:
    """Return the tables of leaving out words; NOTES are on the models."""
    titles = titles_of([model.name for model in effects.models])
    edits = [_edit_table(effects, titles)] if effects.edits else []
    pair = _pair_table(effects, marks, [*generated_note(marks), *notes])
    return [pair, *edits, _word_table(effects, titles), _together_table(effects, titles)]


def _pair_table(effects: WordEffects, marks: Sequence[str], notes: Sequence[str]) -> Table:
    rows: list[Row] = []
    for model in effects.models:
        ranks = [member.ranks.whole for member in model.members]
        spread = float(np.std(ranks, ddof=1)) if len(ranks) > 1 else None
        numbers = {"similarity": model.similarities.whole, "rank": model.ranks.whole, "sd": spread}
        rows.append(
            {
                "kind": "pair",
                "model": model.name,
                "seeds": len(ranks),
                **numbers,
                **_reference(effects),
            }
        )
    has_seeds = any(row["seeds"] > 1 for row in rows)
    first, second = effects.sentences
    return Table(
        title=with_marks(f"1 {first} / 2 {second}", marks),
        columns=(
            Column(key="model", title="model", role="key"),
            Column(key="similarity", title="similarity", digits=4),
            Column(key="rank", title="percentile rank", digits=1),
            *(
                (
                    Column(key="sd", title="sd over seeds", digits=1),
                    Column(key="seeds", title="seeds"),
                )
                if has_seeds
                else ()
            ),
        ),
        rows=rows,
        frame=tidy_frame(rows, EXPLAINED),
        notes=[
            f"rank: among the similarities that a model gives the {effects.pairs} pairs of "
            f"{effects.reference}; 50 is the middle",
            *notes,
            *_at_an_end(effects),
        ],
    )


def _at_an_end(effects: WordEffects) -> Iterable[Note]:
    """Yield of which models the pair is beyond the reference, so that its rank cannot move further
    that way.
    """
    for model in effects.models:
        if model.ranks.whole in {0, 100}:
            where = "above" if model.ranks.whole else "below"
            text = (
                f"the pair is {where} all of the reference: a change in that direction is "
                f"not seen in ranks"
            )
            yield Note(f"{model.name}: {text}", models=(model.name,), short=(text,))


def _word_table(effects: WordEffects, titles: dict[str, str]) -> Table:
    facts: list[Row] = []
    shown: list[dict[str, Value | TableCell]] = []
    for row, (sentence, word) in enumerate(effects.places):
        index = row + 1 if sentence == 1 else row + 1 - len(effects.words[0])
        names: dict[str, str | int] = {"sentence": sentence, "place": index, "word": word.text}
        cells: dict[str, Value | TableCell] = {**names}
        for model in effects.models:
            effect = float(model.effects[row])
            cells[model.name] = _signed(effect)
            fact = {
                "kind": "word",
                "model": model.name,
                "seeds": len(model.members),
                **names,
                **_without(model, sentence, index),
            }
            fact |= {
                "effect": effect,
                "sd": float(model.spreads[row]) if model.spreads is not None else None,
            }
            if model is not effects.models[0]:
                fact |= _differing(model, float(effects.difference(model)[row]), cells)
            facts.append(fact | _reference(effects))
        shown.append(cells)
    return Table(
        title="What each word does",
        columns=(
            Column(key="sentence", title="in", role="group"),
            Column(key="word", title="word", role="key"),
            *_columns(effects, titles),
        ),
        rows=shown,
        frame=tidy_frame(facts, EXPLAINED),
        notes=[_RANKED, *_most(effects, titles)],
    )


def _without(model: ExplainedModel, sentence: int, index: int) -> Row:
    """Return the similarity and the rank of the pair without a word."""
    at = (index, 0) if sentence == 1 else (0, index)
    return {"similarity": float(model.similarities.table[at]), "rank": float(model.ranks.table[at])}


def _most(effects: WordEffects, titles: dict[str, str]) -> Iterable[str]:
    """Yield which words make the models differ most, or of one model which count most."""
    first = effects.models[0]
    if len(effects.models) == 1:
        yield f"the words that count most: {_listed(effects, first.effects)}"
    for model in effects.models[1:]:
        gap, difference = model.ranks.whole - first.ranks.whole, effects.difference(model)
        names = f"{titles[model.name]} - {titles[first.name]}"
        yield (
            f"{names}: {gap:+z.1f} on the pair; the words that make them differ most: "
            f"{_listed(effects, difference)}"
        )


def _listed(effects: WordEffects, numbers: Floats) -> str:
    """Return the words with the largest of some NUMBERS, with these and the sentence of each."""
    order = np.argsort(-np.abs(numbers), kind="stable")[:MOST]
    places = effects.places
    return ", ".join(
        f"{places[row][1].text!r} of {places[row][0]} {numbers[row]:+z.1f}" for row in order
    )


def _together_table(effects: WordEffects, titles: dict[str, str]) -> Table:
    """The two words whose interaction is largest, or differs most between the models."""
    numbers = [effects.together(model) for model in effects.models]
    largest = np.max([np.abs(matrix) for matrix in numbers[1:] or numbers], axis=0)
    order = np.argsort(-largest, axis=None, kind="stable")
    facts: list[Row] = []
    shown: list[dict[str, Value | TableCell]] = []
    for flat in order:
        row, column = (int(index) for index in np.unravel_index(flat, largest.shape))
        words = {"word": effects.words[0][row].text, "second_word": effects.words[1][column].text}
        cells: dict[str, Value | TableCell] = {**words}
        for model, number in zip(effects.models, numbers, strict=True):
            effect = float(model.ranks.together[row, column])
            cells[model.name] = _signed(effect)
            fact = {
                "kind": "words",
                "model": model.name,
                "seeds": len(model.members),
                "place": row + 1,
                "second_place": column + 1,
                **words,
            }
            fact |= {"effect": effect}
            if model is not effects.models[0]:
                fact |= _differing(model, float(number[row, column]), cells)
            facts.append(fact | _reference(effects))
        shown.append(cells)
    return Table(
        title="Two words together, beyond what each does alone",
        columns=(
            Column(key="word", title="of 1", role="key"),
            Column(key="second_word", title="of 2", role="key"),
            *_columns(effects, titles),
        ),
        rows=shown[:TOGETHER],
        frame=tidy_frame(facts, EXPLAINED),
        notes=[f"the {TOGETHER} of {len(shown)} with the largest numbers; --json has all"]
        if len(shown) > TOGETHER
        else [],
    )


def _edit_table(effects: WordEffects, titles: dict[str, str]) -> Table:
    facts: list[Row] = []
    shown: list[dict[str, Value | TableCell]] = []
    for number, edit in enumerate(effects.edits):
        names: dict[str, str | int | None] = {
            "sentence": edit.replaces + 1,
            "text": edit.text,
            "rule": edit.rule,
        }
        cells: dict[str, Value | TableCell] = {
            **names,
            "made": f"rule: {edit.rule}" if edit.rule else "as typed",
        }
        for model in effects.models:
            moved = float(model.edited_ranks[number]) - model.ranks.whole
            cells[model.name] = TableCell(
                value=moved, text=f"{model.edited_ranks[number]:z.1f} ({moved:+z.1f})"
            )
            fact = {
                "kind": "edit",
                "model": model.name,
                "seeds": len(model.members),
                **names,
                "effect": moved,
            }
            fact |= {
                "similarity": float(model.edited[number]),
                "rank": float(model.edited_ranks[number]),
            }
            if model is not effects.models[0]:
                first = effects.models[0]
                fact |= _differing(
                    model, moved - (float(first.edited_ranks[number]) - first.ranks.whole), cells
                )
            facts.append(fact | _reference(effects))
        shown.append(cells)
    return Table(
        title="Edited: percentile rank, and by how much it moves",
        columns=(
            Column(key="sentence", title="in", role="key"),
            Column(key="made", title="made", role="key"),
            *_columns(effects, titles),
            Column(key="text", title="instead", role="text"),
        ),
        rows=shown,
        frame=tidy_frame(facts, EXPLAINED),
        notes=["a rule changes one word: read its sentence before you trust it"]
        if any(edit.rule for edit in effects.edits)
        else [],
    )


def token_tables(
    views: Sequence[TokenView],
    words: tuple[Sequence[ShownWord], Sequence[ShownWord]],
    *,
    marks: Sequence[str] = (),
) -> list[Table]:
    """Return the parts of the cosine of each model by the words of each sentence; they add up to
    it.
    """
    titles = titles_of([view.name for view in views])
    facts: list[Row] = []
    shown: list[dict[str, Value | TableCell]] = []
    for side, sentence in enumerate(words):
        for index, text in enumerate([*(word.text for word in sentence), _OTHER]):
            cells: dict[str, Value | TableCell] = {"sentence": side + 1, "word": text}
            for view in views:
                part = float(view.parts.sum(axis=1 - side)[index])
                cells[view.name] = TableCell(value=part, text=f"{part:+z.3f}")
                facts.append(
                    {
                        "kind": "part",
                        "model": view.name,
                        "sentence": side + 1,
                        "place": index + 1,
                        "word": text,
                        "part": part,
                    }
                )
            shown.append(cells)
    for view in views:
        facts += _pair_parts(view, words)
    sums = "; ".join(f"{titles[view.name]} {view.cosine:z.4f}" for view in views)
    return [
        Table(
            title=with_marks("Token view: how the cosine adds up over the words", marks),
            columns=(
                Column(key="sentence", title="in", role="group"),
                Column(key="word", title="word", role="key"),
                *(
                    Column(key=view.name, title=titles[view.name], align="right", role="score")
                    for view in views
                ),
            ),
            rows=shown,
            frame=tidy_frame(facts, EXPLAINED),
            notes=[
                f"the parts of each sentence add up to the cosine: {sums}",
                "a part is not what its word does: each token's vector holds the whole "
                "sentence; `--view effects` leaves words out",
            ],
        )
    ]


def _pair_parts(
    view: TokenView, words: tuple[Sequence[ShownWord], Sequence[ShownWord]]
) -> Iterable[Row]:
    texts = [[*(word.text for word in sentence), _OTHER] for sentence in words]
    for row, first in enumerate(texts[0]):
        for column, second in enumerate(texts[1]):
            places = {
                "place": row + 1,
                "word": first,
                "second_place": column + 1,
                "second_word": second,
            }
            yield {
                "kind": "parts",
                "model": view.name,
                **places,
                "part": float(view.parts[row, column]),
            }


def _columns(effects: WordEffects, titles: dict[str, str]) -> Iterable[Column]:
    first = effects.models[0]
    for model in effects.models:
        yield Column(key=model.name, title=titles[model.name], align="right", role="score")
    for model in effects.models[1:]:
        title = f"{titles[model.name]} − {titles[first.name]}"
        yield Column(key=f"difference {model.name}", title=title, align="right", role="difference")


def _differing(
    model: ExplainedModel, difference: float, cells: dict[str, Value | TableCell]
) -> Row:
    """Put the DIFFERENCE of a model from the first into its cell, and return it as a fact."""
    cells[f"difference {model.name}"] = _signed(difference)
    return {"difference": difference}


def _signed(number: float) -> TableCell:
    return TableCell(value=number, text=f"{number:+z.1f}")


def _reference(effects: WordEffects) -> Row:
    return {"reference": effects.reference, "reference_pairs": effects.pairs}
