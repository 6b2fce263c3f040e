"""The task mteb: mteb itself evaluates models of embedlab, on small rows in the layout that it
reads.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import embedlab
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.session import unseen
from embedlab.data.marks import Overlap, total_overlap
from embedlab.data.source import Source, dataset
from embedlab.data.tiny import tiny_rows
from embedlab.models.catalog import ModelSpec
from embedlab.scoring.provenance import overlap_mark, overlap_notes
from embedlab.scoring.selection import select_tasks
from embedlab.tasks._mteb_rows import _open_task, open_task
from embedlab.tasks._searchers import listed_prompt, listed_prompts
from embedlab.tasks.mteb import declared_tasks
from tests.tasks.evaluated import SETTINGS, spec_of
from tests.tasks.test_refused_texts import Refusing

ROWS = 60


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of two tasks of pairs and one of classes, in the layout of mteb's datasets, and the
    pairs as a file of embedlab's.
    """
    folder = tmp_path_factory.mktemp("rows")
    pairs = (
        tiny_rows(dataset("sts-benchmark"), "test")
        .head(ROWS)
        .select("sentence1", "sentence2", score="gold")
    )
    for task in ("STS16", "SICK-R"):
        (folder / "mteb" / task).mkdir(parents=True)
    pairs.write_parquet(folder / "mteb/STS16/test.parquet")
    pairs.write_csv(folder / "mteb/SICK-R/test.csv")
    pairs.write_csv(folder / "pairs.tsv", separator="\t")
    own = folder / "mteb" / "Banking77Classification"
    own.mkdir()
    classes = pl.DataFrame({"text": pairs["sentence1"], "label": [row % 3 for row in range(ROWS)]})
    classes.head(40).write_ndjson(own / "train.jsonl")
    classes.tail(20).write_ndjson(own / "test.jsonl")
    return folder


@pytest.fixture(scope="module")
def other_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from embedlab.encoders.random_encoder import build_random_encoder

    folder = tmp_path_factory.mktemp("encoders") / "other"
    build_random_encoder(folder, seed=1)
    return folder


@pytest.fixture
def two_experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classifications take two samples of their training rows, not ten."""
    monkeypatch.setattr("mteb.abstasks.AbsTaskClassification.n_experiments", 2)


@pytest.mark.usefixtures("two_experiments")
def test_a_classification_has_items_that_give_mteb_s_accuracy(
    data: Path, tiny_encoder: Path, other_encoder: Path
) -> None:
    models = [str(tiny_encoder), str(other_encoder)]
    options = {"tasks": ["mteb:Banking77Classification"], "data": data}
    stated = embedlab.evaluate(models, **options).frame
    compared = embedlab.compare(models, **options).frame
    assert stated["metric"].to_list() == ["accuracy", "accuracy"] == compared["metric"].to_list()
    np.testing.assert_allclose(compared["score"], stated["score"], atol=1e-9)
    assert compared["items"].to_list() == [40, 40]  # 20 rows, two experiments
    assert compared["sentences"][0] <= 20
    second = compared.row(1, named=True)
    assert second["difference_low"] < second["difference"] < second["difference_high"]


@pytest.mark.usefixtures("two_experiments")
@pytest.mark.parametrize("task", ["STS16", "Banking77Classification"])
def test_a_row_with_a_refused_text_is_left_out_for_all_models_and_counted(
    task: str, data: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    pairs = pl.read_csv(data / "pairs.tsv", separator="\t")
    refused = pairs["sentence1"][ROWS - 13]  # of the last twenty, which classes are tested on
    assert pairs.filter(pl.any_horizontal(pl.col("sentence1", "sentence2") == refused)).height == 1
    models = [str(tiny_encoder), Refusing(refused)]
    compared = embedlab.compare(models, tasks=[f"mteb:{task}"], data=data, cache=tmp_path / "cache")
    items = ROWS - 1 if task == "STS16" else (20 - 1) * 2  # experiments
    assert compared.frame["items"].to_list() == [items] * 2
    assert any("left out" in note for note in compared.notes)


def test_predictions_that_mteb_writes_are_compared_as_models(
    data: Path, tiny_encoder: Path, other_encoder: Path, tmp_path: Path
) -> None:
    import mteb

    from embedlab.tasks.mteb import MtebEncoder

    task = open_task("mteb:STS16", Source(folder=data)).task
    models = [str(tiny_encoder), str(other_encoder)]
    places = [tmp_path / folder.name for folder in (tiny_encoder, other_encoder)]
    for model, place in zip(models, places, strict=True):
        mteb.evaluate(
            MtebEncoder(spec_of(model), SETTINGS, unseen),
            task,
            cache=mteb.ResultCache(place),
            prediction_folder=place,
            co2_tracker=False,
            show_progress_bar=False,
        )
    names = [f"mteb:{place}" for place in places]
    brought = embedlab.compare(names, tasks=["mteb:STS16"], data=data).frame
    own = embedlab.compare(models, tasks=[str(data / "pairs.tsv")]).frame
    theirs = embedlab.compare(models, tasks=["mteb:SICK-R"], data=data).frame
    # intervals are of all shared sentences, of pairs at hand of similar ones too
    for frame in (brought, theirs):
        for column in ("score", "difference"):
            found, expected = (each[column].cast(float) for each in (frame, own))
            np.testing.assert_allclose(found, expected, atol=0.005)
    stated = next(places[0].rglob("STS16.json"))
    score = 100 * json.loads(stated.read_text())["scores"]["test"][0]["main_score"]
    assert brought["score"][0] == pytest.approx(score, abs=0.001)
    # without the predictions its score is stated, and counts for the split that it is of
    (alone := tmp_path / "alone").mkdir()
    shutil.copy(stated, alone)
    options = {"tasks": ["mteb:STS16"], "data": data}
    found = embedlab.evaluate([f"mteb:{alone}"], **options)
    assert found.frame["score"][0] == pytest.approx(score, abs=0.001)
    assert any("a score that mteb stated, without its items" in note for note in found.notes)
    (alone / "STS16.json").write_text(stated.read_text().replace('"test"', '"validation"'))
    with pytest.raises(UsageError, match="has no scores of mteb:STS16"):
        embedlab.evaluate([f"mteb:{alone}"], **options)


def test_the_catalogs_prompts_are_chosen_by_role_and_type_unless_one_was_typed() -> None:
    def chosen(name: str, kind: str, role: str | None = None) -> str | None:
        return listed_prompt(listed_prompts(spec_of(name)), kind, role)

    assert chosen("e5-base-v2", "Retrieval", "document") == "passage: "
    assert chosen("e5-base-v2", "Classification") == chosen("e5-base-v2", "STS") == "query: "
    assert chosen("modernbert-embed-base", "Clustering") == "clustering: "
    assert chosen("bge-small-en-v1.5", "Retrieval", "document") == ""
    assert "Represent this" in str(chosen("bge-small-en-v1.5", "Retrieval", "query"))
    assert chosen('e5-base-v2?prompt="query: "', "Retrieval", "document") is None
    assert chosen("all-MiniLM-L6-v2", "STS") is None


def test_a_benchmark_is_its_tasks_with_their_subsets_and_splits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import mteb

    tasks = mteb.get_tasks(
        ["STS12", "STS17", "MassiveIntentClassification", "Caltech101"],
        languages=["eng"],
        eval_splits=["test"],
    )
    monkeypatch.setattr(mteb, "get_benchmarks", lambda: [mteb.Benchmark(name="small", tasks=tasks)])
    names = [name for one in select_tasks("mteb:small", [], None) for name in one.names]
    assert names == ["mteb:STS12", names[1], "mteb:MassiveIntentClassification[en]:test"]
    assert names[1].startswith("mteb:STS17[")
    assert "en-en" in names[1]
    with pytest.raises(UsageError, match="no benchmark of mteb named 'smal'"):
        select_tasks("mteb:smal", [], None)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("mteb:STS61", "no task of mteb named 'STS61'"),
        ("mteb:", "'mteb:' is not a task of mteb"),
        ("mteb:STS17[xx]", "No subsets were found"),
        ("mteb:Caltech101", "is of image, not of text alone"),
        ("mteb:STS12", "mteb:STS12: its rows, mteb/sts12-sts at a0d554a6, cannot be read"),
        ("mteb", "no task of mteb was named"),
    ],
)
def test_a_task_that_cannot_be_evaluated_is_one_line_with_a_hint(
    data: Path, task: str, words: str
) -> None:
    with pytest.raises(EmbedlabError) as raised:
        embedlab.evaluate(["dice"], tasks=[task], data=data, offline=True)
    assert words in raised.value.message
    assert "\n" not in raised.value.message + raised.value.hint
    assert raised.value.hint


def test_wrong_columns_generated_data_and_models_without_vectors_are_refused(
    data: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    def evaluate(model: str, task: str, folder: Path | str = tmp_path) -> None:
        embedlab.evaluate([model], tasks=[task], data=folder)

    rows, model = tmp_path / "mteb" / "STS13", str(tiny_encoder)
    rows.mkdir(parents=True)
    with pytest.raises(MissingError, match="no rows in"):
        evaluate(model, "mteb:STS13")
    (rows / "test.csv").write_text("first,second\na,b\n")
    with pytest.raises(MissingError, match="mteb cannot evaluate mteb:STS13"):
        evaluate(model, "mteb:STS13")
    for score in (1, 9):  # a file that changed is read again
        (rows / "test.csv").write_text(f"sentence1,sentence2,score\na,b,{score}\na,a,5\nc,d,3\n")
        task = open_task("mteb:STS13", Source(folder=tmp_path)).task
        assert task.dataset["test"]["score"][0] == score
    with pytest.raises(MissingError, match="the generated corpora have no rows of mteb's tasks"):
        evaluate(model, "mteb:STS16", "tiny")
    with pytest.raises(UsageError, match="'dice' has no vectors"):
        evaluate("dice", "mteb:STS16", data)


def test_datasets_that_mteb_declares_as_training_data_are_marked() -> None:
    def declared_by(kind: str, location: str) -> frozenset[str]:
        return declared_tasks(ModelSpec(name="mini", kind=kind, location=location))

    minilm = "sentence-transformers/all-MiniLM-L6-v2"
    assert "NQ" in declared_by("hub", minilm)
    assert not declared_by("folder", minilm)
    assert not declared_by("hub", "nobody/nothing")
    declared = Overlap(sentences=0, shared_sentences=0, pairs=0, shared_pairs=0, declared=1)
    assert overlap_mark(declared) == "‡" == overlap_mark(total_overlap([declared, declared]))
    note = "‡ declared as its training data, not counted: mteb:NQ"
    assert overlap_notes({"mteb:NQ": declared}) == (note,)


def test_without_mteb_one_line_says_how_to_install_it(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _open_task.cache_clear()
    monkeypatch.setitem(sys.modules, "mteb", None)
    with pytest.raises(MissingError, match="mteb is not installed") as raised:
        embedlab.evaluate(["dice"], tasks=["mteb:STS16"], data=data)
    assert raised.value.hint == "pip install 'embedlab[mteb]'"
