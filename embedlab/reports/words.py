"""What the words of two sentences do, as tables: the pair, each word, two words together, edits;
and the sum over pairs of tokens.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from embedlab.analysis.word_effects import ExplainedModel, Floats, TokenView, WordEffects
from embedlab.core.note import Note
from embedlab.data.words import ShownWord
from embedlab.models.grammar import titles_of
from embedlab.reports.frames import Row, schema_of, tidy_frame
from embedlab.reports.notes import generated_note, with_marks
from embedlab.reports.tables import Column, Table, columns_of, number, score_columns

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
    facts: list[Row] = []
    for model in effects.models:
        ranks = [member.ranks.whole for member in model.members]
        fact = {"kind": "pair", **_model_fields(effects, model), "rank": model.ranks.whole}
        fact["similarity"] = model.similarities.whole
        fact["sd"] = float(np.std(ranks, ddof=1)) if len(ranks) > 1 else None
        facts.append(fact)
    columns = columns_of(
        "model [key]",
        "similarity .4",
        "rank = percentile rank .1",
        "sd = sd over seeds .1",
        "seeds",
    )
    has_seeds = any(len(model.members) > 1 for model in effects.models)
    first, second = effects.sentences
    return Table(
        with_marks(f"1 {first} / 2 {second}", marks),
        columns if has_seeds else columns[:3],
        facts,
        [
            f"rank: among the similarities that a model gives the {effects.pairs} pairs of "
            f"{effects.reference}; 50 is the middle",
            *notes,
            *_at_an_end(effects),
        ],
        tidy_frame(facts, EXPLAINED),
        answer=[*_answer(effects)],
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
    # where the table of all pairs of variants lacks the word
    at = tuple(
        [row["place"] * (row["sentence"] == sentence) for row in places] for sentence in (1, 2)
    )
    first, *others = effects.models
    compared = [effects.difference(model) for model in others] or [first.effects]
    order = np.argsort(-np.max(np.abs(compared), axis=0), kind="stable")
    table = _pivoted(
        effects,
        "What each word does",
        "word",
        places,
        lambda model: {
            "similarity": model.similarities.table[at],
            "rank": model.ranks.table[at],
            "effect": model.effects,
            "sd": model.spreads,
            "difference": effects.difference(model),
        },
        columns_of("sentence [group]", "word [key]"),
    )
    brief = sorted(order[:_SHOWN].tolist()) if len(places) > _SHOWN else ()
    notes = ["points of percentile rank that the pair loses without the word"]
    return replace(table, brief=brief, notes=notes)


def _together_table(effects: WordEffects) -> Table:
    """Return the two words whose interaction is largest, or differs most between the models."""
    together = [effects.together(model) for model in effects.models]
    largest = np.max(np.abs(together[1:] or together), axis=0)
    order = np.argsort(-largest, axis=None, kind="stable")
    at = np.unravel_index(order, largest.shape)
    first, second = effects.words
    places: list[Row] = [
        {
            "place": row + 1,
            "second_place": column + 1,
            "word": first[row].text,
            "second_word": second[column].text,
        }
        for row, column in zip(*(places.tolist() for places in at), strict=True)
    ]
    table = _pivoted(
        effects,
        "Two words together, beyond what each does alone",
        "words",
        places,
        lambda model: {
            "effect": model.ranks.together[at],
            "difference": effects.together(model)[at],
        },
        columns_of("word = in 1 [key]", "second_word = in 2 [key]"),
    )
    some = f"the {_SHOWN} of {len(places)} with the largest numbers; --json has all"
    notes = [some] if len(places) > _SHOWN else []
    return replace(table, rows=table.rows[:_SHOWN], notes=notes, is_detail=True)


def _edit_table(effects: WordEffects) -> Table:
    def moved(model: ExplainedModel) -> Floats:
        return np.subtract(model.edited_ranks, model.ranks.whole)

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
        lambda model: {
            "similarity": model.edited,
            "rank": model.edited_ranks,
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


def _pivoted(
    effects: WordEffects,
    title: str,
    kind: str,
    places: Sequence[Row],
    numbers: Callable[[ExplainedModel], Mapping[str, Floats | None]],
    leading: Sequence[Column],
) -> Table:
    """Return one row a place, one column a model with its effect, and one a further model with its
    difference from the first; the frame has one row a place and model. NUMBERS are by place.
    """
    first, *others = effects.models
    titles = titles_of([model.name for model in effects.models])
    facts: list[Row] = []
    shown = [{**place} for place in places]
    for model in effects.models:
        columns = {key: each for key, each in numbers(model).items() if each is not None}
        for row, cells in enumerate(shown):
            fact = {key: float(values[row]) for key, values in columns.items()}
            effect = number(fact["effect"], digits=1, is_signed=True)
            if kind == "edit":
                text = number(fact["rank"], digits=1, sign=f" ({effect.text})").text
                effect = replace(effect, text=text)
            cells[model.name] = effect
            difference = fact.pop("difference")
            if model is not first:
                fact["difference"] = difference
                cells[f"difference {model.name}"] = number(difference, digits=1, is_signed=True)
            facts.append({"kind": kind, **_model_fields(effects, model), **places[row], **fact})
    facts = [fact for row in range(len(places)) for fact in facts[row :: len(places)]]
    pivoted = score_columns(titles)
    pivoted += [
        Column(
            f"difference {model.name}",
            f"{titles[model.name]} − {titles[first.name]}",
            "difference",
            "right",
        )
        for model in others
    ]
    return Table(title, [*leading, *pivoted], shown, frame=tidy_frame(facts, EXPLAINED))


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
    marks: Sequence[str],
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
    columns = columns_of("sentence [group]", "word [key]")
    columns += score_columns(titles)
    cosines = "; ".join(f"{titles[view.name]} {view.cosine:z.4f}" for view in views)
    table = Table(
        with_marks("Token view: how the cosine adds up over the words", marks),
        columns,
        shown,
        [
            f"the parts of each sentence add up to the cosine: {cosines}",
            "a part is not what its word does: each token's vector holds the whole "
            "sentence; `--view effects` leaves words out",
        ],
        tidy_frame(facts, EXPLAINED),
    )
    return [table]
