"""The properties that embedlab ships: what is known of an item, in the order of their names."""

import polars as pl

from embedlab.analysis.overlap import dice_of_rows
from embedlab.analysis.tags import TAGS, word_counts
from embedlab.data.words import negating_words
from embedlab.outcomes.property import COUNTED, Property, count_sentences
from embedlab.runs.outcomes import CONTRADICTED

PLUGINS = {
    "properties": {
        "dice": "DICE",
        "gold": "GOLD",
        "label": "LABEL",
        "length": "LENGTH",
        "negation": "NEGATION",
        "number": "NUMBER",
        "phenomenon": "PHENOMENON",
        "question": "QUESTION",
        "source": "SOURCE",
        "trained": "TRAINED",
        "words": "WORDS",
    }
}

DICE = Property(
    name="dice",
    summary="word overlap of the two sentences, the Dice coefficient of their sets of words",
    kind="number",
    needs=("sentence1", "sentence2"),
    title="word overlap",
    fifth="fifth",  # as in published keys
    decimals=2,
    splits_ties=True,  # as tsukagoshi cuts them
    of=lambda items: dice_of_rows(items["sentence1"], items["sentence2"]),
)

BANDS = 5


def gold_bands(items: pl.DataFrame) -> pl.Series:
    """Return the band of each item's gold score, of five equally wide ones between the least and
    the greatest of its dataset.
    """
    low = pl.col("gold").min().over("block")
    high = pl.col("gold").max().over("block")
    width = (high - low) / BANDS
    band = ((pl.col("gold") - low) / width).fill_nan(0).cast(pl.Int64).clip(0, BANDS - 1)
    bounds = [
        (low + (band + step) * width).round(2).cast(pl.String).str.strip_suffix(".0")
        for step in (0, 1)
    ]
    return items.select(pl.concat_str(bounds[0], pl.lit("–"), bounds[1])).to_series()


GOLD = Property(
    name="gold",
    summary="the gold score of a pair, in five bands of equal width",
    kind="name",
    title="gold score",
    needs=("gold", "sentence2"),
    of=gold_bands,
    place=lambda band: float(band.split("–")[0]),
)

LABEL = Property(
    name="label",
    summary="the gold class of a classified item",
    kind="name",
    needs=("label",),
    of=lambda items: items["label"],
)


def length_difference(items: pl.DataFrame) -> pl.Series:
    """Return by how many words the longer sentence of each pair is longer."""
    first, second = (
        word_counts(items[name]).cast(pl.Float64) for name in ("sentence1", "sentence2")
    )
    return (first - second).abs()


LENGTH = Property(
    name="length",
    summary="by how many words the longer sentence of a pair is longer",
    kind="number",
    title="length difference",
    needs=("sentence1", "sentence2"),
    of=length_difference,
)

NEGATION = Property(
    name="negation",
    summary="how many of its sentences have a negating word (not, no, never, without, n't …)",
    kind="name",
    title="negated sentences",
    needs=("sentence1",),
    also=("sentence2",),
    of=lambda items: count_sentences(items, lambda sentences: negating_words(sentences) != ""),
    place=COUNTED.index,
)

NUMBERS = ("the same numbers", "other numbers")


def number_values(items: pl.DataFrame) -> pl.Series:
    """Return whether the two sentences of each pair have the same numbers."""
    is_different = TAGS["number"](items["sentence1"], items["sentence2"])
    same_name, different_name = map(pl.lit, NUMBERS)
    return pl.select(pl.when(is_different).then(different_name).otherwise(same_name)).to_series()


NUMBER = Property(
    name="number",
    summary="whether the two sentences have the same numbers, in digits or as words from two on",
    kind="name",
    title="numbers",
    needs=("sentence1", "sentence2"),
    of=number_values,
    place=NUMBERS.index,
)

PHENOMENA = ("negation", "number", "minimal edit", "other words")
LEAST_OVERLAP = 0.7  # Dice of a minimal edit


def phenomenon_of(entailed: pl.Series, contradicted: pl.Series) -> pl.Series:
    """Return the first of these that the two sentences of each contrast have: one is negated, their
    numbers differ, few words differ.
    """
    overlap = dice_of_rows(entailed, contradicted)
    negated, numbered = (TAGS[name](entailed, contradicted) for name in ("negation", "number"))
    negation, number, minimal, other = map(pl.lit, PHENOMENA)
    phenomenon = pl.when(negated).then(negation).when(numbered).then(number)
    return pl.select(
        phenomenon.when(overlap >= LEAST_OVERLAP).then(minimal).otherwise(other)
    ).to_series()


PHENOMENON = Property(
    name="phenomenon",
    summary="how the contradicted sentence of a contrast differs from the entailed one: negation, "
    "number, minimal edit, other words",
    kind="name",
    needs=("sentence2", CONTRADICTED),
    of=lambda items: phenomenon_of(items["sentence2"], items[CONTRADICTED]),
    place=PHENOMENA.index,
)

QUESTION = Property(
    name="question",
    summary="how many of its sentences end with a question mark",
    kind="name",
    title="questions",
    needs=("sentence1",),
    also=("sentence2",),
    of=lambda items: count_sentences(
        items, lambda sentences: sentences.str.strip_chars_end().str.ends_with("?")
    ),
    place=COUNTED.index,
)

SOURCE = Property(
    name="source",
    summary="the part of its dataset that a pair is from, such as headlines",
    kind="name",
    needs=("source",),
    is_bare=True,
    absent="it names no source",
    of=lambda items: items["source"],
)

# What is not found may be in text that is unknown: that of an encoder's pretraining, or of a whole
# model.
SEEN, UNSEEN = "in training text", "not known to be in training text"

TRAINED = Property(
    name="trained",
    summary="whether the pair, or one of its sentences, is known to be in the training text of a "
    "compared model",
    kind="name",
    needs=("first_text",),
    also=("trained",),
    of=lambda items: items.select(
        pl.when(pl.col("trained").is_null()).then(pl.lit(UNSEEN)).otherwise(pl.lit(SEEN))
    ).to_series(),
    place=(UNSEEN, SEEN).index,
)


def longer_sentence(items: pl.DataFrame) -> pl.Series:
    """Return the number of words of each item's longer sentence."""
    counts = [word_counts(items[name]) for name in ("sentence1", "sentence2")]
    return pl.select(pl.max_horizontal(*(count.cast(pl.Float64) for count in counts))).to_series()


WORDS = Property(
    name="words",
    summary="number of words of the longer sentence",
    kind="number",
    title="length in words",
    needs=("sentence1",),
    also=("sentence2",),
    of=longer_sentence,
)
