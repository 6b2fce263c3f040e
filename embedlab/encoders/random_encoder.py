"""Build a small encoder with random weights and a whole-word vocabulary, for `--data tiny` and the
tests.
"""

import json
import string
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import AutoConfig, AutoModelForMaskedLM, PreTrainedTokenizerFast

from embedlab.core.disk import atomic_folder
from embedlab.data import tiny
from embedlab.encoders.weight_checks import silence_transformers
from embedlab.models.folder_files import STATEMENT

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MAX_TOKENS = 128


def build_random_encoder(
    folder: Path,
    *,
    seed: int,
    hidden: int = 64,
    vocabulary: Sequence[str] | None = None,
    architecture: str = "bert",
) -> None:
    """Write a random encoder with a masked-language-model head into FOLDER, in transformers layout.

    Each word of VOCABULARY (of `--data tiny` where absent) is one token; other words are spelled
    in letters.
    """
    tokenizer = build_tokenizer(tiny.vocabulary() if vocabulary is None else vocabulary)
    config = AutoConfig.for_model(
        architecture,
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=4 * hidden,
        max_position_embeddings=MAX_TOKENS + 2,  # RoBERTa and its kin leave some unused
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.cls_token_id,
        cls_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
        sep_token_id=tokenizer.sep_token_id,
    )
    with (
        torch.random.fork_rng(devices=[]),
        silence_transformers(),
        atomic_folder(folder) as temporary,
    ):
        torch.manual_seed(seed)
        AutoModelForMaskedLM.from_config(config, trust_remote_code=False).save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        # random weights know none
        (temporary / STATEMENT).write_text(
            json.dumps({"training_text": []}) + "\n", encoding="utf-8"
        )


def build_tokenizer(vocabulary: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a lower-casing tokenizer: words of VOCABULARY whole, others letter by letter."""
    letters = string.ascii_lowercase + string.digits + string.punctuation
    pieces = dict.fromkeys(
        [
            *SPECIAL,
            *(word.lower() for word in vocabulary),
            *letters,
            *(f"##{letter}" for letter in letters),
        ]
    )
    ids = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    special_tokens = [(token, ids[token]) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special_tokens
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=MAX_TOKENS,
        **dict(zip(names, SPECIAL, strict=True)),
    )
