"""A note on numbers: in full for machines, and phrases for people, the weightiest first."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Self, get_args

from embedlab.core.printable import one_line, overlap_line

# From what a reader needs first: what the signs of the table mean, then what limits its numbers, by
# weight, then what is only known of them.
NoteKind = Literal[
    "sign",
    "generated",
    "failed",
    "doubted",
    "unread",  # texts that a model has no vector of, and so items that are left out
    "shared pairs",
    "stated text",
    "unknown text",
    "shortened",
    "partial",
    "one seed",
    "one topic",
    "shared sentences",
    "few shared sentences",
    "uncounted text",
    "remark",
    "usage",
    "detail",
]
_WEIGHTS: Mapping[str, int] = {kind: weight for weight, kind in enumerate(get_args(NoteKind))}
_LIMITS = range(_WEIGHTS["generated"], _WEIGHTS["shared sentences"])
# what `overlap_line` explains in one line, at the weight of the first that is there
_SHARED: tuple[NoteKind, ...] = ("shared pairs", "shared sentences", "few shared sentences")
SHOWN = 5  # lines of notes below a table, besides that of its signs

# What a reader can do about a limit.
_ADVICE: Mapping[NoteKind, str] = {
    "failed": "train again before you use it",
    "shared pairs": "`embedlab compare --unseen` leaves them out",
    "unknown text": "it may have read the test",
    "shortened": "do not quote",
    "one seed": "train with --seeds 3",
    "one topic": "more datasets would tell",
}

# What people see of a note of this kind about one model, where that is not its text: of details
# nothing. What a model shares is behind its scores: a table explains those signs once.
_PHRASES: Mapping[NoteKind, tuple[str, ...]] = {
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

    __slots__ = ("kind", "models", "short_texts")
    kind: NoteKind
    models: tuple[str, ...]
    short_texts: tuple[str, ...]

    def __new__(
        cls,
        text: str,
        *,
        models: Sequence[str] = (),
        short_texts: Sequence[str] = (),
        kind: NoteKind = "remark",
    ) -> Self:
        """Return the note of TEXT."""
        note = super().__new__(cls, text)
        note.kind, note.models, note.short_texts = kind, tuple(models), tuple(short_texts)
        return note

    def with_text(self, text: str) -> "Note":
        """Return the same note with another full text."""
        return Note(text, models=self.models, short_texts=self.short_texts, kind=self.kind)


def kind_of(note: str) -> NoteKind:
    """Return the kind of a NOTE; a plain text is a remark."""
    return note.kind if isinstance(note, Note) else "remark"


def phrases_of(note: str) -> tuple[str, ...]:
    """Return what people see of a NOTE about one model, by its kind."""
    return _PHRASES.get(kind_of(note), (note,))


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
    most: int | None = SHOWN,
    more: str = "--notes shows {count} more {notes}",
) -> list[str]:
    """Return NOTES in few lines, the weightiest first: signs, MOST others, and how many are left
    out.

    Phrases of one kind about the same models share a line. MORE says where the others are. TITLES
    are the titles of the table's models by name; a phrase about all of them names none.
    """
    all_notes = [
        note if isinstance(note, Note) else Note(note, short_texts=[note]) for note in notes
    ]
    lines = _phrase_lines(all_notes, titles)
    is_shared = [any(note.kind == kind for note in all_notes) for kind in _SHARED]
    if any(is_shared):
        lines.append((_SHARED[is_shared.index(True)], overlap_line(*is_shared)))
    lines.sort(key=lambda line: _WEIGHTS[line[0]])
    sign_lines = [text for kind, text in lines if kind == "sign"]
    other_lines = []
    for kind, text in lines[len(sign_lines) :][:most]:
        limit = "! " if _WEIGHTS[kind] in _LIMITS else ""
        advice = f" ({_ADVICE[kind]})" if kind in _ADVICE else ""  # what to do about it
        other_lines.append(one_line(f"{limit}{text}{advice}"))
    shown = sign_lines + other_lines
    hidden = sum(not note.short_texts for note in all_notes) + len(lines) - len(shown)
    if hidden:
        shown.append(more.format(count=hidden, notes="note" if hidden == 1 else "notes"))
    return shown


def _phrase_lines(notes: Sequence[Note], titles: Mapping[str, str]) -> list[tuple[NoteKind, str]]:
    """Return the kind and text of each line: phrases of one kind about the same models."""
    models_of_phrase: dict[tuple[NoteKind, str], dict[str, None]] = {}
    for note in notes:
        for phrase in note.short_texts:
            models = models_of_phrase.setdefault((note.kind, one_line(phrase)), {})
            models |= dict.fromkeys(note.models)
    phrases: dict[tuple[NoteKind, object], list[str]] = {}  # by what they are about
    for (kind, phrase), models in models_of_phrase.items():
        # a phrase about the whole table is a line of its own
        phrases.setdefault((kind, tuple(models) or phrase), []).append(phrase)
    lines: list[tuple[NoteKind, str]] = []
    for (kind, about), texts in phrases.items():
        text = "; ".join(texts)
        if isinstance(about, tuple) and {*about} != {*titles}:
            text = f"{', '.join(titles.get(name, name) for name in about)}: {text}"
        lines.append((kind, text))
    return lines
