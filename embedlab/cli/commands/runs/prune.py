"""`embedlab runs prune`: what no run needs any more, deleted."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.runs import PruneOptions

EXAMPLES = examples("embedlab runs prune", "embedlab runs prune snli-supcl sbert@3 --json")


@common("data", "runs", "output")
@takes
def prune(options: PruneOptions, *, terminal: Terminal) -> None:
    """Delete the checkpoints of finished runs, and what killed processes left behind, also of a run
    that was being removed.

    Models, heads, scores and the checkpoints of unfinished runs stay; a running one is left alone.
    """
    from embedlab.workflows.runs import prune_runs

    pruned = prune_runs(options.names, terminal.settings)
    text = f"freed {pruned.freed_bytes:,} bytes of {len(pruned.freed)} of {pruned.looked_at} runs"
    terminal.done(
        f"{text}; left alone: {', '.join(pruned.running)}" if pruned.running else text,
        freed_bytes=pruned.freed_bytes,
        pruned=list(pruned.freed),
        running=list(pruned.running),
    )
