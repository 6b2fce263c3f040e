from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from embedlab.data.dataset import Part
from embedlab.data.marks import Overlap, total_overlap
from embedlab.data.overlaps import KnownText, find_overlaps
from embedlab.data.source import Source
from embedlab.data.words import normalise
from tests.stored_scores import part_of


def part(name: str, **columns: list[str]) -> Part:
    return part_of(name, pl.DataFrame(columns))


def overlap(training: Part, evaluation: Part) -> Overlap:
    return KnownText.of([training.frame]).overlap(evaluation.frame)


SIDES = ["sentence1", "sentence2"]
NLI = part(
    "nli", premise=["A dog runs.", "A cat", "x"], hypothesis=["a dog  RUNS", "it sleeps", "y"]
)
STS = part("sts", sentence1=["It sleeps!", "new", "a dog runs"], sentence2=["a cat", "x", "other"])


WORDLESS = part("known", sentence1=["...", "!!!", "a cat"], sentence2=["a cat", "?", "it sleeps"])
ACCENTED = part("k", sentence1=["Un caf\u00e9."], sentence2=["old"])
TRIPLETS = part("triplets", anchor=["a cat"], positive=["it sleeps"], negative=["new"])
SINGLE = part("plain", sentence=["a cat", "z"])


@pytest.mark.parametrize(
    ("known", "tested", "counts"),
    [
        (NLI, STS, (6, 4, 3, 1)),  # by their words, and pairs in either order
        (SINGLE, STS, (6, 1, 3, 0)),  # single sentences have no pairs
        (STS, SINGLE, (2, 1, 0, 0)),
        (WORDLESS, part("e", sentence1=["?!", "A cat."], sentence2=["a cat", ""]), (1, 1, 2, 0)),
        (TRIPLETS, STS, (6, 3, 3, 1)),  # a triplet holds two pairs
        (TRIPLETS, part("e", sentence1=["new"], sentence2=["A cat"]), (2, 2, 1, 1)),
        (TRIPLETS, part("e", sentence1=["new"], sentence2=["it sleeps"]), (2, 2, 1, 0)),
        (ACCENTED, part("e", sentence1=["un cafe\u0301"], sentence2=["new"]), (2, 1, 1, 0)),
    ],
)
def test_sentences_and_pairs_are_shared_by_their_words(
    known: Part, tested: Part, counts: tuple[int, ...]
) -> None:
    names = ("sentences", "shared_sentences", "pairs", "shared_pairs")
    found = overlap(known, tested)
    assert found == Overlap(**dict(zip(names, counts, strict=True)))
    assert bool(found)
    assert total_overlap([found, found]) == found + found
    assert (found + found).sentences == 2 * counts[0]


def test_each_pair_alone_is_counted_as_a_set_of_one() -> None:
    tested = pl.concat(
        [STS.frame, pl.DataFrame({"sentence1": ["X", "new"], "sentence2": ["x", "New"]})]
    )
    alone = [
        part("one", sentence1=[first], sentence2=[second]) for first, second in tested.iter_rows()
    ]
    assert KnownText.of([NLI.frame]).row_overlaps(tested) == [overlap(NLI, one) for one in alone]
    assert not any(KnownText.of([]).row_overlaps(tested))
    contrasts = tested.with_columns(negative=pl.col("sentence2").reverse())
    thirds = [
        part("one", anchor=[first], positive=[second], negative=[third])
        for first, second, third in contrasts.iter_rows()
    ]
    found = KnownText.of([NLI.frame]).row_overlaps(contrasts)
    assert [replace(each, pairs=0, shared_pairs=0) for each in found] == [
        overlap(NLI, one) for one in thirds
    ]


def test_sts_benchmark_train_shares_4760_pairs_with_the_years(shared_data: Path) -> None:
    source = Source(folder=shared_data, offline=True)
    train = source.open("sts-benchmark", "train")
    years = [source.open(f"sts{year}") for year in range(12, 17)]
    assert find_overlaps([train], years)["shared_pairs"].sum() == 4760
    # The same count by plain sets, for one year.
    known, tested = (
        [frozenset((normalise(a), normalise(b))) for a, b in frame[SIDES].iter_rows()]
        for frame in (train.frame, years[0].frame)
    )
    known_pairs = {*known}
    shared = sum(pair in known_pairs for pair in tested)
    assert overlap(train, years[0]).shared_pairs == shared
