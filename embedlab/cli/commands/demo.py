"""`embedlab demo`: a real model fine-tuned and compared on real pairs."""

from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab demo", "embedlab demo --runs /tmp/try --format markdown")

NEXT = """
What you saw: a published model, the same fine-tuned in two ways that differ in one term of the loss, static vectors and word overlap.
Try next:
  embedlab pairs minilm demo-supcl --dataset starter --sort gap --limit 5     where the two disagree most
  embedlab compare minilm demo-ce demo-supcl dice --task starter --by dice    by word overlap
  embedlab score "A cat sleeps." "A cat is awake." --model minilm --model demo-supcl --model dice
  embedlab tui --data starter                                                 all of it in a dashboard
  embedlab train snli-supcl --data DIR --seeds 3                              the real thing, with a folder of corpora or the hub
"""


@common("runs", "machine", "output")
def demo(*, terminal: Terminal) -> None:
    """Fine-tune MiniLM on SNLI with and without a contrastive term, compare all on real pairs, and
    say what was found.

    The pairs and premises are the starter set inside embedlab, the models come with the extra
    `demo`: no network is needed. It computes on a processor unless --device says otherwise.
    """
    from embedlab.workflows.demo import demo_report, demo_settings

    terminal = Terminal(demo_settings(terminal.settings))
    terminal.show(*demo_report(terminal).tables)
    terminal.note_lines(NEXT)
