import polars as pl

from embedlab.analysis.pair_notes import PairNotes
from embedlab.core.paths import state_folder

PAIRS = pl.DataFrame({"sentence1": ["a", "b", "c"], "sentence2": ["x", "y", "z"]})


def test_notes_are_found_again_by_the_text_of_their_pairs() -> None:
    first, second = PairNotes.load(), PairNotes.load()
    assert first.of_pairs(PAIRS).to_list() == [None] * 3
    first.change("a", "x", "odd")
    second.change("c", "z", "é = typo")  # another dashboard
    again = PairNotes.load()
    assert (again.error, again.text("a", "x"), again.text("x", "a")) == (None, "odd", "")
    assert again.of_pairs(PAIRS[[2, 1, 0, 2]]).to_list() == ["é = typo", None, "odd", "é = typo"]
    again.change("a", "x", "")
    assert PairNotes.load().of_pairs(PAIRS).to_list() == [None, None, "é = typo"]


def test_a_damaged_file_of_notes_is_set_aside_and_not_overwritten() -> None:
    PairNotes.load().change("a", "x", "odd")
    file = state_folder() / "pair-notes.json"
    damaged = file.read_text(encoding="utf-8").replace("odd", "old")
    file.write_text(damaged, encoding="utf-8")
    notes = PairNotes.load()
    assert "pair-notes.damaged.json" in notes.error.hint
    notes.change("b", "y", "new")
    assert PairNotes.load().text("b", "y") == "new"
    assert file.with_suffix(".damaged.json").read_text(encoding="utf-8") == damaged
    for notes_of_another in ("[]", '{"schema": 9}', '{"schema": 1, "notes": {"1": 2}}'):
        file.write_text(notes_of_another, encoding="utf-8")
        assert PairNotes.load().error is not None
