import polars as pl

from embedlab.analysis.pair_notes import PairNotes, pair_keys
from embedlab.core.paths import state_folder

PAIRS = pl.DataFrame({"sentence1": ["a", "b", "c"], "sentence2": ["x", "y", "z"]}).pipe(
    lambda frame: frame.with_columns(pair_keys(frame))
)


def test_notes_are_found_again_by_the_text_of_their_pairs() -> None:
    first, second = PairNotes.load(), PairNotes.load()
    assert first.joined(PAIRS).columns == PAIRS.columns
    first.change("a", "x", "odd")
    second.change("c", "z", "é = typo")  # another dashboard
    again = PairNotes.load()
    assert (again.error, again.text("a", "x"), again.text("x", "a")) == (None, "odd", "")
    joined = again.joined(PAIRS[::-1])
    for same in (joined, again.joined(joined)):
        assert same["note"].to_list() == ["é = typo", None, "odd"]
    again.change("a", "x", "")
    assert PairNotes.load().joined(PAIRS)["note"].to_list() == [None, None, "é = typo"]


def test_a_damaged_file_of_notes_is_set_aside_and_not_overwritten() -> None:
    PairNotes.load().change("a", "x", "odd")
    file = state_folder() / "pair-notes.json"
    damaged = file.read_text(encoding="utf-8").replace("odd", "old")
    file.write_text(damaged, encoding="utf-8")
    notes = PairNotes.load()
    assert notes.error is not None
    assert "pair-notes.damaged.json" in notes.error.hint
    notes.change("b", "y", "new")
    assert PairNotes.load().text("b", "y") == "new"
    assert file.with_suffix(".damaged.json").read_text(encoding="utf-8") == damaged
    for notes_of_another in ("[]", '{"schema": 9}', '{"schema": 1, "notes": {"1": 2}}'):
        file.write_text(notes_of_another, encoding="utf-8")
        assert PairNotes.load().error is not None
