"""`--data tiny`: every dataset in its columns, the same each time, and worth learning from."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from embedlab.analysis.overlap import dice_of_rows
from embedlab.core.errors import UsageError
from embedlab.core.paths import TINY_FOLDER, data_folder, data_name
from embedlab.data.dataset import COLUMNS
from embedlab.data.source import Source, dataset, dataset_names
from embedlab.data.tiny import vocabulary

TINY = Source(folder=TINY_FOLDER)


@pytest.mark.parametrize("name", dataset_names())
def test_every_dataset_is_generated_in_its_columns_and_the_vocabulary(name: str) -> None:
    chosen, known = dataset(name), set(vocabulary())
    for split in chosen.splits:
        part = TINY.open(name, split)
        assert part.frame.schema == pl.Schema(COLUMNS[chosen.kind])
        assert (part.state.origin, part.state.partial) == ("tiny", False)
        assert part.state.rows == len(part.frame) >= 10
        assert not part.frame.null_count().sum_horizontal().item()
        texts = part.frame.select(pl.col(pl.String).exclude("label", "source"))
        used = {word for row in texts.iter_rows() for text in row for word in text.split()}
        assert used <= known


def test_pairs_keep_the_real_sources_and_range_and_word_overlap_does_not_solve_them() -> None:
    correlations = []
    for name in (name for name in dataset_names() if dataset(name).kind == "sts"):
        frame, (low, high) = TINY.open(name).frame, dataset(name).gold_range
        assert frame["gold"].is_between(low, high).all()
        assert min(frame.group_by("source").len()["len"]) >= 100
        dice = dice_of_rows(frame["sentence1"].to_list(), frame["sentence2"].to_list())
        correlations.append(spearmanr(frame["gold"], dice).statistic)
    assert 0.2 < np.mean(correlations) < 0.8


def test_the_name_means_the_generated_corpora_unless_a_folder_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert data_folder(Path("tiny")) == TINY_FOLDER
    assert data_name(TINY_FOLDER) == "tiny"
    (tmp_path / "tiny").mkdir()
    with pytest.raises(UsageError, match="data 'tiny' is the set inside embedlab, and also a fold"):
        data_folder(Path("tiny"))
