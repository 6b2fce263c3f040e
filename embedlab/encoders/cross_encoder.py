"""A cross-encoder: a transformer that reads the two texts of a pair together, and whose last layer
gives the similarity.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import (
    AutoModelForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from embedlab.core.disk import CHECKSUMS, check_folder
from embedlab.core.errors import UsageError
from embedlab.core.session import ProgressCallback
from embedlab.encoders.device import Machine
from embedlab.encoders.encoder import (
    EncoderFacts,
    TextPair,
    distinct_texts,
    refuse_not_finite,
)
from embedlab.encoders.pretrained import load_tokenizer, load_with_head
from embedlab.encoders.transformer import TokenModel
from embedlab.encoders.weight_checks import vocabulary_notes
from embedlab.models.catalog import ModelSpec
from embedlab.models.cross_encoder import Activation, PairUsage, read_pair_usage

AS_GIVEN = "reads both texts together in the order of the data: the score of (b, a) may differ"
# The function after the last layer, of (pairs, labels).
ACTIVATIONS: Mapping[Activation, Callable[[Tensor], Tensor]] = {
    "sigmoid": torch.sigmoid,
    "identity": lambda logits: logits,
    "tanh": torch.tanh,
    "softmax": lambda logits: torch.softmax(logits, dim=-1),
}


class CrossEncoderScorer(TokenModel):
    """Similarities of pairs, each distinct pair (a, b) computed once; in float32 none depends on
    what else is in its batch.
    """

    dim = 1

    def __init__(
        self,
        *,
        name: str,
        fingerprint: str,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerFast,
        usage: PairUsage,
        machine: Machine,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.usage = usage
        self.backbone = model.to(machine.device).eval()  # type: ignore[arg-type]  # transformers wraps `to` without its types
        self.tokenizer = tokenizer
        self.machine = machine
        self.read_words(usage.source)
        takes_types = "token_type_ids" in inspect.signature(model.forward).parameters
        self.are_pairs_typed = takes_types and "token_type_ids" in tokenizer.model_input_names
        self.stated = EncoderFacts(
            pooling=usage.title,
            precision=machine.precision,
            max_tokens=self.max_tokens,
            notes=(AS_GIVEN, *vocabulary_notes(usage.source, tokenizer, self._words)),
        )

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """Similarity of each pair in the given order; (pairs,)."""
        pairs = [TextPair(first=a, second=b) for a, b in zip(first, second, strict=True)]
        unique, index = distinct_texts(pairs)
        scores = self.compute(unique, progress)[:, 0]
        refuse_not_finite(self.name, scores, what="scores")
        return scores[index]

    @property
    def padding(self) -> int:
        """The token that the model takes for padding."""
        stated = self.backbone.config.pad_token_id
        return super().padding if stated is None else int(stated)

    def batch_tokens(self) -> int:
        """Padded tokens in a batch; decoders do not find the end of a padded text without its
        token, so that each of their texts is alone.
        """
        return 1 if self.backbone.config.pad_token_id is None else super().batch_tokens()

    def forward_tokens(
        self, input_ids: Tensor, attention_mask: Tensor, token_types: Tensor | None = None
    ) -> Tensor:
        """The similarity of each pair of padded token ids; (batch, 1)."""
        types = {} if token_types is None else {"token_type_ids": token_types}
        output = self.backbone(input_ids=input_ids, attention_mask=attention_mask, **types)
        similarities = ACTIVATIONS[self.usage.activation](output.logits.float())
        return similarities[:, [self.usage.label]]


def load_cross_encoder(spec: ModelSpec, fingerprint: str, machine: Machine) -> CrossEncoderScorer:
    """Load the cross-encoder of SPEC; weights that are not whole, the last layer included, are a
    MissingError.
    """
    usage = read_pair_usage(
        Path(spec.location), label=spec.label, activation=spec.activation, prompt=spec.prompt
    )
    if machine.precision == "int8":
        raise UsageError(
            f"{spec.name!r}: int8 is for encoders, and this is a cross-encoder",
            hint="use --precision float32 or bf16",
        )
    check_folder(
        usage.source,
        hint=f"restore the file; if you changed it yourself, remove {CHECKSUMS!r} there",
    )
    return CrossEncoderScorer(
        name=spec.name,
        fingerprint=fingerprint,
        tokenizer=load_tokenizer(usage.source, usage.source, usage.reading),
        model=load_with_head(
            usage.source, AutoModelForSequenceClassification, labels=len(usage.labels)
        ),
        usage=usage,
        machine=machine,
    )
