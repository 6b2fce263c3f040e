"""Notes are data: what people see of one depends on its kind, not on its text."""

from embedlab.core.note import Note, kind_of, stored_kinds, with_kinds

SHARED = Note("† test pairs that are in its training data: sts12 3 of 9", kind="shared pairs")
DETAIL = Note("trained on 20 rows", kind="detail")


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
