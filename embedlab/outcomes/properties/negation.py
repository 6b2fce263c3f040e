"""Whether an item is negated."""

from embedlab.data.words import negating_words
from embedlab.outcomes.property import COUNTED, Property, counted

PROPERTY = Property(
    name="negation",
    summary="how many of its sentences have a negating word (not, no, never, without, n't …)",
    kind="name",
    title="negated sentences",
    needs=("sentence1",),
    also=("sentence2",),
    of=lambda items: counted(items, lambda sentences: negating_words(sentences) != ""),
    place=COUNTED.index,
)
