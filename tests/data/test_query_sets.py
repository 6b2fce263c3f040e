"""Sets of queries that are made of captions and of questions."""

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
    pairs = {*zip(found.query.tolist(), found.relevant.tolist(), strict=True)}
    texts = [(found.texts[query], found.candidates[document]) for query, document in pairs]
    assert {(second, first) for first, second in texts} == {
        *texts
    }  # belonging together has no direction
    assert all(first != second for first, second in texts)
    assert [found.texts[query] for query in found.excluded[0]] == [
        found.candidates[document] for document in found.excluded[1]
    ]
    assert len(found.excluded[0]) == len(found.texts)
    assert len({*found.candidates}) == len(found.candidates)
    assert (found.part.state.name, found.part.state.split, found.part.state.origin) == (
        name,
        "test",
        "tiny",
    )


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
    import gzip

    folder = tmp_path / "multi30k_captions"
    folder.mkdir()
    made: list[str] = []
    for change in ("", "now "):
        for number in range(1, 6):
            lines = "".join(
                f"{change if number == 2 else ''}caption {number} of picture {place}\n"
                for place in range(3)
            )
            (folder / f"test_2016.{number}.en.gz").write_bytes(gzip.compress(lines.encode()))
        found = open_queries(
            Source(folder=tmp_path, offline=True, allow_partial=True), "retrieval-captions"
        )
        assert (len(found.texts), len(found.query), found.part.state.partial) == (15, 60, True)
        made.append(found.part.state.sha256["queries"])
    assert made[0] != made[1]
    (folder / "test_2016.3.en.gz").write_bytes(gzip.compress(b"one line\n"))
    with pytest.raises(MissingError, match="have different numbers of lines"):
        open_queries(
            Source(folder=tmp_path, offline=True, allow_partial=True), "retrieval-captions"
        )
    (folder / "test_2016.3.en.gz").write_bytes(b"not gzip")
    with pytest.raises(MissingError, match="is not a gzipped text"):
        open_queries(
            Source(folder=tmp_path, offline=True, allow_partial=True), "retrieval-captions"
        )
