"""Contrasts made of labelled pairs, against a plain loop, and those of a user's own file."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.data.derived import contrasts_of, holds_contrasts, open_contrasts
from embedlab.data.source import Source
from embedlab.data.words import edit_sentence


def slow(pairs: list[tuple[str, str, str]], *, is_either: bool) -> list[tuple[str, str, str]]:
    both = [*pairs, *((b, a, label) for a, b, label in pairs)] if is_either else pairs
    found = []
    for anchor, entailed, label in both:
        for other, contradicted, second in both:
            if (
                label.lower() == "entailment"
                and second.lower() == "contradiction"
                and anchor == other
            ):
                triple = (anchor, entailed, contradicted)
                if triple not in found:
                    found.append(triple)
    return found


def test_a_file_is_known_by_its_columns_or_by_a_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    row = "A dog runs.,An animal runs.,No dog runs.\n"
    Path("mine.csv").write_text(
        f"anchor,entailed,contradicted\n{row}{row}A cat sits.,A cat sits.,A cat stands up.\n"
    )
    Path("triplets.csv").write_text(f"anchor,positive,negative\n{row}")
    Path("pairs.csv").write_text("anchor,positive\nA dog runs.,An animal runs.\n")
    assert [
        holds_contrasts(name)
        for name in ("mine.csv", "triplets.csv", "contrast:triplets.csv", "pairs.csv", "no.csv")
    ] == [*(True, False, True, False, False)]
    part = open_contrasts(Source(), "mine.csv")
    assert part.frame.rows() == [("A dog runs.", "An animal runs.", "No dog runs.")]
    assert part.state.skipped == {"triple with two equal sentences": 1}
    assert open_contrasts(Source(), "contrast:triplets.csv").frame.equals(part.frame)
    with pytest.raises(MissingError, match="not triples of an anchor and two sentences"):
        open_contrasts(Source(), "contrast:pairs.csv")


def test_entailed_sentences_of_sick_are_close_by_people_and_each_triple_counts_once(
    shared_data: Path,
) -> None:
    part = open_contrasts(Source(folder=shared_data), "contrast-sick")
    assert part.frame.height == part.frame.unique().height == 1885
    assert part.frame["sentence1"].n_unique() == 988
    related: dict[frozenset[str], float] = {}
    for split in ("train", "dev", "test"):
        for *pair, score in (
            Source(folder=shared_data)
            .open("sick-r", split)
            .frame.select("sentence1", "sentence2", "gold")
            .iter_rows()
        ):
            both = frozenset(text.strip() for text in pair)  # some pairs are there in both orders
            related[both] = max(score, related.get(both, 0))
    assert min(related[frozenset(row[:2])] for row in part.frame.iter_rows()) >= 4.5


def test_a_rule_makes_one_set_of_the_close_entailed_pairs_that_it_is_safe_for() -> None:
    source = Source(folder=TINY_FOLDER)
    part = open_contrasts(source, "contrast-number")
    rows = source.open("snli", "test").frame
    expected = []
    for premise, hypothesis, label in rows.select("premise", "hypothesis", "label").iter_rows():
        changed = edit_sentence(hypothesis.strip(), "number") if label == "entailment" else None
        triple = (premise.strip(), hypothesis.strip(), changed)
        if changed is not None and len({*triple}) == 3 and triple not in expected:
            expected.append(triple)
    assert part.frame.rows() == expected


def test_many_contrasts_are_in_the_order_of_a_loop() -> None:
    draw = np.random.default_rng(1).integers
    labels = ("entailment", "contradiction", "neutral")
    pairs = [
        (f"s{a}", f"s{b}", labels[kind])
        for a, b, kind in zip(draw(0, 12, 150), draw(0, 12, 150), draw(0, 3, 150), strict=True)
    ]
    frame = pl.DataFrame(pairs, schema=["first", "second", "label"], orient="row")
    for is_either in (False, True):
        assert contrasts_of(frame, is_either=is_either).rows() == slow(pairs, is_either=is_either)
