"""The gold class of a classified item."""

from embedlab.outcomes.property import Property

PROPERTY = Property(
    name="label",
    summary="the gold class of a classified item",
    kind="name",
    needs=("label",),
    of=lambda items: items["label"],
)
