from random import Random

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from embedlab.analysis.overlap import dice_column
from embedlab.data.dataset import COLUMNS, NLI_LABELS
from embedlab.data.lexicon import AGENTS, CONCEPTS, ENCOUNTERS
from embedlab.data.sample import sample_rows, vocabulary
from embedlab.data.scenes import (
    Scene,
    negate,
    random_scene,
    reverse_quality,
    similarity,
    swap_roles,
    word_scene,
)
from embedlab.data.source import Source, dataset, dataset_names

WORLD = Source(sample=True)
STS = dataset_names("sts")
SCORED = [name for name in STS if "test" in dataset(name).splits]
KINDS = ("nli", "sts", "definitions", "paraphrases", "sentiment", "sentences", "triplets")
GENERATED = [name for kind in KINDS for name in dataset_names(kind)]


@pytest.mark.parametrize("name", GENERATED)
def test_every_dataset_has_a_sample_in_its_columns_and_the_vocabulary(name: str) -> None:
    known = set(vocabulary())
    for split in dataset(name).splits:
        part = WORLD.open(name, split)
        assert part.frame.schema == pl.Schema(COLUMNS[dataset(name).kind])
        assert part.state.sample
        assert not part.state.partial
        assert (
            part.state.rows
            == len(part.frame)
            >= (10 if dataset(name).kind == "definitions" and split in {"dev", "test"} else 100)
        )
        sentences = [
            column
            for column in part.frame.columns
            if column not in {"label", "source"} and part.frame[column].dtype == pl.String
        ]
        used = {
            word
            for column in sentences
            for sentence in part.frame[column]
            for word in sentence.split()
        }
        assert used <= known
        assert not part.frame.null_count().sum_horizontal().item()


def test_the_vocabulary_is_small_sorted_and_lower_case() -> None:
    words = vocabulary()
    assert len(words) <= 400
    assert list(words) == sorted(set(words))
    assert all(word == word.lower() and word.isalpha() for word in words)


def test_no_word_has_two_meanings() -> None:
    words = [word for concept in CONCEPTS for word in concept.words]
    assert len(words) == len(set(words))


def test_the_same_seed_gives_the_same_rows_and_another_seed_others() -> None:
    first = sample_rows(dataset("snli"), "train").frame
    assert first.equals(sample_rows(dataset("snli"), "train").frame)
    assert not first.equals(sample_rows(dataset("snli"), "train", seed=1).frame)
    assert not WORLD.open("snli", "dev").frame.equals(WORLD.open("snli", "test").frame)


def test_premises_have_several_hypotheses_of_every_label() -> None:
    frame = WORLD.open("snli").frame
    assert len(frame) > 5000
    assert set(frame["label"]) == set(NLI_LABELS)
    assert min(frame["label"].value_counts()["count"]) > 1500
    both = frame.group_by("premise").agg(pl.col("label").n_unique()).filter(pl.col("label") == 3)
    assert len(both) > 1000


def test_the_sample_world_has_thousands_of_sentences() -> None:
    assert sum(len(WORLD.open(name).frame) for name in ("snli", *STS)) > 9000


def test_sts_pairs_keep_the_real_sources_and_range() -> None:
    for name in SCORED:
        frame, (low, high) = WORLD.open(name).frame, dataset(name).gold_range
        expected = dataset(name).splits["test"].expected
        known = expected.classes if expected is not None else ()
        assert set(frame["source"]) == set(
            known or {name}
        )  # the set itself where its sources are not known
        assert min(frame.group_by("source").len()["len"]) >= 100
        assert frame["gold"].is_between(low, high).all()


def test_word_overlap_alone_does_not_solve_it() -> None:
    def dice_score(name: str) -> float:
        frame = WORLD.open(name).frame
        return float(
            spearmanr(
                frame["gold"],
                dice_column(frame["sentence1"].to_list(), frame["sentence2"].to_list()),
            ).statistic
        )

    assert 0.15 < np.mean([dice_score(name) for name in STS]) < 0.45


def test_the_world_has_traps_and_paraphrases() -> None:
    frame = pl.concat([WORLD.open(name).frame for name in STS if name != "sick-r"])
    overlap = pl.Series(dice_column(frame["sentence1"].to_list(), frame["sentence2"].to_list()))
    assert len(frame.filter((overlap > 0.7) & (frame["gold"] < 2.5))) > 50
    assert len(frame.filter((overlap < 0.5) & (frame["gold"] > 4))) > 50


def test_similarity_follows_the_meaning() -> None:
    rng = Random(0)
    for _ in range(200):
        scene, other = random_scene(rng), random_scene(rng)
        assert similarity(scene, scene) == 1
        assert similarity(scene, other) == pytest.approx(similarity(other, scene))
        assert 0 <= similarity(scene, other) <= 1
        assert similarity(scene, negate(scene, rng)) == pytest.approx(1 / 3)
        reversed_quality = reverse_quality(scene, rng)
        assert reversed_quality is None or similarity(scene, reversed_quality) < 0.9


def test_swapped_roles_keep_the_words() -> None:
    scene = Scene(agent=AGENTS["dog"], action=ENCOUNTERS["chasing"], target=AGENTS["cat"])
    swapped = swap_roles(scene, Random(0))
    assert swapped == Scene(agent=AGENTS["cat"], action=ENCOUNTERS["chasing"], target=AGENTS["dog"])
    assert similarity(scene, swapped) < 0.6


def test_a_scene_can_be_described_in_many_ways() -> None:
    rng = Random(0)
    scene = Scene(agent=AGENTS["dog"], action=ENCOUNTERS["chasing"], target=AGENTS["cat"])
    descriptions = {word_scene(scene, rng) for _ in range(200)}
    assert {"the dog is chasing the cat", "a feline is being pursued by a hound"} <= descriptions


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("trec", "train"),
        ("mr", "all"),
        ("mrpc", "test"),
        ("sick-e", "dev"),
        ("tree-depth", "train"),
    ],
)
def test_every_class_of_a_transfer_or_probing_task_is_drawn(name: str, split: str) -> None:
    part = WORLD.open(name, split)
    expected = next(
        (
            one.expected.classes
            for one in dataset(name).splits.values()
            if one.expected and one.expected.classes
        ),
        {"A", "B", "C"},
    )
    assert set(part.frame["label"]) == set(expected)
    assert part.state.sample
