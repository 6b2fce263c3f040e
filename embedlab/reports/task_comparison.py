"""The table of models compared on several tasks."""

from collections.abc import Sequence

from embedlab.analysis.comparison import ComparedSlice, comparison_notes
from embedlab.core.names import has_own_units
from embedlab.evaluation.task_comparison import TaskComparison
from embedlab.models.grammar import titles_of
from embedlab.reports.comparison_cells import columns_of, overlap_footnotes, row_of
from embedlab.reports.frames import compared_frame
from embedlab.reports.notes import sample_note, slice_note, usage_notes, with_marks
from embedlab.reports.tables import Column, Role, Table, TableCell

_KEYS: tuple[tuple[str, str, Role], ...] = (("task", "task", "group"), ("slice", "dataset", "key"), ("metric", "metric", "key"))


def task_comparison_table(found: TaskComparison) -> Table:
    """Return one row a slice of a task; one column a model, then one a difference."""
    names = [model.name for model in found.models]
    rows = [
        {
            **row_of(one, found.shared, scale=1 if has_own_units(one.task) else 100),
            "task": one.task,
            "slice": TableCell(value=one.key, text=one.title.removesuffix(f" {one.metric}")),
            "metric": one.metric,
        }
        for one in found.slices
    ]
    used = usage_notes([model for model in found.models if model.members[0] in found.facts], found.facts)
    tested = [
        *comparison_notes(found.slices, found.models, found.test, found.margin),
        *_slice_notes(found.slices),
        *_test_notes(found.slices),
    ]
    columns = [Column(key=key, title=title if key != "slice" else found.by, role=role) for key, title, role in _KEYS]
    columns += [Column(key="pairs", title="items"), *columns_of(names, names[0], with_p=True)]
    return Table(
        title=with_marks("x 100", found.marks),
        columns=columns,
        rows=rows,
        frame=compared_frame(found.slices, marks=found.marks, by=found.by, shared=found.shared),
        notes=list(
            dict.fromkeys(
                [*sample_note(found.marks), *_chosen_items(found), *found.notes, *overlap_footnotes(found.counts), *used, *tested]
            )
        ),
        signatures=found.signatures,
        titles=titles_of(names),
    )


def _chosen_items(found: TaskComparison) -> list[str]:
    """Return which items the numbers are of, where they are not all, and how their sources are put together."""
    settings = {one.task: one.setting for one in found.slices if one.setting is not None}
    return [
        *([f"items that fit {found.where!r}"] if found.where else []),
        *(f"{task}: aggregated by {setting!r}" for task, setting in settings.items() if found.by == "dataset"),
    ]


def _slice_notes(slices: Sequence[ComparedSlice]) -> list[str]:
    return [slice_note(one.key, note) for one in slices for note in one.notes]


def _test_notes(slices: Sequence[ComparedSlice]) -> list[str]:
    """Return which tests the p of the table are of."""
    tests = {difference.test for one in slices for difference in one.differences.values() if difference.p == difference.p}
    return ["p of accuracies: McNemar, of single models"] if "mcnemar" in tests else []
