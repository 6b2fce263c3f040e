"""`embedlab runs rename`: another name for a run."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.runs import RenameOptions

EXAMPLES = examples(
    "embedlab runs rename snli-supcl snli-supcl-old",
    "embedlab runs rename sbert sbert-cased --runs /data/runs",
)


@common("data", "runs", "output")
@takes
def rename(options: RenameOptions, *, terminal: Terminal) -> None:
    """Give a run with all its seeds another name."""
    from embedlab.models.catalog import refuse_other_meaning
    from embedlab.runs.store import rename_runs

    refuse_other_meaning(options.new)
    rename_runs(terminal.settings.runs, options.run, options.new)
    terminal.done(f"{options.run} is now {options.new}", run=options.run, new=options.new)
