"""The source of an item, as its dataset names it."""

from embedlab.outcomes.property import Property

PROPERTY = Property(
    name="source",
    summary="the part of its dataset that a pair is from, such as headlines",
    kind="name",
    needs=("source",),
    is_bare=True,
    absent="it names no source",
    of=lambda items: items["source"],
)
