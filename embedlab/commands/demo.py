"""`embedlab demo`: a real model fine-tuned in two ways and compared on real pairs."""

from __future__ import annotations

from dataclasses import replace

from embedlab.commands.command import command
from embedlab.commands.compare import CompareOptions, compare
from embedlab.commands.models import list_models
from embedlab.commands.terminal import Terminal
from embedlab.commands.training_plan import TrainOptions
from embedlab.core.errors import MissingError
from embedlab.core.paths import STARTER, STARTER_FOLDER
from embedlab.core.session import Session
from embedlab.core.settings import Settings
from embedlab.reports.report import Report

EXTRA = "pip install 'embedlab[demo]'"
RECIPES = {"demo-ce": "snli-ce", "demo-supcl": "snli-supcl"}
UNTOUCHED, STATIC, OVERLAP = "minilm", "wordllama", "dice"
ROWS = 2_000
OVERRIDES = (
    f"data.rows={ROWS}",
    "encoder.pooling=mean",
    "evaluate.tasks=[]",
    "evaluate.dev=none",
)  # pooled as the untouched model is


NEXT = "next: embedlab why minilm demo-supcl --data starter, embedlab tui"


@command("runs machine output")
def demo(session: Terminal) -> Report:
    """Fine-tune MiniLM on SNLI with and without a contrastive term, and compare all on real pairs.

    The pairs and premises are the starter set inside embedlab, the models come with the extra
    `demo`: no network is needed. It runs on the CPU unless --device says otherwise.

    Examples:
        $ embedlab demo
        $ embedlab demo --runs /tmp/try --format markdown

    """
    return demo_report(Terminal(demo_settings(session.settings)))


def demo_report(session: Session) -> Report:
    """The comparison of what MiniLM was with what it is after both trainings, where they are not
    done yet.
    """
    from embedlab.commands.training import train_runs
    from embedlab.commands.training_plan import plan_training
    from embedlab.models.published import PACKAGED

    if PACKAGED[UNTOUCHED].state == "missing":
        raise MissingError(
            f"the demo needs the model {UNTOUCHED!r}",
            hint=EXTRA,
        )
    options = TrainOptions(recipe="", encoder=UNTOUCHED, overrides=OVERRIDES, seed=1, resume=True)
    for name, base in RECIPES.items():
        plan = plan_training(replace(options, recipe=base, name=name), session.settings)
        for note in plan.notes:
            session.note(note)
        train_runs(plan.recipe, plan.todo, session)
    has_static = any(model.name == STATIC and model.state == "installed" for model in list_models())
    if not has_static:
        session.note(f"without the static vectors of {STATIC}, which are not installed: {EXTRA}")
    models = [UNTOUCHED, *RECIPES, *([STATIC] if has_static else []), OVERLAP]
    compare_options = CompareOptions(models=models, tasks=(STARTER,), letters=True, rows="models")
    return replace(compare(compare_options, session), last=NEXT)


def demo_settings(settings: Settings) -> Settings:
    """Return the SETTINGS of the demo on real pairs: of the starter set alone, without the network,
    and on a processor.
    """
    device = (
        "cpu" if settings.device == "auto" else settings.device
    )  # the numbers of its page hold there
    return replace(settings, data=STARTER_FOLDER, offline=True, device=device)
