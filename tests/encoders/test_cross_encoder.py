"""Scores of cross-encoders in the layouts that sentence-transformers writes, compared with its own
`predict`; what is refused.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.typing import NDArray
from sentence_transformers import CrossEncoder
from torch import nn
from transformers import AutoModelForSequenceClassification

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.encoders.cross_encoder import CrossEncoderScorer
from embedlab.encoders.device import Machine
from embedlab.encoders.weight_checks import silence_transformers
from embedlab.models.catalog import Model
from embedlab.models.location import pin_snapshots
from embedlab.scoring.task_comparison import model_columns
from tests.encoders.layouts import DECODERS, byte_level, write_backbone
from tests.encoders.opening import (
    change_json,
    change_weights,
    fingerprint,
    scorer_of,
    spec_of,
    written_once,
)

PAIRS = (
    ("a man plays a guitar", "two dogs run"),
    ("two dogs run", "a man plays a guitar"),
    ("a", "the woman in the red coat is cutting a very large onion in the kitchen with a knife"),
    ("dogs", "dogs"),
    ("a man plays a guitar", "two dogs run"),
    ("the dogs run " * 30, "a man " * 40),
)
NLI = {0: "contradiction", 1: "entailment", 2: "neutral"}


def classifier(folder: Path, architecture: str = "bert", labels: int = 1, **more: Any) -> Path:
    """A random classifier of pairs in transformers' layout, with scores that differ by tenths."""
    names = NLI if labels == 3 else {0: "LABEL_0"}
    kind = AutoModelForSequenceClassification
    write_backbone(folder, architecture, kind=kind, id2label=names, **more)
    return folder


def newer(labels: int = 1, **options: Any) -> Callable[[Path], Path]:
    """A classifier as version 6 writes it."""

    def write(folder: Path) -> Path:
        source = classifier(folder.with_name(f"{folder.name}-source"), labels=labels)
        with silence_transformers():
            loaded = CrossEncoder(
                str(source), device="cpu", local_files_only=True, trust_remote_code=False, **options
            )
            loaded.save_pretrained(str(folder))
        return folder

    return write


def version_4(activation: str, labels: int = 1) -> Callable[[Path], Path]:
    """A classifier as versions 4 and 5 write it."""
    stated = {"activation_fn": f"torch.nn.modules.{activation}", "version": "5.0.0"}
    return lambda folder: change_json(
        classifier(folder, labels=labels) / "config.json", sentence_transformers=stated
    )


LAYOUTS: dict[str, Callable[[Path], Path]] = {
    "transformers alone": classifier,
    "before version 4": lambda folder: change_json(
        classifier(folder) / "config.json",
        sbert_ce_default_activation_function="torch.nn.modules.linear.Identity",
    ),
    "versions 4 and 5": version_4("linear.Identity"),
    "versions 4 and 5, several labels": version_4("activation.Sigmoid", labels=3),
    "several labels": lambda folder: classifier(folder, labels=3),
    "RoBERTa": lambda folder: classifier(folder, "roberta", words=byte_level),
    "DistilBERT": lambda folder: classifier(folder, "distilbert"),
    "decoder": lambda folder: classifier(folder, "qwen3", **DECODERS["qwen3"]),
    "version 6": newer(),
    "version 6, Identity": newer(activation_fn=nn.Identity()),
    "version 6, Tanh": newer(activation_fn=nn.Tanh()),
    "version 6, several labels": newer(labels=3),
    "version 6, longest input": newer(max_length=24),
    "version 6, prompt": newer(prompts={"pair": "same: "}, default_prompt_name="pair"),
    "version 6, cut short and lower case": lambda folder: change_json(
        newer()(folder) / "sentence_bert_config.json", max_seq_length=16, do_lower_case=True
    ),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a layout by its name; no test changes it."""
    return written_once(LAYOUTS, tmp_path_factory.mktemp("cross-encoders"))


@pytest.fixture
def folder_of(written: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """A copy of the folder of a layout."""
    return lambda name: Path(shutil.copytree(written(name), tmp_path / "model"))


def theirs(folder: Path, **options: Any) -> NDArray[np.float32]:
    with silence_transformers():
        model = CrossEncoder(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False
        )
        return np.asarray(model.predict([list(pair) for pair in PAIRS], **options))


def opened(name: str, cpu: Machine) -> CrossEncoderScorer:
    scorer = scorer_of(name, precision=cpu.precision)
    assert isinstance(scorer, CrossEncoderScorer)
    return scorer


def ours(name: str, cpu: Machine) -> NDArray[np.float32]:
    return opened(name, cpu).score(*zip(*PAIRS, strict=True))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_are_those_of_sentence_transformers(
    written: Callable[[str], Path], cpu: Machine, layout: str
) -> None:
    expected = theirs(written(layout))
    options = {"": expected}
    if expected.ndim > 1:
        options = {f"?label={name}": expected[:, label] for label, name in NLI.items()}
    for option, column in options.items():
        found = ours(f"cross-encoder:{written(layout)}{option}", cpu)
        np.testing.assert_allclose(found, column, atol=1e-5)
        assert np.ptp(found) > 1e-3  # not one number for all pairs


def test_another_activation_can_be_typed(written: Callable[[str], Path], cpu: Machine) -> None:
    folder = written("version 6, several labels")
    found = ours(f"{folder}?label=2&activation=softmax", cpu)
    np.testing.assert_allclose(found, theirs(folder, apply_softmax=True)[:, 2], atol=1e-5)
    found = ours(f"{folder}?label=2&activation=sigmoid", cpu)
    np.testing.assert_allclose(found, theirs(folder, activation_fn=nn.Sigmoid())[:, 2], atol=1e-5)


def test_a_pair_and_its_reverse_have_their_own_scores_and_equal_pairs_are_computed_once(
    written: Callable[[str], Path], cpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = opened(str(written("version 6, longest input")), cpu)
    counted = Mock(side_effect=scorer.token_ids)
    monkeypatch.setattr(scorer, "token_ids", counted)
    for _ in range(2):
        scores = scorer.score(*zip(*PAIRS, strict=True))
    assert [len(call.args[0]) for call in counted.call_args_list] == [len(set(PAIRS))] * 2
    assert scores[0] == scores[4]
    assert abs(scores[0] - scores[1]) > 1e-4
    assert any("order" in note for note in scorer.facts.notes)
    assert (scorer.facts.truncated, scorer.facts.max_tokens) == (2, 24)  # counted once
    assert scorer.facts.pooling == "cross-encoder, sigmoid"


def test_several_labels_need_one_and_a_wrong_one_is_refused(
    written: Callable[[str], Path], cpu: Machine
) -> None:
    folder = written("version 6, several labels")
    for option in ("", "?label=entail", "?label=7"):
        with pytest.raises(UsageError) as refused:
            opened(f"{folder}{option}", cpu)
        assert "entailment" in refused.value.hint
    by_number, by_name = (ours(f"{folder}?label={label}", cpu) for label in (1, "entailment"))
    np.testing.assert_array_equal(by_number, by_name)
    with pytest.raises(UsageError, match="softmax"):
        opened(f"{written('version 6')}?activation=softmax", cpu)
    with pytest.raises(UsageError, match="int8"):
        opened(str(written("version 6")), replace(cpu, precision="int8"))


@pytest.mark.parametrize("name", ["classifier.weight", "bert.pooler.dense.bias"])
def test_weights_that_would_be_drawn_at_random_are_refused(
    folder_of: Callable[[str], Path], cpu: Machine, name: str
) -> None:
    folder = folder_of("version 6")
    change_weights(folder, lambda tensors: tensors.pop(name))
    with pytest.raises(EmbedlabError, match=f"lacks tensor '{name}'"):
        opened(f"cross-encoder:{folder}", cpu)


@pytest.mark.parametrize(
    ("file", "values", "message"),
    [
        ("config", {"architectures": ["BertModel"]}, "no layer of it scores a pair"),
        ("config", {"auto_map": {"AutoModel": "mine.Mine"}}, "its own code"),
        (
            "config_sentence_transformers",
            {"activation_fn": "mine.Odd"},
            "states the activation 'mine.Odd'",
        ),
        (
            "config_sentence_transformers",
            {"keep_in_fp32_modules": ["0.model"]},
            "keep_in_fp32_modules",
        ),
        ("sentence_bert_config", {"transformer_task": "text-generation"}, "for text-generation"),
        (
            "sentence_bert_config",
            {"max_seq_length": 4},
            "reads at most 4 tokens of a text, fewer than 5",
        ),
        ("adapter_config", {"peft_type": "LORA"}, "adapter"),
    ],
)
def test_what_would_be_left_out_is_refused(
    folder_of: Callable[[str], Path], cpu: Machine, file: str, values: Any, message: str
) -> None:
    folder = change_json(folder_of("version 6") / f"{file}.json", **values)
    with pytest.raises(EmbedlabError, match=message):
        opened(f"cross-encoder:{folder}", cpu)


def test_the_fingerprint_covers_files_options_and_precision(
    folder_of: Callable[[str], Path],
) -> None:
    folder = folder_of("version 6, several labels")
    options = ("0", "1", "0&activation=softmax", '0&prompt="a: "')
    names = [f"{folder}?label={option}" for option in options]
    before = {fingerprint(name) for name in names}
    assert len({*before, fingerprint(names[0], "bf16")}) == len(names) + 1
    change_json(folder / "config_sentence_transformers.json", activation_fn="torch.nn.Sigmoid")
    assert not before & {fingerprint(name) for name in names}


def on_the_hub(source: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the files of SOURCE into PLACE as the hub's cache has the repository org/reader, and
    return its snapshot.
    """
    repository = place / "models--org--reader"
    snapshot = shutil.copytree(source, repository / "snapshots" / "aaa")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("aaa")
    for module in ("constants", "_snapshot_download.constants"):
        monkeypatch.setattr(f"huggingface_hub.{module}.HF_HUB_CACHE", str(place))
    return snapshot


@pytest.mark.parametrize("layout", ["version 6", "versions 4 and 5", "before version 4"])
def test_a_hub_id_whose_files_say_so_is_a_cross_encoder(
    layout: str,
    written: Callable[[str], Path],
    cpu: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    snapshot = on_the_hub(written(layout), tmp_path, monkeypatch)
    for name in ("org/reader", "cross-encoder:org/reader", "org/reader?revision=aaa"):
        spec = spec_of(name)
        assert (spec.name, spec.kind, spec.location) == (name, "cross-encoder", str(snapshot))
        assert pin_snapshots(spec, offline=True) == spec
        assert model_columns(Model(name=name, members=(spec,))).is_published
    np.testing.assert_array_equal(ours("org/reader", cpu), ours(str(written(layout)), cpu))
    assert spec_of("org/reader@pooling=mean").kind == "hub"
    assert fingerprint("org/reader") == fingerprint(str(written(layout)))
