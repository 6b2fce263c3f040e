"""What the words of two sentences do, as tables: the pair, each word, two words together, edits;
and the sum over pairs of tokens.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from embedlab.analysis.word_effects import ExplainedModel, Floats, TokenView, WordEffects
from embedlab.core.note import Note
from embedlab.data.words import ShownWord
from embedlab.models.grammar import titles_of
from embedlab.reports.frames import Row, Schema, tidy_frame
from embedlab.reports.notes import generated_note, with_marks
from embedlab.reports.tables import Column, Table, number

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
_SHOWN = 5  # words, and two words together, that people see
_NAMED = 3  # words in the answer
_OTHER = "(other tokens)"


def effect_tables(
    effects: WordEffects, *, marks: Sequence[str] = (), notes: Sequence[str] = ()
) -> list[Table]:
    """Return the tables of leaving out words; NOTES are on the models."""
    tables = [_pair_table(effects, marks, [*generated_note(marks), *notes])]
    if effects.edits:
        tables.append(_edit_table(effects))
    return [*tables, _word_table(effects), _together_table(effects)]


def _pair_table(effects: WordEffects, marks: Sequence[str], notes: Sequence[str]) -> Table:
    facts: list[Row] = []
    for model in effects.models:
        ranks = [member.ranks.whole for member in model.members]
        fact = {"kind": "pair", **_model_fields(effects, model), "rank": model.ranks.whole}
        fact["similarity"] = model.similarities.whole
        fact["sd"] = float(np.std(ranks, ddof=1)) if len(ranks) > 1 else None
        facts.append(fact)
    columns = [
        Column(key="model", title="model", role="key"),
        Column(key="similarity", title="similarity", digits=4),
        Column(key="rank", title="percentile rank", digits=1),
        Column(key="sd", title="sd over seeds", digits=1),
        Column(key="seeds", title="seeds"),
    ]
    has_seeds = any(len(model.members) > 1 for model in effects.models)
    first, second = effects.sentences
    return Table(
        title=with_marks(f"1 {first} / 2 {second}", marks),
        columns=columns if has_seeds else columns[:3],
        rows=facts,
        frame=tidy_frame(facts, EXPLAINED),
        answer=[*_answer(effects)],
        notes=[
            f"rank: among the similarities that a model gives the {effects.pairs} pairs of "
            f"{effects.reference}; 50 is the middle",
            *notes,
            *_at_an_end(effects),
        ],
    )


def _answer(effects: WordEffects) -> Iterator[str]:
    """Yield which words make the models differ most, or of one model which count most."""
    first, *others = effects.models
    titles = titles_of([model.name for model in effects.models])

    def listed(numbers: Floats) -> str:
        words = []
        for row in np.argsort(-np.abs(numbers), kind="stable")[:_NAMED]:
            side, word = effects.places[row]
            words.append(f"{word.text!r} in {side} ({numbers[row]:+z.1f})")
        return ", ".join(words)

    if not others:
        yield f"words that count most: {listed(first.effects)}"
    for model in others:
        gap = model.ranks.whole - first.ranks.whole
        than = f"{'higher' if gap > 0 else 'lower'} than {titles[first.name]}"
        yield (
            f"{titles[model.name]} ranks the pair {abs(gap):z.1f} points {than}, mostly for: "
            f"{listed(effects.difference(model))}"
        )


def _at_an_end(effects: WordEffects) -> Iterator[Note]:
    """Yield of which models the pair is beyond the reference, so that its rank cannot move further
    that way.
    """
    for model in effects.models:
        if model.ranks.whole in {0, 100}:
            where = "above" if model.ranks.whole else "below"
            text = f"the pair ranks {where} all pairs of the reference: ranks do not show how far"
            yield Note(f"{model.name}: {text}", models=(model.name,), short=(text,))


def _word_table(effects: WordEffects) -> Table:
    """Return what each word does; people see those that make the models differ most."""
    place = [0, 0, 0]
    places: list[Row] = []
    for sentence, word in effects.places:
        place[sentence] += 1
        places.append({"sentence": sentence, "place": place[sentence], "word": word.text})

    def numbers(model: ExplainedModel, row: int) -> Row:
        index = places[row]["place"]
        at = (index, 0) if places[row]["sentence"] == 1 else (0, index)
        return {
            "similarity": float(model.similarities.table[at]),
            "rank": float(model.ranks.table[at]),
            "effect": float(model.effects[row]),
            "sd": float(model.spreads[row]) if model.spreads is not None else None,
            "difference": float(effects.difference(model)[row]),
        }

    table = _pivoted(effects, "What each word does", "word", places, numbers)
    first, *others = effects.models
    compared = [effects.difference(model) for model in others] or [first.effects]
    order = np.argsort(-np.max(np.abs(compared), axis=0), kind="stable")
    leading = [Column(key="sentence", title="sentence", role="group")]
    leading.append(Column(key="word", title="word", role="key"))
    return replace(
        table,
        columns=[*leading, *table.columns],
        brief=sorted(order[:_SHOWN].tolist()) if len(places) > _SHOWN else (),
        notes=["points of percentile rank that the pair loses without the word"],
    )


def _together_table(effects: WordEffects) -> Table:
    """Return the two words whose interaction is largest, or differs most between the models."""
    numbers = {model.name: effects.together(model) for model in effects.models}
    largest = np.max(np.abs([*numbers.values()][1:] or [*numbers.values()]), axis=0)
    order = np.argsort(-largest, axis=None, kind="stable")
    pairs = [divmod(int(flat), largest.shape[1]) for flat in order]
    first, second = effects.words
    places: list[Row] = [
        {
            "place": row + 1,
            "second_place": column + 1,
            "word": first[row].text,
            "second_word": second[column].text,
        }
        for row, column in pairs
    ]
    table = _pivoted(
        effects,
        "Two words together, beyond what each does alone",
        "words",
        places,
        lambda model, row: {
            "effect": float(model.ranks.together[pairs[row]]),
            "difference": float(numbers[model.name][pairs[row]]),
        },
    )
    some = f"the {_SHOWN} of {len(pairs)} with the largest numbers; --json has all"
    leading = [Column(key="word", title="in 1", role="key")]
    leading.append(Column(key="second_word", title="in 2", role="key"))
    return replace(
        table,
        columns=[*leading, *table.columns],
        rows=table.rows[:_SHOWN],
        notes=[some] if len(pairs) > _SHOWN else [],
        is_detail=True,
    )


def _edit_table(effects: WordEffects) -> Table:
    first = effects.models[0]

    def moved(model: ExplainedModel, row: int) -> float:
        return float(model.edited_ranks[row]) - model.ranks.whole

    places: list[Row] = [
        {
            "sentence": edit.replaces + 1,
            "text": edit.text,
            "rule": edit.rule,
            "made": f"rule: {edit.rule}" if edit.rule else "as typed",
        }
        for edit in effects.edits
    ]
    table = _pivoted(
        effects,
        "Edited: percentile rank, and by how much it moves",
        "edit",
        places,
        lambda model, row: {
            "similarity": float(model.edited[row]),
            "rank": float(model.edited_ranks[row]),
            "effect": moved(model, row),
            "difference": moved(model, row) - moved(first, row),
        },
    )
    rule = "a rule changes one word: read its sentence before you trust it"
    leading = [Column(key=key, title=title, role="key") for key, title in _EDIT.items()]
    return replace(
        table,
        columns=[
            *leading,
            *table.columns,
            Column(key="text", title="edited sentence", role="text"),
        ],
        notes=[rule] if any(edit.rule for edit in effects.edits) else [],
    )


_EDIT = {"sentence": "sentence", "made": "edit"}


def _pivoted(
    effects: WordEffects,
    title: str,
    kind: str,
    places: Sequence[Row],
    numbers: Callable[[ExplainedModel, int], Row],
) -> Table:
    """Return one row a place, one column a model with its effect, and one a further model with its
    difference from the first; the frame has one row a place and model.
    """
    first, *others = effects.models
    titles = titles_of([model.name for model in effects.models])
    facts: list[Row] = []
    shown = []
    for row, place in enumerate(places):
        cells = {**place}
        for model in effects.models:
            fact = numbers(model, row)
            effect = number(fact["effect"], digits=1, is_signed=True)
            if kind == "edit":
                effect = number(fact["rank"], digits=1, sign=f" ({effect.text})")
                effect = replace(effect, value=fact["effect"])
            cells[model.name] = effect
            difference = fact.pop("difference")
            if model is not first:
                fact["difference"] = difference
                cells[f"difference {model.name}"] = number(difference, digits=1, is_signed=True)
            facts.append({"kind": kind, **_model_fields(effects, model), **place, **fact})
        shown.append(cells)
    columns = [
        Column(key=name, title=title, align="right", role="score") for name, title in titles.items()
    ]
    for model in others:
        head = f"{titles[model.name]} − {titles[first.name]}"
        key = f"difference {model.name}"
        columns.append(Column(key=key, title=head, align="right", role="difference"))
    return Table(title=title, columns=columns, rows=shown, frame=tidy_frame(facts, EXPLAINED))


def _model_fields(effects: WordEffects, model: ExplainedModel) -> Row:
    return {
        "model": model.name,
        "seeds": len(model.members),
        "reference": effects.reference,
        "reference_pairs": effects.pairs,
    }


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
    texts = [[*(word.text for word in sentence), _OTHER] for sentence in words]
    facts: list[Row] = []
    shown: list[Row] = []
    for side in (0, 1):
        sums = {view.name: view.parts.sum(axis=1 - side) for view in views}
        for index, text in enumerate(texts[side]):
            place = {"sentence": side + 1, "word": text}
            row: Row = {**place}
            for name, parts in sums.items():
                part = float(parts[index])
                fact = {"kind": "part", "model": name, "place": index + 1, "part": part}
                facts.append(place | fact)
                row[name] = number(part, digits=3, is_signed=True)
            shown.append(row)
    for view in views:
        for (row_at, column), part in np.ndenumerate(view.parts):
            first = {"kind": "parts", "model": view.name, "place": row_at + 1}
            second = {"second_place": column + 1, "second_word": texts[1][column]}
            facts.append(first | second | {"word": texts[0][row_at], "part": float(part)})
    columns = [
        Column(key="sentence", title="sentence", role="group"),
        Column(key="word", title="word", role="key"),
    ]
    columns += [
        Column(key=name, title=title, align="right", role="score") for name, title in titles.items()
    ]
    cosines = "; ".join(f"{titles[view.name]} {view.cosine:z.4f}" for view in views)
    table = Table(
        title=with_marks("Token view: how the cosine adds up over the words", marks),
        columns=columns,
        rows=shown,
        frame=tidy_frame(facts, EXPLAINED),
        notes=[
            f"the parts of each sentence add up to the cosine: {cosines}",
            "a part is not what its word does: each token's vector holds the whole "
            "sentence; `--view effects` leaves words out",
        ],
    )
    return [table]
