"""What libraries say while they read damaged files."""

import base64
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from embedlab.core.errors import MissingError
from embedlab.encoders.device import Machine
from embedlab.encoders.weight_checks import reading_file
from tests.encoders.opening import opened


def test_two_threads_that_load_at_the_same_time_leave_stderr_as_it_was(
    capfd: pytest.CaptureFixture[str],
) -> None:
    first_began, second_began, first_ended = Event(), Event(), Event()

    def first() -> None:
        with reading_file(Path("x"), "tokenizer"):
            first_began.set()
            assert second_began.wait(10)
            os.write(2, b"first\n")
        first_ended.set()

    def second() -> None:
        assert first_began.wait(10)
        with reading_file(Path("y"), "tokenizer"):
            second_began.set()
            assert first_ended.wait(10)
            os.write(2, b"second\n")

    before = os.fstat(2)
    with ThreadPoolExecutor() as pool:
        for one in [pool.submit(first), pool.submit(second)]:
            one.result()
    assert os.path.samestat(os.fstat(2), before)
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "first\nsecond\nafter\n"


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


def test_a_static_tokenizer_that_panics_over_a_text_is_one_line_and_says_nothing_before(
    cpu: Machine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
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
    assert capfd.readouterr().err == ""
