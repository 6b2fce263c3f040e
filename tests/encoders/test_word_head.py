"""Word heads: equal to the whole masked language model, saved with the encoder, refused where there
is none.
"""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForMaskedLM

from embedlab.core.errors import UsageError
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.encoders.word_head import MaskedWordHead, load_word_head
from embedlab.models.reading import UsageOptions
from tests.training.small_runs import MACHINE

IDS, MASK = torch.tensor([[2, 5, 6, 3]]), torch.ones(1, 4, dtype=torch.long)


@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "electra", "modernbert"])
def test_the_head_gives_what_the_whole_model_gives_and_is_saved_with_it(
    architecture: str, tmp_path: Path
) -> None:
    source = tmp_path / "model"
    build_random_encoder(
        source, seed=0, hidden=16, vocabulary=["a", "man"], architecture=architecture
    )

    def predicted(encoder: TransformerEncoder) -> torch.Tensor:
        encoder.backbone.eval()
        head = load_word_head(encoder)
        assert isinstance(head, MaskedWordHead)
        assert not any(parameter.requires_grad for parameter in head.parameters())
        return head(encoder.forward_tokens(IDS, MASK))

    encoder = load_transformer(str(source), MACHINE, wishes=UsageOptions(pooling="cls"))
    whole = AutoModelForMaskedLM.from_pretrained(source, trust_remote_code=False).eval()
    expected = whole(input_ids=IDS, attention_mask=MASK).logits[:, 0]
    torch.testing.assert_close(predicted(encoder), expected)
    head, words = load_word_head(encoder), encoder.backbone.get_input_embeddings().weight

    def saved(name: str) -> int:
        """Save the encoder with its head, and count the tables of words."""
        save_model(tmp_path / name, encoder, card="", word_head=head)
        tensors = load_file(tmp_path / name / "model.safetensors").values()
        return sum(tensor.shape == words.shape for tensor in tensors)

    assert saved("tied") == 1
    with torch.no_grad():  # another signal moves the word vectors
        words[5] += 0.1
    before = head(encoder.forward_tokens(IDS, MASK))
    assert saved("apart") == 2
    again = load_transformer(str(tmp_path / "apart"), MACHINE)
    torch.testing.assert_close(predicted(again), before)


def test_an_encoder_without_a_head_is_refused_and_its_word_vectors_can_replace_it(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    whole = load_transformer(str(tiny_encoder), MACHINE, wishes=UsageOptions(pooling="mean"))
    save_model(tmp_path, whole, card="")
    bare = load_transformer(str(tmp_path), MACHINE)
    with pytest.raises(UsageError, match="has no masked-language-model head") as error:
        load_word_head(bare)
    assert "head=tied" in error.value.hint
    vectors = torch.randn(2, bare.dim)
    expected = vectors @ bare.backbone.get_input_embeddings().weight.T
    torch.testing.assert_close(load_word_head(bare, "tied")(vectors), expected)
