"""What is known of datasets, as reports: their items, and what they share with a training set."""

from embedlab.core.settings import Settings
from embedlab.reports.notes import generated_note, partial_notes, with_marks
from embedlab.reports.tables import Column, Role, Table
from embedlab.workflows.data import overlaps_of
from embedlab.workflows.items import listed_items
from embedlab.workflows.options.data import ItemsOptions, OverlapsOptions
from embedlab.workflows.report import Report


def items_report(options: ItemsOptions, settings: Settings) -> Report:
    """The scored items of datasets; the frame has a row an item."""
    items = listed_items(options.names, settings)
    notes = (*generated_note(items.marks), *partial_notes(items.states))
    roles: dict[str, Role] = {
        key: "sentence" for key in items.frame.columns if key.startswith("sentence")
    }
    columns = tuple(Column(key=key, title=key, role=roles.get(key)) for key in items.frame.columns)
    table = Table(
        title=with_marks("Items", items.marks),
        columns=columns,
        rows=items.frame.to_dicts(),
        notes=notes,
    )
    return Report(frame=items.frame, tables=(table,), notes=notes)


def overlaps_report(options: OverlapsOptions, settings: Settings) -> Report:
    """What evaluation sets share with a training set; the frame has a row an evaluation set."""
    overlaps = overlaps_of(options.training, options.evaluations, settings)
    titles = ("training", "evaluation", "sentences", "shared_sentences", "pairs", "shared_pairs")
    columns = tuple(Column(key=key, title=key.replace("_", " ")) for key in titles)
    table = Table(
        title=with_marks("Overlaps", overlaps.marks),
        columns=columns,
        rows=overlaps.frame.to_dicts(),
        notes=overlaps.notes,
    )
    return Report(frame=overlaps.frame, tables=(table,), notes=overlaps.notes)
