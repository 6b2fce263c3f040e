"""Odd texts beside sentence-transformers' own `encode`, in every layout; where that is wrong
itself, beside an oracle that is named.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from peft import PeftModel
from transformers import AutoModel

from embedlab.encoders.device import Machine
from embedlab.encoders.weight_checks import silence_transformers
from tests.encoders.layouts import LAYOUTS, adapted, lora, pooled, theirs, tokenizer
from tests.encoders.opening import opened

ODD: Mapping[str, str] = {
    "nothing": "",
    "blanks alone": " \t\n ",
    "a separator": "two dogs [SEP] run in the park",
    "BERT's special tokens": "[CLS] a man [MASK] a [UNK] guitar [PAD] [SEP]",
    "other special tokens": "a man </s> plays <s> a <pad> guitar <mask> <|endoftext|> <unk>",
    "U+001F": "two dogs\x1frun",
    "control characters": "a\x01man\x07 plays\x1b[31m a\x7f guitar\x85",
    "NUL": "a man\x00plays",
    "a byte order mark": "\ufefftwo dogs run",
    "zero width": "two\u200bdogs\u200c run\u200d\u2060",
    "right to left": "\u202etwo dogs\u202c \u05e9\u05dc\u05d5\u05dd run",
    "combining characters": "a ma\u0301n pla\u0308\u0327ys",
    "two normal forms": "caf\u00e9 cafe\u0301",
    "private characters": "\ue000two \U000f0000dogs",
    "emoji": "two dogs \U0001f415\U0001f415\U0001f3fd\u200d\u2640\ufe0f run",
    "Chinese": "\u4e24\u53ea\u72d7 two dogs",
    "mathematical letters": "\U0001d4ea \U0001d5c6\U0001d5ba\U0001d5c7",
    "no characters": "two \ufffd dogs \ufffe",
    "very long": "two dogs run in the park " * 200,
    "one very long word": "x" * 5000,
    "letters that change length with their case": "TWO Dogs \u0130stanbul STRASSE \ufb01ne \u00df",
}
AT_ONCE = (1, 32)  # texts: alone, and padded beside each other
SOME = ("mean", "static", "RoBERTa, byte-level", "types in every text")  # a kind of tokenizer each


def ours(folder: Path, cpu: Machine) -> NDArray[np.float32]:
    return opened(folder, cpu).encode(list(ODD.values()))


def assert_equal(found: NDArray[np.float32], expected: NDArray[np.float32]) -> None:
    far = {
        name: distance
        for name, distance in zip(ODD, abs(found - expected).max(axis=1), strict=True)
        if not distance <= 1e-5
    }
    assert not far


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SOME else pytest.mark.slow) for name in LAYOUTS]
)
def test_every_odd_text_has_the_vector_of_sentence_transformers(
    cpu: Machine, layout_folder: Callable[[str], Path], name: str
) -> None:
    found = ours(layout_folder(name), cpu)
    for at_once in AT_ONCE:
        assert_equal(found, theirs(layout_folder(name), ODD.values(), batch_size=at_once))


def left_padded(folder: Path) -> Path:
    """A BERT whose tokenizer pads on the left."""
    return pooled("mean", padding_side="left")(folder)


def in_bf16(folder: Path) -> Path:
    """Weights that are stored in bf16."""
    made = pooled("mean")(folder)
    with silence_transformers():
        AutoModel.from_pretrained(
            made, dtype=torch.bfloat16, trust_remote_code=False
        ).save_pretrained(made)
    return made


def alone(folder: Path) -> NDArray[np.float32]:
    """Sentence-transformers one text at a time: beside padding on the left it gives each text other
    positions.
    """
    return theirs(folder, ODD.values())


def in_float32(folder: Path) -> NDArray[np.float32]:
    """Sentence-transformers with the setting to compute in float32: otherwise it computes in the
    type that weights are stored in.
    """
    return theirs(folder, ODD.values(), model_kwargs={"dtype": torch.float32})


def by_peft(folder: Path) -> NDArray[np.float32]:
    """Peft's own reading of an adapter, and a plain mean: transformers 5.23 draws the magnitudes of
    DoRA at random.
    """
    base = json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"]
    with silence_transformers():
        model: Any = PeftModel.from_pretrained(
            AutoModel.from_pretrained(base, trust_remote_code=False), folder
        ).eval()
    words, options = tokenizer(), {"return_tensors": "pt", "return_token_type_ids": False}
    with torch.no_grad():
        rows = [words(text, truncation=True, max_length=128, **options) for text in ODD.values()]
        return torch.cat([model(**row).last_hidden_state.mean(dim=1) for row in rows]).numpy()


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """A layout that sentence-transformers computes wrongly by default, and what computes it
    rightly.
    """

    write: Callable[[Path], Path]
    vectors: Callable[[Path], NDArray[np.float32]]


ORACLES = {
    "BERT, padded left": Oracle(write=left_padded, vectors=alone),
    "weights in bf16": Oracle(write=in_bf16, vectors=in_float32),
    "DoRA": Oracle(write=adapted("bert", lora("query", "value", use_dora=True)), vectors=by_peft),
}


@pytest.mark.parametrize("name", ORACLES)
def test_where_sentence_transformers_is_wrong_an_odd_text_has_the_vector_of_the_oracle(
    cpu: Machine, tmp_path: Path, name: str
) -> None:
    folder = ORACLES[name].write(tmp_path / "model")
    found = ours(folder, cpu)
    assert_equal(found, ORACLES[name].vectors(folder))
    # otherwise sentence-transformers is mended, and the oracle can go
    assert abs(found - theirs(folder, ODD.values(), batch_size=32)).max() > 1e-4
