"""Word heads: equal to the whole masked language model, saved with the encoder, refused where there
is none.
"""

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForMaskedLM

from embedlab.core.errors import UsageError
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.device import Machine
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.encoders.word_head import MaskedWordHead, load_word_head
from embedlab.models.reading import Wishes

MACHINE = Machine(device=torch.device("cpu"), precision="float32", threads=1)
IDS, MASK = torch.tensor([[2, 5, 6, 3]]), torch.ones(1, 4, dtype=torch.long)


@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "electra"])
def test_the_head_gives_what_the_whole_model_gives_and_is_saved_with_it(
    architecture: str, tmp_path: Path
) -> None:
    build_random_encoder(
        tmp_path / "model", seed=0, hidden=16, vocabulary=["a", "man"], architecture=architecture
    )
    encoder = load_transformer(str(tmp_path / "model"), MACHINE, wishes=Wishes(pooling="cls"))
    head = load_word_head(encoder)
    assert isinstance(head, MaskedWordHead)
    assert not any(parameter.requires_grad for parameter in head.parameters())
    whole = AutoModelForMaskedLM.from_pretrained(tmp_path / "model", trust_remote_code=False).eval()
    encoder.backbone.eval()
    expected = whole(input_ids=IDS, attention_mask=MASK).logits[:, 0]
    torch.testing.assert_close(head(encoder.forward_tokens(IDS, MASK)), expected)
    with torch.no_grad():
        encoder.backbone.get_input_embeddings().weight[5] += (
            0.1  # another signal moves the word vectors
        )
    before = head(encoder.forward_tokens(IDS, MASK))
    save_model(tmp_path / "saved", encoder, card="", word_head=head)
    again = load_transformer(str(tmp_path / "saved"), MACHINE)
    again.backbone.eval()
    torch.testing.assert_close(load_word_head(again)(again.forward_tokens(IDS, MASK)), before)
    torch.testing.assert_close(head(encoder.forward_tokens(IDS, MASK)), before)


def test_a_tied_decoder_is_written_once(tmp_path: Path, tiny_encoder: Path) -> None:
    encoder = load_transformer(str(tiny_encoder), MACHINE, wishes=Wishes(pooling="mean"))
    head = load_word_head(encoder)
    assert isinstance(head, MaskedWordHead)
    save_model(tmp_path / "saved", encoder, card="", word_head=head)
    sizes = [
        (folder / "model.safetensors").stat().st_size
        for folder in (tmp_path / "saved", tiny_encoder)
    ]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.01)


def test_an_encoder_without_a_head_is_refused_and_its_word_vectors_can_replace_it(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    save_model(
        tmp_path / "bare",
        load_transformer(str(tiny_encoder), MACHINE, wishes=Wishes(pooling="mean")),
        card="",
    )
    bare = load_transformer(str(tmp_path / "bare"), MACHINE)
    with pytest.raises(UsageError, match="has no masked-language-model head") as error:
        load_word_head(bare)
    assert "head=tied" in error.value.hint
    vectors = torch.randn(2, bare.dim)
    expected = vectors @ bare.backbone.get_input_embeddings().weight.T
    torch.testing.assert_close(load_word_head(bare, "tied")(vectors), expected)
