"""What is known about one pair besides its scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from embedlab.analysis.appearances import Appearances
    from embedlab.analysis.tags import Tag
    from embedlab.data.shared_text import Overlap
    from embedlab.workflows.neighbours import Corpus, Neighbours


@dataclass(frozen=True, kw_only=True)
class ModelNeighbours:
    """What one model finds closest to each sentence of a pair, or why it finds nothing."""

    of_sentences: "tuple[Neighbours, ...]" = ()
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class PairFacts:
    """All that was found about a pair so far; None is not known yet."""

    tags: "Sequence[tuple[Tag, str, str]]" = ()
    appearances: "Appearances | None" = None
    # by model; None of a model whose training text is unknown
    shared: "Mapping[str, Overlap | None] | None" = None
    neighbours: Mapping[str, ModelNeighbours] = field(default_factory=dict)  # by model
    corpus: "Corpus | None" = None  # that the neighbours are from
