"""What libraries say while they read damaged files."""

import os
from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.encoders.damaged_files import one_line_errors


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
        load(b"thread '<unnamed>' panicked at src/lib.rs:1:1\n", PanicException("index out of bounds"))
    assert capfd.readouterr().err == ""


def test_what_is_said_beside_other_errors_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MissingError, match="no key"):
        load(b"a warning\n", ValueError("no key"))
    load(b"another\n", None)
    assert capfd.readouterr().err == "a warning\nanother\n"
