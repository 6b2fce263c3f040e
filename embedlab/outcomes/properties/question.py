"""Whether an item is a question."""

from embedlab.outcomes.property import COUNTED, Property, counted

PROPERTY = Property(
    name="question",
    summary="how many of its sentences end with a question mark",
    kind="name",
    title="questions",
    needs=("sentence1",),
    also=("sentence2",),
    of=lambda items: counted(
        items, lambda sentences: sentences.str.strip_chars_end().str.ends_with("?")
    ),
    place=COUNTED.index,
)
