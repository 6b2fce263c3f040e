"""Static token vectors: the published model of wordllama, and folders of model2vec, each compared
with its own program.
"""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from model2vec import StaticModel
from model2vec.persistence.persistence import save_pretrained
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import BPE, Unigram, WordPiece
from tokenizers.normalizers import BertNormalizer, Prepend, Replace, Sequence
from tokenizers.pre_tokenizers import BertPreTokenizer, Metaspace

from embedlab.core.errors import EmbedlabError
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_encoder
from embedlab.encoders.word_tokens import WordTokens
from embedlab.models.catalog import resolve
from embedlab.models.location import vector_length

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


def ours(name: str, cpu: Machine) -> np.ndarray:
    return load_encoder(resolve(name, Path("none")).members[0], cpu, offline=True).encode(TEXTS)


@pytest.fixture(scope="module")
def wordllama() -> object:
    pytest.importorskip("wordllama", reason="it has no wheel for this Python")
    from safetensors.numpy import load_file
    from wordllama.inference import WordLlamaInference

    package = Path(str(find_spec("wordllama").origin)).parent  # type: ignore[union-attr]
    tokenizer = Tokenizer.from_file(
        str(package / "tokenizers" / "l2_supercat_tokenizer_config.json")
    )
    return WordLlamaInference(
        load_file(package / "weights" / "l2_supercat_256.safetensors")["embedding.weight"],
        tokenizer,
    )


def test_the_published_static_model_has_the_vectors_of_its_own_program(
    cpu: Machine, wordllama: object
) -> None:
    expected = wordllama.embed(list(TEXTS), norm=False)  # type: ignore[attr-defined]
    np.testing.assert_allclose(ours(PUBLISHED, cpu), expected, atol=1e-5)
    np.testing.assert_allclose(ours(f"{PUBLISHED}?dim=64", cpu), expected[:, :64], atol=1e-5)
    assert vector_length(resolve(PUBLISHED, Path("none")).members[0]) == 256


@pytest.mark.usefixtures("wordllama")
def test_an_unknown_model_of_the_package_gets_the_nearest(cpu: Machine) -> None:
    with pytest.raises(
        EmbedlabError, match="no model of wordllama named 'l2_supercat_25'"
    ) as error:
        ours("wordllama:l2_supercat_25", cpu)
    assert "l2_supercat_256" in error.value.hint


def word_piece() -> Tokenizer:
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "a",
        "man",
        "guitar",
        "dogs",
        "two",
        "##s",
        "##a",
        "and",
        "so",
        "on",
        "play",
        "##ing",
        ".",
        "is",
    ]
    tokenizer = Tokenizer(
        WordPiece({word: place for place, word in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    tokenizer.add_special_tokens(["[CLS]", "[UNK]"])
    return tokenizer


def unigram() -> Tokenizer:
    pieces = [
        ("<unk>", 0.0),
        ("▁", -2.0),
        ("▁a", -2.5),
        ("▁man", -3.0),
        ("s", -4.0),
        ("o", -4.0),
        ("n", -4.0),
        ("▁and", -3.0),
    ]
    tokenizer = Tokenizer(Unigram(pieces, unk_id=0))
    tokenizer.pre_tokenizer = Metaspace()
    return tokenizer


def saved(folder: Path, tokenizer: Tokenizer, **options: object) -> Path:
    vectors = (
        np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 12)).astype(np.float32)
    )
    save_pretrained(
        folder, vectors, tokenizer, {"model_type": "model2vec", **options}, create_model_card=False
    )  # type: ignore[arg-type, typeddict-item]
    return folder


@pytest.mark.parametrize("make", [word_piece, unigram])
@pytest.mark.parametrize(("normalize", "longest"), [(True, 512), (False, 9), (True, None)])
def test_folders_of_model2vec_have_its_own_vectors(
    make: object, normalize: bool, longest: int | None, cpu: Machine, tmp_path: Path
) -> None:
    folder = saved(tmp_path / "model", make(), normalize=normalize, max_length=longest)  # type: ignore[operator]
    expected = StaticModel.from_pretrained(folder, force_download=False).encode(list(TEXTS))
    np.testing.assert_allclose(ours(str(folder), cpu), expected, atol=1e-6)
    (folder / "modules.json").unlink()  # older folders have none
    np.testing.assert_allclose(ours(str(folder), cpu), expected, atol=1e-6)


def test_fewer_vectors_than_tokens_are_found_by_their_places(cpu: Machine, tmp_path: Path) -> None:
    tokenizer = word_piece()
    size, rng = tokenizer.get_vocab_size(), np.random.default_rng(1)
    model = StaticModel(
        rng.normal(size=(5, 8)).astype(np.float32),
        tokenizer,
        weights=rng.random(size).astype(np.float32),
        token_mapping=rng.integers(0, 5, size),
    )
    model.save_pretrained(tmp_path / "model")
    np.testing.assert_allclose(
        ours(str(tmp_path / "model"), cpu), model.encode(list(TEXTS)), atol=1e-6
    )


def blank_first(*merges: tuple[str, str], inner: bool = False) -> Tokenizer:
    words = [
        "<unk>",
        "<s>",
        "▁",
        "a",
        "b",
        "▁a",
        "▁b",
        "ab",
        "▁ab",
        "▁▁",
        *(["b▁"] if inner else []),
    ]
    tokenizer = Tokenizer(
        BPE({word: place for place, word in enumerate(words)}, list(merges), unk_token="<unk>")
    )
    tokenizer.normalizer = Sequence([Prepend("▁"), Replace(" ", "▁")])
    tokenizer.add_special_tokens([AddedToken("<s>", special=True)])
    return tokenizer


@pytest.mark.parametrize(
    ("tokenizer", "independence"),
    [
        (word_piece(), "words"),
        (unigram(), "none"),
        (blank_first(("▁", "a"), ("▁", "b"), ("a", "b"), ("▁a", "b"), ("▁", "▁")), "single blanks"),
        (blank_first(("b", "▁"), inner=True), "none"),
    ],
)
def test_words_that_are_tokenised_once_give_the_tokens_of_the_whole_text(
    tokenizer: Tokenizer, independence: str
) -> None:
    words, rng = WordTokens(tokenizer), np.random.default_rng(0)
    assert words._independence == independence
    drawn = [
        "".join(rng.choice([*"ab ", "  ", "<s>", " a", "man", ".", "\t"], 12)) for _ in range(200)
    ]
    for texts in (drawn, [*drawn[:3], *TEXTS], []):
        found = words.tokens_of(texts)
        expected = [
            one.ids for one in tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ]
        assert found == expected


def test_the_memory_for_words_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("embedlab.encoders.word_tokens.MOST_WORDS", 3)
    words = WordTokens(word_piece())
    for text in ("a man is", "two dogs play a guitar", "a man is"):
        assert words.tokens_of([text]) == [
            words.tokenizer.encode(text, add_special_tokens=False).ids
        ]


def test_a_folder_whose_tokenizer_has_more_tokens_than_vectors_is_refused(
    cpu: Machine, tmp_path: Path
) -> None:
    folder = saved(tmp_path / "model", word_piece())
    stated = json.loads((folder / "tokenizer.json").read_text())
    stated["model"]["vocab"]["more"] = len(stated["model"]["vocab"])
    (folder / "tokenizer.json").write_text(json.dumps(stated))
    with pytest.raises(EmbedlabError, match="18 tokens, but there are 17 vectors"):
        ours(str(folder), cpu)
