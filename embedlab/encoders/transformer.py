"""Transformers that compute texts in batches of tokens, and the encoder among them: a transformer,
its tokenizer and a pooling, sentences to vectors, for training and evaluation alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import InitVar, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from embedlab.analysis.word_effects import WeightedTokens
from embedlab.core.session import ProgressCallback
from embedlab.cpu.engine import prepare_backbone, run_in_threads
from embedlab.encoders.device import Machine, is_asynchronous, send_tensor
from embedlab.encoders.encoder import (
    CountingEncoder,
    Encoder,
    EncoderFacts,
    Text,
    Vectors,
    no_token_sum,
    refuse_not_finite,
)
from embedlab.encoders.pooling import combined_pooling
from embedlab.encoders.tokens import (
    TokenRows,
    are_unknown,
    budget_batches,
    gather_rows,
    read_ahead,
    tokenise_texts,
)
from embedlab.encoders.weight_checks import reading_file, vocabulary_notes
from embedlab.encoders.word_tokens import single_tokens
from embedlab.models.folder import Usage
from embedlab.models.modules import pooling_parts
from embedlab.models.reading import Reading

# Padded tokens per batch. On 2 CPU cores a 3-layer encoder takes 4.9 s with 2,048, 5.5 s with
# 4,096, 9.7 s with 16,384.
BATCH_TOKENS = {"cpu": 2_048, "cuda": 65_536, "mps": 16_384}
# Numbers that a layer holds for each token at its widest, by those of its feed-forward part and of
# its states; an estimate that is too high.
HELD = (3, 8)
# batches per thread below which threads do not pay: they would often wait for each other's last
# batch
FEW_BATCHES = 4

# poolings that add up token vectors, but for the length of the sum
SUMMED = (
    "mean",
    "mean-without-cls",
    "mean-sqrt-length",
)
LAYERS = "sentence_layers."  # before the names of weights after pooling
# with so many at once, packing weights again costs little, so packed weights are freed afterwards
MANY_SENTENCES = 1_024
TOKENISED_AT_ONCE = 16_384  # tokenised together, so that progress is seen and id lists stay small


class TokenModel(CountingEncoder):
    """A transformer that computes a row of numbers for each text, from its tokens."""

    name: str
    backbone: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    usage: Any  # states the `reading` of texts
    machine: Machine
    dim: int  # numbers of a row
    # whether tokens of sentences, and those of pairs, have types other than 0
    are_sentences_typed: bool
    are_pairs_typed: bool

    def read_words(self, folder: Path) -> None:
        """See which tokens the model of FOLDER has vectors for."""
        self._folder = folder
        self._words = len(self.backbone.get_input_embeddings().weight)  # type: ignore[arg-type]  # a table of vectors in every architecture

    @property
    def max_tokens(self) -> int:
        """The longest input in tokens."""
        return int(self.usage.reading.max_tokens)

    @property
    def padding(self) -> int:
        """The token that fills up shorter texts of a batch."""
        return int(self.tokenizer.pad_token_id or 0)

    def forward_tokens(
        self, input_ids: Tensor, attention_mask: Tensor, token_types: Tensor | None = None
    ) -> Tensor:
        """The numbers in float32 of padded token ids, whose types are 0 if absent; (batch, tokens)
        each in, (batch, dim) out.
        """
        raise NotImplementedError

    def row_of_no_tokens(self) -> Vectors:
        """The numbers of a text without any token, which most models have none for; (dim,)."""
        return np.full(self.dim, np.nan, np.float32)

    def token_ids(self, texts: Sequence[Text], reading: Reading | None = None) -> TokenRows:
        """The token ids of each text by READING, which defaults to the model's; the texts are all
        sentences or all pairs, of which the longer text is cut first.
        """
        if not texts:
            return gather_rows([], np.zeros(0, np.bool_))
        is_sentence = isinstance(texts[0], str)
        is_typed = self.are_sentences_typed if is_sentence else self.are_pairs_typed
        return tokenise_texts(
            self.tokenizer,
            reading or self.usage.reading,
            texts,
            folder=self._folder,
            has_types=is_typed,
            words=self._words,
        )

    def compute(self, texts: Sequence[Text], progress: ProgressCallback | None = None) -> Vectors:
        """The row of numbers of each of these distinct texts; (texts, dim)."""
        numbers = np.empty((len(texts), self.dim), np.float32)
        starts = range(0, len(texts), TOKENISED_AT_ONCE)
        tokenised_rows: Iterator[TokenRows] = (
            self.token_ids(texts[start : start + TOKENISED_AT_ONCE]) for start in starts
        )
        if is_asynchronous(self.machine.device):
            tokenised_rows = read_ahead(tokenised_rows)
        for start, rows in zip(starts, tokenised_rows, strict=True):
            block = slice(start, start + TOKENISED_AT_ONCE)
            self.count("truncated", texts[block], rows.truncated)
            self.count("unknown_texts", texts[block], are_unknown(rows, self.tokenizer))
            self.compute_rows(rows, numbers[block], start, len(texts), progress)
        return numbers

    def compute_rows(
        self,
        rows: TokenRows,
        numbers_out: Vectors,
        done: int,
        total: int,
        progress: ProgressCallback | None,
    ) -> None:
        """Put the numbers of tokenised texts into NUMBERS_OUT, (rows, dim), the longest first."""
        device = self.machine.device
        filled = np.flatnonzero(rows.lengths)
        batches = [
            filled[batch] for batch in budget_batches(rows.lengths[filled], self.batch_tokens())
        ]
        if len(filled) < len(rows):  # the tokenizer adds nothing: no model computes such a row
            numbers_out[rows.lengths == 0] = self.row_of_no_tokens()
            done += len(rows) - len(filled)

        computed: list[tuple[NDArray[np.intp], Tensor]] = []  # and not yet copied

        def copy_back() -> None:
            """Copy all that is computed at once: the card does not wait after each batch."""
            if computed:
                row_indices, numbers = zip(*computed, strict=True)
                numbers_out[np.concatenate(row_indices)] = torch.cat(numbers).cpu().numpy()
                computed.clear()

        def run(batch: NDArray[np.intp]) -> Iterator[int]:
            with torch.inference_mode(), self.machine.autocast():
                padded = rows.padded(batch, self.padding, self.usage.reading.padding)
                tensors = (send_tensor(torch.from_numpy(array), device) for array in padded)
                numbers = self.forward_tokens(*tensors)
                if is_asynchronous(device):
                    computed.append((batch, numbers))
                else:
                    numbers_out[batch] = numbers.numpy()
            yield len(batch)

        def count(finished: int) -> None:
            nonlocal done
            done += finished
            if sum(len(row_indices) for row_indices, _ in computed) >= TOKENISED_AT_ONCE:
                copy_back()
            if progress is not None:
                progress(done, total)

        batches_at_once = len(batches) // FEW_BATCHES if self.machine.has_cpu_engine else 1
        run_in_threads(run, batches, count, device, most=batches_at_once)
        copy_back()

    def batch_tokens(self) -> int:
        """Padded tokens in a batch: as many as pay, and as fit into half the memory that is
        free.
        """
        device, config = self.machine.device, self.backbone.config
        token_limit = BATCH_TOKENS[device.type]
        if device.type != "cuda" or hasattr(self.backbone, "hf_device_map"):
            return token_limit
        free_bytes = torch.cuda.mem_get_info(device)[0]
        free_bytes += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        width = int(config.hidden_size)
        widest = int(getattr(config, "intermediate_size", 4 * width))
        bytes_per_token = 4 * (HELD[0] * widest + HELD[1] * width)
        return max(self.max_tokens, min(token_limit, free_bytes // 2 // bytes_per_token))


@dataclass(kw_only=True, eq=False)
class TransformerEncoder(TokenModel, Encoder):
    """Sentences to vectors by one transformer; in float32 a vector does not depend on what else is
    in its batch.
    """

    name: str
    fingerprint: str  # of what was loaded: training does not change it
    backbone: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    usage: Usage
    machine: Machine
    layers: nn.Sequential  # between pooling and the last normalisation
    notes: InitVar[tuple[str, ...]]
    # fingerprint of weights that no training changes, where others are trained beside them
    frozen_weights: str | None

    def __post_init__(self, notes: tuple[str, ...]) -> None:
        """Put the model on its device, and prepare its forward pass."""
        backbone, usage = self.backbone, self.usage
        self.similarity = usage.similarity
        self._frozen = frozenset(
            name for name, parameter in backbone.named_parameters() if not parameter.requires_grad
        )
        self.dim = usage.vector_dim(int(backbone.config.hidden_size))
        # accelerate has put each part on its device, and moves what passes through
        if not hasattr(backbone, "hf_device_map"):
            backbone.to(self.machine.device)  # type: ignore[arg-type]  # transformers wraps `to` without its types
        self.layers.to(self.machine.device)
        self.read_words(Path(str(backbone.name_or_path)))
        self.are_pairs_typed = getattr(backbone.config, "type_vocab_size", 0) >= 2
        # as Funnel's
        self.are_sentences_typed = self.are_pairs_typed and any(
            self.tokenizer("a").get("token_type_ids", ())
        )
        self._unpooled = 0 if usage.includes_prompt else self._prompt_tokens()
        method = combined_pooling(usage.pooling, skips_prompt=self._unpooled > 0)
        self._pool = method.pool
        self.forward = prepare_backbone(
            backbone,
            self.machine,
            pool=method.pool,
            is_first_only=method.is_first_only,
            layer=usage.layer,
            is_padded=usage.reading.padding == "left",
        )
        vocabulary_remarks = vocabulary_notes(self._folder, self.tokenizer, self._words)
        self.stated = EncoderFacts(
            pooling=usage.pooling_label,
            precision=self.machine.precision,
            max_tokens=self.max_tokens,
            notes=(*notes, *self.forward.notes, *vocabulary_remarks),
        )

    @property
    def pooling(self) -> str:
        """What makes one vector of token vectors; several poolings joined by "+"."""
        return self.usage.pooling

    @property
    def is_normalised(self) -> bool:
        """Whether each vector is brought to length 1."""
        return self.usage.is_normalised

    def forward_tokens(
        self, input_ids: Tensor, attention_mask: Tensor, token_types: Tensor | None = None
    ) -> Tensor:
        """Sentence vectors in float32 of padded token ids, whose types are 0 if absent; (batch,
        tokens) each in, (batch, dim) out.
        """
        weights = self.pooling_weights(input_ids, attention_mask)
        segments = self.segments(input_ids, token_types)
        return self._finish_vectors(self.forward(input_ids, attention_mask, segments, weights))

    def pool_packed(self, states: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        """Sentence vectors of the STATES of sentences side by side, (rows, width, dim), whose
        tokens lie at POSITIONS of the flattened rows under MASK, (batch, tokens).
        """
        weights = self.pooling_weights(positions, mask)
        tokens = states.float().flatten(0, 1).index_select(0, positions.flatten())
        sentences = tokens.unflatten(0, positions.shape)
        return self._finish_vectors(self._pool(sentences, mask if weights is None else weights))

    def _finish_vectors(self, vectors: Tensor) -> Tensor:
        """Sentence vectors of pooled ones: after the layers, normalised and cut as the folder
        states.
        """
        if len(self.layers):
            # a few small products: float32 costs nothing
            with torch.autocast(vectors.device.type, enabled=False):
                vectors = self.layers(vectors)
        if self.is_normalised:
            vectors = F.normalize(vectors, dim=-1)
        return vectors[:, : self.usage.dim] if self.usage.dim is not None else vectors

    def tensors(self) -> dict[str, Tensor]:
        """All weights but frozen ones, those of the layers after pooling under `LAYERS`."""
        weights = {
            name: value
            for name, value in self.backbone.state_dict().items()
            if name not in self._frozen
        }
        return weights | {LAYERS + name: value for name, value in self.layers.state_dict().items()}

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Take the weights that `tensors` gave."""
        weights: tuple[dict[str, Tensor], dict[str, Tensor]] = ({}, {})
        for name, value in tensors.items():
            weights[name.startswith(LAYERS)][name.removeprefix(LAYERS)] = value
        self.backbone.load_state_dict(weights[False], strict=not self._frozen)
        self.layers.load_state_dict(weights[True])

    def pooling_weights(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor | None:
        """The weight of each token in pooling, where it is not the same for all; (batch,
        tokens).
        """
        if not self._unpooled:
            return None
        columns = torch.arange(attention_mask.shape[1], device=attention_mask.device)
        return attention_mask * (columns >= self._unpooled)

    def _prompt_tokens(self) -> int:
        """How many tokens a prompt puts in front of a text, the special token that begins it
        included.
        """
        if not self.usage.reading.prompt:
            return 0
        ids = self.token_ids([""]).flat
        return len(ids) - int(ids[-1] in self.tokenizer.all_special_ids)

    def row_of_no_tokens(self) -> Vectors:
        """The vector of a text without any token, from a pooled vector of zeros; (dim,)."""
        width = int(self.backbone.config.hidden_size) * len(pooling_parts(self.pooling))
        with torch.inference_mode():
            zeros = torch.zeros(1, width, device=self.machine.device)
            return self._finish_vectors(zeros)[0].cpu().numpy()

    def segments(self, ids: Tensor, types: Tensor | None = None) -> dict[str, Tensor]:
        """Return the token types, for architectures that distinguish them."""
        if not self.are_pairs_typed:
            return {}
        return {"token_type_ids": torch.zeros_like(ids) if types is None else types}

    def word_ids(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the token of each word that is exactly one known token, otherwise −1."""
        unknown_id = self.tokenizer.unk_token_id
        with reading_file(self._folder, "tokenizer"):
            return single_tokens(self.tokenizer.backend_tokenizer, words, unknown_id)

    def embed(self, sentences: Sequence[Text], progress: ProgressCallback | None = None) -> Vectors:
        """Return a vector for each of these distinct sentences."""
        with self._encoding(len(sentences)):
            vectors = self.compute(sentences, progress)
        refuse_not_finite(self.name, vectors)
        return vectors

    def embed_tokens(self, rows: TokenRows, progress: ProgressCallback | None = None) -> Vectors:
        """Return a vector for each row of token ids, without dropout and without gradients."""
        vectors = np.empty((len(rows), self.dim), np.float32)
        with self._encoding(len(rows)):
            self.compute_rows(rows, vectors, 0, len(rows), progress)
        return vectors

    def token_vectors(self, sentence: str) -> WeightedTokens:
        """The token vectors whose weighted sum is the vector of SENTENCE but for its length; no
        such sum is a UsageError.
        """
        if len(self.layers) or self.pooling not in SUMMED:
            raise no_token_sum(self.name)
        prompt, rows = self.usage.reading.prompt, self.token_ids([sentence])
        encoded = self.tokenizer(
            f"{prompt}{sentence}",
            truncation=True,
            max_length=self.max_tokens,
            add_special_tokens=self.usage.reading.special != "none",
            return_offsets_mapping=True,
        )
        special = set(self.tokenizer.all_special_ids)
        count = len(rows.flat)
        arrays = rows.padded([0] * count, 0)
        ids, mask, *types = (torch.from_numpy(array).to(self.machine.device) for array in arrays)
        weights = self.pooling_weights(ids, mask)
        vectors = torch.zeros(0, self.dim)
        if count:
            with torch.inference_mode(), self.machine.autocast(), self._encoding(count):
                # pooled with the weight of one token alone, a row is its vector
                identity = torch.eye(count, device=self.machine.device)
                vectors = self.forward(ids, mask, self.segments(ids, *types), identity)
        spans = []
        for token, offset in zip(rows.flat, encoded["offset_mapping"], strict=False):
            start, end = (position - len(prompt) for position in offset)
            spans.append(None if token in special or end <= max(start, 0) else (start, end))
        return WeightedTokens(
            vectors=vectors[:, : self.usage.dim].float().cpu().numpy(),
            weights=np.ones(count) if weights is None else weights[0].double().cpu().numpy(),
            spans=tuple(spans),
        )

    @contextmanager
    def _encoding(self, sentences: int) -> Iterator[None]:
        """Disable dropout in the block, and free encoding-only memory after it where that pays."""
        was_training = self.backbone.training
        self.backbone.eval()
        try:
            yield
        finally:
            self.backbone.train(was_training)
            if was_training or sentences >= MANY_SENTENCES:
                self.forward.release()
