from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.marks import Overlap
from embedlab.data.overlaps import KnownText, find_overlaps
from embedlab.data.source import Source
from embedlab.data.words import normalise


def part(name: str, **columns: list[str]) -> Part:
    frame = pl.DataFrame(columns)
    return Part(
        frame=frame,
        state=DatasetState(
            name=name, split="test", rows=len(frame), expected_rows=None, origin="file"
        ),
    )


def overlap(training: Part, evaluation: Part) -> Overlap:
    return KnownText.of([training.frame]).overlap(evaluation.frame)


NLI = part(
    "nli", premise=["A dog runs.", "A cat", "x"], hypothesis=["a dog  RUNS", "it sleeps", "y"]
)
STS = part("sts", sentence1=["It sleeps!", "new", "a dog runs"], sentence2=["a cat", "x", "other"])


def test_sentences_are_shared_by_their_words_and_pairs_in_either_order() -> None:
    assert overlap(NLI, STS) == Overlap(sentences=6, shared_sentences=4, pairs=3, shared_pairs=1)


def test_sentences_without_a_word_are_shared_with_nothing() -> None:
    known = part("known", sentence1=["...", "!!!", "a cat"], sentence2=["a cat", "?", "it sleeps"])
    tested = part("tested", sentence1=["?!", "-", "A cat."], sentence2=["a cat", "", "It sleeps"])
    assert overlap(known, tested) == Overlap(
        sentences=2, shared_sentences=2, pairs=3, shared_pairs=1
    )


def test_single_sentences_have_no_pairs() -> None:
    known = part("plain", sentence=["a cat", "z"])
    assert overlap(known, STS) == Overlap(sentences=6, shared_sentences=1, pairs=3, shared_pairs=0)
    assert overlap(STS, known) == Overlap(sentences=2, shared_sentences=1, pairs=0, shared_pairs=0)


def test_a_triplet_holds_two_pairs() -> None:
    known = part("triplets", anchor=["a cat"], positive=["it sleeps"], negative=["new"])
    assert overlap(known, STS).shared_pairs == 1
    assert overlap(known, part("e", sentence1=["new"], sentence2=["A cat"])).shared_pairs == 1
    assert overlap(known, part("e", sentence1=["new"], sentence2=["it sleeps"])).shared_pairs == 0


def test_each_pair_alone_is_counted_as_a_set_of_one() -> None:
    tested = pl.concat(
        [STS.frame, pl.DataFrame({"sentence1": ["X", "new"], "sentence2": ["x", "New"]})]
    )
    alone = [
        part("one", sentence1=[first], sentence2=[second]) for first, second in tested.iter_rows()
    ]
    assert KnownText.of([NLI.frame]).row_overlaps(tested) == [overlap(NLI, one) for one in alone]
    assert not any(KnownText.of([]).row_overlaps(tested))


def test_sts_benchmark_train_shares_4760_pairs_with_the_years(shared_data: Path) -> None:
    source = Source(folder=shared_data, offline=True)
    train = source.open("sts-benchmark", "train")
    years = [source.open(f"sts{year}") for year in range(12, 17)]
    assert find_overlaps([train], years)["shared_pairs"].sum() == 4760
    # The same count by plain sets, for one year.
    known = {
        frozenset((normalise(a), normalise(b)))
        for a, b in train.frame.select("sentence1", "sentence2").iter_rows()
    }
    tested = years[0].frame.select("sentence1", "sentence2").iter_rows()
    assert overlap(train, years[0]).shared_pairs == sum(
        frozenset((normalise(a), normalise(b))) in known for a, b in tested
    )


def test_known_text_is_read_as_it_was_written_and_damage_is_refused(tmp_path: Path) -> None:
    known, path = KnownText.of([NLI.frame]), tmp_path / "learnt.parquet"
    known.write(path)
    found = KnownText.read(path)
    assert found.sentences.tolist() == known.sentences.tolist() != []
    assert found.pairs.tolist() == known.pairs.tolist() != []
    assert found.overlap(STS.frame) == overlap(NLI, STS)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(MissingError):
        KnownText.read(path)
