"""Tokenised sentences on disk: the same as fresh ones, made once, whatever needs them."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embedlab.encoders.encoder import TextPair
from embedlab.encoders.tokens import TokenRows
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.reading import Reading
from embedlab.training import batching
from embedlab.training.batching import stored_tokens, token_key, tokenise_in_parts
from tests.training.small_runs import open_encoder

SENTENCES = ["a man sleeps", "a dog runs in the park", "a man " * 40, ""]
PAIRS = [
    TextPair(first="a man", second="a dog runs"),
    TextPair(first="a man\x1fa dog", second="runs " * 40),
]


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> TransformerEncoder:
    return open_encoder(tiny_encoder)


def assert_equal(found: TokenRows, expected: TokenRows) -> None:
    for name in ("flat", "offsets", "truncated", "types"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def assert_stored(encoder: TransformerEncoder, cache: Path) -> None:
    assert_equal(stored_tokens(encoder, SENTENCES, cache), tokenise_in_parts(encoder, SENTENCES))


@pytest.mark.parametrize("texts", [SENTENCES, PAIRS], ids=["sentences", "pairs"])
def test_what_is_stored_is_what_the_tokenizer_gives_and_is_made_once(
    texts: list[Any],
    encoder: TransformerEncoder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = tokenise_in_parts(encoder, texts)
    assert (expected.types is None) == (texts is SENTENCES)
    assert_equal(stored_tokens(encoder, texts, tmp_path), expected)
    monkeypatch.setattr(batching, "tokenise_in_parts", lambda *_: pytest.fail("tokenised twice"))
    again = stored_tokens(encoder, texts, tmp_path)
    assert_equal(again, expected)
    assert isinstance(again.flat, np.memmap)


def test_the_key_follows_tokenizer_length_and_sentences_but_not_the_last_call(
    encoder: TransformerEncoder, tiny_encoder: Path
) -> None:
    def key(tokenizer: Any = encoder.tokenizer, texts: Any = SENTENCES, **reading: Any) -> str:
        return token_key(tokenizer, Reading(**{"max_tokens": 32, **reading}), texts)

    first = key()
    encoder.token_ids(["a man"])
    other = open_encoder(tiny_encoder).tokenizer
    assert first == key() == key(other)
    other.add_tokens(["embedlab"])
    changed = [
        key(other),
        key(max_tokens=16),
        key(prompt="query: "),
        key(texts=SENTENCES[:-1]),
        key(texts=["a mansleeps", *SENTENCES[1:]]),
    ]
    assert len({first, *changed}) == 6


def test_a_damaged_entry_is_made_again(encoder: TransformerEncoder, tmp_path: Path) -> None:
    stored_tokens(encoder, SENTENCES, tmp_path)
    (file,) = (tmp_path / "tokens").glob("*/flat.npy")
    content = file.read_bytes()
    file.write_bytes(content[:-4] + bytes([content[-4] ^ 1]) + content[-3:])
    assert_stored(encoder, tmp_path)


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(
    encoder: TransformerEncoder, tmp_path: Path
) -> None:
    (tmp_path / "tokens").write_text("a file where the folder should be")
    assert_stored(encoder, tmp_path)


def test_requests_at_once_share_one_entry(
    encoder: TransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, made = tokenise_in_parts(encoder, SENTENCES), []

    def slow(*arguments: Any) -> TokenRows:
        time.sleep(0.05)
        made.append(arguments)
        return expected

    monkeypatch.setattr(batching, "tokenise_in_parts", slow)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: stored_tokens(encoder, SENTENCES, tmp_path), range(4)))
    assert len(made) == 1
    for rows in found:
        assert_equal(rows, expected)
