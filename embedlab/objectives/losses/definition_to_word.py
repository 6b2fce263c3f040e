"""Prediction of a word by its definition: DefSent."""

from collections.abc import Mapping
from functools import cache
from typing import Literal

from embedlab.core.schema import table
from embedlab.objectives.needs import Needs

SUMMARY = (
    "the vector of a definition predicts its word through the frozen masked-language-model head"
)


@table
class Options:
    """What a recipe may say of this objective."""

    # the encoder's pre-trained head; or, where it has none, its word vectors
    head: Literal["mlm", "tied"] = "mlm"


def needs(_: Options) -> Needs:
    """Definitions and words that are one token each."""
    return Needs(sentences=("definition",), words=("word",))


@cache
def objective() -> type:
    """Cross-entropy of the defined word over the whole vocabulary.

    Formula: −log softmax(head(definition))[word], mean over the batch; head is the complete
    pre-trained masked-language-model head, transform and decoder. Head and embedding layer are
    frozen. Columns: definition, word (exactly one known token). Source: Tsukagoshi et al. 2021
    (DefSent) and tsukagoshi §2. Differs from the paper in: nothing known. If another objective
    changed the word vectors before, the decoder is still the pre-trained one. `head` "tied" is
    ours, for encoders that were published without a head.
    """
    import torch.nn.functional as F
    from torch import Tensor

    from embedlab.encoders.transformer import TransformerEncoder
    from embedlab.encoders.word_head import load_word_head
    from embedlab.objectives.objective import Objective

    class DefinitionToWord(Objective):
        frozen = "embeddings"

        def __init__(self, options: Options, dim: int) -> None:
            super().__init__()
            self.options = options

        def attach(self, encoder: TransformerEncoder) -> None:
            """Use the encoder's head; an encoder without one is refused."""
            self.word_head = load_word_head(encoder, self.options.head)
            if self.options.head == "tied":
                self.notes = (
                    "words are predicted by the encoder's own word vectors, not by a pre-trained head",
                )

        def forward(self, vectors: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
            """The mean over the batch's definitions."""
            assert self.word_head is not None
            return F.cross_entropy(self.word_head(vectors[columns["definition"]]), columns["word"])

    return DefinitionToWord
