"""What models cost beside what they score: which vectors are stored in less, the table, the figure,
and one process that measures.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from embedlab.api import NotebookSession
from embedlab.commands import costs
from embedlab.commands.compare import CompareOptions, compare
from embedlab.commands.costs import variants_of
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.encoders.cost_worker import MeasuredCost
from embedlab.models.catalog import resolve
from embedlab.reports.report import Report

TOOK = {"bert": (4.0, 3.0, 5.0), "dice": (0.5, 0.5, 0.5)}


def measured(name: str, sentences: Sequence[str], settings: Settings) -> MeasuredCost:
    assert len(set(sentences)) == len(sentences) > 50
    kind = "dice" if name == "dice" else "bert"
    return MeasuredCost(
        milliseconds=TOOK[kind],
        sentences=64,
        memory_mib=300.4,
        scores_pairs=kind == "dice",
        device="cpu",
        threads=2,
        processor="Chip",
    )


@pytest.fixture(scope="module")
def report(small_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    place = tmp_path_factory.mktemp("costs")
    session = NotebookSession(
        settings=Settings(
            data=TINY_FOLDER, cache=place / "cache", runs=place / "runs", device="cpu", threads=1
        )
    )
    options = CompareOptions(
        models=(str(small_bert), "dice", "bm25"), tasks=("retrieval-captions",), cost=True
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "_measure", measured)
        return compare(options, session)


def test_each_model_has_a_row_and_one_for_each_way_to_store_less(
    report: Report, small_bert: Path
) -> None:
    found = {row.name: row for row in report.costs.rows}
    bert = str(small_bert)
    assert [(name, row.dims, row.bits, row.bytes) for name, row in found.items()] == [
        (bert, 32, 32, 128),
        (f"{bert}@dim=16", 16, 32, 64),
        (f"{bert}@bits=8", 32, 8, 32),
        (f"{bert}@bits=1", 32, 1, 4),
        ("dice", None, 32, None),
        ("bm25", None, 32, None),
    ]
    key = report.costs.slices[0].key
    whole = found[bert].scores[key].value
    assert [one.metric for one in report.costs.slices] == ["ndcg@10"]
    for name in list(found)[1:4]:
        loss = found[name].losses[key]
        assert loss.delta == pytest.approx(found[name].scores[key].value - whole)
        assert loss.low <= loss.delta <= loss.high
        assert found[name].milliseconds == TOOK["bert"]
    assert found[bert].losses == {}
    assert found["bm25"].milliseconds == ()
    assert whole == report.compared.slices[0].scores[bert].value


def test_its_figure_has_the_front_of_each_cost(report: Report) -> None:
    sizes, times = report.plot("costs"), report.figure_subject
    assert "Filled, with a line through them" in sizes.caption
    from embedlab.reports.figures import figure_kind

    found, _ = figure_kind("compare", "costs").draw(**times)
    assert [one.along for one in found] == ["bytes a vector", "milliseconds a sentence"]
    (bert,) = found[0].series
    points = sorted(bert.points, key=lambda point: point.place)
    front, highest = [], float("-inf")
    for point in points:
        front.append(point.value > highest)
        highest = max(highest, point.value)
    assert [point.is_best for point in points] == front


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", ["@dim=16", "@bits=8", "@bits=1"]),  # a quarter of 32 numbers would be fewer than 16
        ("?pooling=cls", ["?pooling=cls@dim=16", "?pooling=cls@bits=8", "?pooling=cls@bits=1"]),
        ("?dim=20", ["?dim=20@bits=8", "?dim=20@bits=1"]),
        ("?bits=8", []),
        ("?whiten=fit", []),
    ],
)
def test_what_was_typed_is_not_replaced(
    options: str, expected: list[str], small_bert: Path, tmp_path: Path
) -> None:
    name = f"{small_bert}{options}"
    assert list(variants_of(name, resolve(name, tmp_path))) == [
        f"{small_bert}{one}" for one in expected
    ]
