"""Faults that are planted in files of one's own are found, with their counts, and no others."""

from pathlib import Path

import pytest

from embedlab.analysis.own_audit import findings_of, own_splits
from embedlab.data.dataset import NLI_LABELS


def _text(number: int) -> str:
    """Return a sentence that shares no word with those of other numbers."""
    return " ".join(f"w{5 * number + step}" for step in range(5))


CLEAN = [(_text(2 * row), _text(2 * row + 1), row % 6) for row in range(60)]
TRAIN, TEST = CLEAN[:40], CLEAN[40:]
PLANTED = {  # what is added to train and test → what is found of it, by split and check
    "nothing": ([], [], {}),
    "a row again": ([TRAIN[0], TRAIN[1]], [], {("train", "duplicate"): 2}),
    "in other signs": ([(TRAIN[0][0].upper() + "!", *TRAIN[0][1:])], [], {("train", "duplicate"): 1}),
    "two gold scores": (
        [(*TRAIN[1][:2], 5)],
        [],
        {("train", "duplicate"): 1, ("train", "contradictory gold"): 2},
    ),
    "turned round": ([(TRAIN[1][1], TRAIN[1][0], 5)], [], {("train", "contradictory gold"): 2}),
    "equal and low": ([(_text(900), _text(900), 0)], [], {("train", "contradictory gold"): 1}),
    "equal and high": ([(_text(900), _text(900), 5)], [], {}),
    "out of scale": (
        [(_text(900), _text(901), 55)],
        [],
        {("train", "out of scale"): 1, ("", "other scale"): 2},
    ),
    "a half score": ([], [(_text(900), _text(901), 2.5)], {}),
    "in the test too": ([], [TRAIN[2]], {("test", "leak"): 1}),
    "one text of it": ([], [(TRAIN[2][0], _text(900), 1)], {("test", "shared text"): 1}),
    "nearly a row": (
        [(TRAIN[3][0] + " now", TRAIN[3][1], 3)],
        [(TRAIN[4][0] + " now", TRAIN[4][1] + " here", 4)],
        {("train", "near duplicate"): 1, ("test", "near leak"): 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("is_one_file", [False, True])
def test_what_is_planted_is_found_and_nothing_else(
    name: str, is_one_file: bool, tmp_path: Path
) -> None:
    train, test, expected = PLANTED[name]
    rows = {"train": [*TRAIN, *train], "test": [*TEST, *test]}
    header, one = ["sentence1,sentence2,score"], ["sentence1,sentence2,score,split"]
    for split, lines in rows.items():
        texts = [",".join(map(str, row)) for row in lines]
        one += [f"{text},{split}" for text in texts]
        (tmp_path / f"{split}.csv").write_text("\n".join([*header, *texts, ""]))
    if is_one_file:
        (tmp_path / "one.csv").write_text("\n".join([*one, ""]))
    found = findings_of(own_splits(str(tmp_path / "one.csv" if is_one_file else tmp_path)))
    counts = {(each.split, each.check): each.rows for each in found}
    if name == "in the test too":  # it shares its texts with nothing else
        assert counts.pop(("test", "shared text"), 0) == 0
    if name in {"turned round", "one text of it"}:  # as bags of words they are near
        counts.pop(("train", "near duplicate"), 0)
    assert counts == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (
            ("premise", "hypothesis", "label"),
            {("train", "contradictory gold"): 1, ("test", "other label"): 1},
        ),
        (("anchor", "positive"), {("train", "equal texts"): 3}),
    ],
)
def test_of_labels_and_of_texts_alone_is_found_what_is_wrong_without_a_score(
    header: tuple[str, ...], expected: dict[tuple[str, str], int], tmp_path: Path
) -> None:
    equal = [(_text(900 + row), _text(900 + row), gold) for row, gold in enumerate((0, 0, 3))]
    rows = {"train": [*TRAIN, *equal], "test": [*TEST, (_text(910), _text(911), 6)]}
    for split, pairs in rows.items():
        lines = [(first, second, NLI_LABELS[gold // 3]) for first, second, gold in pairs]
        text = "\n".join(",".join(line[: len(header)]) for line in [header, *lines])
        (tmp_path / f"{split}.CSV").write_text(text)
    found = findings_of(own_splits(str(tmp_path)))
    assert {(each.split, each.check): each.rows for each in found} == expected


def test_the_splits_of_chosen_rows_are_those_that_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{_text(row)},{_text(90 + row)},{row % 6}" for row in range(30)]
    ends = ["train,one", "test,one", "dev,two"]
    lines = [f"{text},{ends[row % 3]}" for row, text in enumerate(rows)]
    Path("own.csv").write_text("\n".join(["sentence1,sentence2,score,split,genre", *lines]))
    splits = own_splits("own.csv?where=genre:one")
    assert [(split.split, split.rows.height) for split in splits] == [("train", 10), ("test", 10)]
