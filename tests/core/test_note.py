"""Notes are data: what people see of one depends on its kind, not on its text."""

from embedlab.core.note import Note, kind_of, phrases_of, shown_notes, stored_kinds, with_kinds

SHARED = Note("† test pairs that are in its training data: sts12 3 of 9", kind="shared pairs")
DETAIL = Note("trained on 20 rows", kind="detail")


def test_people_see_a_note_about_a_model_by_its_kind() -> None:
    assert phrases_of(SHARED) == ()  # behind its scores: a table explains the signs once
    assert () == ()
    assert phrases_of(str(SHARED)) == (str(SHARED),)  # the same words without a kind are a remark


def test_kinds_return_from_the_texts_of_a_file() -> None:
    notes = (SHARED, "a remark", DETAIL)
    texts = [str(note) for note in notes]
    stored = stored_kinds(notes)
    assert stored == {str(SHARED): "shared pairs", str(DETAIL): "detail"}
    assert [kind_of(note) for note in with_kinds(texts, stored)] == [
        "shared pairs",
        "remark",
        "detail",
    ]
    assert [kind_of(note) for note in with_kinds(texts, {})] == ["remark"] * 3  # a file of before


def test_a_note_has_its_kind_under_another_text() -> None:
    assert kind_of(SHARED.with_text("sts12: shared")) == "shared pairs"


def test_details_are_counted_and_phrases_of_several_models_share_a_line() -> None:
    notes = [
        Note("a: trained on 20 rows", models=("a",), short=()),
        *(Note(f"{name}: shared", models=(name,), kind=SHARED.kind) for name in "ab"),
    ]
    assert shown_notes(notes, {"a": "a", "b": "b"}) == [
        "! [overlap] in the training data: † test pairs "
        "(`embedlab compare --unseen` leaves them out)",
        "--notes shows 3 more notes",
    ]


def test_signs_of_training_text_are_explained_once_and_only_those_that_are_there() -> None:
    few, many = (
        Note("counts", models=("a",), kind=kind)
        for kind in ("few shared sentences", "shared sentences")
    )
    assert (
        shown_notes([few, few], {})[0]
        == "[overlap] in the training data: fewer than 5% of the test sentences, unmarked"
    )
    both = (
        "[overlap] in the training data: ‡ that share of the test sentences, fewer than 5% of the "
        "test sentences, unmarked"
    )
    assert [line for line in shown_notes([few, many, "another"], {}) if line.startswith("[")] == [
        both
    ]
    assert not any(line.startswith("[") for line in shown_notes(["another"], {}))
