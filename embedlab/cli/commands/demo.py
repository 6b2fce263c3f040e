"""`embedlab demo`: the whole job in a minute, on generated sentences with a small random encoder."""

from dataclasses import replace

from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab demo", "embedlab demo --runs /tmp/try --format markdown")

NEXT = """
What you saw: two recipes that differ in one loss, trained on generated sentences, beside plain word overlap (dice).
Try next:
  embedlab pairs demo-ce demo-supcl --sample --sort gap        where the two disagree most
  embedlab compare demo-ce demo-supcl --sample --by dice       by word overlap
  embedlab score "A cat sleeps." "A cat is awake." --sample --model demo-supcl
  embedlab train snli-supcl --data DIR --seeds 3               the real thing, with a folder of corpora or the hub
"""


@common("runs", "machine", "output")
def demo(*, terminal: Terminal) -> None:
    """Train two recipes on the sample world, evaluate and compare them, and say what to try next."""
    from embedlab.workflows.demo import demo_tables

    terminal = Terminal(replace(terminal.settings, sample=True, threads=terminal.settings.threads or 1))  # too small to share
    terminal.show(*demo_tables(terminal))
    terminal.note_lines(NEXT)
