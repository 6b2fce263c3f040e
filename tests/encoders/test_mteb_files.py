"""Similarities and figures in mteb's files, as models of comparisons."""

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import spearmanr

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.mteb_files import read_figures
from embedlab.encoders.kinds.mteb import score_rows
from embedlab.models.catalog import resolve

GOLD = [0.0, 5.0, 3.0, 1.0, 4.0]
REVISION = "4d8694f8f0e0100860b497b999b3dbed754a0513"
PART = Part(
    frame=pl.DataFrame(
        {"sentence1": list("abcde"), "sentence2": list("vwxyz"), "gold": GOLD, "source": [None] * 5}
    ),
    state=DatasetState(name="sts16", split="test", rows=5, expected_rows=5, origin="folder"),
)


def predictions(
    folder: Path, values: Sequence[object], *, task: str = "STS16", **other: object
) -> Path:
    """A prediction file as mteb 2.26 writes it."""
    folder.mkdir(exist_ok=True)
    own = {
        "cosine_scores": values,
        "manhattan_distances": values,
        "euclidean_distances": values,
        "similarity_scores": values,
    }
    path = folder / f"{task}_predictions.json"
    meta = {"model_name": "own/model", "revision": "8b3219a92973c328a8e22fadcfa821b5dc75636a"}
    path.write_text(json.dumps({"mteb_model_meta": meta, "default": {"test": own}, **other}))
    return path


def result(folder: Path, spearman: float, *, task: str = "STS16", revision: str = REVISION) -> Path:
    """A result file as mteb 2.26 writes it."""
    folder.mkdir(exist_ok=True)
    own = {
        "cosine_spearman": round(spearman, 6),
        "cosine_pearson": 0.5,
        "main_score": round(spearman, 6),
    }
    scores = {"test": [{**own, "hf_subset": "default", "languages": ["eng-Latn"]}]}
    path = folder / f"{task}.json"
    path.write_text(
        json.dumps(
            {
                "dataset_revision": revision,
                "task_name": task,
                "mteb_version": "2.26.24",
                "scores": scores,
                "evaluation_time": 1.0,
            }
        )
    )
    return path


def scored(path: Path, part: Part = PART, dataset: str = "") -> list[float] | None:
    """The similarities of PART by `mteb:PATH`."""
    spec = resolve(f"mteb:{path}{dataset}", Path("none")).members[0]
    found = score_rows(spec.location, part)
    return found.scores.tolist() if found is not None else None


def at(revision: str) -> Part:
    """PART as it is read from a revision."""
    return Part(
        frame=PART.frame,
        state=DatasetState(
            name="sts16",
            split="test",
            rows=5,
            expected_rows=5,
            origin="hub",
            revision=f"mteb/sts16-sts@{revision}",
        ),
    )


def test_rows_are_aligned_where_the_stated_correlation_is_theirs(tmp_path: Path) -> None:
    values = [0.5, 0.75, 0.25, 0.0, 1.0]
    predictions(tmp_path, values)
    result(tmp_path, spearmanr(GOLD, values).statistic)
    assert scored(tmp_path) == values == scored(tmp_path / "STS16_predictions.json")


def test_rows_in_another_order_are_refused_by_the_stated_correlation(tmp_path: Path) -> None:
    predictions(tmp_path, [0.5, 0.75, 0.25, 0.0, 1.0])
    result(tmp_path, 1.0)
    with pytest.raises(
        EmbedlabError,
        match=r"gives a Spearman of 60\.00 on sts16, where STS16\.json states 100\.00",
    ):
        scored(tmp_path)


def test_a_typed_dataset_states_whose_rows_they_are(tmp_path: Path) -> None:
    path = predictions(tmp_path, GOLD, task="Mine")
    assert scored(path, dataset="#sts16") == GOLD
    assert scored(path, dataset="#sts15") is None
    assert scored(path) is None


@pytest.mark.parametrize(
    ("values", "revision", "part", "words"),
    [
        (GOLD[:4], REVISION, PART, r"has 4 similarities, sts16 test has 5 rows"),
        (
            GOLD,
            "f" * 40,
            at(REVISION),
            r"was made at revision ffffffff, sts16 was read at 4d8694f8",
        ),
        (GOLD, None, at(REVISION), r"does not state the revision of its dataset"),
        ([*GOLD[:4], None], REVISION, PART, r"row 4 of 'cosine_scores' is None, not a number"),
    ],
)
def test_what_is_not_known_to_be_the_same_rows_is_refused(
    tmp_path: Path, values: list[object], revision: str | None, part: Part, words: str
) -> None:
    predictions(tmp_path, values)
    if revision:
        result(tmp_path, 1.0, revision=revision)
    with pytest.raises(EmbedlabError, match=words):
        scored(tmp_path, part)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[1]", "not a JSON object"),
        ("{", "not readable as JSON"),
        ("{}", "no key 'mteb_model_meta'"),
        (
            '{"mteb_model_meta": {}, "default": {"test": [[0, 1], [1, 1]]}}',
            "holds predictions of another kind of task, not similarities",
        ),
        ('{"mteb_model_meta": {}, "de": {}, "fr": {}}', "several subsets, de, fr"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "STS16_predictions.json").write_text(content)
    with pytest.raises(EmbedlabError, match=words) as raised:
        scored(tmp_path)
    assert "\n" not in raised.value.message


@pytest.mark.parametrize("value", [float("nan"), None, "a", [1.0], True, 1e39])
@pytest.mark.parametrize("row", [0, 3])
def test_a_similarity_that_is_not_a_number_is_refused_wherever_it_is(
    tmp_path: Path, value: object, row: int
) -> None:
    path = predictions(tmp_path, [*GOLD[:row], value, *GOLD[row + 1 :]])
    with pytest.raises(EmbedlabError, match=f"row {row} of 'cosine_scores' is "):
        score_rows(f"{path}#sts16", PART)


def test_a_folder_of_two_models_is_refused(tmp_path: Path) -> None:
    for model in ("a", "b"):
        predictions(tmp_path / model, GOLD)
    with pytest.raises(UsageError, match="are predictions for the same task"):
        scored(tmp_path)


@pytest.mark.parametrize("value", [10**400, -(10**400), 1e308])
def test_a_number_beyond_all_floats_is_refused(tmp_path: Path, value: float) -> None:
    path = result(tmp_path / "mine", 0.5)
    path.write_text(path.read_text().replace('"main_score": 0.5', f'"main_score": {value}'))
    with pytest.raises(MissingError, match="'main_score' is"):
        read_figures(path)
    with pytest.raises(MissingError, match="not a number"):
        scored(predictions(tmp_path / "other", [0.1, 0.2, value, 0.4, 0.5]))
