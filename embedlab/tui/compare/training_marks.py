"""What the slices of a comparison share with the training text of its models."""

from collections.abc import Mapping, Sequence

from embedlab.data.overlaps import with_text_keys
from embedlab.data.shared_text import Overlap
from embedlab.tui.pair_table.data import PairData
from embedlab.tui.pair_table.view import RowNumbers
from embedlab.tui.training_texts import TrainingTexts

SharedText = Mapping[
    str, Mapping[str, Overlap]
]  # by slice, then by model; of models whose training text is known


def shared_text(
    data: PairData, rows: Mapping[str, RowNumbers], models: Sequence[str], texts: TrainingTexts
) -> SharedText:
    """The text that each slice, ROWS of the pair table, shares with the training text of each of
    MODELS.
    """
    known = {name: text for name in models if (text := texts.of(name)) is not None}
    if not known:
        return {}
    frame = with_text_keys(data.table.select("sentence1", "sentence2"))
    return {
        key: {name: text.overlap(frame[row]) for name, text in known.items()}
        for key, row in rows.items()
    }
