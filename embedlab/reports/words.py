"""What the words of two sentences do, as tables: the pair, each word, two words together, edits;
and the sum over pairs of tokens.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from embedlab.analysis.word_effects import (
    ExplainedModel,
    Floats,
    TokenView,
    WordEffects,
    effects_of,
    interactions_of,
    without_each,
)
from embedlab.core.note import Note
from embedlab.data.words import ShownWord
from embedlab.models.grammar import titles_of
from embedlab.reports.frames import Row, schema_of, tidy_frame
from embedlab.reports.notes import generated_note, with_marks
from embedlab.reports.tables import Column, Table, TableCell, columns_of, model_columns, number

EXPLAINED = schema_of(
    """
    # "pair", "word", "words" (two together), "edit"; of the view tokens "part" and "parts"
    kind text
    model text
    seeds count
    sentence count  # 1 or 2: of the word, or what an edit replaces
    # of the word in its sentence, from 1; of two words the one in the first sentence
    place count
    word text
    second_place count
    second_word text
    text text  # the edited sentence
    rule text  # by which it was edited; null where the user wrote it
    similarity number  # of the pair, or without the word, or edited
    rank number  # the same as a percentile rank among the reference
    # points of rank that are lost without the word; of an edit those that it adds
    effect number
    sd number  # of the effect over the seeds
    difference number  # of the effect from that of the first model
    part number  # of the cosine, in the view tokens
    reference text
    reference_pairs count
    """
)
_SHOWN = 5  # words, and two words together, that people see
_NAMED = 3  # words in the answer
_ALIKE = 0.05  # points of percentile rank: less is shown as 0.0
_OTHER = "(other tokens)"


def effect_tables(
    effects: WordEffects, *, marks: Sequence[str], notes: Sequence[str]
) -> list[Table]:
    """Return the tables of leaving out words; NOTES are on the models."""
    tables = [_pair_table(effects, marks, [*generated_note(marks), *notes])]
    if effects.edits:
        tables.append(_edit_table(effects))
    return [*tables, _word_table(effects), _together_table(effects)]


def _pair_table(effects: WordEffects, marks: Sequence[str], notes: Sequence[str]) -> Table:
    records: list[Row] = []
    for model in effects.models:
        record = {"kind": "pair", **_model_fields(effects, model), "rank": model.rank}
        record["similarity"] = float(model.similarities.mean(axis=0)[0, 0])
        record["sd"] = _spread(model.ranks[:, 0, 0])
        records.append(record)
    columns = columns_of(
        "model [key]",
        "similarity .4",
        "rank = percentile rank .1",
        "sd = sd over seeds .1",
        "seeds",
    )
    has_seeds = any(len(model.ranks) > 1 for model in effects.models)
    first_sentence, second_sentence = effects.sentences
    return Table(
        with_marks(f"1 {first_sentence} / 2 {second_sentence}", marks),
        columns if has_seeds else columns[:3],
        records,
        [
            f"rank: among the similarities that a model gives the {effects.pairs} pairs of "
            f"{effects.reference}; 50 is the middle",
            *notes,
            *_beyond_reference_notes(effects),
        ],
        tidy_frame(records, EXPLAINED),
        answer=[*_answer(effects)],
    )


def _answer(effects: WordEffects) -> Iterator[str]:
    """Yield which words make the models differ most, or which count most for a single model."""
    first_model, *other_models = effects.models
    titles = titles_of([model.name for model in effects.models])

    def listed(numbers: Floats) -> str:
        word_texts = []
        for row in np.argsort(-np.abs(numbers), kind="stable")[:_NAMED]:
            side, word = effects.places[row]
            word_texts.append(f"{word.text!r} in {side} ({numbers[row]:+z.1f})")
        return ", ".join(word_texts)

    if not other_models:
        yield f"words that count most: {listed(first_model.effects)}"
    for model in other_models:
        gap = model.rank - first_model.rank
        if abs(gap) < _ALIKE:
            yield f"{titles[model.name]} ranks the pair like {titles[first_model.name]}"
            continue
        than = f"{'higher' if gap > 0 else 'lower'} than {titles[first_model.name]}"
        yield (
            f"{titles[model.name]} ranks the pair {abs(gap):.1f} points {than}, mostly for: "
            f"{listed(effects.difference(model))}"
        )


def _beyond_reference_notes(effects: WordEffects) -> Iterator[Note]:
    """Yield the models for which the pair ranks above or below the whole reference, so that its
    rank cannot move further that way.
    """
    for model in effects.models:
        if model.rank in {0, 100}:
            side = "above" if model.rank else "below"
            text = f"the pair ranks {side} all pairs of the reference: ranks do not show how far"
            yield Note(f"{model.name}: {text}", models=(model.name,), short_texts=(text,))


def _word_table(effects: WordEffects) -> Table:
    """Return what each word does; people see the words that make the models differ most."""
    word_rows: list[Row] = [
        {"sentence": sentence, "place": place, "word": word.text}
        for sentence, words in enumerate(effects.words, start=1)
        for place, word in enumerate(words, start=1)
    ]
    first_model, *other_models = effects.models
    effects_compared = [effects.difference(model) for model in other_models] or [
        first_model.effects
    ]
    order = np.argsort(-np.max(np.abs(effects_compared), axis=0), kind="stable")
    table = _pivot_table(
        effects,
        "What each word does",
        "word",
        word_rows,
        lambda model: {
            "similarity": without_each(model.similarities.mean(axis=0)),
            "rank": without_each(model.mean_ranks),
            "effect": model.effects,
            "sd": _spread(effects_of(model.ranks)),
            "difference": effects.difference(model),
        },
        columns_of("sentence [group]", "word [key]"),
    )
    brief = sorted(order[:_SHOWN].tolist()) if len(word_rows) > _SHOWN else ()
    notes = ["points of percentile rank that the pair loses without the word"]
    return replace(table, brief=brief, notes=notes)


def _together_table(effects: WordEffects) -> Table:
    """Return the two words whose interaction is largest, or differs most between the models."""
    together = [effects.together(model) for model in effects.models]
    largest = np.max(np.abs(together[1:] or together), axis=0)
    order = np.argsort(-largest, axis=None, kind="stable")
    indices = np.unravel_index(order, largest.shape)
    first_words, second_words = effects.words
    pair_rows: list[Row] = [
        {
            "place": row + 1,
            "second_place": column + 1,
            "word": first_words[row].text,
            "second_word": second_words[column].text,
        }
        for row, column in np.transpose(indices).tolist()
    ]
    table = _pivot_table(
        effects,
        "Two words together, beyond what each does alone",
        "words",
        pair_rows,
        lambda model: {
            "effect": interactions_of(model.mean_ranks)[indices],
            "difference": effects.together(model)[indices],
        },
        columns_of("word = in 1 [key]", "second_word = in 2 [key]"),
    )
    hint = f"the {_SHOWN} of {len(pair_rows)} with the largest numbers; --json has all"
    notes = [hint] if len(pair_rows) > _SHOWN else []
    return replace(table, rows=table.rows[:_SHOWN], notes=notes, is_detail=True)


def _edit_table(effects: WordEffects) -> Table:
    def moved(model: ExplainedModel) -> Floats:
        moves: Floats = model.edited_ranks.mean(axis=0) - model.rank
        return moves

    edit_rows: list[Row] = [
        {
            "sentence": edit.replaces + 1,
            "text": edit.text,
            "rule": edit.rule,
            "made": f"rule: {edit.rule}" if edit.rule else "as typed",
        }
        for edit in effects.edits
    ]
    table = _pivot_table(
        effects,
        "Edited: percentile rank, and by how much it moves",
        "edit",
        edit_rows,
        lambda model: {
            "similarity": model.edited.mean(axis=0),
            "rank": model.edited_ranks.mean(axis=0),
            "effect": moved(model),
            "difference": moved(model) - moved(effects.models[0]),
        },
        columns_of("sentence [key]", "made = edit [key]"),
    )
    rule = "a rule changes one word: read its sentence before you trust it"
    return replace(
        table,
        columns=[*table.columns, *columns_of("text = edited sentence [text]")],
        notes=[rule] if any(edit.rule for edit in effects.edits) else [],
    )


def _pivot_table(
    effects: WordEffects,
    title: str,
    kind: str,
    row_heads: Sequence[Row],
    numbers: Callable[[ExplainedModel], Mapping[str, Floats | None]],
    leading: Sequence[Column],
) -> Table:
    """Return a row for each of ROW_HEADS, with a column for the effect of each model and one for
    the difference of each further model from the first; the frame has a row for each row and model.

    NUMBERS gives arrays of one value a row.
    """
    first_model, *other_models = effects.models
    titles = titles_of([model.name for model in effects.models])
    columns_of_model = {}
    for model in effects.models:
        columns = {name: values for name, values in numbers(model).items() if values is not None}
        if model is first_model:
            del columns["difference"]
        columns_of_model[model] = columns
    records, shown_rows = list[Row](), list[Row]()
    for index, row_head in enumerate(row_heads):
        row = {**row_head}
        for model, columns in columns_of_model.items():
            record = {name: float(values[index]) for name, values in columns.items()}
            row[f"{model.name}.score"] = _effect_cell(record, has_rank=kind == "edit")
            if "difference" in record:
                row[f"{model.name}.delta"] = number(record["difference"], digits=1, is_signed=True)
            records.append({"kind": kind, **_model_fields(effects, model), **row_head, **record})
        shown_rows.append(row)
    pivoted = model_columns(titles)
    for model in other_models:
        difference = f"{titles[model.name]} − {titles[first_model.name]}"
        pivoted.append(Column(f"{model.name}.delta", difference, "difference", "right"))
    return Table(title, [*leading, *pivoted], shown_rows, frame=tidy_frame(records, EXPLAINED))


def _effect_cell(record: Row, *, has_rank: bool) -> TableCell:
    """Return how far a rank moves, behind the rank where it HAS one to show."""
    effect = number(record["effect"], digits=1, is_signed=True)
    if not has_rank:
        return effect
    return replace(effect, text=number(record["rank"], digits=1, sign=f" ({effect.text})").text)


def _spread(numbers: Floats) -> Any:
    """Return the standard deviation of NUMBERS over the members, (members, …); None for one."""
    return np.std(numbers, axis=0, ddof=1) if len(numbers) > 1 else None


def _model_fields(effects: WordEffects, model: ExplainedModel) -> Row:
    return {
        "model": model.name,
        "seeds": len(model.ranks),
        "reference": effects.reference,
        "reference_pairs": effects.pairs,
    }


def token_tables(
    views: Sequence[TokenView],
    words: tuple[Sequence[ShownWord], Sequence[ShownWord]],
    *,
    marks: Sequence[str],
) -> list[Table]:
    """Return what each word of each sentence contributes to the cosine of each model; the
    contributions add up to it.
    """
    titles = titles_of([view.name for view in views])
    texts = [[*(word.text for word in sentence), _OTHER] for sentence in words]
    records, shown_rows = list[Row](), list[Row]()
    for sentence, sentence_texts in enumerate(texts, start=1):
        for index, text in enumerate(sentence_texts):
            word_fields = {"sentence": sentence, "word": text}
            row: Row = {**word_fields}
            for view in views:
                part = float(view.parts.sum(axis=2 - sentence)[index])
                fields = {"kind": "part", "model": view.name, "place": index + 1, "part": part}
                records.append(word_fields | fields)
                row[f"{view.name}.score"] = number(part, digits=3, is_signed=True)
            shown_rows.append(row)
    for view in views:
        for (first, second), part_of_both in np.ndenumerate(view.parts):
            records.append(
                {
                    "kind": "parts",
                    "model": view.name,
                    "part": float(part_of_both),
                    "place": first + 1,
                    "word": texts[0][first],
                    "second_place": second + 1,
                    "second_word": texts[1][second],
                }
            )
    columns = columns_of("sentence [group]", "word [key]")
    columns += model_columns(titles)
    cosines = "; ".join(f"{titles[view.name]} {view.cosine:z.4f}" for view in views)
    table = Table(
        with_marks("Token view: how the cosine adds up over the words", marks),
        columns,
        shown_rows,
        [
            f"the parts of each sentence add up to the cosine: {cosines}",
            "a part is not what its word does: each token's vector holds the whole "
            "sentence; `--view effects` leaves words out",
        ],
        tidy_frame(records, EXPLAINED),
    )
    return [table]
