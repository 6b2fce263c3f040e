"""Sets of queries that are made of captions and of questions."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.data.derived import SETS, open_queries
from embedlab.data.source import Source, dataset


@pytest.mark.parametrize("name", SETS)
def test_each_text_finds_the_others_of_its_group_and_never_itself(name: str) -> None:
    found = open_queries(Source(folder=TINY_FOLDER), name)
    query, document = found.numbers(found.items)
    texts = [
        (found.texts[own], found.candidates[other])
        for own, other in zip(query, document, strict=True)
    ]
    assert {(second, first) for first, second in texts} == {*texts}  # it has no direction
    assert all(first != second for first, second in texts)
    query, document = found.numbers(found.excluded)
    itself = [found.candidates[own] for own in document]
    assert [found.texts[own] for own in query] == itself
    assert len(itself) == len(found.texts)
    assert len({*found.candidates}) == len(found.candidates)
    assert (found.part.state.name, found.part.state.origin) == (name, "tiny")


def test_questions_that_a_chain_of_duplicates_connects_are_relevant_to_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = [
        ("a one", "b two", 1),
        ("b two", "c three", 1),
        ("c three", "d four", 0),
        ("e five", "f six", 1),
        ("E five?", "g seven", 0),
    ]
    part = Source(folder=TINY_FOLDER).open_split(dataset("paraphrases"), "dev")
    frame = pl.DataFrame(pairs, schema=part.frame.schema, orient="row")
    monkeypatch.setattr(Source, "open_split", lambda *_: type(part)(frame=frame, state=part.state))
    found = open_queries(Source(), "retrieval-questions")
    rows = {*found.part.frame.iter_rows()}
    assert {
        ("a one", "c three"),
        ("e five", "f six"),
        ("f six", "E five?"),
    } <= rows  # a question in other letters is the same
    assert not any("d four" in row or "g seven" in row for row in rows)
    assert len(found.candidates) == 8


def test_other_texts_have_another_hash_so_that_stored_results_do_not_count(tmp_path: Path) -> None:
    source = Source(folder=tmp_path, offline=True, allow_partial=True)
    (tmp_path / "multi30k_captions").mkdir()

    def write(number: int, text: str) -> None:
        lines = "".join(f"{text} {number} of picture {place}\n" for place in range(3))
        file = tmp_path / f"multi30k_captions/test_2016.{number}.en.gz"
        file.write_bytes(gzip.compress(lines.encode()))

    hashes = []
    for text in ("caption", "now caption"):
        for number in range(1, 6):
            write(number, text)
        found = open_queries(source, "retrieval-captions")
        assert (len(found.texts), found.items.height, found.part.state.partial) == (15, 60, True)
        hashes.append(found.part.state.sha256["queries"])
    assert hashes[0] != hashes[1]
    for content, fault in (
        (gzip.compress(b"one line\n"), "have different numbers of lines"),
        (b"not gzip", "is not a gzipped text: Not a gzipped file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git-lfs pointer"),
    ):
        (tmp_path / "multi30k_captions/test_2016.3.en.gz").write_bytes(content)
        with pytest.raises(MissingError, match=fault):
            open_queries(source, "retrieval-captions")
