"""What libraries say while they read damaged files."""

import base64
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from safetensors.numpy import save_file

from embedlab.core.errors import MissingError
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_encoder
from embedlab.encoders.weight_checks import one_line_errors
from embedlab.models.catalog import resolve


class PanicException(BaseException):
    """As a library of Rust raises it, behind the message that it has written itself."""


def load(said: bytes, error: BaseException | None) -> None:
    """Read a tokenizer with a library that writes SAID to stderr and ends with ERROR."""
    with one_line_errors(Path("x"), "tokenizer"):
        os.write(2, said)
        if error is not None:
            raise error


def test_a_panic_is_one_line_and_says_nothing_before(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MissingError, match="cannot load the tokenizer in 'x': index out of bounds"):
        load(
            b"thread '<unnamed>' panicked at src/lib.rs:1:1\n",
            PanicException("index out of bounds"),
        )
    assert capfd.readouterr().err == ""


def test_two_threads_that_load_at_the_same_time_leave_stderr_as_it_was(
    capfd: pytest.CaptureFixture[str],
) -> None:
    first_began, second_began, first_ended = Event(), Event(), Event()

    def first() -> None:
        with one_line_errors(Path("x"), "tokenizer"):
            first_began.set()
            assert second_began.wait(10)
            os.write(2, b"first\n")
        first_ended.set()

    def second() -> None:
        assert first_began.wait(10)
        with one_line_errors(Path("y"), "tokenizer"):
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
    """Make the tokenizer in FOLDER one that panics over any text with a letter beyond ASCII: its
    table of characters is cut off.
    """
    path = folder / "tokenizer.json"
    table = base64.b64encode(np.array([512, *[0] * 128], "<u4").tobytes() + b"a\0").decode()
    stated = (
        json.loads(path.read_text(encoding="utf-8"))
        if path.exists()
        else {"version": "1.0", "added_tokens": []}
    )
    words = {"type": "WordLevel", "vocab": {"[UNK]": 0, "word": 1}, "unk_token": "[UNK]"}
    normalizer = {"type": "Precompiled", "precompiled_charsmap": table}
    path.write_text(
        json.dumps(
            {
                "model": words,
                "pre_tokenizer": {"type": "Whitespace"},
                **stated,
                "normalizer": normalizer,
            }
        )
    )


def test_a_static_tokenizer_that_panics_over_a_text_is_one_line_and_says_nothing_before(
    cpu: Machine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    save_file({"embeddings": np.eye(2, dtype=np.float32)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "model2vec"}), encoding="utf-8")
    damage_beyond_ascii(tmp_path)
    encoder = load_encoder(resolve(str(tmp_path), Path("none")).members[0], cpu)
    assert encoder.encode(["word", "a word"])[0].tolist() == [0, 1]
    for encode in (lambda text: encoder.encode([text]), encoder.token_vectors):  # type: ignore[attr-defined]
        with pytest.raises(
            MissingError, match=f"cannot load the tokenizer in '{tmp_path}': index out of bounds"
        ):
            encode("é")
    assert capfd.readouterr().err == ""
