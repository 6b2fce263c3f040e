"""`embedlab demo`: the whole job in a minute, on generated sentences with a small random encoder."""

from dataclasses import replace

from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab demo", "embedlab demo --runs /tmp/try --format markdown")

RECIPES = {"demo-ce": "snli-ce", "demo-supcl": "snli-supcl"}
# A random encoder learns from nothing: it needs a higher rate and more passes than a pre-trained one.
OVERRIDES = ("optim.lr=3e-3", "optim.epochs=2")

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
    from embedlab.reports.pair_tables import dataset_table
    from embedlab.workflows.sample_encoder import build_sample_encoder
    from embedlab.workflows.scoring import evaluate_members, keep, score
    from embedlab.workflows.train.plan import TrainOptions, plan_training
    from embedlab.workflows.train.run import train_runs

    terminal = Terminal(replace(terminal.settings, sample=True, threads=terminal.settings.threads or 1))  # too small to share
    for name, base in RECIPES.items():
        options = TrainOptions(recipe=base, overrides=OVERRIDES, name=name, seed=1, resume=True)
        plan = plan_training(options, terminal.settings)
        build_sample_encoder(plan.start, terminal.settings)
        for note in plan.notes:
            terminal.note(note)
        train_runs(plan.recipe, plan.todo, terminal)
    scored, _ = score([*RECIPES, "dice"], terminal)

    from embedlab.analysis.comparison import compare_models
    from embedlab.reports.comparison_table import comparison_table

    evaluations = evaluate_members(scored)
    keep(scored, evaluations, terminal)
    with terminal.progress("comparing") as tick:
        comparison = compare_models(scored.table, scored.models, progress=tick)
    terminal.show(dataset_table(scored, evaluations, ["wmean"], "spearman"), comparison_table(comparison, scored, []))
    terminal.note_lines(NEXT)
