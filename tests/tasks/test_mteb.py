"""The task mteb: mteb itself evaluates models of embedlab, on small rows in the layout that it
reads.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import embedlab
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.settings import Settings
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.marks import Overlap, total_overlap
from embedlab.data.source import Source, dataset
from embedlab.data.tiny import tiny_rows
from embedlab.encoders.encoder import RefusedTextsError
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.scoring.provenance import overlap_mark, overlap_notes
from embedlab.scoring.selection import SelectedTask, select_tasks
from embedlab.tasks import mteb as mteb_task
from embedlab.tasks import task as task_module
from embedlab.tasks._mteb_rows import OpenedTask, open_task
from embedlab.tasks._searchers import listed_prompt, listed_prompts
from embedlab.tasks.mteb import declared_tasks

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
    for task, ending in (("STS16", "parquet"), ("SICK-R", "csv")):
        (folder / "mteb" / task).mkdir(parents=True)
        writer: Callable[[Path], Any] = (
            pairs.write_parquet if ending == "parquet" else pairs.write_csv
        )  # type: ignore[assignment]
        writer(folder / "mteb" / task / f"test.{ending}")
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


def test_a_comparison_by_mteb_has_the_numbers_of_embedlabs_own(
    data: Path, tiny_encoder: Path, other_encoder: Path
) -> None:
    models = [str(tiny_encoder), str(other_encoder)]
    theirs = embedlab.compare(models, tasks=["mteb:STS16", "mteb:SICK-R"], data=data).frame
    ours = embedlab.compare(models, tasks=[str(data / "pairs.tsv")]).frame
    assert theirs["slice"].to_list() == ["mteb:STS16", "mteb:STS16", "mteb:SICK-R", "mteb:SICK-R"]
    for column in (
        "score",
        "difference",
    ):  # intervals are of all shared sentences, of pairs at hand of similar ones too
        np.testing.assert_allclose(
            theirs[column].cast(float).to_numpy(),
            np.tile(ours[column].cast(float).to_numpy(), 2),
            atol=0.005,
        )


def test_a_classification_has_items_that_give_mteb_s_accuracy(
    data: Path, tiny_encoder: Path, other_encoder: Path
) -> None:
    models = [str(tiny_encoder), str(other_encoder)]
    stated = embedlab.evaluate(models, tasks=["mteb:Banking77Classification"], data=data).frame
    compared = embedlab.compare(models, tasks=["mteb:Banking77Classification"], data=data).frame
    assert stated["metric"].to_list() == ["accuracy", "accuracy"] == compared["metric"].to_list()
    np.testing.assert_allclose(compared["score"].to_numpy(), stated["score"].to_numpy(), atol=1e-9)
    assert compared["items"].to_list() == [200, 200]  # 20 rows, 10 experiments
    assert compared["sentences"][0] <= 20
    assert (
        compared["difference_low"][1] < compared["difference"][1] < compared["difference_high"][1]
    )


class _Refusing:
    """An encoder that refuses some texts alone."""

    def __init__(self, inner: Any, refused: set[str]) -> None:
        self._inner, self._refused = inner, refused

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def encode(self, sentences: list[str], progress: Any = None) -> Any:
        places = [place for place, text in enumerate(sentences) if text in self._refused]
        vectors = self._inner.encode(sentences, progress)
        if places:
            refused = [(sentences[place], "too odd") for place in places]
            raise RefusedTextsError("it", refused, np.delete(vectors, places, axis=0))
        return vectors


@pytest.mark.parametrize("task", ["STS16", "Banking77Classification"])
def test_a_row_with_a_refused_text_is_left_out_for_all_models_and_counted(
    task: str,
    data: Path,
    tiny_encoder: Path,
    other_encoder: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    refused = pl.read_ndjson(data / "mteb" / "Banking77Classification" / "test.jsonl")["text"][7]
    pairs = pl.read_csv(data / "pairs.tsv", separator="\t")
    lost = pairs.filter(pl.any_horizontal(pl.col("sentence1", "sentence2") == refused)).height

    def load_member(spec: ModelSpec, settings: Settings) -> Any:
        encoder, notes = task_module.load_member(spec, settings)
        is_first = spec.name == str(tiny_encoder)
        return _Refusing(encoder, {refused}) if is_first else encoder, notes

    monkeypatch.setattr("embedlab.tasks.mteb.load_member", load_member)
    models = [str(other_encoder), str(tiny_encoder)]
    compared = embedlab.compare(models, tasks=[f"mteb:{task}"], data=data, cache=tmp_path / "cache")
    rows = (ROWS, 1) if task == "STS16" else (20, 10)
    assert lost == 1 if task == "STS16" else refused in pairs["sentence1"].tail(20).to_list()
    assert compared.frame["items"].to_list() == [(rows[0] - 1) * rows[1]] * 2
    assert any("left out" in note for note in compared.notes)


def test_predictions_that_mteb_writes_are_compared_as_models(
    data: Path, tiny_encoder: Path, other_encoder: Path, tmp_path: Path
) -> None:
    import mteb

    from embedlab.tasks.mteb import MtebEncoder

    task = open_task("mteb:STS16", Source(folder=data)).task
    settings = Settings(cache=tmp_path / "cache", runs=tmp_path / "runs")
    for folder in (tiny_encoder, other_encoder):
        encoder = MtebEncoder(
            resolve(str(folder), tmp_path).members[0], settings, lambda _: lambda _done, _all: None
        )  # type: ignore[arg-type, return-value]
        place = tmp_path / folder.name
        mteb.evaluate(
            encoder, task, cache=mteb.ResultCache(place), prediction_folder=place, co2_tracker=False, show_progress_bar=False
        )  # fmt: skip
    names = [f"mteb:{tmp_path / folder.name}" for folder in (tiny_encoder, other_encoder)]
    brought = embedlab.compare(names, tasks=["mteb:STS16"], data=data).frame
    own = embedlab.compare(
        [str(tiny_encoder), str(other_encoder)], tasks=["mteb:STS16"], data=data
    ).frame
    for column in (
        "score",
        "difference",
    ):  # intervals are of all shared sentences, of pairs at hand of similar ones too
        np.testing.assert_allclose(
            brought[column].cast(float).to_numpy(), own[column].cast(float).to_numpy(), atol=0.005
        )
    stated = next((tmp_path / tiny_encoder.name).rglob("STS16.json"))
    assert brought["score"][0] == pytest.approx(
        100 * json.loads(stated.read_text())["scores"]["test"][0]["main_score"], abs=0.001
    )
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(stated, alone)
    assert embedlab.evaluate([f"mteb:{alone}"], tasks=["mteb:STS16"], data=data).frame["score"][
        0
    ] == pytest.approx(brought["score"][0], abs=0.001)


def test_the_catalogs_prompts_are_chosen_by_role_and_type_unless_one_was_typed(
    tmp_path: Path,
) -> None:
    def chosen(name: str, kind: str, role: str | None = None) -> str | None:
        return listed_prompt(listed_prompts(resolve(name, tmp_path).members[0]), kind, role)

    assert chosen("e5-base-v2", "Retrieval", "query") == "query: "
    assert chosen("e5-base-v2", "Retrieval", "document") == "passage: "
    assert chosen("e5-base-v2", "Classification") == chosen("e5-base-v2", "STS") == "query: "
    assert chosen("modernbert-embed-base", "Clustering") == "clustering: "
    assert (
        chosen("bge-small-en-v1.5", "STS")
        == chosen("bge-small-en-v1.5", "Retrieval", "document")
        == ""
    )
    assert str(chosen("bge-small-en-v1.5", "Retrieval", "query")).startswith(
        "Represent this sentence"
    )
    assert chosen('e5-base-v2?prompt="query: "', "Retrieval", "document") is None
    assert chosen("all-MiniLM-L6-v2", "STS") is None


def test_a_folders_prompt_for_a_type_of_tasks_is_used(
    data: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_encoder, folder := tmp_path / "prompted")
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"STS": "a man is ", "Classification": "x "}})
    )
    prompted = embedlab.evaluate([str(folder)], tasks=["mteb:STS16"], data=data)
    typed = embedlab.evaluate([f'{folder}?prompt="a man is "'], tasks=[str(data / "pairs.tsv")])
    plain = embedlab.evaluate([str(tiny_encoder)], tasks=["mteb:STS16"], data=data)
    wanted = typed.frame.filter(
        pl.col("setting") == "all", pl.col("metric") == "spearman", pl.col("by") == "dataset"
    )["score"][0]
    assert prompted.frame["score"][0] == pytest.approx(wanted, abs=0.005)
    assert abs(prompted.frame["score"][0] - plain.frame["score"][0]) > 0.005
    assert any("prompt 'STS' of its folder" in note for note in prompted.notes)


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
    tiny_encoder: Path, tmp_path: Path
) -> None:
    (tmp_path / "mteb" / "STS13").mkdir(parents=True)
    with pytest.raises(MissingError, match="no rows in"):
        embedlab.evaluate([str(tiny_encoder)], tasks=["mteb:STS13"], data=tmp_path)
    open_task.cache_clear()
    pl.DataFrame({"first": ["a"], "second": ["b"]}).write_parquet(
        tmp_path / "mteb" / "STS13" / "test.parquet"
    )
    with pytest.raises(MissingError, match="mteb cannot evaluate mteb:STS13"):
        embedlab.evaluate([str(tiny_encoder)], tasks=["mteb:STS13"], data=tmp_path)
    with pytest.raises(MissingError, match="the generated corpora have no rows of mteb's tasks"):
        embedlab.evaluate([str(tiny_encoder)], tasks=["mteb:STS16"], data="tiny")
    with pytest.raises(UsageError, match="'dice' has no vectors"):
        embedlab.evaluate(["dice"], tasks=["mteb:STS14"], data=_copied(tmp_path))


def _copied(folder: Path) -> Path:
    (folder / "mteb" / "STS14").mkdir()
    pl.DataFrame({"sentence1": ["a", "b"], "sentence2": ["c", "d"], "score": [1.0, 2.0]}).write_csv(
        folder / "mteb/STS14/test.csv"
    )
    return folder


def test_datasets_that_mteb_declares_as_training_data_are_marked() -> None:
    known = declared_tasks(
        ModelSpec(name="mini", kind="hub", location="sentence-transformers/all-MiniLM-L6-v2")
    )
    assert "NQ" in known
    assert not declared_tasks(
        ModelSpec(name="mini", kind="folder", location="sentence-transformers/all-MiniLM-L6-v2")
    )
    assert not declared_tasks(ModelSpec(name="mini", kind="hub", location="nobody/nothing"))
    declared = Overlap(sentences=0, shared_sentences=0, pairs=0, shared_pairs=0, declared=1)
    assert overlap_mark(declared) == "‡" == overlap_mark(total_overlap([declared, declared]))
    assert overlap_notes({"mteb:NQ": declared}) == (
        "‡ declared as its training data, not counted: mteb:NQ",
    )


def test_without_mteb_one_line_says_how_to_install_it(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_task.cache_clear()
    monkeypatch.setitem(sys.modules, "mteb", None)
    with pytest.raises(MissingError, match="mteb is not installed") as raised:
        embedlab.evaluate(["dice"], tasks=["mteb:STS16"], data=data)
    assert raised.value.hint == "pip install 'embedlab[mteb]'"


def test_nothing_imports_mteb_before_one_of_its_tasks_is_named() -> None:
    program = (
        "import sys; from embedlab.scoring.selection import select_tasks; "
        "select_tasks('all', [], None); print('mteb' in sys.modules)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout
        == "False\n"
    )
    assert SelectedTask(task="mteb", names=("mteb:STS16",)).stored_name() == "mteb/mteb:STS16"


@pytest.mark.parametrize("lacking", [0, 1])
def test_experiments_that_do_not_predict_every_row_have_no_items(lacking: int) -> None:
    part = Part(
        frame=pl.DataFrame({"sentence1": ["a", "b"]}),
        state=DatasetState(name="x", split="test", rows=2, expected_rows=2, origin="hub"),
    )
    one = OpenedTask(
        name="x",
        parts={("default", "test"): part},
        task=SimpleNamespace(metadata=SimpleNamespace(type="Classification")),
    )
    experiments = [[0, 1], [1, 0]]
    experiments[lacking] = [1]
    assert [*mteb_task._outcomes(one, None, {"default": {"test": experiments}})] == []  # type: ignore[arg-type]


def test_a_stated_figure_counts_for_the_split_that_it_is_of(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ModelSpec(name="mteb:results", kind="mteb", location="results")
    kind = replace(spec.shipped, score_rows=lambda *_: None)
    opened = [open_task(f"mteb:{name}", Source(folder=data)) for name in ("STS16", "SICK-R")]
    tasks = [one.task.metadata.name for one in opened]

    def brought(*splits: str) -> dict[str, float]:
        figures = [
            SimpleNamespace(
                task=task,
                split=split,
                figures={"main_score": 0.25 + place, "other": 9.0},
                origin="a file",
            )
            for place, (task, split) in enumerate(zip(tasks, splits, strict=True))
        ]
        stated = replace(kind, figures=lambda _: figures)
        monkeypatch.setattr(ModelSpec, "shipped", property(lambda _: stated))
        evaluation = mteb_task._brought(spec, opened).evaluation
        assert evaluation.notes == ("a file: a score that mteb stated, without its items",) * len(
            evaluation.scores
        )
        return {score.slice: score.value for score in evaluation.scores}

    assert list(brought("test", "test").values()) == [0.25, 1.25]
    assert list(brought("test", "validation").values()) == [0.25]
    with pytest.raises(UsageError, match="'mteb:results' has no scores of mteb:STS16, mteb:SICK-R"):
        brought("dev", "validation")
