"""A brought file that scores some pairs of a dataset alone: no number there, the other models keep
theirs, `--common` on request.
"""

import re
from pathlib import Path

import polars as pl
import pytest
from scipy import stats

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.source import Source, open_parts
from tests.cli.conftest import Embedlab
from tests.conftest import thin_out

SETS = ("sts12", "sts13", "sts16")
BROUGHT = "scores:part.csv"
TASKS = [word for name in SETS for word in ("--task", name)]


@pytest.fixture
def part(embedlab: Embedlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """Scores of 12 pairs of sts12, of all pairs of sts13 and of none of sts16; returns all pairs
    with their scores, null for none.
    """
    thin_out(monkeypatch, 20)
    parts, _ = open_parts(Source.from_settings(Settings(data=TINY_FOLDER)), SETS)
    columns = ("sentence1", "sentence2", "gold")
    frames = [one.frame.select(*columns, dataset=pl.lit(one.state.name)) for one in parts]
    first = pl.int_range(pl.len()).over("dataset") < 12
    has_score = ((pl.col("dataset") == "sts12") & first) | (pl.col("dataset") == "sts13")
    length = pl.concat_str("sentence1", "sentence2").str.len_chars()  # the same for the same pair
    table = pl.concat(frames).with_columns(cosine=pl.when(has_score).then(length % 11))
    assert table.filter(dataset="sts12").height > 12
    scored = table.drop_nulls("cosine").select("sentence1", "sentence2", "cosine")
    scored.write_csv(tmp_path / "part.csv")
    return table


def scores(embedlab: Embedlab, *words: str) -> dict[tuple[str, str], float | None]:
    rows = embedlab(*words, *TASKS, "--data", "tiny", "--json").rows
    return {
        (row["slice"], row["model"]): row["score"]
        for row in rows
        if row["by"] != "average" and row["setting"] == "all"
    }


def test_common_pairs_are_those_of_an_independent_script(
    embedlab: Embedlab, part: pl.DataFrame
) -> None:
    found = scores(embedlab, "compare", BROUGHT, "dice", "--common")
    for name in SETS:
        pairs = part.filter(dataset=name)
        own = pairs.drop_nulls("cosine") if name == "sts12" else pairs
        words = [
            [set(re.findall(r"\w+", text.lower())) for text in own[side]]
            for side in ("sentence1", "sentence2")
        ]
        dice = [2 * len(a & b) / (len(a) + len(b)) for a, b in zip(*words, strict=True)]
        assert found[name, "dice"] == pytest.approx(
            100 * stats.spearmanr(own["gold"], dice).statistic
        )
        if name != "sts16":
            assert found[name, BROUGHT] == pytest.approx(
                100 * stats.spearmanr(own["gold"], own["cosine"]).statistic
            )
    assert found["sts16", BROUGHT] is None


@pytest.mark.usefixtures("part")
def test_numbers_on_common_pairs_are_not_stored(embedlab: Embedlab, tmp_path: Path) -> None:
    def stored() -> list[Path]:
        return sorted(tmp_path.rglob("sts.json"))

    assert embedlab("evaluate", "dice", BROUGHT, "--data", "tiny", "--common").code == 0
    assert stored() == []
