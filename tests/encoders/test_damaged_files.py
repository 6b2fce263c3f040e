"""What libraries say while they read damaged files."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from embedlab.core.errors import MissingError
from embedlab.encoders.device import Machine
from tests.encoders.opening import opened


def damage_beyond_ascii(folder: Path) -> None:
    """Make a tokenizer that panics over any text with a letter beyond ASCII: its table of
    characters is cut off.
    """
    table = base64.b64encode(np.array([512, *[0] * 128], "<u4").tobytes() + b"a\0").decode()
    stated = {
        "version": "1.0",
        "added_tokens": [],
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "word": 1}, "unk_token": "[UNK]"},
        "pre_tokenizer": {"type": "Whitespace"},
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": table},
    }
    (folder / "tokenizer.json").write_text(json.dumps(stated))


def test_a_static_tokenizer_that_panics_over_a_text_is_one_line(
    cpu: Machine, tmp_path: Path
) -> None:
    save_file({"embeddings": np.eye(2, dtype=np.float32)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"model_type": "model2vec"}')
    damage_beyond_ascii(tmp_path)
    encoder: Any = opened(tmp_path, cpu)
    assert encoder.encode(["word", "a word"])[0].tolist() == [0, 1]
    says = f"cannot load the tokenizer in '{tmp_path}': index out of bounds"
    for encode, text in ((encoder.encode, ["é"]), (encoder.token_vectors, "é")):
        with pytest.raises(MissingError, match=says):
            encode(text)
