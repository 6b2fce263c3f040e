"""The published sizes of corpora, by which a truncated copy is known: totals as their papers and
pages state them.
"""

from collections.abc import Mapping

import pytest

from embedlab.core.plugins import shipped_names
from embedlab.data.source import dataset

PROBING = dict.fromkeys(("train", "dev", "test"), 10_000) | {"train": 100_000}
SIZES: Mapping[str, Mapping[str, int]] = {
    "definitions": {"train": 147_913, "dev": 18_459, "test": 18_780, "all": 185_152},
    "snli": {"train": 549_367, "dev": 9_842, "test": 9_824},
    "multinli": {"train": 392_702, "dev-matched": 9_815, "dev-mismatched": 9_832},
    "snli-counterfactual": {"train": 8_330, "dev": 1_000, "test": 2_000},
    "nli-triplets": {"train": 275_601},
    "glue-cola": {"train": 8_551, "dev": 1_043, "test": 1_063},
    "glue-sst2": {"train": 67_349, "dev": 872, "test": 1_821},
    "glue-mrpc": {"train": 3_668, "dev": 408, "test": 1_725},
    "glue-rte": {"train": 2_490, "dev": 277, "test": 3_000},
    "glue-wnli": {"train": 635, "dev": 71, "test": 146},
    "glue-qnli": {"train": 104_743, "dev": 5_463, "test": 5_463},
    "glue-qqp": {"train": 363_846, "dev": 40_430, "test": 390_965},
    "glue-mnli": {
        "train": 392_702,
        "dev-matched": 9_815,
        "dev-mismatched": 9_832,
        "test-matched": 9_796,
        "test-mismatched": 9_847,
    },
    "sts12": {"test": 3_108},
    "sts13": {"test": 1_500},
    "sts14": {"test": 3_750},
    "sts15": {"test": 3_000},
    "sts16": {"test": 1_186},
    "sts-benchmark": {"train": 5_749, "dev": 1_500, "test": 1_379},
    "sts-benchmark-v2": {"dev": 1_485, "test": 1_362},
    "sick-r": {"train": 4_500, "dev": 500, "test": 4_927},
    "sts17": {"test": 5_346},
    "sts17-en": {"test": 250},
    "sts22-v2": {"test": 3_958},
    "sts22-v2-en": {"test": 197},
    "semrel24-en": {"test": 2_600},
    "biosses": {"test": 100},
    "sts-course": {"train": 6_040, "dev": 863},
    "sts-course-sentences": {"train": 2 * 6_040},
    "paraphrases": {"train": 141_498, "dev": 20_212},
    "paraphrase-sentences": {"train": 2 * 141_498},
    "paws": {"train": 49_401, "dev": 8_000, "test": 8_000},
    "sentiment": {"train": 8_544, "dev": 1_101},
    "wiki-1m": {"train": 1_000_000},
    "wiki-split": {"train": 15_000},
    "mr": {"all": 10_662},
    "cr": {"all": 3_775},
    "subj": {"all": 10_000},
    "mpqa": {"all": 10_606},
    "sst2": {"train": 67_349, "dev": 872, "test": 1_821},
    "sst5": {"train": 8_544, "dev": 1_101, "test": 2_210},
    "trec": {"train": 5_452, "test": 500},
    "mrpc": {"train": 4_076, "test": 1_725},
    "sick-e": {"train": 4_500, "dev": 500, "test": 4_927},
    **dict.fromkeys(
        (
            "sentence-length",
            "word-content",
            "tree-depth",
            "top-constituents",
            "bigram-shift",
            "past-present",
        ),
        PROBING,
    ),
    **dict.fromkeys(
        ("subj-number", "obj-number", "odd-man-out", "coordination-inversion"), PROBING
    ),
}
# The smallest and the largest of the classes, so that two counts that are changed together are
# noticed.
ENDS: Mapping[tuple[str, str], tuple[int, int]] = {
    ("snli", "train"): (182_764, 183_416),
    ("snli", "dev"): (3_235, 3_329),
    ("snli", "test"): (3_219, 3_368),
    ("multinli", "train"): (130_899, 130_903),
    ("paraphrases", "dev"): (7_585, 12_627),
    ("sentiment", "train"): (1_092, 2_322),
    ("sentiment", "dev"): (139, 289),
    ("sst5", "test"): (279, 633),
    ("sst2", "test"): (909, 912),
    ("trec", "train"): (86, 1_250),
    ("trec", "test"): (9, 138),
    ("mrpc", "train"): (1_323, 2_753),
    ("sick-e", "train"): (665, 2_536),
    ("sick-e", "test"): (720, 2_793),
    ("glue-cola", "train"): (2_528, 6_023),
    ("glue-rte", "dev"): (131, 146),
    ("sts12", "test"): (399, 750),
    ("sts16", "test"): (209, 254),
    ("sts-benchmark", "train"): (300, 1_999),
    ("mr", "all"): (5_331, 5_331),
    ("cr", "all"): (1_368, 2_407),
    ("mpqa", "all"): (3_312, 7_294),
}


@pytest.mark.parametrize("name", SIZES)
def test_the_rows_of_a_corpus_are_those_that_were_published(name: str) -> None:
    assert {
        split: one.expected.rows
        for split, one in dataset(name).splits.items()
        if one.expected is not None
    } == SIZES[name]


@pytest.mark.parametrize("name", shipped_names("datasets"))
def test_the_classes_of_a_corpus_are_as_many_as_its_rows(name: str) -> None:
    for split in dataset(name).splits.values():
        if split.expected is not None and split.expected.classes is not None:
            assert sum(split.expected.classes.values()) == split.expected.rows


@pytest.mark.parametrize(("name", "split"), ENDS)
def test_the_smallest_and_the_largest_class_are_those_that_were_published(
    name: str, split: str
) -> None:
    expected = dataset(name).splits[split].expected
    assert expected is not None
    assert expected.classes is not None
    assert (min(expected.classes.values()), max(expected.classes.values())) == ENDS[name, split]


def test_the_scales_of_gold_scores_and_the_rows_that_belong_together_are_stated() -> None:
    scales = {
        name: dataset(name).gold_range for name in {*SIZES, "c-sts"} if dataset(name).kind == "sts"
    }
    others = {name: scale for name, scale in scales.items() if scale != (0.0, 5.0)}
    assert others == {
        "sick-r": (1.0, 5.0),
        "c-sts": (1.0, 5.0),
        "sts22-v2": (1.0, 4.0),
        "sts22-v2-en": (1.0, 4.0),
        "semrel24-en": (0.0, 1.0),
        "biosses": (0.0, 4.0),
    }
    units = {name for name in SIZES if dataset(name).unit == 2}
    assert units == {"sts-course-sentences", "paraphrase-sentences"}
    empty = {
        name: one.expected.empty
        for name in SIZES
        for one in dataset(name).splits.values()
        if one.expected and one.expected.empty
    }
    assert empty == {"cr": 4, "mpqa": 3}
