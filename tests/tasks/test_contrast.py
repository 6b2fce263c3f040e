"""Contrasts against plain numpy loops: on small triples with ties, and on the human triples where
they are.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from embedlab.analysis.measures import MEASURES
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.session import unseen
from embedlab.data.derived import open_contrasts
from embedlab.data.source import Source
from embedlab.encoders.loading import DiceScorer
from embedlab.outcomes.properties.standard import phenomenon_of
from embedlab.scoring.results import evaluate_task
from embedlab.tasks.contrast import CLOSER, MARGIN, margins_by
from embedlab.tasks.task import task
from tests.tasks.evaluated import DICE, SETTINGS, evaluated, shares_alike

TRIPLES = [
    ("A dog runs fast", "A dog runs", "A dog does not run fast"),
    ("A dog runs fast", "An animal moves", "A dog runs slowly"),
    ("Two men sit", "Men sit", "Three men sit"),
    ("A cat sleeps", "An animal rests", "Birds sing"),
    ("She eats", "She eats a bit", "She eats no bit"),
]
HUMAN = ("contrast-sick", "contrast-counterfactual", "contrast-snli")  # written by people


def slow(
    scores: dict[tuple[str, str], float], triples: list[tuple[str, ...]]
) -> tuple[float, float]:
    """The share of anchors with a closer entailed sentence, ties half, and the margin, each
    averaged within anchors first.
    """
    spread = np.std([scores[a, one] for a, *others in triples for one in others])
    right, apart = defaultdict(list), defaultdict(list)
    for a, entailed, contradicted in triples:
        gap = scores[a, entailed] - scores[a, contradicted]
        right[a].append(1 if gap > 0 else 0.5 if gap == 0 else 0)
        apart[a].append(gap / spread)
    closer, margin = (
        np.mean([np.mean(own) for own in by_anchor.values()]) for by_anchor in (right, apart)
    )
    return closer, margin


def test_an_evaluation_has_each_set_its_phenomena_and_its_baselines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [("anchor", "entailed", "contradicted"), *TRIPLES]
    Path("mine.csv").write_text("\n".join(map(",".join, rows)))
    result = evaluate_task("contrast", DICE, SETTINGS, unseen, ["mine.csv"])
    scores, pairs = result.evaluation.scores, [(a, x) for a, *both in TRIPLES for x in both]
    by_words = {pair: float(DiceScorer().score([pair[0]], [pair[1]])[0]) for pair in pairs}
    by_length = {(a, x): -abs(len(x.split()) - len(a.split())) for a, x in pairs}
    numbers = {score.metric: score.value for score in scores if score.by == "dataset"}
    closer, margin = slow(by_words, TRIPLES)
    assert numbers == pytest.approx({CLOSER: closer, MARGIN: margin}, abs=1e-6)
    kinds = {"mine.csv negation": 2, "mine.csv number": 1, "mine.csv other words": 2}
    assert {score.slice: score.items for score in scores if score.by == "phenomenon"} == kinds
    note = (
        f"mine.csv: 5 triples; the entailed one is closer by word overlap in {100 * closer:.2f}%, "
        f"by length in {100 * slow(by_length, TRIPLES)[0]:.2f}%, by chance in 50%"
    )
    assert note in result.evaluation.notes
    assert {score.scale for score in scores if score.metric == MARGIN} == {1}
    (outcomes,) = result.outcomes
    assert outcomes.items["gold"].n_unique() == outcomes.items["sentence1"].n_unique() == 4
    assert outcomes.items.select("sentence2", "contradicted").null_count().row(0) == (0, 0)
    assert shares_alike(result, "men sit", "birds sing")


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
    scores = DiceScorer().score([a for a, _ in pairs], [x for _, x in pairs]).tolist()
    closer, margin = slow(dict(zip(pairs, scores, strict=True)), rows)
    found = margins_by(DiceScorer(), part)
    anchors = np.unique(part.frame["sentence1"].to_numpy(), return_inverse=True)[1]
    assert MEASURES[CLOSER].value(anchors, found) == pytest.approx(closer, abs=1e-9)
    assert MEASURES[MARGIN].value(anchors, found) == pytest.approx(margin, abs=1e-5)
    kinds = phenomenon_of(part.frame["sentence2"], part.frame["contradicted"])
    assert kinds.filter(kinds == "minimal edit").len() == minimal


def test_the_average_of_a_whole_task_is_over_its_three_sets_and_their_triples() -> None:
    found = evaluated("contrast", DICE)
    assert (found.averages, found.missing) == ({"average of three": HUMAN}, ())
    for metric in (CLOSER, MARGIN):
        scores = [one for one in found.evaluation.scores if one.metric == metric]
        own = [one for one in scores if one.by == "dataset" and one.slice in HUMAN]
        (average,) = (one for one in scores if one.by == "average")
        assert average.value == pytest.approx(sum(one.value for one in own) / 3)
        assert (average.items, average.split) == (sum(one.items for one in own), "test")
    for part in found.tested:
        assert part.frame.columns[:3] == ["anchor", "positive", "negative"]  # as in training text
    alone = evaluated("contrast", DICE, "contrast-sick")
    assert alone.averages == {}
    (items,) = task("contrast").items(Source(folder=TINY_FOLDER), ["contrast-sick"])
    assert len(items.rows) == alone.outcomes[0].items.height
