from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import SafetensorError

from embedlab.core.disk import CHECKSUMS
from embedlab.core.errors import MissingError
from embedlab.core.plugins import shipped_names
from embedlab.core.recipe import Pooling
from embedlab.encoders.checkpoint import load_transformer, save_model
from embedlab.encoders.device import Machine
from embedlab.encoders.pooling import pooling_method, saved_pooling
from embedlab.models.reading import Wishes

EXPORTED = [
    name for name in shipped_names("poolings") if pooling_method(name).exported_as is not None
]  # to sentence-transformers' own module


@pytest.mark.parametrize(
    ("architecture", "pooling"),
    [
        *(
            ("bert", pooling) for pooling in EXPORTED
        ),  # another architecture has the same module of pooling
        *(
            pytest.param("roberta", one, marks=[] if one == "mean" else [pytest.mark.slow])
            for one in EXPORTED
        ),
    ],
)
def test_folder_sentence_transformers_and_embedlab_give_one_vector(
    architectures: dict[str, Path],
    cpu: Machine,
    sentences: list[str],
    pooling: Pooling,
    architecture: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from sentence_transformers import SentenceTransformer

    encoder = load_transformer(
        str(architectures[architecture]), cpu, wishes=Wishes(pooling=pooling, max_tokens=64)
    )
    save_model(tmp_path / "model", encoder, card="# A card\n")
    saved = load_transformer(str(tmp_path / "model"), cpu)
    theirs = SentenceTransformer(str(tmp_path / "model"), device="cpu", trust_remote_code=False)
    assert "MISSING" not in "".join(
        capfd.readouterr()
    )  # no layer was invented, and no warning of one
    assert (saved.pooling, saved.max_tokens, theirs.max_seq_length) == (
        saved_pooling(pooling),
        64,
        64,
    )
    vectors = encoder.encode(sentences)
    np.testing.assert_allclose(saved.encode(sentences), vectors, atol=1e-6)
    np.testing.assert_allclose(theirs.encode(sentences), vectors, atol=1e-5)


def save_normalising(folder: Path, small_bert: Path) -> Path:
    """A model as sentence-transformers saves one whose vectors it normalises."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    SentenceTransformer(
        modules=[Transformer(str(small_bert)), Pooling(32, "mean"), Normalize()],
        device="cpu",
        trust_remote_code=False,
    ).save(str(folder))
    return folder


@pytest.mark.parametrize(
    "pooling",
    [
        pytest.param(one, marks=[] if one in {"mean", "last"} else [pytest.mark.slow])
        for one in shipped_names("poolings")
    ],
)
def test_a_model_that_normalises_is_saved_as_one_whichever_pooling_it_has(
    small_bert: Path, cpu: Machine, sentences: list[str], tmp_path: Path, pooling: Pooling
) -> None:
    from sentence_transformers import SentenceTransformer

    encoder = load_transformer(
        str(save_normalising(tmp_path / "theirs", small_bert)), cpu, wishes=Wishes(pooling=pooling)
    )
    save_model(tmp_path / "ours", encoder, card="")
    (tmp_path / "ours" / "embedlab.json").unlink()
    again = load_transformer(str(tmp_path / "ours"), cpu)
    assert (again.pooling, again.is_normalised) == (pooling, True)
    vectors = encoder.encode(sentences)
    np.testing.assert_allclose(again.encode(sentences), vectors, atol=1e-6)
    np.testing.assert_allclose(
        SentenceTransformer(str(tmp_path / "ours"), device="cpu", trust_remote_code=False).encode(
            sentences
        ),
        vectors,
        atol=1e-5,
    )


def test_saving_twice_gives_the_same_files(small_bert: Path, cpu: Machine, tmp_path: Path) -> None:
    encoder = load_transformer(str(small_bert), cpu, wishes=Wishes(pooling="mean-without-cls"))
    save_model(tmp_path / "one", encoder, card="# A card\n")
    encoder.encode(["a dog"])
    save_model(tmp_path / "two", encoder, card="# A card\n")
    files = [
        path.relative_to(tmp_path / "one")
        for path in (tmp_path / "one").rglob("*")
        if path.is_file()
    ]
    assert {
        Path("README.md"),
        Path("config.json"),
        Path("model.safetensors"),
        Path("modules.json"),
    } <= set(files)
    assert all(
        (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
        for file in files
    )


def test_a_full_disk_is_missing_and_leaves_the_old_model(
    small_bert: Path, cpu: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = load_transformer(str(small_bert), cpu)
    save_model(tmp_path / "model", encoder, card="old")

    def full(*_: object, **__: object) -> None:
        raise SafetensorError(
            "Error while serializing: I/O error: No space left on device (os error 28)"
        )

    monkeypatch.setattr(encoder.backbone, "save_pretrained", full)
    with pytest.raises(MissingError, match="no space left"):
        save_model(tmp_path / "model", encoder, card="new")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model" / "README.md").read_text() == "old"


def test_a_folder_without_a_config_is_missing(tmp_path: Path, cpu: Machine) -> None:
    with pytest.raises(MissingError, match=r"no config\.json"):
        load_transformer(str(tmp_path), cpu)


def test_pickled_weights_are_never_loaded(small_bert: Path, cpu: Machine, tmp_path: Path) -> None:
    for file in small_bert.iterdir():
        if file.name != "model.safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(MissingError, match="no safetensors"):
        load_transformer(str(tmp_path), cpu)


@pytest.mark.parametrize("broken", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_broken_file_is_one_clear_error(
    small_bert: Path, cpu: Machine, tmp_path: Path, broken: str
) -> None:
    for file in small_bert.iterdir():
        (tmp_path / file.name).write_bytes(
            file.read_bytes() if file.name != broken else file.read_bytes()[:50]
        )
    with pytest.raises(MissingError, match=str(tmp_path)):
        load_transformer(str(tmp_path), cpu)


def test_a_hub_model_that_is_not_here_is_missing_offline(cpu: Machine) -> None:
    with pytest.raises(MissingError, match="offline"):
        load_transformer("nobody/nothing", cpu, offline=True)


def test_something_that_is_neither_folder_nor_hub_id_is_missing(cpu: Machine) -> None:
    with pytest.raises(MissingError, match="no folder and no hub model"):
        load_transformer("not/a/model", cpu)


def test_text_is_lower_cased_where_sentence_transformers_does_so(
    small_bert: Path, cpu: Machine, tmp_path: Path
) -> None:
    from sentence_transformers import SentenceTransformer
    from tokenizers.normalizers import BertNormalizer

    encoder = load_transformer(str(small_bert), cpu, wishes=Wishes(pooling="mean"))
    encoder.tokenizer.backend_tokenizer.normalizer = BertNormalizer(lowercase=False)
    save_model(tmp_path / "model", encoder, card="")
    cased = load_transformer(str(tmp_path / "model"), cpu)
    (tmp_path / "model" / "sentence_bert_config.json").write_text(
        '{"max_seq_length": 64, "do_lower_case": true}'
    )
    with pytest.raises(MissingError, match=r"sentence_bert_config\.json' is damaged") as refused:
        load_transformer(str(tmp_path / "model"), cpu)
    assert CHECKSUMS in refused.value.hint
    (tmp_path / "model" / CHECKSUMS).unlink()  # who edits a model by hand says so
    lowered = load_transformer(str(tmp_path / "model"), cpu)
    assert not np.allclose(cased.encode(["A Dog"]), lowered.encode(["A Dog"]))
    np.testing.assert_allclose(lowered.encode(["A Dog"]), cased.encode(["a dog"]), atol=1e-6)
    theirs = SentenceTransformer(str(tmp_path / "model"), device="cpu", trust_remote_code=False)
    np.testing.assert_allclose(lowered.encode(["A Dog"]), theirs.encode(["A Dog"]), atol=1e-5)
    assert lowered.fingerprint != cased.fingerprint


def test_gpt2_reads_no_more_tokens_than_it_has_positions(
    small_bert: Path, cpu: Machine, sentences: list[str], tmp_path: Path
) -> None:
    from transformers import GPT2Config, GPT2Model

    tokenizer = load_transformer(str(small_bert), cpu).tokenizer
    GPT2Model(
        GPT2Config(vocab_size=len(tokenizer), n_embd=16, n_layer=1, n_head=2, n_positions=24)
    ).save_pretrained(tmp_path / "gpt2")
    tokenizer.save_pretrained(tmp_path / "gpt2")
    encoder = load_transformer(str(tmp_path / "gpt2"), cpu, wishes=Wishes(pooling="mean"))
    assert encoder.max_tokens == 24
    np.testing.assert_allclose(
        encoder.encode(sentences)[-1], encoder.encode(sentences[-1:])[0], atol=1e-5
    )
