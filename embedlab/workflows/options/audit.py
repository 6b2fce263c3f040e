"""What a user can select of an audit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.models import MODEL, with_aliases


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """A model, the tasks whose items it may have read, and the models that it is compared with."""

    model: Annotated[str, MODEL]
    suites: Annotated[
        Sequence[str],
        Flag(
            names=("--suite",),
            metavar="TASK",
            help="A task; again for more. [default: sts]",
            completes="tasks",
        ),
    ] = ()
    tasks: Annotated[
        Sequence[str],
        Flag(
            names=("--task", "--dataset"),
            metavar="NAME",
            help="Only this dataset, your own file of pairs, or a task.",
            completes="datasets",
        ),
    ] = ()
    reference: Annotated[
        str,
        Flag(
            names=("--reference",),
            metavar="MODEL",
            help="A model that has not read the items.",
            completes="models",
            reads=with_aliases,
        ),
    ] = "wordllama"
    placebo: Annotated[
        str,
        Flag(
            names=("--placebo",),
            metavar="MODEL",
            help="Another one: what it shows is not because of reading.",
            completes="models",
            reads=with_aliases,
        ),
    ] = "dice"
