"""The published sizes of corpora, by which a truncated copy is known: totals as their papers and
pages state them.
"""

import pytest

from embedlab.data.source import dataset

SIZES = """
definitions: train=147913 dev=18459 test=18780 all=185152
snli: train=549367 dev=9842 test=9824
multinli: train=392702 dev-matched=9815 dev-mismatched=9832
snli-counterfactual: train=8330 dev=1000 test=2000
nli-triplets: train=275601
glue-cola: train=8551 dev=1043 test=1063
glue-sst2: train=67349 dev=872 test=1821
glue-mrpc: train=3668 dev=408 test=1725
glue-rte: train=2490 dev=277 test=3000
glue-wnli: train=635 dev=71 test=146
glue-qnli: train=104743 dev=5463 test=5463
glue-qqp: train=363846 dev=40430 test=390965
glue-mnli: train=392702 dev-matched=9815 dev-mismatched=9832 test-matched=9796 test-mismatched=9847
sts12: test=3108
sts13: test=1500
sts14: test=3750
sts15: test=3000
sts16: test=1186
sts-benchmark: train=5749 dev=1500 test=1379
sts-benchmark-v2: dev=1485 test=1362
sick-r: train=4500 dev=500 test=4927
sts17: test=5346
sts17-en: test=250
sts22-v2: test=3958
sts22-v2-en: test=197
semrel24-en: test=2600
biosses: test=100
sts-course: train=6040 dev=863
sts-course-sentences: train=12080
paraphrases: train=141498 dev=20212
paraphrase-sentences: train=282996
paws: train=49401 dev=8000 test=8000
sentiment: train=8544 dev=1101
wiki-1m: train=1000000
wiki-split: train=15000
mr: all=10662
cr: all=3775
subj: all=10000
mpqa: all=10606
sst2: train=67349 dev=872 test=1821
sst5: train=8544 dev=1101 test=2210
trec: train=5452 test=500
mrpc: train=4076 test=1725
sick-e: train=4500 dev=500 test=4927
sentence-length: train=100000 dev=10000 test=10000
word-content: train=100000 dev=10000 test=10000
tree-depth: train=100000 dev=10000 test=10000
top-constituents: train=100000 dev=10000 test=10000
bigram-shift: train=100000 dev=10000 test=10000
past-present: train=100000 dev=10000 test=10000
subj-number: train=100000 dev=10000 test=10000
obj-number: train=100000 dev=10000 test=10000
odd-man-out: train=100000 dev=10000 test=10000
coordination-inversion: train=100000 dev=10000 test=10000
"""
NAMES = [line.partition(":")[0] for line in SIZES.split("\n")[1:-1]]
# the smallest and the largest of the classes, so that two counts that are changed together are
# noticed
ENDS = """
snli train: 182764 183416
snli dev: 3235 3329
snli test: 3219 3368
multinli train: 130899 130903
paraphrases dev: 7585 12627
sentiment train: 1092 2322
sentiment dev: 139 289
sst5 test: 279 633
sst2 test: 909 912
trec train: 86 1250
trec test: 9 138
mrpc train: 1323 2753
sick-e train: 665 2536
sick-e test: 720 2793
glue-cola train: 2528 6023
glue-rte dev: 131 146
sts12 test: 399 750
sts16 test: 209 254
sts-benchmark train: 300 1999
mr all: 5331 5331
cr all: 1368 2407
mpqa all: 3312 7294
"""


@pytest.mark.parametrize("line", SIZES.split("\n")[1:-1])
def test_the_rows_of_a_corpus_are_those_that_were_published(line: str) -> None:
    name, _, sizes = line.partition(": ")
    rows = [
        f"{split}={one.expected.rows}"
        for split, one in dataset(name).splits.items()
        if one.expected is not None
    ]
    assert sorted(rows) == sorted(sizes.split())


@pytest.mark.parametrize("line", ENDS.split("\n")[1:-1])
def test_the_smallest_and_the_largest_class_are_those_that_were_published(line: str) -> None:
    name, split, *ends = line.replace(":", "").split()
    expected = dataset(name).splits[split].expected
    assert expected is not None
    assert expected.classes is not None
    counts = expected.classes.values()
    assert [str(min(counts)), str(max(counts))] == ends


def test_the_scales_of_gold_scores_and_the_rows_that_belong_together_are_stated() -> None:
    scales = {
        name: dataset(name).gold_range for name in {*NAMES, "c-sts"} if dataset(name).kind == "sts"
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
    units = {name for name in NAMES if dataset(name).unit == 2}
    assert units == {"sts-course-sentences", "paraphrase-sentences"}
    empty = {
        name: one.expected.empty
        for name in NAMES
        for one in dataset(name).splits.values()
        if one.expected and one.expected.empty
    }
    assert empty == {"cr": 4, "mpqa": 3}
