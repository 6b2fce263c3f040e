"""`embedlab score`: how similar two sentences are, to each of some models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from embedlab.commands.command import command
from embedlab.commands.options import NAMED_MODELS, Flag
from embedlab.core.session import Session
from embedlab.reports.report import Report
from embedlab.reports.tables import Table, Value, columns_of


@dataclass(frozen=True, kw_only=True)
class TwoSentences:
    """Two sentences, and the models that compare them."""

    first: Annotated[str, Flag(metavar="SENTENCE1", help="A sentence.")]
    second: Annotated[str, Flag(metavar="SENTENCE2", help="Another sentence.")]
    models: Annotated[Sequence[str], NAMED_MODELS]


@command("data runs machine output")
def score(options: TwoSentences, session: Session) -> Report:
    """Print the similarity of two sentences, one row per model; a run with several seeds shows
    their mean and spread.

    Examples:
        $ embedlab score "A man plays a guitar." "Someone is making music." --model dice --model
          snli-supcl
        $ embedlab score "It rains." "It does not rain." --model average:sbert,defsent --json

    """
    import numpy as np

    from embedlab.evaluation import load_members, refuse_blank, resolve_models
    from embedlab.reports.notes import generated_note, model_marks, model_notes, with_marks

    first, second = options.first, options.second
    refuse_blank([first, second])
    rows: list[dict[str, Value]] = []
    notes: list[str] = []
    models = resolve_models(options.models, session)
    for name, model in zip(options.models, models, strict=True):
        members = load_members(model, session, cached=False)
        similarities = [float(member.score([first], [second])[0]) for member in members]
        for text in (text for member in members for text in member.facts.notes):
            session.note(f"{name}: {text}")
        if not np.isfinite(similarities).all():
            notes.append(f"{name}: no similarity of these sentences")
        notes += model_notes(model, members)
        rows.append(
            {
                "model": name,
                "similarity": float(np.mean(similarities)),
                "sd": float(np.std(similarities, ddof=1)) if len(similarities) > 1 else None,
                "seeds": len(similarities),
            }
        )
    marks = model_marks(models)
    columns = columns_of("model", "similarity .4", "sd = sd over seeds .4", "seeds")
    title = with_marks(f"{first} / {second}", marks)
    return Report.of(Table(title, columns, rows, [*generated_note(marks), *notes]))
