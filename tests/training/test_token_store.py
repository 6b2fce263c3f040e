"""Tokenised sentences on disk: the same as fresh ones, made once, whatever needs them."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.encoder import TextPair
from embedlab.encoders.tokens import TokenRows
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.models.reading import Reading, Wishes
from embedlab.training import batching
from embedlab.training.batching import stored_tokens, token_key, tokenise
from tests.training.small_runs import MACHINE

SHORT = Reading(max_tokens=16)
SENTENCES = ["a man sleeps", "a dog runs in the park", "a man " * 40, ""]


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> TransformerEncoder:
    return load_transformer(
        str(tiny_encoder), MACHINE, wishes=Wishes(pooling="mean", max_tokens=16)
    )


def assert_equal(found: TokenRows, expected: TokenRows) -> None:
    for name in ("flat", "offsets", "truncated", "types"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_what_is_stored_is_what_the_tokenizer_gives_and_is_made_once(
    encoder: TransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = tokenise(encoder, SENTENCES)
    assert_equal(stored_tokens(encoder, SENTENCES, None), expected)
    assert_equal(stored_tokens(encoder, SENTENCES, tmp_path), expected)
    monkeypatch.setattr(batching, "tokenise", lambda *_: pytest.fail("tokenised twice"))
    again = stored_tokens(encoder, SENTENCES, tmp_path)
    assert_equal(again, expected)
    assert isinstance(again.flat, np.memmap)


def test_the_key_follows_tokenizer_length_and_sentences_but_not_the_last_call(
    encoder: TransformerEncoder, tiny_encoder: Path
) -> None:
    key = token_key(encoder.tokenizer, SHORT, SENTENCES)
    encoder.token_ids(["a man"])
    assert token_key(encoder.tokenizer, SHORT, SENTENCES) == key
    other = load_transformer(
        str(tiny_encoder), MACHINE, wishes=Wishes(pooling="mean", max_tokens=16)
    ).tokenizer
    assert token_key(other, SHORT, SENTENCES) == key
    other.add_tokens(["embedlab"])
    keys = {
        key,
        token_key(other, SHORT, SENTENCES),
        token_key(encoder.tokenizer, Reading(max_tokens=32), SENTENCES),
        token_key(encoder.tokenizer, Reading(max_tokens=16, prompt="query: "), SENTENCES),
        token_key(encoder.tokenizer, SHORT, SENTENCES[:-1]),
    }
    assert len(keys | {token_key(encoder.tokenizer, SHORT, ["a mansleeps", *SENTENCES[1:]])}) == 6


def test_pairs_are_stored_with_the_types_of_their_tokens(
    encoder: TransformerEncoder, tmp_path: Path
) -> None:
    pairs = [
        TextPair(first="a man", second="a dog runs"),
        TextPair(first="a man\x1fa dog", second="runs " * 40),
    ]
    firsts, seconds = [pair.first for pair in pairs], [pair.second for pair in pairs]
    expected = encoder.tokenizer(
        firsts, seconds, truncation=True, max_length=16, return_token_type_ids=True
    )
    for _ in range(2):  # made, and read
        found = stored_tokens(encoder, pairs, tmp_path)
        assert found.types is not None
        assert found.types.tolist() == [kind for row in expected["token_type_ids"] for kind in row]
        assert found.flat.tolist() == [token for row in expected["input_ids"] for token in row]


@pytest.mark.parametrize("damage", ["cut", "missing", "flipped"])
def test_a_damaged_entry_is_made_again(
    damage: str, encoder: TransformerEncoder, tmp_path: Path
) -> None:
    stored_tokens(encoder, SENTENCES, tmp_path)
    (folder,) = (path for path in (tmp_path / "tokens").iterdir() if path.is_dir())
    file = folder / "flat.npy"
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-8])
    elif damage == "flipped":
        content = file.read_bytes()
        file.write_bytes(content[:-4] + bytes([content[-4] ^ 1]) + content[-3:])
    else:
        file.unlink()
    assert_equal(stored_tokens(encoder, SENTENCES, tmp_path), tokenise(encoder, SENTENCES))


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(
    encoder: TransformerEncoder, tmp_path: Path
) -> None:
    (tmp_path / "tokens").write_text("a file where the folder should be")
    assert_equal(stored_tokens(encoder, SENTENCES, tmp_path), tokenise(encoder, SENTENCES))


def test_requests_at_once_share_one_entry(
    encoder: TransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, made = tokenise(encoder, SENTENCES), []

    def slow(*arguments: Any) -> TokenRows:
        time.sleep(0.05)
        made.append(arguments)
        return expected

    monkeypatch.setattr(batching, "tokenise", slow)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: stored_tokens(encoder, SENTENCES, tmp_path), range(4)))
    assert len(made) == 1
    for rows in found:
        assert_equal(rows, expected)
