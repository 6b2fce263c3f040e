"""Two typed sentences scored by models."""

from collections.abc import Sequence

import numpy as np

from embedlab.core.errors import UsageError
from embedlab.reports.notes import generated_note, model_marks, model_notes, with_marks
from embedlab.reports.tables import Column, Table, Value
from embedlab.workflows.models import load_members, resolve_models
from embedlab.workflows.session import Session

Row = dict[str, Value]

SCORED = (
    Column(key="model", title="model"),
    Column(key="similarity", title="similarity", digits=4),
    Column(key="sd", title="sd over seeds", digits=4),
    Column(key="seeds", title="seeds"),
)


def refuse_blank(sentences: Sequence[str]) -> None:
    """Refuse a typed sentence without a character that is seen: a similarity to nothing means
    nothing.
    """
    if (
        blank := next((sentence for sentence in sentences if not sentence.strip()), None)
    ) is not None:
        raise UsageError(f"a sentence is blank: {blank!r}", hint="give each sentence in quotes")


def similarity_table(first: str, second: str, names: Sequence[str], session: Session) -> Table:
    """Return the similarity of two sentences, one row a model: the mean and the spread over its
    seeds.
    """
    refuse_blank([first, second])
    rows: list[Row] = []
    notes: list[str] = []
    models = resolve_models(names, session)
    for name, model in zip(names, models, strict=True):
        members = load_members(model, session, cached=False)
        similarities = [float(member.score([first], [second])[0]) for member in members]
        for text in dict.fromkeys(
            f"{name}: {text}" for member in members for text in member.facts.notes
        ):
            session.note(text)
        notes += model_notes(model, members)
        spread = float(np.std(similarities, ddof=1)) if len(similarities) > 1 else None
        rows.append(
            {
                "model": name,
                "similarity": float(np.mean(similarities)),
                "sd": spread,
                "seeds": len(similarities),
            }
        )
    marks = model_marks(models)
    return Table(
        title=with_marks(f"{first} / {second}", marks),
        columns=SCORED,
        rows=rows,
        notes=[*generated_note(marks), *notes],
    )
