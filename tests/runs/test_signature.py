"""A signature is one line that says everything that decides a number, and is read back as it was
written.
"""

import hashlib
import random
from dataclasses import replace

import pytest

from embedlab.core.errors import MissingError
from embedlab.runs.signature import (
    SIGNATURE_PARTS,
    PartValues,
    Signature,
    data_part,
    merged,
    part_differences,
)
from tests.refusal import refused

# Separators, what percent-encoding writes, words with a meaning, bytes of a file name that are not
# text, several alphabets.
PIECES = [
    *("|", ":", ",", "%", "%7C", " ", "\n", "none", "unknown", "\udcff", "\ud83d"),
    *("é", "漢", "😀", "a", "7", "10", "/", "@", "\x00", "²"),
]

ONE = Signature(
    aggregation=("all", "mean"),
    backend=("torch",),
    by=("dataset",),
    data=("sts12/test@aaaa", "sick-r/test@bbbb"),
    dims=("384",),
    max_tokens=("128",),
    metric=("spearman",),
    model=("0123456789abcdef",),
    n=("8035",),
    pooling=("mean",),
    precision=("float32",),
    task=("sts",),
    version=("0.1.0",),
)


def agreements(**changed: PartValues) -> dict[str, str]:
    return {part.name: part.agreement for part in part_differences(ONE, replace(ONE, **changed))}


def test_any_values_are_read_back_as_they_were_written() -> None:
    draw = random.Random(1)

    def value() -> str:
        return "".join(draw.choices(PIECES, k=draw.randint(0, 4)))

    for _ in range(100):
        written = Signature(
            **{name: tuple(value() for _ in range(draw.randint(0, 3))) for name in SIGNATURE_PARTS}
        )
        line = str(written)
        assert line.isascii()
        assert line.isprintable()
        assert " " not in line
        assert Signature.parse(line) == written
        assert str(Signature.parse(line)) == line


def test_values_are_sorted_numbers_by_size_and_each_is_there_once() -> None:
    assert Signature(seeds=("10", "9", "1", "9")).seeds == ("1", "9", "10")
    assert merged([replace(ONE, seeds=("2",)), replace(ONE, seeds=("1",))]) == replace(
        ONE, seeds=("1", "2")
    )


@pytest.mark.parametrize(
    "line",
    [
        "",
        "task",
        "task:",
        "task:sts|",
        "task:sts|task:sts",
        "task:sts|zeta:1",
        "task:%FF",
        "|".join(part for part in str(ONE).split("|") if not part.startswith("backend:")),
    ],
)
def test_any_other_line_is_refused(line: str) -> None:
    with refused("not a signature", "newer embedlab", MissingError):
        Signature.parse(line)


@pytest.mark.parametrize(
    ("changed", "agreement"),
    [
        ({"pooling": ("cls",)}, {"pooling": "differs"}),
        ({}, {}),
        ({"max_tokens": ()}, {"max_tokens": "differs"}),
        ({"version": ("0.2.0",)}, {"version": "other version"}),
        ({"pooling": ("unknown", "mean")}, {"pooling": "unknown"}),
        ({"aggregation": ("all",)}, {"aggregation": "only in one"}),
        ({"aggregation": ("wmean",)}, {"aggregation": "differs"}),
        (
            {"interval": ("dyadic-t",), "test": ("dyadic",)},
            {"interval": "only in one", "test": "only in one"},
        ),
        (
            {"task": ("sts", "transfer"), "setting": ("exact",)},
            {"task": "only in one", "setting": "only in one"},
        ),
        ({"n": ("8034",)}, {"n": "differs"}),
        (
            {"data": ("sts12/test@aaaa",), "n": ("3108",)},
            {"data": "only in one", "n": "only in one"},
        ),
        ({"data": ("sts13/test@dddd",)}, {"data": "differs"}),
        ({"by": ("dataset", "where dice>0.5")}, {"by": "differs"}),
    ],
)
def test_parts_differ_miss_or_are_only_in_one(
    changed: dict[str, PartValues], agreement: dict[str, str]
) -> None:
    assert agreements(**changed) == agreement


def test_data_is_named_by_its_content_not_by_its_folder() -> None:
    def of_file(name: str, sha256: str = "12" * 32) -> str:
        return data_part({"name": name, "split": "all", "origin": "file", "sha256": {name: sha256}})

    digest = hashlib.sha256(("12" * 32).encode()).hexdigest()[:12]
    assert of_file("/home/me/mine.tsv") == of_file("mine.tsv") == f"mine.tsv/all@{digest}"
    assert of_file("mine.tsv", "34" * 32) != of_file("mine.tsv")
    sts12 = {"name": "sts12", "split": "test"}
    revision = {"revision": "mteb/sts12@0123456789abcdef"}
    assert data_part({**sts12, **revision}) == "sts12/test@0123456789ab"
    assert data_part({**sts12, "origin": "tiny"}) == "sts12/test@tiny"
    assert data_part({"name": "sts12"}) == "sts12/none@unknown"


def test_versions_of_several_tasks_do_not_contradict_that_of_one_of_them() -> None:
    several = replace(ONE, task=("mine", "sts"), version=("0.1.0", "0.1.0+mine"))
    (version,) = (part for part in part_differences(several, ONE) if part.name == "version")
    assert version.agreement == "only in one"
    # a mean over members of two versions
    assert agreements(version=("0.1.0", "0.1.0+mine")) == {"version": "other version"}
