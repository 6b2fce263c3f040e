"""Ranks against plain loops, and the task on models with vectors and without."""

from pathlib import Path

import numpy as np
import pytest

from embedlab.analysis.measures import MEASURES
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.settings import Settings
from embedlab.data.query_file import open_query_file
from embedlab.encoders.encoder import similarities, similarity_rows
from embedlab.encoders.lexical import DiceScorer
from embedlab.encoders.loading import load_encoder
from embedlab.evaluation.dev_score import dev_score
from embedlab.evaluation.member import evaluate_task
from embedlab.evaluation.selection import SelectedTask, select_tasks
from embedlab.models.catalog import resolve
from embedlab.tasks.retrieval import METRICS, QUERIES_AT_ONCE, ranks_by, relevant_ranks
from embedlab.tasks.task import Selection, task

PAIRS = [
    ("what barks", "a dog barks"),
    ("what barks", "the fox barks too"),
    ("what sings", "a bird sings"),
    ("a bird sings", "what sings"),
    ("who reads a book", "the girl reads"),
    ("who reads a book", "a bird sings"),
]


@pytest.fixture
def faq(tmp_path: Path) -> str:
    (tmp_path / "faq.csv").write_text("question,answer\n" + "".join(f"{first},{second}\n" for first, second in PAIRS))
    return str(tmp_path / "faq.csv")


def slow_ranks(similarity: np.ndarray, query: np.ndarray, relevant: np.ndarray, own: np.ndarray) -> list[int]:
    found = []
    for one, other in zip(query, relevant, strict=True):
        row = similarity[one]
        found.append(sum(1 for place, value in enumerate(row) if place != own[one] and value >= row[other]))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_ranks_are_those_of_the_slow_count_also_with_ties_and_in_blocks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    queries, candidates, items = 23, 9, 60
    similarity = rng.integers(0, 6, (queries, candidates)).astype(np.float32) / 5  # many ties
    own = np.where(rng.random(queries) < 0.3, rng.integers(0, candidates, queries), -1)
    query, relevant = rng.integers(0, queries, items), rng.integers(0, candidates, items)
    is_other = relevant != own[query]
    query, relevant = query[is_other], relevant[is_other]
    expected = slow_ranks(similarity, query, relevant, own)
    for size in (QUERIES_AT_ONCE, 7, 1):
        monkeypatch.setattr("embedlab.tasks.retrieval.QUERIES_AT_ONCE", size)
        assert relevant_ranks(lambda part: similarity[part].copy(), query, relevant, own).tolist() == expected


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "manhattan"])
def test_similarities_of_all_with_all_are_those_of_pairs(similarity: str) -> None:
    rng = np.random.default_rng(3)
    first, second = (rng.standard_normal((rows, 5)).astype(np.float32) for rows in (4, 6))
    first[1] = 0
    second[2] = first[0]
    found = similarity_rows(first, second, similarity)
    pairs = similarities(np.repeat(first, 6, axis=0), np.tile(second, (4, 1)), similarity)
    assert found.ravel() == pytest.approx(pairs, abs=1e-5)


def test_a_query_ranks_all_its_positives_among_the_texts_of_the_file_but_its_own(faq: str, tiny_encoder: Path) -> None:
    queries = open_query_file(faq)
    spec = resolve(f"{tiny_encoder}?pooling=mean", Path("runs")).members[0]
    from embedlab.encoders.device import machine

    encoder = load_encoder(spec, machine(Settings(device="cpu", threads=1)))
    for scorer in (DiceScorer(), encoder):
        query, ranks = ranks_by(scorer, queries)
        expected = []
        for anchor, positive in PAIRS:
            others = [text for text in queries.candidates if text != anchor]
            scores = dict(zip(others, scorer.score([anchor] * len(others), others).tolist(), strict=True))
            expected.append(sum(score >= scores[positive] - 1e-7 for score in scores.values()))
        assert ranks.tolist() == expected
        assert query.tolist() == [0, 0, 1, 2, 3, 3]


def test_an_evaluation_stores_ranks_and_four_measures(faq: str, tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path / "cache", runs=tmp_path / "runs", device="cpu")
    found = evaluate_task("retrieval", resolve("dice", tmp_path).members[0], settings, lambda _: lambda *_: None, [faq])
    assert [(score.metric, score.items) for score in found.evaluation.scores] == [(metric, 6) for metric in METRICS]
    (outcomes,) = found.outcomes
    gold, ranks = (outcomes.items[name].cast(float).to_numpy() for name in ("gold", "predicted"))
    assert [score.value for score in found.evaluation.scores] == [MEASURES[metric].value(gold, ranks) for metric in METRICS]
    assert outcomes.name == faq
    (items,) = task("retrieval").items(None, [faq])
    assert items.name == faq
    assert items.part.frame.rows() == PAIRS


def test_a_file_of_queries_belongs_to_the_task_and_its_dev_score_is_mrr(faq: str, tiny_encoder: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("sentence1,sentence2,score\na b,c d,1\n")
    assert select_tasks(None, [faq, str(tmp_path / "pairs.csv")], None) == [
        SelectedTask(task="retrieval", names=(faq,)),
        SelectedTask(task="sts", names=(str(tmp_path / "pairs.csv"),)),
    ]

    class Trained:
        encoder = DiceScorer()

    query, ranks = ranks_by(Trained.encoder, open_query_file(faq))
    assert dev_score(None, faq)(Trained()) == pytest.approx(100 * MEASURES["mrr"].value(query, ranks))


def test_without_a_file_of_queries_the_task_refuses(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file to retrieve from was named"):
        task("retrieval").texts(None, Selection())
    with pytest.raises(MissingError, match="holds no pairs of anchor and positive"):
        task("retrieval").texts(None, Selection(names=(str(tmp_path / "gone.csv"),)))


def test_a_file_of_scores_that_lacks_pairs_of_queries_and_candidates_is_refused(faq: str, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("sentence1,sentence2,mine\n" + "".join(f"{first},{second},0.5\n" for first, second in PAIRS))
    settings = Settings(cache=tmp_path / "cache", runs=tmp_path / "runs", device="cpu")
    spec = resolve(f"scores:{tmp_path / 'mine.csv'}", tmp_path).members[0]
    with pytest.raises(UsageError, match="has no score of 14 of 20 pairs of a query and a candidate"):
        evaluate_task("retrieval", spec, settings, lambda _: lambda *_: None, [faq])
