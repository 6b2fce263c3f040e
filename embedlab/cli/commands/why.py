"""`embedlab why`: where two models differ, what the items have in common on which one alone is
right, and how steady that is.
"""

from dataclasses import replace

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import ShownOptions, answer
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import UsageError
from embedlab.workflows.options.models import OfFile
from embedlab.workflows.options.why import WhyOptions

EXAMPLES = examples(
    "embedlab why dice minilm --data starter",
    "embedlab why sbert defsent --task sick-r --where 'negation:one'",
)


@common("data", "runs", "machine", "output", "latex")
@takes
def why(options: WhyOptions, rows: OfFile, shown: ShownOptions, *, terminal: Terminal) -> None:
    """Say why two models differ: on which kinds of items, by every property, and what the items
    have in common that one alone gets right.

    The first table has the kinds of items on which the second model's lead is most unlike its lead
    on all others, the surest first. The second one has combinations of two properties: searched on
    half of the topics and of the seeds, confirmed on the others.
    """
    from embedlab.workflows.own_files import models_and_files
    from embedlab.workflows.why import why_report

    typed = [options.first, options.second, *([rows.file] if rows.file is not None else [])]
    has_tasks = bool(options.tasks or options.suites)
    names, files = models_and_files(typed, has_tasks, terminal.settings)
    if len(names) != 2:
        raise UsageError(
            f"{len(names)} models are named, and two are compared",
            hint=f"embedlab why {' '.join([*names, *['MODEL'] * 2][:2])} FILE",
        )
    first, second = names
    options = replace(options, first=first, second=second, tasks=options.tasks or files)

    answer(lambda: why_report(options, terminal), shown, "why", terminal)
