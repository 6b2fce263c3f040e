"""Static token vectors: the published model of wordllama, and folders of model2vec, each compared
with its own program.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model2vec import StaticModel
from model2vec.persistence.persistence import save_pretrained
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from tokenizers.models import Unigram, WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, Metaspace

from embedlab.core.errors import EmbedlabError
from embedlab.encoders.device import Machine
from embedlab.encoders.word_tokens import WordTokens
from embedlab.models.location import vector_length
from tests.encoders.opening import assert_refused, opened, spec_of

WORDS = "[PAD] [UNK] [CLS] a man guitar dogs two ##s ##a and so on play ##ing . is"
PUBLISHED = "wordllama:l2_supercat_256"
TEXTS = (
    "A man is playing a guitar.",
    "two dogs run",
    "",
    " ",
    "  blanks   before, between\tand after  ",
    "Ünïcode naïve café — 東京 で 走る 🙂",
    "tab\tand\nline, zero​width, control\x1ccharacter",
    "<s> special </s> tokens [CLS] <unk> [UNK]",
    "a" * 300,
    "and so on " * 400,
)


def ours(name: str | Path, cpu: Machine) -> np.ndarray:
    return opened(name, cpu).encode(TEXTS)


@pytest.fixture(scope="module")
def wordllama() -> Any:
    module = pytest.importorskip("wordllama.inference", reason="it has no wheel for this Python")
    package = Path(module.__file__).parent
    table = load_file(package / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = package / "tokenizers" / "l2_supercat_tokenizer_config.json"
    return module.WordLlamaInference(table, Tokenizer.from_file(str(tokenizer)))


def test_the_published_static_model_has_the_vectors_of_its_own_program(
    cpu: Machine, wordllama: Any
) -> None:
    expected = wordllama.embed(list(TEXTS), norm=False)
    np.testing.assert_allclose(ours(PUBLISHED, cpu), expected, atol=1e-5)
    np.testing.assert_allclose(ours(f"{PUBLISHED}?dim=64", cpu), expected[:, :64], atol=1e-5)
    assert vector_length(spec_of(PUBLISHED)) == 256
    says = "no model of wordllama named 'l2_super'", "l2_supercat_256"
    assert_refused("wordllama:l2_super", cpu, *says, kind=EmbedlabError)


def word_piece() -> Tokenizer:
    tokenizer = Tokenizer(WordPiece(places(WORDS.split()), unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    tokenizer.add_special_tokens(["[CLS]", "[UNK]"])
    return tokenizer


def places(words: list[str]) -> dict[str, int]:
    return {word: place for place, word in enumerate(words)}


def unigram() -> Tokenizer:
    pieces = {"<unk>": 0.0, "▁": -2.0, "▁a": -2.5, "▁man": -3.0, "s": -4.0, "o": -4.0, "n": -4.0}
    tokenizer = Tokenizer(Unigram([*pieces.items(), ("▁and", -3.0)], unk_id=0))
    tokenizer.pre_tokenizer = Metaspace()
    return tokenizer


def saved(folder: Path, tokenizer: Tokenizer, **options: object) -> Path:
    drawn = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 12))
    settings: Any = {"model_type": "model2vec", **options}
    save_pretrained(folder, drawn.astype(np.float32), tokenizer, settings, create_model_card=False)
    return folder


@pytest.mark.parametrize("make", [word_piece, unigram])
@pytest.mark.parametrize(("normalize", "longest"), [(True, 512), (False, 9), (True, None)])
def test_folders_of_model2vec_have_its_own_vectors(
    make: Callable[[], Tokenizer],
    normalize: bool,
    longest: int | None,
    cpu: Machine,
    tmp_path: Path,
) -> None:
    folder = saved(tmp_path / "model", make(), normalize=normalize, max_length=longest)
    expected = StaticModel.from_pretrained(folder, force_download=False).encode(list(TEXTS))
    np.testing.assert_allclose(ours(folder, cpu), expected, atol=1e-6)
    (folder / "modules.json").unlink()  # older folders have none
    np.testing.assert_allclose(ours(folder, cpu), expected, atol=1e-6)


def test_fewer_vectors_than_tokens_are_found_by_their_places(cpu: Machine, tmp_path: Path) -> None:
    tokenizer, rng = word_piece(), np.random.default_rng(1)
    size = tokenizer.get_vocab_size()
    model = StaticModel(
        rng.normal(size=(5, 8)).astype(np.float32),
        tokenizer,
        weights=rng.random(size).astype(np.float32),
        token_mapping=rng.integers(0, 5, size),
    )
    model.save_pretrained(tmp_path)
    np.testing.assert_allclose(ours(tmp_path, cpu), model.encode(list(TEXTS)), atol=1e-6)


@pytest.mark.parametrize(
    ("tokenizer", "are_independent"), [(word_piece(), True), (unigram(), False)]
)
def test_words_that_are_tokenised_once_give_the_tokens_of_the_whole_text(
    tokenizer: Tokenizer, are_independent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    pieces = [*"ab ", "  ", "<s>", " a", "man", ".", "\t"]
    drawn = ["".join(rng.choice(pieces, 12)) for _ in range(200)]
    for most in (2**20, 3):  # words that are remembered
        monkeypatch.setattr("embedlab.encoders.word_tokens.MOST_WORDS", most)
        words = WordTokens(tokenizer)
        assert words._are_words_independent == are_independent
        for texts in (drawn, [*drawn[:3], *TEXTS], []):
            whole = tokenizer.encode_batch(list(texts), add_special_tokens=False)
            assert words.tokens_of(texts) == [one.ids for one in whole]


def test_a_folder_whose_tokenizer_has_more_tokens_than_vectors_is_refused(
    cpu: Machine, tmp_path: Path
) -> None:
    folder = saved(tmp_path / "model", word_piece())
    larger = word_piece()
    larger.add_tokens(["more"])
    larger.save(str(folder / "tokenizer.json"))
    assert_refused(folder, cpu, "18 tokens, but there are 17 vectors")
