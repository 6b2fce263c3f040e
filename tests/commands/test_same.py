"""`same` names the fault of a server, and says that there is none where there is none."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import embedlab
from embedlab.api import NotebookSession
from embedlab.commands.same import SameOptions, same
from embedlab.core.settings import Settings
from embedlab.encoders.random_encoder import build_random_encoder
from embedlab.encoders.same import chosen_texts
from embedlab.models.hosts import note_typed
from embedlab.reports.report import Report
from tests.encoders.altered_server import WORDS, add_modules, serving, write_qwen


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert") / "model"
    build_random_encoder(folder, seed=1, vocabulary=WORDS, architecture="bert", hidden=32)
    add_modules(folder, "mean_tokens", max_seq_length=48)
    return folder


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A decoder whose vector is that of the last token, which ends each text."""
    folder = tmp_path_factory.mktemp("qwen") / "model"
    write_qwen(folder)
    return folder


@pytest.fixture(scope="module")
def addresses(bert: Path, qwen: Path) -> Iterator[dict[str, str]]:
    with serving(bert, qwen) as first, serving(qwen, bert) as second:
        yield {"bert": first, "qwen": second}


def report_of(reference: Path, served: str, tmp_path: Path, **options: Any) -> Report:
    note_typed(served)
    settings = Settings(device="cpu", runs=tmp_path, endpoint_check="off")
    chosen = SameOptions(reference=str(reference), served=served, **options)
    return same(chosen, NotebookSession(settings=settings))


def asked(reference: Path, served: str, tmp_path: Path, **options: Any) -> Any:
    report = report_of(reference, served, tmp_path, **options)
    (verdict,) = report.tables[0].data()["verdict"]
    if "dim-cut" in served:
        assert "16 numbers a vector served, 32 of the reference: cosines are to its first 16" in (
            report.notes
        )
    kinds = {cause["kind"] for cause in verdict["causes"]}
    # cosines see no length, and are to the reference as it was cut, or stored
    unseen = {"dim", "norm", "stored", "similarity"}
    assert ("itself: " in report.tables[0].title) == bool(kinds - unseen)
    causes = [
        (cause["kind"], "" if cause["kind"] == "order" else cause["value"])
        for cause in verdict["causes"]
    ]
    return int(report.exit_code), causes, verdict


FAULTS = [
    ("bert", "plain", []),
    ("bert", "float16", []),
    ("bert", "reversed-batches", []),
    ("bert", "right-pad", []),  # of a mean: no fault
    ("bert", "cls", [("pooling", "cls")]),
    ("bert", "last", [("pooling", "last")]),
    ("bert", "not-normalised", [("norm", "not normalised")]),
    ("bert", "prompt", [("prompt", "query: ")]),
    ("bert", "cut-32", [("truncation", "32")]),
    ("bert", "no-special", [("special", "none")]),
    ("bert", "no-end", [("special", "no-end")]),
    ("bert", "dim-cut", [("dim", "16")]),
    ("bert", "binary", [("stored", "binary")]),
    ("bert", "no-mask", [("padding", "")]),
    ("bert", "dropout", [("chance", "")]),
    ("bert", "noise", None),
    ("bert", "noise+bits", [("stored", "binary")]),  # the same at each call
    ("bert", "noise+packed-bits", [("stored", "binary")]),
    ("bert", "layer", [("layer", "1")]),
    ("bert", "shuffled", [("order", "")]),
    ("bert", "cls+prompt", [("pooling", "cls"), ("prompt", "query: ")]),
    ("qwen", "plain", []),
    ("qwen", "no-end", [("special", "no-end")]),
    ("qwen", "right-pad", [("padding", "")]),
    ("qwen", "mean+no-end", [("pooling", "mean"), ("special", "no-end")]),
]


@pytest.mark.parametrize(("model", "fault", "expected"), FAULTS)
def test_the_fault_of_a_server_is_named(
    model: str,
    fault: str,
    expected: list[tuple[str, str]] | None,
    bert: Path,
    qwen: Path,
    addresses: dict[str, str],
    tmp_path: Path,
) -> None:
    folder = {"bert": bert, "qwen": qwen}[model]
    code, causes, verdict = asked(folder, f"{addresses[model]}#{fault}", tmp_path)
    assert sorted(causes) == sorted(expected or [])
    assert code == (0 if expected == [] else 4)
    assert verdict["same"] == (expected == [])


@pytest.mark.parametrize(
    "pooling",
    [
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
        {"pooling_mode_cls_token": True, "include_prompt": False},
    ],
)
def test_a_model_is_itself_however_it_is_pooled(pooling: dict[str, bool], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    build_random_encoder(folder, seed=1, vocabulary=WORDS, architecture="bert", hidden=32)
    add_modules(folder, "mean_tokens", "query: ", max_seq_length=48)
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 32} | pooling)
    )
    assert asked(folder, str(folder), tmp_path)[:2] == (0, [])


def test_equal_vectors_that_are_compared_otherwise_are_not_the_same(
    bert: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(bert, tmp_path / "copy")
    prompts = folder / "config_sentence_transformers.json"
    prompts.write_text(json.dumps({"similarity_fn_name": "manhattan"}))
    assert asked(bert, str(folder), tmp_path)[:2] == (4, [("similarity", "manhattan")])


def test_another_model_is_named_where_it_is_a_candidate(
    bert: Path, qwen: Path, addresses: dict[str, str], tmp_path: Path
) -> None:
    served = f"{addresses['bert']}#other"
    code, causes, _ = asked(bert, served, tmp_path, candidates=(str(qwen),))
    assert (code, causes) == (4, [("model", str(qwen))])
    assert asked(bert, served, tmp_path)[1] == []


CHOSEN = [each for each in chosen_texts([24]) if "\n" not in each.text]
TEXTS = [each.text for each in CHOSEN]


def stored(vectors: Any, folder: Path, texts: Sequence[str] = TEXTS) -> str:
    """The name of VECTORS of TEXTS in a file."""
    file = folder / "stored.parquet"
    columns = {"sentence": texts, "vector": np.asarray(vectors).tolist()}
    pl.DataFrame(columns).write_parquet(file)
    return f"vectors:{file}"


def test_vectors_in_another_order_are_found_in_an_export(bert: Path, tmp_path: Path) -> None:
    vectors = embedlab.encode(str(bert), TEXTS)
    assert asked(bert, stored(vectors, tmp_path), tmp_path)[:2] == (0, [])
    mixed = np.random.default_rng(0).permutation(vectors)
    assert asked(bert, stored(mixed, tmp_path), tmp_path)[:2] == (4, [("order", "")])


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_one_vector_of_all_texts_is_no_stored_form(
    value: float, bert: Path, tmp_path: Path
) -> None:
    equal = np.full((len(TEXTS), 32), value)
    assert asked(bert, stored(equal, tmp_path), tmp_path)[:2] == (4, [])


def test_what_cannot_be_compared_is_not_among_the_nearest(bert: Path, tmp_path: Path) -> None:
    wide = np.random.default_rng(0).normal(size=(len(TEXTS), 48))
    report = report_of(bert, stored(wide, tmp_path), tmp_path)
    assert "other dimensions" in report.tables[0].title
    assert "inf" not in " ".join(report.notes)


def test_texts_that_nothing_explains_are_named_by_their_kind(bert: Path, tmp_path: Path) -> None:
    right = embedlab.encode(str(bert), TEXTS)
    is_odd = np.array([each.kind == "scripts" for each in CHOSEN])
    drawn = np.random.default_rng(0).normal(size=right.shape)
    altered = np.where(is_odd[:, None], drawn, right)
    (table, *_) = report_of(bert, stored(altered, tmp_path), tmp_path).tables
    assert " on not ASCII (least cosine " in table.title
    (least,) = (row["reference"] for row in table.rows if row["kind"] == "not ASCII")
    lengths = np.linalg.norm(drawn, axis=1) * np.linalg.norm(right, axis=1)
    assert least == pytest.approx(((drawn * right).sum(axis=1) / lengths)[is_odd].min(), abs=1e-5)


def test_too_few_texts_say_nothing(bert: Path, tmp_path: Path) -> None:
    few = stored([[1.0] * 32, [2.0] * 32], tmp_path, ["a", "b"])
    assert int(report_of(bert, few, tmp_path).exit_code) == 5
