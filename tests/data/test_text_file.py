"""Lines of text files, and characters that no text may hold."""

import gzip

import pytest

from embedlab.core.errors import MissingError
from embedlab.data.text_file import read_lines, text_fault
from tests.data.conftest import Write

LINES = {
    "one\n": ["one"],
    "one": ["one"],
    "one\n\n": ["one", ""],
    "one\r\ntwo\r\n": ["one", "two"],
    "a\u2028b\x0bc\x85d\n": ["a\u2028b\x0bc\x85d"],
    "\ufeffone\n": ["one"],
    "a\rb\nc\n": ["a\rb", "c"],
    "one\rtwo\r": ["one", "two"],
}


@pytest.mark.parametrize("content", LINES)
def test_lines_end_at_a_line_feed_or_all_at_a_carriage_return(content: str, write: Write) -> None:
    assert read_lines(write("a.txt", content)) == LINES[content]


def test_latin_1_is_read_where_it_is_documented_and_one_file_never_mixes_two(write: Write) -> None:
    path = write("a.txt", b"plain\ncaf\xe9\n")
    assert read_lines(path, encoding="latin-1") == ["plain", "café"]
    for content in (b"plain\ncaf\xe9\n", "naïve\n".encode() + b"caf\xe9\n"):
        with pytest.raises(MissingError, match="line 2: byte 0xe9 is not UTF-8"):
            read_lines(write("a.txt", content), encoding="utf-8" if b"pl" in content else "latin-1")


def test_no_text_may_hold_what_cannot_be_stored() -> None:
    faults = [text_fault(text) for text in ("a\0b", "a\ud800", "a\u2028é")]
    assert faults == ["a NUL character", "half of a character ('\\ud800')", None]


def test_a_packed_file_of_a_corpus_may_be_a_pointer_of_git_lfs(write: Write) -> None:
    assert read_lines(write("a.gz", gzip.compress(b"one\n"))) == ["one"]
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    with pytest.raises(MissingError, match="git-lfs pointer"):
        read_lines(write("b.gz", pointer))
