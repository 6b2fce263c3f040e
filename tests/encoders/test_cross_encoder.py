"""Scores of cross-encoders in the layouts that sentence-transformers writes, compared with its own
`predict`; what is refused.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder
from torch import nn
from transformers import AutoConfig, AutoModelForSequenceClassification

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.encoders.cross_encoder import CrossEncoderScorer
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_encoder, load_scorer
from embedlab.encoders.weight_checks import silence_transformers
from embedlab.models.catalog import Model, resolve
from embedlab.models.location import pinned, spec_fingerprint
from embedlab.scoring.task_comparison import model_columns
from tests.encoders.layouts import DECODERS, WIDTH, byte_level, tokenizer

PAIRS = (
    ("a man plays a guitar", "two dogs run"),
    ("two dogs run", "a man plays a guitar"),
    ("a", "the woman in the red coat is cutting a very large onion in the kitchen with a knife"),
    ("dogs", "dogs"),
    ("a man plays a guitar", "two dogs run"),
    ("the dogs run " * 30, "a man " * 40),
)
NLI = {0: "contradiction", 1: "entailment", 2: "neutral"}


def classifier(
    folder: Path,
    architecture: str = "bert",
    labels: int = 1,
    words: Callable[[], Any] = tokenizer,
    **more: Any,
) -> Path:
    """A random classifier of pairs in transformers' layout, with scores that differ by tenths."""
    made = words()
    more = {"max_position_embeddings": 66, **more}
    torch.manual_seed(7)
    config = AutoConfig.for_model(
        architecture,
        vocab_size=len(made),
        pad_token_id=made.pad_token_id,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        id2label=dict(enumerate(f"LABEL_{number}" for number in range(labels)))
        if labels != 3
        else NLI,
        **more,
    )
    with silence_transformers():
        model = AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)
        for parameter in model.parameters():
            if parameter.ndim > 1:
                torch.nn.init.normal_(parameter, std=0.2)
        model.save_pretrained(folder)
    made.save_pretrained(folder)
    return folder


def change(file: Path, **values: Any) -> Path:
    file.write_text(
        json.dumps({**(json.loads(file.read_text()) if file.exists() else {}), **values})
    )
    return file.parent


def rewritten(folder: Path, source: Path, **options: Any) -> Path:
    """The classifier in SOURCE as version 6 writes it."""
    with silence_transformers():
        CrossEncoder(
            str(source), device="cpu", local_files_only=True, trust_remote_code=False, **options
        ).save_pretrained(str(folder))
    return folder


def newer(**options: Any) -> Callable[[Path], Path]:
    given = {
        name: options.pop(name)
        for name in ("activation_fn", "max_length", "prompts", "default_prompt_name")
        if name in options
    }
    return lambda folder: rewritten(
        folder, classifier(folder.with_name(f"{folder.name}-source"), **options), **given
    )


def cut_short(folder: Path) -> Path:
    """A longest input and lower case, as version 6 reads them."""
    return change(
        newer()(folder) / "sentence_bert_config.json", max_seq_length=16, do_lower_case=True
    )


LAYOUTS: dict[str, Callable[[Path], Path]] = {
    "transformers alone": classifier,
    "before version 4": lambda folder: change(
        classifier(folder) / "config.json",
        sbert_ce_default_activation_function="torch.nn.modules.linear.Identity",
    ),
    "versions 4 and 5": lambda folder: change(
        classifier(folder) / "config.json",
        sentence_transformers={
            "activation_fn": "torch.nn.modules.linear.Identity",
            "version": "5.0.0",
        },
    ),
    "versions 4 and 5, several labels": lambda folder: change(
        classifier(folder, labels=3) / "config.json",
        sentence_transformers={
            "activation_fn": "torch.nn.modules.activation.Sigmoid",
            "version": "5.0.0",
        },
    ),
    "several labels": lambda folder: classifier(folder, labels=3),
    "RoBERTa": lambda folder: classifier(
        folder, "roberta", words=byte_level, max_position_embeddings=130
    ),
    "DistilBERT": lambda folder: classifier(folder, "distilbert"),
    "decoder": lambda folder: classifier(folder, "qwen3", **DECODERS["qwen3"]),
    "version 6": newer(),
    "version 6, Identity": newer(activation_fn=nn.Identity()),
    "version 6, Tanh": newer(activation_fn=nn.Tanh()),
    "version 6, several labels": newer(labels=3),
    "version 6, longest input": newer(max_length=24),
    "version 6, prompt": newer(prompts={"pair": "same: "}, default_prompt_name="pair"),
    "version 6, cut short and lower case": cut_short,
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One folder a layout."""
    place = tmp_path_factory.mktemp("cross-encoders")
    return {
        name: write(place / f"{number}") for number, (name, write) in enumerate(LAYOUTS.items())
    }


@pytest.fixture
def folder_of(folders: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    """A copy of the folder of a layout."""
    return lambda name: Path(shutil.copytree(folders[name], tmp_path / "model"))


def theirs(folder: Path, *, batch: int = 32, **options: Any) -> NDArray[np.float32]:
    with silence_transformers():
        model = CrossEncoder(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False
        )
        return np.asarray(
            model.predict([list(pair) for pair in PAIRS], batch_size=batch, **options)
        )


def opened(name: str, cpu: Machine) -> CrossEncoderScorer:
    scorer = load_scorer(resolve(name, Path("none")).members[0], cpu, offline=True)
    assert isinstance(scorer, CrossEncoderScorer)
    return scorer


def ours(name: str, cpu: Machine) -> NDArray[np.float32]:
    return opened(name, cpu).score(*zip(*PAIRS, strict=True))


def fingerprint(name: str, precision: str = "float32") -> str:
    return spec_fingerprint(resolve(name, Path("none")).members[0], precision=precision)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_are_those_of_sentence_transformers(
    folders: dict[str, Path], cpu: Machine, layout: str
) -> None:
    folder, batch = folders[layout], 32
    expected = theirs(folder, batch=batch)
    columns = [expected] if expected.ndim == 1 else expected.T
    options = [""] if expected.ndim == 1 else [f"?label={name}" for name in NLI.values()]
    assert len(columns) == len(options)
    for column, option in zip(columns, options, strict=True):
        found = ours(f"cross-encoder:{folder}{option}", cpu)
        np.testing.assert_allclose(found, column, atol=1e-5)
        assert np.ptp(found) > 1e-3  # not one number for all pairs


@pytest.mark.parametrize(
    ("typed", "options"),
    [("softmax", {"apply_softmax": True}), ("sigmoid", {"activation_fn": nn.Sigmoid()})],
)
def test_another_activation_can_be_typed(
    folders: dict[str, Path], cpu: Machine, typed: str, options: dict[str, Any]
) -> None:
    folder = folders["version 6, several labels"]
    found = ours(f"{folder}?label=2&activation={typed}", cpu)
    np.testing.assert_allclose(found, theirs(folder, **options)[:, 2], atol=1e-5)


def test_a_pair_and_its_reverse_have_their_own_scores_and_equal_pairs_are_computed_once(
    folders: dict[str, Path], cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = opened(str(folders["version 6"]), cpu)
    seen: list[int] = []
    tokens = scorer.token_ids
    monkeypatch.setattr(scorer, "token_ids", lambda pairs: seen.append(len(pairs)) or tokens(pairs))
    scores = scorer.score(*zip(*PAIRS, strict=True))
    assert seen == [len(set(PAIRS))]
    assert scores[0] == scores[4]
    assert abs(scores[0] - scores[1]) > 1e-4
    assert any("order" in note for note in scorer.facts.notes)


def test_truncated_pairs_are_counted_once(folders: dict[str, Path], cpu: Machine) -> None:
    scorer = opened(str(folders["version 6, longest input"]), cpu)
    for _ in range(2):
        scorer.score(*zip(*PAIRS, strict=True))
    assert (scorer.facts.truncated, scorer.facts.max_tokens) == (2, 24)
    assert scorer.facts.pooling == "cross-encoder, sigmoid"


def test_a_classifier_that_does_not_say_so_is_refused_with_both_readings(
    folders: dict[str, Path], cpu: Machine
) -> None:
    folder = folders["transformers alone"]
    with pytest.raises(MissingError) as refused:
        load_scorer(resolve(str(folder), Path("none")).members[0], cpu)
    assert f"cross-encoder:{folder}" in (refused.value.hint or "")
    assert f"{folder}@pooling=mean" in (refused.value.hint or "")
    encoder = load_encoder(
        resolve(f"{folders['versions 4 and 5']}?pooling=mean", Path("none")).members[0], cpu
    )
    assert encoder.encode(["a man plays a guitar"]).shape == (1, WIDTH)


def test_several_labels_need_one_and_a_wrong_one_is_refused(
    folders: dict[str, Path], cpu: Machine
) -> None:
    folder = folders["version 6, several labels"]
    for name, expected in (
        (f"{folder}", "@label=entailment"),
        (f"{folder}?label=entail", "entailment"),
        (f"{folder}?label=7", "neutral"),
    ):
        with pytest.raises(UsageError) as refused:
            opened(name, cpu)
        assert expected in (refused.value.hint or "")
    np.testing.assert_array_equal(
        ours(f"{folder}?label=1", cpu), ours(f"{folder}?label=entailment", cpu)
    )
    with pytest.raises(UsageError, match="softmax"):
        opened(f"{folders['version 6']}?activation=softmax", cpu)


def without(name: str) -> Callable[[Path], object]:
    def remove(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        del tensors[name]
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})

    return remove


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (without("classifier.weight"), "lacks tensor 'classifier.weight'"),
        (without("bert.pooler.dense.bias"), "lacks tensor 'bert.pooler.dense.bias'"),
        (
            lambda folder: change(folder / "config.json", architectures=["BertModel"]),
            "no layer of it scores a pair",
        ),
        (
            lambda folder: change(
                folder / "config.json", auto_map={"AutoModelForSequenceClassification": "mine.Mine"}
            ),
            "its own code",
        ),
        (
            lambda folder: change(
                folder / "config_sentence_transformers.json", activation_fn="mine.Odd"
            ),
            "states the activation 'mine.Odd'",
        ),
        (
            lambda folder: change(
                folder / "config_sentence_transformers.json", keep_in_fp32_modules=["0.model"]
            ),
            "keep_in_fp32_modules",
        ),
        (
            lambda folder: change(
                folder / "sentence_bert_config.json", transformer_task="text-generation"
            ),
            "for text-generation",
        ),
        (
            lambda folder: change(folder / "sentence_bert_config.json", max_seq_length=4),
            "too few for a pair",
        ),
        (lambda folder: change(folder / "adapter_config.json", peft_type="LORA"), "adapter"),
    ],
)
def test_what_would_be_left_out_or_drawn_at_random_is_refused(
    folder_of: Callable[[str], Path], cpu: Machine, damage: Callable[[Path], object], message: str
) -> None:
    folder = folder_of("version 6")
    damage(folder)
    with pytest.raises(EmbedlabError, match=message):
        opened(f"cross-encoder:{folder}", cpu)


def test_the_fingerprint_covers_files_options_and_precision(
    folder_of: Callable[[str], Path],
) -> None:
    folder = folder_of("version 6, several labels")
    names = [
        f"{folder}?label={label}{more}"
        for label in NLI.values()
        for more in ("", "&activation=softmax", '&prompt="a: "')
    ]
    before = [fingerprint(name) for name in names]
    assert len({*before, fingerprint(names[0], "bf16")}) == len(names) + 1
    change(
        folder / "config_sentence_transformers.json",
        activation_fn="torch.nn.modules.activation.Sigmoid",
    )
    assert not {*before} & {fingerprint(name) for name in names}


def test_int8_is_refused(folders: dict[str, Path], cpu: Machine) -> None:
    with pytest.raises(UsageError, match="int8"):
        opened(str(folders["version 6"]), replace(cpu, precision="int8"))


def on_the_hub(source: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the files of SOURCE into PLACE as the hub's cache has the repository org/reader, and
    return its snapshot.
    """
    repository = place / "models--org--reader"
    snapshot = repository / "snapshots" / "aaa"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    for file in source.iterdir():
        blob = repository / "blobs" / f"{len(list((repository / 'blobs').iterdir())):040}"
        shutil.copy(file, blob)
        (snapshot / file.name).symlink_to(blob)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("aaa")
    for name in (
        "huggingface_hub.constants.HF_HUB_CACHE",
        "huggingface_hub._snapshot_download.constants.HF_HUB_CACHE",
    ):
        monkeypatch.setattr(name, str(place))
    return snapshot


@pytest.mark.parametrize("layout", ["version 6", "versions 4 and 5", "before version 4"])
def test_a_hub_id_whose_files_say_so_is_a_cross_encoder(
    layout: str,
    folders: dict[str, Path],
    cpu: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    snapshot = on_the_hub(folders[layout], tmp_path, monkeypatch)
    for name in ("org/reader", "cross-encoder:org/reader", "org/reader?revision=aaa"):
        (spec,) = resolve(name, Path("none")).members
        assert (spec.name, spec.kind, spec.location) == (name, "cross-encoder", str(snapshot))
        assert pinned(spec, offline=True) == spec
        np.testing.assert_array_equal(
            load_scorer(spec, cpu, offline=True).score(*zip(*PAIRS, strict=True)),
            ours(str(folders[layout]), cpu),
        )
        assert model_columns(Model(name=name, members=(spec,))).is_published
    assert resolve("org/reader@pooling=mean", Path("none")).members[0].kind == "hub"
    assert fingerprint("org/reader") == fingerprint(str(folders[layout]))
