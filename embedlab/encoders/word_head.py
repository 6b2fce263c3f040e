"""Heads that predict words from vectors: a pre-trained masked-language-model head, or the encoder's
own word vectors.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from embedlab.core.errors import Hint, RecipeValue, UsageError
from embedlab.encoders.pretrained import load_language_model
from embedlab.encoders.transformer import TransformerEncoder

WordHeadKind = Literal["mlm", "tied"]


class WordHead(nn.Module):
    """Logits over the whole vocabulary from vectors; (vectors, dim) in, (vectors, words) out.
    Nothing in it is trainable.
    """

    def forward(self, vectors: Tensor) -> Tensor:
        """The logits."""
        raise NotImplementedError


class MaskedWordHead(WordHead):
    """The complete masked-language-model head of MODEL, transform and decoder, under any
    architecture's names.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        # The model's own forward computes the logits from its encoder's output: only the encoder is
        # replaced.
        setattr(model, model.base_model_prefix, _Given())
        self.model = model.requires_grad_(False)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the logits, as if each vector were that of one masked token."""
        ids = torch.zeros(len(vectors), 1, dtype=torch.long, device=vectors.device)
        encoder_stub = self._given
        encoder_stub.output = vectors.unsqueeze(1)
        try:
            logits: Tensor = self.model(input_ids=ids).logits
        finally:
            del encoder_stub.output  # it references the graph of the batch
        return logits.squeeze(1)

    def save(self, folder: Path, backbone: PreTrainedModel) -> None:
        """Write BACKBONE with this head as a masked language model."""
        model, encoder_stub = self.model, self._given
        decoder, word_vectors = model.get_output_embeddings(), _word_vectors(backbone)
        parameters = dict(decoder.named_parameters(recurse=False))
        # The decoder is tied to the word vectors and written once, unless another objective has
        # changed those since.
        is_tied = parameters["weight"].shape == word_vectors.shape and bool(
            torch.equal(parameters["weight"], word_vectors)
        )
        # shared tensors would be written once
        own_values = {name: nn.Parameter(value.clone()) for name, value in parameters.items()}
        model.config.tie_word_embeddings = is_tied
        setattr(model, model.base_model_prefix, backbone)
        _set(decoder, parameters | {"weight": word_vectors} if is_tied else own_values)
        try:
            model.save_pretrained(folder)
        finally:
            setattr(model, model.base_model_prefix, encoder_stub)
            _set(decoder, parameters)

    @property
    def _given(self) -> "_Given":
        encoder_stub = getattr(self.model, self.model.base_model_prefix)
        assert isinstance(encoder_stub, _Given)
        return encoder_stub


class TiedWordHead(WordHead):
    """Dot products with the encoder's current word vectors."""

    def __init__(self, words: nn.Module) -> None:
        super().__init__()
        self._words = (words,)  # in a tuple, so that they stay the encoder's parameters

    def forward(self, vectors: Tensor) -> Tensor:
        """The logits."""
        weight = self._words[0].weight
        assert isinstance(weight, Tensor)
        return vectors @ weight.detach().T


class _Given(nn.Module):
    """Replaces the encoder and returns a given output."""

    output: Tensor

    def forward(self, *_: object, **__: object) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=self.output)


def _set(module: nn.Module, parameters: Mapping[str, nn.Parameter]) -> None:
    for name, parameter in parameters.items():
        setattr(module, name, parameter)


def load_word_head(encoder: TransformerEncoder, kind: WordHeadKind = "mlm") -> WordHead:
    """Load the word head of the folder that ENCODER was loaded from; a folder without one is a
    UsageError.
    """
    if kind == "tied":
        embedding = encoder.backbone.get_input_embeddings()
        width = _word_vectors(encoder.backbone).shape[1]
        if width != encoder.dim:
            raise UsageError(
                f"{encoder.name!r} has word vectors of {width} and sentence vectors of "
                f"{encoder.dim} numbers: no tied head fits"
            )
        return TiedWordHead(embedding)
    model = load_language_model(Path(str(encoder.backbone.name_or_path)))
    if model is None:
        raise UsageError(
            f"{encoder.name!r} has no masked-language-model head",
            hint=Hint(
                "start from an encoder that has one, or predict words by its own word vectors: ",
                RecipeValue("stage.N.objective.head", "tied"),
            ),
        )
    return MaskedWordHead(model).to(encoder.machine.device)


def _word_vectors(backbone: PreTrainedModel) -> nn.Parameter:
    weight = backbone.get_input_embeddings().weight
    assert isinstance(weight, nn.Parameter)
    return weight
