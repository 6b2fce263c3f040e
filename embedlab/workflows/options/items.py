"""The fields by which the items of an evaluation are selected: each class adds to the one above it,
so that commands share them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from embedlab.choices import SettingName, TableRows
from embedlab.workflows.options.flag import Flag

SELECTION = Flag(
    names=("--selection",),
    is_expert=True,
    metavar="NAME",
    help="Only items of the selection called NAME; `embedlab data ls --selections` lists them.",
)


UNSEEN = Flag(
    names=("--unseen",),
    help="Only items of whose text no compared model is known to have read any in training.",
)
_NOT_TRAINED_ON = "-trained:*"


def joined_expression(where: str, selection: str, *, unseen: bool) -> str:
    """Return the expression of what WHERE picks among the items of the SELECTION of that name, or
    among UNSEEN ones; empty for all.
    """
    terms = [
        *([f"@{selection.removeprefix('@')}"] if selection else []),
        *([_NOT_TRAINED_ON] if unseen else []),
    ]
    if not terms:
        return where.strip()
    from embedlab.analysis.expressions import (
        with_terms,
    )  # reads tables, which the words of options do not need

    return with_terms(where, terms)


@dataclass(frozen=True, kw_only=True)
class OfItems:
    """Which tasks and datasets, and which of their items."""

    suites: Annotated[
        Sequence[str],
        Flag(
            names=("--suite",),
            metavar="TASK",
            help="A task, mteb:BENCHMARK, or all; again for more. [default: sts]",
            completes="tasks",
        ),
    ] = ()
    tasks: Annotated[
        Sequence[str],
        Flag(
            names=("--task", "--dataset"),
            metavar="NAME",
            help="Only this dataset, your own file of pairs, hub:OWNER/NAME, mteb:NAME, probing "
            "files (gum-probing, probing:DIR) "
            "or a task.",
            completes="datasets",
        ),
    ] = ()
    where: Annotated[
        str,
        Flag(
            names=("--where",),
            metavar="EXPRESSION",
            help="Only items that fit, such as 'negation:one dice>0.5'; see `embedlab pairs`.",
        ),
    ] = ""
    selection: Annotated[str, SELECTION] = ""
    unseen: Annotated[bool, UNSEEN] = False
    setting: Annotated[
        SettingName,
        Flag(
            names=("--setting",),
            is_expert=True,
            help="How transfer and probing train their classifiers.",
        ),
    ] = "literature"

    @property
    def expression(self) -> str:
        """What picks the items; empty for all."""
        return joined_expression(self.where, self.selection, unseen=self.unseen)


@dataclass(frozen=True, kw_only=True)
class OfCommonItems(OfItems):
    """The same, where models need not score all pairs."""

    common: Annotated[
        bool,
        Flag(
            names=("--common",),
            is_expert=True,
            help="Take the pairs that all models score, where a brought file lacks some; titles "
            "count them.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class OfGroupedItems(OfCommonItems):
    """The same, in groups that are the rows of a table."""

    by: Annotated[
        str,
        Flag(
            names=("--by",),
            metavar="PROPERTY",
            help="Group items by dataset, source, dice, words, negation or another property (a "
            "wrong name lists them), numbers by fifths "
            "or, as words:3, by so many groups; again to cross two; or by an expression such "
            "as 'dice>0.5': what fits, and the rest.",
            completes="properties",
            after="tasks",
            typed=list[str],
            reads=",".join,
        ),
    ] = "dataset"
    rows: Annotated[
        TableRows,
        Flag(
            names=("--rows",),
            is_expert=True,
            help="One row a slice, or one row a model: no differences, and narrow enough for most "
            "papers.",
        ),
    ] = "slices"
