"""Decide whether served vectors are those of a reference, and if not, which change of the reference
gives them.

The search is a short list of hypotheses. Changes of every vector (pooling, layer, prompt, special
tokens) are tried on short plain texts, each change with each pooling and layer. Changes of some
vectors (truncation, casing, spaces) are then tried on the texts that are not yet explained. A
further change counts only if it brings the vectors ten times nearer.
"""

import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from math import log10
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from embedlab.core.printable import count_text
from embedlab.encoders.encoder import Encoder, Vectors, unit_vectors
from embedlab.encoders.layers import pooler_layer
from embedlab.encoders.pooling import combined_pooling, pools_by_pooler
from embedlab.encoders.pretrained import load_backbone
from embedlab.encoders.tokens import TokenRows, budget_batches, gather_rows
from embedlab.encoders.transformer import BATCH_TOKENS, TransformerEncoder
from embedlab.models.config import most_positions

PLAIN, LENGTH = "plain", "length"
LISTED: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)


class ChosenText(NamedTuple):
    """A text and the reason why it is chosen."""

    text: str
    kind: str


def first_words(stream: str, count: int) -> str:
    """The first COUNT words of STREAM."""
    return " ".join(stream.split()[:count])


def chosen_texts(
    limits: Sequence[int], begin: Callable[[str, int], str] = first_words
) -> list[ChosenText]:
    """About 200 texts: ordinary ones, odd ones, and texts of lengths around each of LIMITS in
    tokens.

    `begin(stream, tokens)` returns the beginning of a stream that has so many tokens; by default a
    word counts as a token.
    """
    words = LISTED["words"].split()
    lengths = {*LISTED["lengths"]}
    lengths |= {limit + step for limit in limits for step in (-2, 0, 1, 8)}
    long = []
    for number, tokens in enumerate(sorted(length for length in lengths if length > 2)):
        start = 31 * number % len(words)  # so that no two long texts begin in one way
        long.append(begin(" ".join(words[start:] + words * (tokens // len(words) + 1)), tokens))
    kinds = {**LISTED["texts"], LENGTH: long}
    return [ChosenText(text, kind) for kind, texts in kinds.items() for text in texts]


Floats = NDArray[np.float64]
# The largest 1 − cosine by which one model computed in a precision differs from itself in float32.
PRECISIONS = {"float32": 2e-6, "float16": 1e-4, "bf16": 3e-3}
CLOSE = PRECISIONS["bf16"]
CLOSE_STORED = {"int8": 1e-2, "binary": 0.1}  # of components that are stored in so few bits
SHORTS = 12  # plain texts that each change of every vector is tried on
SAMPLE = 12  # texts that a change of some texts is tried on
INT8_RANGE = 6  # times as near or as far as our int8 copy that another one may be
FARTHEST_INT8 = 0.7  # 1 − cosine, beyond which vectors are of another kind
ALONE = 8  # texts that are sent again, each by itself
MOST_CHANGES = 4
POOLINGS = ("mean", "cls", "last", "max", "weighted-mean", "mean-without-cls")
UNCUT = 10**6


class Output(NamedTuple):
    """Where in the reference a vector is taken from."""

    layer: int = -1
    pooling: str = ""
    has_later_layers: bool = True  # those after pooling


@dataclass(frozen=True)
class Change:
    """One way in which texts may be encoded otherwise than by the reference."""

    kind: str
    description: str  # after "the reference"
    value: str = ""
    _: KW_ONLY
    text: Callable[[str], str] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)  # the prompt too
    tokens: Callable[[list[int]], list[int]] | None = None
    above: int = 0  # only texts of more tokens are changed

    def changes(self, text: str, tokens: int) -> bool:
        """Whether it changes how a TEXT of so many TOKENS is read."""
        return tokens > self.above if self.text is None else self.text(text) != text


class VariedReference:
    """The reference, with changes of its texts, reading and output."""

    def __init__(self, encoder: Encoder, prompts: Sequence[str]) -> None:
        self.encoder = encoder
        self.prompts = tuple(prompts)
        self.own_output = Output()
        self.transformer = encoder if isinstance(encoder, TransformerEncoder) else None
        if self.transformer is not None:
            usage = self.transformer.usage
            layer = -1 if usage.layer is None else usage.layer
            self.own_output = Output(layer, usage.pooling)

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The tokens of each text before any is cut; words where it has no tokenizer."""
        if self.transformer is None:
            return np.array([len(text.split()) for text in texts])
        reading = replace(self.transformer.usage.reading, max_tokens=UNCUT)
        return self.transformer.token_ids(texts, reading).lengths

    def begin(self, stream: str, tokens: int) -> str:
        """The beginning of STREAM that becomes so many tokens, special ones included."""
        if self.transformer is None:
            return first_words(stream, tokens)
        special_count = int(self.count_tokens([""])[0])
        offsets = self.transformer.tokenizer(
            stream,
            add_special_tokens=False,
            truncation=True,
            max_length=max(tokens - special_count, 1),
            return_offsets_mapping=True,
        )["offset_mapping"]
        return stream[: offsets[-1][1]]

    @cached_property
    def outputs(self) -> list[Output]:
        """The reference's own output, and all that may be in its place."""
        encoder = self.transformer
        if encoder is None:
            return [self.own_output]
        pooler, later_layers = self._layers
        numbers = (-1, *range(int(encoder.backbone.config.num_hidden_layers)))
        outputs = [Output(layer, pooling) for layer in numbers for pooling in POOLINGS]
        if pooler is not None:
            outputs.append(Output(pooling="pooler"))
        if len(later_layers):
            outputs.append(Output(pooling=encoder.pooling, has_later_layers=False))
        return [self.own_output, *outputs]

    @cached_property
    def _layers(self) -> tuple[torch.nn.Module | None, torch.nn.Sequential]:
        """The model's own pooler if it has one, and the layers that follow any pooling."""
        encoder = self.transformer
        assert encoder is not None
        if pools_by_pooler(encoder.pooling):
            own_pooler, *later_layers = encoder.layers
            return own_pooler, torch.nn.Sequential(*later_layers)
        pooler = load_backbone(encoder.usage.source)[1]
        width = int(encoder.backbone.config.hidden_size)
        layer = None if pooler is None else pooler_layer(pooler, width, seed=0, spread=0.02)
        return layer, encoder.layers

    def vectors(
        self, texts: Sequence[str], changes: Sequence[Change], outputs: Sequence[Output]
    ) -> dict[Output, Vectors]:
        """The vectors of TEXTS under CHANGES, neither normalised nor cut, at each of OUTPUTS."""
        reading_changes: dict[str, Any] = {}
        for change in changes:
            texts = [*map(change.text, texts)] if change.text else texts
            reading_changes |= change.reading
        if self.transformer is None:
            prompt = reading_changes.get("prompt", "")
            return {self.own_output: self.encoder.encode([f"{prompt}{text}" for text in texts])}
        reading = replace(self.transformer.usage.reading, **reading_changes)
        rows = self.transformer.token_ids(texts, reading)
        for change in changes:
            if change.tokens is not None:
                ids = np.split(rows.flat, rows.offsets[1:-1])
                rows = gather_rows([change.tokens(row.tolist()) for row in ids], rows.truncated)
        return self._encode(self.transformer, rows, outputs)

    def _encode(
        self, encoder: TransformerEncoder, rows: TokenRows, outputs: Sequence[Output]
    ) -> dict[Output, Vectors]:
        """The vectors at each of OUTPUTS; that of a row without tokens is zero."""
        pooler, later_layers = self._layers
        device = encoder.machine.device
        filled = np.flatnonzero(rows.lengths)
        pad = int(encoder.tokenizer.pad_token_id or 0)
        vectors_of_output: dict[Output, Vectors] = {}
        for batch in budget_batches(rows.lengths[filled], BATCH_TOKENS[device.type]):
            arrays = rows.padded(filled[batch], pad)
            ids, mask, *types = (torch.from_numpy(array).to(device) for array in arrays)
            with torch.inference_mode(), encoder.machine.autocast():
                result = encoder.backbone(
                    input_ids=ids,
                    attention_mask=mask,
                    output_hidden_states=True,
                    **encoder.segments(ids, *types),
                )
                weights = encoder.pooling_weights(ids, mask)
                for output in outputs:
                    states = result.last_hidden_state
                    if output.layer != -1:
                        states = result.hidden_states[output.layer]
                    method = combined_pooling(output.pooling, skips_prompt=weights is not None)
                    vectors = method.pool(states.float(), mask if weights is None else weights)
                    if pooler is not None and pools_by_pooler(output.pooling):
                        vectors = pooler(vectors)
                    if output.has_later_layers:
                        with torch.autocast(device.type, enabled=False):
                            vectors = later_layers(vectors)
                    zeros = np.zeros((len(rows), vectors.shape[1]), np.float32)
                    output_vectors = vectors_of_output.setdefault(output, zeros)
                    output_vectors[filled[batch]] = vectors.float().cpu().numpy()
        zeros = np.zeros((len(rows), encoder.dim), np.float32)
        return vectors_of_output or dict.fromkeys(outputs, zeros)


class Hypothesis(NamedTuple):
    """A way to get the served vectors that was tried on some texts."""

    description: str
    explained: float  # share of these texts
    median: float  # 1 − cosine


@dataclass(frozen=True, kw_only=True)
class ServedDifference:
    """What differs between served vectors and the reference's."""

    texts: tuple[ChosenText, ...]
    causes: tuple[Change, ...]  # none: the same, or not explained
    reference_distances: (
        Floats  # (texts,): 1 − cosine to the reference itself; inf by another length
    )
    explained_distances: Floats  # (texts,): the same to the reference with the causes
    limit: float  # above which a text is not explained
    hypotheses: tuple[Hypothesis, ...]  # the best first
    norms: tuple[float, float]  # medians, served and the reference's own
    dims: tuple[int, int]  # numbers a vector, served and the reference's own

    @property
    def cause_text(self) -> str:
        """The causes in words."""
        return ", ".join(cause.description for cause in self.causes)

    @property
    def changes_cosines(self) -> bool:
        """Whether the causes bring the reference nearer; cosines are to what was stored, or cut,
        alike.
        """
        return bool((self.reference_distances != self.explained_distances).any())

    @property
    def is_unexplained(self) -> NDArray[np.bool_]:
        """Which texts neither the reference nor the causes explain."""
        return self.explained_distances > self.limit

    @property
    def is_same(self) -> bool:
        """Whether nothing differs beyond the precision."""
        return not self.causes and not self.is_unexplained.any()

    @property
    def precision(self) -> str | None:
        """The precision within which the vectors are equal; None beyond any."""
        worst = self.explained_distances.max(initial=0)
        return next((name for name, tolerance in PRECISIONS.items() if worst <= tolerance), None)


class Explanation(NamedTuple):
    """Causes of a difference."""

    causes: list[Change]
    remaining: Floats  # 1 − cosine of each text under the causes; nan where that is not known
    # of the sample, uncut; None: the causes leave open how long vectors are
    vectors: Vectors | None = None
    width: int = 0  # numbers a vector of another model


@dataclass(kw_only=True, eq=False)
class Search:
    """The search for what makes the served vectors of a reference."""

    chosen_texts: Sequence[ChosenText]
    served: Vectors  # (texts, dim)
    reference: VariedReference
    encode_again: Callable[[Sequence[str]], Vectors] | None  # asks the server
    other_models: Mapping[str, Callable[[], Encoder]]

    def __post_init__(self) -> None:
        """Compute the vectors of the reference itself, at each of its outputs."""
        reference = self.reference
        self.texts = [text.text for text in self.chosen_texts]
        self.stored, self.read_stored = stored_form(self.served, reference.encoder.dim)
        self.served = self.read_stored(self.served)
        self.limit = CLOSE_STORED.get(self.stored, CLOSE)
        self.tokens = reference.count_tokens(self.texts)
        short_rows = np.flatnonzero([text.kind == PLAIN for text in self.chosen_texts])
        if not len(short_rows):
            short_rows = np.argsort(self.tokens, kind="stable")
        self.sample_rows = short_rows[:SHORTS]
        self.sample_texts = [self.texts[row] for row in self.sample_rows]
        self.hypotheses: dict[str, Hypothesis] = {}
        # of each output without any change
        self.outputs = reference.vectors(self.texts, (), reference.outputs)
        self.own_vectors = self.outputs[reference.own_output]
        self.base = self._distances(self.own_vectors)

    def find_causes(self) -> ServedDifference:
        """The causes, found one after the other, and what remains."""
        own_sample = self.own_vectors[self.sample_rows]
        explanation = Explanation([], self.base, own_sample)
        if (self.base > PRECISIONS["float32"]).any():
            explanation = (
                self._find_order()
                or self._find_padding()
                or self._find_changes()
                or self._find_other_model()
                or self._find_low_bits()
                or explanation
            )
        causes = [*explanation.causes]
        if self.stored:
            causes.insert(0, Change("stored", f"stored as {self.stored}", self.stored))
        is_explained = float((explanation.remaining <= self.limit).mean()) > 0.5
        dim = self.served.shape[1]
        if dim < (explanation.width or self.own_vectors.shape[1]) and is_explained:
            causes.append(Change("dim", f"cut to {dim} dimensions", str(dim)))
        vectors = explanation.vectors
        norms, rule = self._norms(own_sample if vectors is None else vectors)
        if rule is not None and is_explained and vectors is not None and not self.stored:
            causes.append(rule)
        hypotheses = sorted(
            self.hypotheses.values(),
            key=lambda hypothesis: (-hypothesis.explained, hypothesis.median),
        )
        return ServedDifference(
            texts=tuple(self.chosen_texts),
            causes=tuple(causes),
            reference_distances=self.base,
            explained_distances=explanation.remaining,
            limit=self.limit,
            hypotheses=tuple(hypotheses),
            norms=norms,
            dims=(dim, self.reference.encoder.dim),
        )

    def _distances(
        self,
        vectors: Vectors,
        rows: NDArray[np.intp] | slice = slice(None),
        served: Vectors | None = None,
    ) -> Floats:
        """1 − cosine of served vectors, those of ROWS unless others are given, to the first
        components of VECTORS; inf where these are fewer.
        """
        served = self.served[rows] if served is None else served
        shortened = self._as_served(vectors)
        if shortened.shape != served.shape:
            return np.full(len(served), np.inf)
        both_zero = ~served.any(axis=1) & ~shortened.any(axis=1)
        return np.where(both_zero, 0.0, np.maximum(_cosine_distances(served, shortened), 0.0))

    def _as_served(self, vectors: Vectors) -> Vectors:
        """The first components of VECTORS as the served ones are stored."""
        shortened = vectors[:, : self.served.shape[1]]
        if self.stored == "binary":
            return np.where(shortened > 0, np.float32(1), np.float32(-1))
        return shortened

    def _try(self, description: str, distances: Floats) -> Hypothesis:
        """Record how well a hypothesis explains the texts that it was tried on."""
        explained = float((distances <= self.limit).mean())
        hypothesis = Hypothesis(description, explained, float(np.median(distances)))
        self.hypotheses[description] = hypothesis
        return hypothesis

    def _find_order(self) -> Explanation | None:
        """Explain vectors that are right, but of other texts."""
        own_vectors = self._as_served(self.own_vectors)
        if own_vectors.shape[1] != self.served.shape[1]:
            return None
        distances = 1 - unit_vectors(self.served) @ unit_vectors(own_vectors).T
        is_moved = np.diag(distances) > self.limit
        nearest = distances.min(axis=1)
        if self._try("in another order", nearest).explained < 0.9 or is_moved.mean() < 0.1:
            return None
        moved = int(is_moved.sum())
        description = f"in another order: {count_text(moved, 'texts have')} the vector of another"
        return Explanation([Change("order", description, str(moved))], nearest)

    def _find_padding(self) -> Explanation | None:
        """Explain vectors that depend on the texts that are sent with them, or on chance."""
        rows = self.sample_rows[self.base[self.sample_rows] > self.limit][:ALONE]
        if self.encode_again is None or not len(rows):
            return None
        repeated = self.read_stored(self.encode_again(self.texts[:32]))
        change = Change("chance", "with other vectors at each call (dropout left on?)")
        if np.median(_cosine_distances(repeated, self.served[:32])) <= self.limit:
            alone = [self.encode_again([self.texts[row]]) for row in rows]
            served = self.read_stored(np.concatenate(alone))
            distances = self._distances(self.own_vectors[rows], served=served)
            if self._try("each text alone", distances).explained < 0.9:
                return None
            description = (
                "each text alone, but not in a batch: padding is pooled or attended to (wrong "
                "padding side, or a lost attention mask)"
            )
            change = Change("padding", description)
        return Explanation([change], np.full(len(self.base), np.nan))

    def _find_changes(self) -> Explanation | None:
        """Explain the vectors by another output and changes of what is read."""
        (explained, _), changes, output, median = max(
            self._ranked_outputs(), key=lambda ranked: ranked[0]
        )
        if explained < 0.5:
            return None
        fit = min(max(1e-5, 20 * median), self.limit)
        remaining = self._distances_under(np.arange(len(self.texts)), changes, output)
        while len(changes) < MOST_CHANGES and (remaining > fit).any():
            change, remaining_after = self._best_further_change(remaining, changes, output, fit)
            if change is None or (remaining_after > fit).sum() >= (remaining > fit).sum():
                break
            changes = [*changes, change]
            remaining = remaining_after
        sample_vectors = self._vectors_under(self.sample_rows, changes, output)
        return Explanation([*self._output_causes(output), *changes], remaining, sample_vectors)

    def _ranked_outputs(
        self,
    ) -> Iterator[tuple[tuple[float, float], list[Change], Output, float]]:
        """Yield the rank of each output under each change of every vector, the change, the output
        and the median distance of short texts.
        """
        outputs = self.outputs
        unchanged = {output: vectors[self.sample_rows] for output, vectors in outputs.items()}
        for changes in ([], *([change] for change in self._changes_of_all_texts())):
            vectors_of_output = unchanged
            if changes:
                vectors_of_output = self.reference.vectors(self.sample_texts, changes, [*outputs])
            for output, vectors in vectors_of_output.items():
                causes = [*self._output_causes(output), *changes]
                description = ", ".join(cause.description for cause in causes) or "as it is"
                hypothesis = self._try(description, self._distances(vectors, self.sample_rows))
                cost = log10(max(hypothesis.median, 1e-7)) + len(causes)
                rank = (round(hypothesis.explained, 1), -cost)
                yield rank, changes, output, hypothesis.median

    def _best_further_change(
        self, remaining: Floats, changes: Sequence[Change], output: Output, fit: float
    ) -> tuple[Change | None, Floats]:
        """The change that explains most of the unexplained texts, and at least a quarter of those
        that it changes, and what remains then.
        """
        unexplained_rows = np.flatnonzero(remaining > fit)
        best_change = None
        most_explained = 0
        for change in (*_TEXT_CHANGES, *self._cuts(remaining, changes, output, fit)):
            affected_rows = np.intersect1d(self._changed_rows(change), unexplained_rows)
            if change in changes or not len(affected_rows):
                continue
            sample = affected_rows[:: max(1, len(affected_rows) // SAMPLE)]
            distances = self._distances_under(sample, [*changes, change], output)
            self._try(change.description, distances)
            share = (distances <= fit).mean()
            explained = int(share * len(affected_rows))
            if explained > most_explained and share >= 0.25:
                best_change = change
                most_explained = explained
        if best_change is None:
            return None, remaining
        remaining_after = remaining.copy()
        rows = self._changed_rows(best_change)
        remaining_after[rows] = self._distances_under(rows, [*changes, best_change], output)
        return best_change, remaining_after

    def _changed_rows(self, change: Change) -> NDArray[np.intp]:
        """The texts that a CHANGE changes."""
        return np.flatnonzero([*map(change.changes, self.texts, self.tokens.tolist())])

    def _distances_under(
        self, rows: NDArray[np.intp], changes: Sequence[Change], output: Output
    ) -> Floats:
        """The distances of some texts to the reference under CHANGES."""
        return self._distances(self._vectors_under(rows, changes, output), rows)

    def _vectors_under(
        self, rows: NDArray[np.intp], changes: Sequence[Change], output: Output
    ) -> Vectors:
        """The vectors of some texts under CHANGES."""
        if not changes:
            return self.outputs[output][rows]
        texts = [self.texts[row] for row in rows]
        return self.reference.vectors(texts, changes, [output])[output]

    def _cuts(
        self, remaining: Floats, changes: Sequence[Change], output: Output, fit: float
    ) -> Iterator[Change]:
        """Yield, for each way to truncate texts, the length that is best on three of the
        unexplained texts: a usual length, or one between the longest text that fits and the
        shortest that does not.
        """
        transformer = self.reference.transformer
        if transformer is None:
            return
        unexplained_rows = np.flatnonzero(remaining > fit)
        by_length = unexplained_rows[np.argsort(self.tokens[unexplained_rows], kind="stable")]
        sample = by_length[[0, len(by_length) // 2, -1]]
        high, _, longest = self.tokens[sample].tolist()
        low = int(self.tokens[remaining <= fit].max(initial=3))
        boundary_lengths = range(min(low, high) - 3, max(low, high) + 3) if low + 80 > high else ()
        longest_cut = min(longest - 1, most_positions(transformer.usage.source) or UNCUT)
        own_limit = transformer.max_tokens
        candidates = {*LISTED["limits"], own_limit, *boundary_lengths}
        lengths = sorted(length for length in candidates if 3 <= length <= longest_cut)
        if not lengths:
            return
        for form, cut_tokens in _CUTS.items():
            cuts = []
            for length in lengths:
                cut = Change(
                    "truncation",
                    f"truncated at {length} tokens{form}",
                    str(length),
                    reading={"max_tokens": length if cut_tokens is None else UNCUT},
                    tokens=None if cut_tokens is None else partial(cut_tokens, length),
                    above=min(length, own_limit),
                )
                cuts.append(cut)
            distances = [self._distances_under(sample, [*changes, cut], output) for cut in cuts]
            medians = np.median(distances, axis=1)
            yield cuts[int(np.argmin(medians))]
            if min(medians) <= fit:
                return

    def _changes_of_all_texts(self) -> Iterator[Change]:
        """Changes of every vector."""
        transformer = self.reference.transformer
        own_prompt = "" if transformer is None else transformer.usage.reading.prompt
        if own_prompt:
            yield _prompted("without its prompt", "", "")
            yield _prompted("with its prompt twice", "twice", own_prompt + own_prompt)
        for prompt in dict.fromkeys((*self.reference.prompts, *LISTED["prompts"])):
            if prompt in {"", own_prompt}:
                continue
            description = f"with the prompt {prompt!r}"
            yield _prompted(description, prompt, prompt)
            if own_prompt:
                yield _prompted(f"{description} before its own", prompt, prompt + own_prompt)
            else:
                yield _prompted(f"{description} twice", prompt + prompt, prompt + prompt)
        yield Change("upper", "with upper-cased texts", text=str.upper)
        if transformer is not None:
            yield Change(
                "special",
                "without the token that ends a text",
                "no-end",
                reading={"special": "no-end"},
            )
            yield Change("special", "without special tokens", "none", reading={"special": "none"})
            yield Change(
                "special",
                "without the token that begins a text",
                "no-begin",
                tokens=lambda ids: ids[1:],
            )
            yield Change(
                "special",
                "with the token that ends a text twice",
                "end-twice",
                reading={"max_tokens": transformer.max_tokens - 1},
                tokens=lambda ids: [*ids, *ids[-1:]],
            )

    def _output_causes(self, output: Output) -> Iterator[Change]:
        """How OUTPUT differs from the reference's own."""
        own_output = self.reference.own_output
        if output.pooling != own_output.pooling:
            yield Change("pooling", f"with {output.pooling} pooling", output.pooling)
        if output.layer != own_output.layer:
            yield Change("layer", f"of layer {output.layer}", str(output.layer))
        if not output.has_later_layers:
            yield Change("layers", "without the layers after pooling")

    def _find_other_model(self) -> Explanation | None:
        """Explain the vectors by the first of the other models that gives them."""
        for name, load in self.other_models.items():
            encoder = load()
            distances = self._distances(encoder.encode(self.sample_texts), self.sample_rows)
            if self._try(f"the model {name}", distances).explained > 0.9:
                vectors = encoder.encode(self.texts)
                change = Change("model", f"another model: {name}", name)
                remaining = self._distances(vectors)
                return Explanation([change], remaining, width=vectors.shape[1])
        return None

    def _find_low_bits(self) -> Explanation | None:
        """Explain vectors that are about as far away as those of an int8 copy."""
        from embedlab.encoders.checkpoint import open_transformer

        encoder = self.reference.transformer
        is_on_cpu = encoder is not None and encoder.machine.device.type == "cpu"
        if encoder is None or not is_on_cpu or not np.isfinite(self.base).all():
            return None
        copy = open_transformer(encoder.usage, encoder.machine.in_dtype("int8"), name="int8")
        exact, rounded = encoder.encode(self.sample_texts), copy.encode(self.sample_texts)
        step = float(np.median(_cosine_distances(exact, rounded)))
        distance = float(np.median(self.base[self.sample_rows]))
        if not step / INT8_RANGE <= distance <= min(step * INT8_RANGE, FARTHEST_INT8):
            return None
        description = (
            f"with weights of about 8 bits (median cosine {1 - distance:.4f}, of an int8 copy "
            f"{1 - step:.4f})"
        )
        return Explanation(
            [Change("weights", description, "int8")], np.full(len(self.base), np.nan)
        )

    def _norms(self, vectors: Vectors) -> tuple[tuple[float, float], Change | None]:
        """The median norms of SERVED and the reference, and the cause where they differ."""
        shortened_vectors = vectors[:, : self.served.shape[1]]
        served, raw, shortened = (
            np.linalg.norm(matrix.astype(np.float64), axis=1)
            for matrix in (self.served[self.sample_rows], vectors, shortened_vectors)
        )
        tokens = self.tokens[self.sample_rows]
        unit = shortened / np.where(raw > 0, raw, 1)
        transformer = self.reference.transformer
        usual = unit if transformer is not None and transformer.is_normalised else shortened
        medians = (float(np.median(served)), float(np.median(usual)))
        rules = {
            "": usual,
            "normalised": np.ones_like(raw),
            "not normalised": shortened,
            "normalised before it is cut": unit,
            "summed over tokens in place of their mean": shortened * tokens,
            "divided by the root of the number of tokens": shortened * np.sqrt(tokens),
        }
        for description, norms in rules.items():
            ratio = served / np.where(norms > 0, norms, 1)
            if np.median(np.abs(ratio - 1)) < 0.01:
                return medians, Change("norm", description, description) if description else None
        scale = f"{np.median(served / np.where(usual > 0, usual, 1)):.3g}"
        return medians, Change("norm", f"of other lengths, about {scale} times", scale)


def _prompted(description: str, value: str, prompt: str) -> Change:
    return Change("prompt", description, value, reading={"prompt": prompt})


def _cosine_distances(first: Vectors, second: Vectors) -> Floats:
    """1 − cosine of each row with the same row."""
    cosines: Floats = (unit_vectors(first) * unit_vectors(second)).sum(axis=1)
    return 1 - cosines


def stored_form(served: Vectors, width: int) -> tuple[str, Callable[[Vectors], Vectors]]:
    """How the components of SERVED are stored, empty unless in few bits, and what gives the vectors
    of WIDTH numbers that they stand for.
    """
    values = np.unique(served)
    low, high = values[[0, -1]].tolist()
    if low == high:  # all components of all texts: of nothing
        return "", np.asarray
    if np.isin(values, (0, 1)).all():
        return "binary", lambda vectors: vectors * 2 - 1
    if np.isin(values, (-1, 1)).all():
        return "binary", np.asarray
    if (values != np.rint(values)).any():
        return "", np.asarray
    if width == served.shape[1] * 8 and high - low <= 255:
        shift = 128 if low < 0 else 0
        return "binary", partial(_unpacked, shift=shift)
    return "int8" if low >= -128 and high <= 127 else "", np.asarray


def _unpacked(vectors: Vectors, shift: int) -> Vectors:
    """The bits of packed bytes as −1 and 1."""
    bits = np.unpackbits((vectors + shift).astype(np.uint8), axis=1)
    return bits.astype(np.float32) * 2 - 1


# how texts are cut: None as by the tokenizer, otherwise what is left of all tokens
_CUTS: Mapping[str, Callable[[int, list[int]], list[int]] | None] = {
    "": None,
    ", the one that ends a text lost with them": lambda length, ids: ids[:length],
    " from the front: a text's end is kept": lambda length, ids: (
        ids if len(ids) <= length else [ids[0], *ids[1 - length :]]
    ),
}


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character))


_STEPS: Mapping[str, Callable[[str], str]] = {
    "lower-cased texts": str.lower,
    "texts without spaces around them": str.strip,
    "line breaks made spaces": lambda text: " ".join(text.splitlines()),
    "each run of spaces made one": lambda text: " ".join(text.split()),
    "accents removed": _without_accents,
    "texts in Unicode's form NFKC": partial(unicodedata.normalize, "NFKC"),
    "texts in Unicode's form NFD": partial(unicodedata.normalize, "NFD"),
    "only ASCII characters": lambda text: text.encode("ascii", "ignore").decode(),
}
_TEXT_CHANGES = tuple(
    Change("text", f"with {description}", description, text=step)
    for description, step in _STEPS.items()
)
