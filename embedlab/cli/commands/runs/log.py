"""`embedlab runs log`: the events of one run."""

from typing import TYPE_CHECKING

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.runs import LogOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from embedlab.runs.events import Event


EXAMPLES = examples("embedlab runs log snli-supcl", "embedlab runs log snli-supcl@1 --follow")


@common("data", "runs", "output")
@takes
def log(options: LogOptions, *, terminal: Terminal) -> None:
    """Print a run's events in words, or with --format json as JSON lines; then what a detached
    process printed.
    """
    from embedlab.core.foreign_files import refuse_links
    from embedlab.runs.store import select_runs
    from embedlab.workflows.runs import read_events

    chosen = select_runs(terminal.settings.runs, options.run)[0]
    refuse_links(chosen.path)
    for event in read_events(chosen, follows=options.follow):
        _write(event, terminal)
    if chosen.log_file.exists() and terminal.settings.format != "json":
        terminal.write(
            f"--- "
            f"{chosen.log_file}\n{chosen.log_file.read_text(encoding='utf-8', errors='replace')}"
        )


def _write(shown_events: "Sequence[Event]", terminal: Terminal) -> None:
    from embedlab.reports.runs import event_line
    from embedlab.runs import events

    if terminal.settings.format == "json":
        terminal.write_json("".join(events.to_line(event) for event in shown_events))
    else:
        terminal.write("".join(f"{event_line(event)}\n" for event in shown_events))
