"""Contrasts against plain numpy loops: on small triples with ties, and on the human triples where
they are.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.analysis.measures import MEASURES, is_closer, margins
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.derived import open_contrasts
from embedlab.data.source import Source
from embedlab.encoders.loading import DiceScorer
from embedlab.models.catalog import resolve
from embedlab.runs.outcomes import stored_outcomes
from embedlab.scoring.results import evaluate_task
from embedlab.tasks.contrast import CLOSER, MARGIN, baseline_note, margins_by
from embedlab.tasks.task import Selection, task
from tests.cli.conftest import embedlab

__all__ = ["embedlab"]  # the fixture

TRIPLES = [
    ("A dog runs fast", "A dog runs", "A dog does not run fast"),
    ("A dog runs fast", "An animal moves", "A dog runs slowly"),
    ("Two men sit", "Men sit", "Three men sit"),
    ("A cat sleeps", "An animal rests", "A bird sings"),
    ("She eats", "She eats a bit", "She eats no bit"),
]
HUMAN = ("contrast-sick", "contrast-counterfactual", "contrast-snli")  # written by people


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text(
        "anchor,entailed,contradicted\n" + "".join(f"{','.join(row)}\n" for row in TRIPLES)
    )
    return "mine.csv"


def slow(
    scores: dict[tuple[str, str], float], triples: list[tuple[str, ...]]
) -> tuple[float, float]:
    """The share of anchors with a closer entailed sentence, ties half, and the margin, each
    averaged within anchors first.
    """
    every = [scores[a, one] for a, *others in triples for one in others]
    mean = sum(every) / len(every)
    spread = (sum((one - mean) ** 2 for one in every) / len(every)) ** 0.5
    right, apart = defaultdict(list), defaultdict(list)
    for a, entailed, contradicted in triples:
        gap = scores[a, entailed] - scores[a, contradicted]
        right[a].append(1 if gap > 0 else 0.5 if gap == 0 else 0)
        apart[a].append(gap / spread)
    closer, margin = (
        sum(sum(own) / len(own) for own in by_anchor.values()) / len(by_anchor)
        for by_anchor in (right, apart)
    )
    return closer, margin


def test_an_anchor_counts_once_and_a_tie_half() -> None:
    first, second = np.array([0.9, 0.2, 0.5, 0.4]), np.array([0.1, 0.6, 0.5, 0.2])
    found = margins(first, second)
    spread = np.std([*first, *second])
    assert np.allclose(found, (first - second) / spread)
    assert is_closer(found).tolist() == [1, 0, 0.5, 1]
    anchors = np.array([0, 0, 0, 1])
    assert MEASURES[CLOSER].value(anchors, found) == pytest.approx((0.5 + 1) / 2)
    assert MEASURES[MARGIN].value(anchors, found) == pytest.approx(
        ((0.8 - 0.4 + 0) / 3 / spread + 0.2 / spread) / 2
    )
    assert margins([0.3, 0.3], [0.3, 0.3]).tolist() == [0, 0]


@pytest.mark.parametrize("name", [CLOSER, MARGIN])
def test_the_influence_of_an_anchor_is_what_the_mean_loses_without_it(name: str) -> None:
    rng = np.random.default_rng(0)
    anchors, values = rng.integers(0, 9, 40), rng.normal(size=40)
    measure = MEASURES[name]
    influence = measure.influences(anchors, [values])[0]
    assert influence.sum() == pytest.approx(0, abs=1e-9)
    whole, count = measure.value(anchors, values), len(set(anchors))
    for anchor in set(anchors):
        without = measure.value(anchors[anchors != anchor], values[anchors != anchor])
        assert influence[anchors == anchor].sum() / 40 == pytest.approx(
            (count - 1) / count * (whole - without)
        )


def test_an_evaluation_has_each_set_its_phenomena_and_its_baselines(
    file: str, tmp_path: Path
) -> None:
    settings = Settings(cache=tmp_path / "cache", runs=tmp_path / "runs", device="cpu")
    spec = resolve("dice", tmp_path / "runs").members[0]
    found = evaluate_task("contrast", spec, settings, lambda _: lambda *_: None, [file]).evaluation
    scores = dict(
        zip(
            [(a, x) for a, *both in TRIPLES for x in both],
            [float(DiceScorer().score([a], [x])[0]) for a, *both in TRIPLES for x in both],
            strict=True,
        )
    )
    numbers = {(score.slice, score.metric): score.value for score in found.scores}
    closer, margin = slow(scores, TRIPLES)
    assert numbers[file, CLOSER] == pytest.approx(closer)
    assert numbers[file, MARGIN] == pytest.approx(margin, abs=1e-6)
    kinds = {"mine.csv negation": 2, "mine.csv number": 1, "mine.csv other words": 2}
    assert {score.slice: score.items for score in found.scores if score.by == "phenomenon"} == kinds
    (note,) = (note for note in found.notes if "by word overlap" in note)
    assert f"by word overlap in {100 * closer:.2f}%, by length " in note
    assert {score.scale for score in found.scores if score.metric == MARGIN} == {1}


@pytest.mark.parametrize(
    ("name", "triples", "minimal"),
    [("contrast-sick", 1885, 73), ("contrast-counterfactual", 4638, 2476)],
)
def test_human_triples_have_the_numbers_of_a_plain_loop(
    shared_data: Path, name: str, triples: int, minimal: int
) -> None:
    part = open_contrasts(Source(folder=shared_data), name)
    rows = part.frame.rows()
    assert len(rows) == triples
    pairs = list(dict.fromkeys((a, x) for a, *both in rows for x in both))
    scores = dict(
        zip(
            pairs,
            DiceScorer().score([a for a, _ in pairs], [x for _, x in pairs]).tolist(),
            strict=True,
        )
    )
    found, anchors = (
        margins_by(DiceScorer(), part),
        np.unique(part.frame["sentence1"].to_numpy(), return_inverse=True)[1],
    )
    closer, margin = slow(scores, rows)
    assert MEASURES[CLOSER].value(anchors, found) == pytest.approx(closer, abs=1e-9)
    assert MEASURES[MARGIN].value(anchors, found) == pytest.approx(margin, abs=1e-5)
    from embedlab.outcomes.properties.standard import phenomenon_of

    kinds = phenomenon_of(part.frame["sentence2"], part.frame["contradicted"])
    assert kinds.filter(kinds == "minimal edit").len() == minimal


def test_outcomes_hold_the_anchor_and_the_entailed_sentence(file: str, tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path / "cache", runs=tmp_path / "runs", device="cpu")
    spec = resolve("dice", tmp_path / "runs").members[0]
    evaluate_task("contrast", spec, settings, lambda _: lambda *_: None, [file]).save(
        tmp_path / "out"
    )
    (stored,) = stored_outcomes(tmp_path / "out", "contrast")
    assert stored.items["sentence1"].n_unique() == 4
    assert stored.items.select("sentence2", "contradicted").null_count().row(0) == (0, 0)
    assert stored.items["gold"].n_unique() == 4
    assert pl.Series(stored.items["predicted"]).cast(pl.Float64).is_finite().all()


def test_words_of_the_anchor_and_lengths_are_counted_as_baselines(file: str) -> None:
    part = open_contrasts(Source(offline=True), file)
    by_length = {
        (a, x): -abs(len(x.split()) - len(a.split())) for a, *both in TRIPLES for x in both
    }
    shares = [
        100
        * slow({(a, x): float(DiceScorer().score([a], [x])[0]) for a, x in by_length}, TRIPLES)[0],
        100 * slow({pair: float(value) for pair, value in by_length.items()}, TRIPLES)[0],
    ]
    assert baseline_note(part) == (
        f"{file}: 5 triples; the entailed one is closer by word overlap in {shares[0]:.2f}%, by "
        f"length in {shares[1]:.2f}%, by chance in 50%"
    )
    assert shares[0] != shares[1]


def test_the_average_of_a_whole_task_is_over_its_three_sets_and_their_triples(
    tmp_path: Path,
) -> None:
    settings = Settings(
        data=TINY_FOLDER, cache=tmp_path / "cache", runs=tmp_path / "runs", device="cpu"
    )
    spec = resolve("dice", tmp_path / "runs").members[0]
    found = task("contrast").evaluate(spec, settings, lambda _: lambda *_: None, Selection())
    assert found.averages == {"average of three": HUMAN}
    assert found.missing == ()
    sets = [
        score for score in found.evaluation.scores if score.by == "dataset" and score.slice in HUMAN
    ]
    averages = {
        score.metric: (score.value, score.items, score.split)
        for score in found.evaluation.scores
        if score.by == "average"
    }
    for metric in (CLOSER, MARGIN):
        own = [score for score in sets if score.metric == metric]
        assert averages[metric] == (
            pytest.approx(sum(one.value for one in own) / 3),
            sum(one.items for one in own),
            "test",
        )
    assert [part.frame.columns[:3] for part in found.tested] == [
        ["anchor", "positive", "negative"]
    ] * 4  # as training text names them
    one = task("contrast").evaluate(
        spec, settings, lambda _: lambda *_: None, Selection(names=("contrast-sick",))
    )
    assert (
        one.averages,
        [score.by for score in one.evaluation.scores if score.by == "average"],
    ) == ({}, [])
