"""A cross-encoder: a transformer that reads the two texts of a pair together, and whose last layer
gives the similarity.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    CountingEncoder,
    EncoderFacts,
    TextPair,
    distinct_texts,
    refuse_not_finite,
)
from embedlab.encoders.pretrained import load_tokenizer, load_with_head
from embedlab.encoders.tokens import TokenRows, are_unknown, budget_batches, tokenise_texts
from embedlab.encoders.transformer import BATCH_TOKENS, TOKENISED_AT_ONCE
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


class CrossEncoderScorer(CountingEncoder):
    """Similarities of pairs, each distinct pair (a, b) computed once; in float32 none depends on
    what else is in its batch.
    """

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
        self._model = model.to(machine.device).eval()  # type: ignore[arg-type]  # transformers wraps `to` without its types
        self._tokenizer = tokenizer
        self._machine = machine
        self._words = len(model.get_input_embeddings().weight)  # type: ignore[arg-type]  # a table of vectors in every architecture
        takes_types = "token_type_ids" in inspect.signature(model.forward).parameters
        self._has_types = takes_types and "token_type_ids" in tokenizer.model_input_names
        self.stated = EncoderFacts(
            pooling=usage.title,
            precision=machine.precision,
            max_tokens=usage.reading.max_tokens,
            notes=(AS_GIVEN, *vocabulary_notes(usage.source, tokenizer, self._words)),
        )

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """Similarity of each pair in the given order; (pairs,)."""
        pairs = [TextPair(first=a, second=b) for a, b in zip(first, second, strict=True)]
        unique, index = distinct_texts(pairs)
        scores = np.empty(len(unique), np.float32)
        for start in range(0, len(unique), TOKENISED_AT_ONCE):
            block = slice(start, start + TOKENISED_AT_ONCE)
            rows = self.token_ids(unique[block])
            self.count("truncated", unique[block], rows.truncated)
            self.count("unknown_texts", unique[block], are_unknown(rows, self._tokenizer))
            for batch, similarity in self._score_rows(rows):
                scores[block][batch] = similarity.cpu().numpy()
                start += len(batch)
                if progress is not None:
                    progress(start, len(unique))
        refuse_not_finite(self.name, scores, what="scores")
        return scores[index]

    def token_ids(self, pairs: Sequence[TextPair]) -> TokenRows:
        """The token ids of each pair, the longer text cut first where both do not fit."""
        return tokenise_texts(
            self._tokenizer,
            self.usage.reading,
            pairs,
            folder=self.usage.source,
            has_types=self._has_types,
            words=self._words,
        )

    def _score_rows(self, rows: TokenRows) -> Iterator[tuple[NDArray[np.intp], Tensor]]:
        """Yield the row numbers of each batch, and their similarities."""
        names = ("input_ids", "attention_mask", "token_type_ids")
        device = self._machine.device
        padding = self._model.config.pad_token_id
        budget = BATCH_TOKENS[device.type]
        if padding is None:  # decoders do not find the end of a padded text without its token
            budget = 1
            padding = self._tokenizer.pad_token_id or 0
        for batch in budget_batches(rows.lengths, budget):
            arrays = rows.padded(batch, int(padding))
            tensors = [torch.from_numpy(array).to(device) for array in arrays]
            with torch.inference_mode(), self._machine.autocast():
                logits = self._model(**dict(zip(names, tensors, strict=False))).logits.float()
            similarities = ACTIVATIONS[self.usage.activation](logits)
            yield batch, similarities[:, self.usage.label]


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
