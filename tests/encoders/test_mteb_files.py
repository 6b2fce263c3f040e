"""Similarities and figures in mteb's files, as models of comparisons."""

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import spearmanr

from embedlab.core.errors import EmbedlabError
from embedlab.data.dataset import DatasetState, Part
from embedlab.encoders.kinds.mteb import score_rows
from tests.encoders.opening import spec_of

GOLD = [0.0, 5.0, 3.0, 1.0, 4.0]
REVISION = "4d8694f8f0e0100860b497b999b3dbed754a0513"


def part(revision: str | None = None) -> Part:
    """The rows of STS16, from a folder or as they are read from a revision."""
    frame = pl.DataFrame({"sentence1": list("abcde"), "sentence2": list("vwxyz"), "gold": GOLD})
    counts = {"name": "sts16", "split": "test", "rows": 5, "expected_rows": 5}
    if revision is None:
        state = DatasetState(**counts, origin="folder")
    else:
        state = DatasetState(**counts, origin="hub", revision=f"mteb/sts16-sts@{revision}")
    return Part(frame=frame.with_columns(source=None), state=state)


def predictions(folder: Path, values: Sequence[object], *, task: str = "STS16") -> Path:
    """A prediction file as mteb 2.26 writes it."""
    folder.mkdir(exist_ok=True)
    names = ("cosine_scores", "manhattan_distances", "euclidean_distances", "similarity_scores")
    path = folder / f"{task}_predictions.json"
    meta = {"model_name": "own/model", "revision": "8b3219a92973c328a8e22fadcfa821b5dc75636a"}
    own = {"test": dict.fromkeys(names, values)}
    path.write_text(json.dumps({"mteb_model_meta": meta, "default": own}))
    return path


def result(folder: Path, spearman: float, *, revision: str = REVISION) -> Path:
    """A result file as mteb 2.26 writes it."""
    folder.mkdir(exist_ok=True)
    own = dict.fromkeys(("cosine_spearman", "main_score"), round(spearman, 6))
    scores = {"test": [{**own, "hf_subset": "default", "languages": ["eng-Latn"]}]}
    head = {"dataset_revision": revision, "task_name": "STS16", "mteb_version": "2.26.24"}
    path = folder / "STS16.json"
    path.write_text(json.dumps({**head, "scores": scores, "evaluation_time": 1.0}))
    return path


def scored(path: Path, revision: str | None = None, dataset: str = "") -> list[float] | None:
    """The similarities of the part by `mteb:PATH`."""
    found = score_rows(spec_of(f"mteb:{path}{dataset}").location, part(revision))
    return found[0].tolist() if found is not None else None


def test_rows_are_aligned_where_the_stated_correlation_is_theirs(tmp_path: Path) -> None:
    values = [0.5, 0.75, 0.25, 0.0, 1.0]
    predictions(tmp_path, values)
    result(tmp_path, spearmanr(GOLD, values).statistic)
    assert scored(tmp_path) == values == scored(tmp_path / "STS16_predictions.json")
    result(tmp_path, 1.0)
    says = r"gives a Spearman of 60\.00 on sts16, where STS16\.json states 100\.00"
    with pytest.raises(EmbedlabError, match=says):
        scored(tmp_path)


def test_a_typed_dataset_states_whose_rows_they_are(tmp_path: Path) -> None:
    path = predictions(tmp_path, GOLD, task="Mine")
    assert scored(path, dataset="#sts16") == GOLD
    assert scored(path, dataset="#sts15") is None
    assert scored(path) is None


@pytest.mark.parametrize(
    ("values", "stated", "read", "words"),
    [
        (GOLD[:4], REVISION, None, r"has 4 similarities, sts16 test has 5 rows"),
        (GOLD, "f" * 40, REVISION, r"was made at revision ffffffff, sts16 was read at 4d8694f8"),
        (GOLD, None, REVISION, r"does not state the revision of its dataset"),
    ],
)
def test_what_is_not_known_to_be_the_same_rows_is_refused(
    tmp_path: Path, values: list[object], stated: str | None, read: str | None, words: str
) -> None:
    predictions(tmp_path, values)
    if stated:
        result(tmp_path, 1.0, revision=stated)
    with pytest.raises(EmbedlabError, match=words):
        scored(tmp_path, read)
