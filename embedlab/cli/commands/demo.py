"""`embedlab demo`: a real model fine-tuned and compared on real pairs, or two recipes on generated
sentences.
"""

from dataclasses import dataclass, replace
from typing import Annotated

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.flag import Flag

EXAMPLES = examples(
    "embedlab demo", "embedlab demo --runs /tmp/try --format markdown", "embedlab demo --sample"
)

NEXT = """
What you saw: a published model, the same fine-tuned in two ways that differ in one term of the loss, static vectors and word overlap.
Try next:
  embedlab pairs minilm demo-supcl --dataset starter --sort gap --limit 5     where the two disagree most
  embedlab compare minilm demo-ce demo-supcl dice --task starter --by dice    by word overlap
  embedlab score "A cat sleeps." "A cat is awake." --model minilm --model demo-supcl --model dice
  embedlab tui --data starter                                                 all of it in a dashboard
  embedlab train snli-supcl --data DIR --seeds 3                              the real thing, with a folder of corpora or the hub
"""
NEXT_SAMPLE = """
What you saw: two recipes that differ in one loss, trained on generated sentences, beside plain word overlap (dice).
Try next:
  embedlab pairs demo-ce demo-supcl --sample --sort gap        where the two disagree most
  embedlab compare demo-ce demo-supcl --sample --by dice       by word overlap
  embedlab score "A cat sleeps." "A cat is awake." --sample --model demo-supcl
  embedlab train snli-supcl --data DIR --seeds 3               the real thing, with a folder of corpora or the hub
"""


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """What is shown."""

    sample: Annotated[
        bool, Flag(names=("--sample",), help="On generated sentences, with a small random encoder.")
    ] = False


@common("runs", "machine", "output")
@takes
def demo(world: DemoOptions, *, terminal: Terminal) -> None:
    """Fine-tune MiniLM on SNLI with and without a contrastive term, compare all on real pairs, and
    say what was found.

    The pairs and premises are the starter set inside embedlab, the models come with the extra
    `demo`: no network is needed. It computes on a processor unless --device says otherwise.
    """
    from embedlab.workflows.demo import demo_report, demo_settings, sample_demo_tables

    settings = terminal.settings
    if world.sample or settings.sample:
        terminal = Terminal(
            replace(settings, sample=True, threads=settings.threads or 1)
        )  # too small to share
        terminal.show(*sample_demo_tables(terminal))
        terminal.note_lines(NEXT_SAMPLE)
        return
    terminal = Terminal(demo_settings(settings))
    terminal.show(*demo_report(terminal).tables)
    terminal.note_lines(NEXT)
