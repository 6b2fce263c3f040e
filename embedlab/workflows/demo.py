"""The whole job in a minute: two recipes trained on generated sentences, then evaluated and compared with word overlap."""

from embedlab.evaluation.task_comparison import Gathered, Slicing
from embedlab.reports.comparison_table import comparison_table
from embedlab.reports.notes import data_notes
from embedlab.reports.pair_tables import dataset_table
from embedlab.reports.tables import Table
from embedlab.workflows.sample_encoder import build_sample_encoder
from embedlab.workflows.scoring import evaluate_members, keep, score
from embedlab.workflows.session import Session
from embedlab.workflows.train.plan import TrainOptions, plan_training
from embedlab.workflows.train.run import train_runs

RECIPES = {"demo-ce": "snli-ce", "demo-supcl": "snli-supcl"}
# A random encoder learns from nothing: it needs a higher rate and more passes than a pre-trained one.
OVERRIDES = ("optim.lr=3e-3", "optim.epochs=2")


def demo_tables(session: Session) -> tuple[Table, Table]:
    """Train both recipes where that is not done yet; return the table of their scores and that of their differences."""
    for name, base in RECIPES.items():
        options = TrainOptions(recipe=base, overrides=OVERRIDES, name=name, seed=1, resume=True)
        plan = plan_training(options, session.settings)
        build_sample_encoder(plan.start, session.settings)
        for note in plan.notes:
            session.note(note)
        train_runs(plan.recipe, plan.todo, session)
    scored, _ = score([*RECIPES, "dice"], session)
    evaluations = evaluate_members(scored)
    keep(scored, evaluations, session)
    with session.progress("comparing") as tick:
        compared = Gathered.of_pairs(scored, data_notes(scored)).compared(Slicing(), tick)
    return dataset_table(scored, evaluations, ["wmean"], "spearman"), comparison_table(compared)
