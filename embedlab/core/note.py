"""A note on numbers: in full for machines, and the phrases that people see, which are grouped over
models.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Self

from embedlab.core.printable import one_line
from embedlab.core.signs import overlap_line

NoteKind = Literal[
    "remark", "detail", "shared pairs", "shared sentences", "few shared sentences", "uncounted text"
]

# What people see of a note of this kind about one model, where that is not its text: of details
# nothing. What a model shares is behind its scores: a table explains those signs once.
PHRASES: Mapping[NoteKind, tuple[str, ...]] = {
    "detail": (),
    "shared pairs": (),
    "shared sentences": (),
    "few shared sentences": (),
    "uncounted text": ("text shared with its training data is not counted",),
}


class Note(str):
    """A note in full, with its kind and what people see of it: phrases about MODELS, or about the
    whole table where there are none.

    A note without phrases is a detail, which people see only if they want all notes. They see a
    plain text as it is. What depends on a note depends on its kind, never on its text.
    """

    __slots__ = ("kind", "models", "short")
    kind: NoteKind
    models: tuple[str, ...]
    short: tuple[str, ...]

    def __new__(
        cls,
        text: str,
        *,
        models: Sequence[str] = (),
        short: Sequence[str] = (),
        kind: NoteKind = "remark",
    ) -> Self:
        """Return the note of TEXT."""
        note = super().__new__(cls, text)
        note.kind, note.models, note.short = kind, tuple(models), tuple(short)
        return note

    def with_text(self, text: str) -> "Note":
        """Return the same note with another full text."""
        return Note(text, models=self.models, short=self.short, kind=self.kind)


def kind_of(note: str) -> NoteKind:
    """Return the kind of a NOTE; a plain text is a remark."""
    return note.kind if isinstance(note, Note) else "remark"


def phrases_of(note: str) -> tuple[str, ...]:
    """Return what people see of a NOTE about one model, by its kind."""
    return PHRASES.get(kind_of(note), (note,))


def stored_kinds(notes: Iterable[str]) -> dict[str, NoteKind]:
    """Return the kinds of NOTES by their texts, as files store them beside the texts; remarks are
    absent.
    """
    return {str(note): kind for note in notes if (kind := kind_of(note)) != "remark"}


def with_kinds(notes: Iterable[str], kinds: Mapping[str, NoteKind]) -> tuple[str, ...]:
    """Return NOTES of a file with the KINDS of their texts."""
    return tuple(Note(note, kind=kinds[note]) if note in kinds else note for note in notes)


def shown_notes(
    notes: Sequence[str],
    titles: Mapping[str, str],
    *,
    more: str = "--notes shows {count} more {notes}",
) -> list[str]:
    """Return the NOTES in few lines: texts as they are, the phrases of models that share them in
    one line, and how many are left out.

    MORE says where the others are. TITLES are the names of the table's models there; a phrase about
    all of them has no name in front.
    """
    plain = [phrase for note in notes for phrase in _of_table(note)]
    shared = _shared_text(notes)
    hidden = sum(isinstance(note, Note) and not note.short for note in notes)
    others = [more.format(count=hidden, notes="note" if hidden == 1 else "notes")] if hidden else []
    return list(dict.fromkeys([*plain, *shared, *_of_models(notes, titles), *others]))


def _shared_text(notes: Sequence[str]) -> list[str]:
    """Return the line that explains the signs of training text, if some of NOTES counts any."""
    kinds = {kind_of(note) for note in notes}
    pairs, sentences, few = (
        kind in kinds for kind in ("shared pairs", "shared sentences", "few shared sentences")
    )
    return [overlap_line(pairs, sentences, few)] if pairs or sentences or few else []


def _of_table(note: str) -> Sequence[str]:
    if not isinstance(note, Note):
        return (one_line(note),)
    return () if note.models else [one_line(phrase) for phrase in note.short]


def _of_models(notes: Sequence[str], titles: Mapping[str, str]) -> list[str]:
    models: dict[str, dict[str, None]] = {}  # of each phrase
    for note in notes:
        if isinstance(note, Note) and note.models:
            for phrase in note.short:
                models.setdefault(phrase, {}).update(dict.fromkeys(note.models))
    lines: dict[tuple[str, ...], list[str]] = {}
    for phrase, model in models.items():
        lines.setdefault(() if model.keys() == titles.keys() else tuple(model), []).append(phrase)
    return [
        one_line(_named(names, titles) + "; ".join(phrases)) for names, phrases in lines.items()
    ]


def _named(names: Sequence[str], titles: Mapping[str, str]) -> str:
    return f"{', '.join(titles.get(name, name) for name in names)}: " if names else ""
