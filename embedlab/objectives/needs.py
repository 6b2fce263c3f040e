"""What an objective asks of the data and the encoder, said without loading any of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Needs:
    """The columns an objective reads and what must stay together in a batch."""

    sentences: tuple[str, ...]  # columns of sentences to encode
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # label column → its class names, in index order
    together: str | None = None  # rows with the same sentence in this column are never parted

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns the data must have."""
        return (*self.sentences, *self.classes)
