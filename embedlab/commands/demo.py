"""`embedlab demo`: a real model fine-tuned in two ways and compared on real pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from embedlab.commands.command import command
from embedlab.commands.compare import CompareOptions, compare
from embedlab.commands.models import list_models
from embedlab.commands.terminal import Terminal
from embedlab.commands.training_plan import TrainOptions
from embedlab.core.errors import MissingError
from embedlab.core.paths import STARTER, STARTER_FOLDER
from embedlab.core.session import Session
from embedlab.core.settings import Settings

if TYPE_CHECKING:
    import polars as pl

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


NEXT = """
What you saw: a published model, the same fine-tuned in two ways that differ in one term of the loss, static vectors and word overlap.
Try next:
  embedlab pairs minilm demo-supcl --dataset starter --sort gap --limit 5     where the two disagree most
  embedlab compare minilm demo-ce demo-supcl dice --task starter --by dice    by word overlap
  embedlab score "A cat sleeps." "A cat is awake." --model minilm --model demo-supcl --model dice
  embedlab tui --data starter                                                 all of it in a dashboard
  embedlab train snli-supcl --data DIR --seeds 3                              the real thing, with a folder of corpora or the hub
"""


@command(
    *("runs", "machine", "output"),
    examples=("embedlab demo", "embedlab demo --runs /tmp/try --format markdown"),
)
def demo(session: Terminal) -> Report:
    """Fine-tune MiniLM on SNLI with and without a contrastive term, compare all on real pairs, and
    say what was found.

    The pairs and premises are the starter set inside embedlab, the models come with the extra
    `demo`: no network is needed. It computes on a processor unless --device says otherwise.
    """
    return demo_report(Terminal(demo_settings(session.settings)))


def demo_report(session: Session) -> Report:
    """The comparison of what MiniLM was with what it is after both trainings, where they are not
    done yet; its notes begin with what was found, in three sentences.
    """
    from embedlab.commands.training import train_runs
    from embedlab.commands.training_plan import plan_training
    from embedlab.models.packaged import PACKAGED

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
    report = compare(CompareOptions(models=models, tasks=(STARTER,), letters=True), session)
    findings = tuple(found_sentences(report.frame))
    (table,) = report.tables
    return replace(
        report,
        tables=(replace(table, notes=[*findings, *table.notes]),),
        notes=(*findings, *report.notes),
        last=NEXT,
    )


def demo_settings(settings: Settings) -> Settings:
    """Return the SETTINGS of the demo on real pairs: of the starter set alone, without the network,
    and on a processor.
    """
    device = (
        "cpu" if settings.device == "auto" else settings.device
    )  # the numbers of its page hold there
    return replace(settings, data=STARTER_FOLDER, offline=True, device=device)


@dataclass(frozen=True, kw_only=True)
class _Row:
    """What a comparison on one dataset says of a model."""

    model: str
    score: float
    letters: str
    items: int

    def is_distinguished(self, other: _Row) -> bool:
        """Return whether the comparison distinguishes the two models: they have letters, and none
        in common.
        """
        return bool(self.letters and other.letters) and not set(self.letters) & set(other.letters)

    def order(self, other: _Row) -> str:
        """Return how the two scores are ordered, in words; no order where the models are not
        distinguished.
        """
        if not self.is_distinguished(other):
            return "cannot be distinguished from"
        return "scores higher than" if self.score > other.score else "scores lower than"

    def points(self, other: _Row) -> str:
        """Return the difference of the two scores; the table has it with more digits, and its
        interval.
        """
        return f"{self.score - other.score:+z.1f}"


def found_sentences(frame: pl.DataFrame) -> Iterator[str]:
    """Yield what was found in three sentences; FRAME is that of a comparison on one dataset.

    Models are put into an order only where the comparison distinguishes them, which it stars in the
    row of the first model.
    """
    rows = {
        row["model"]: _Row(**row)
        for row in frame.select("model", "score", "letters", "items").iter_rows(named=True)
    }
    start, plain, contrastive = (rows[name] for name in (UNTOUCHED, *RECIPES))
    orders: dict[str, list[str]] = {}
    for name, what in ((STATIC, "static vectors"), (OVERLAP, "word overlap")):
        if (other := rows.get(name)) is not None:
            orders.setdefault(start.order(other), []).append(
                f"{what} ({name}, {start.points(other)})"
            )
    against = ", and ".join(f"{order} {' and '.join(others)}" for order, others in orders.items())
    how = ((plain, "without the contrastive term"), (contrastive, "with it"))
    tuned = ", and ".join(
        f"{row.order(start)} before {term} ({row.model}, {row.points(start)})" for row, term in how
    )
    yield f"1. On {start.items:,} pairs of captions {start.model} {against}."
    yield f"2. Fine-tuned on {ROWS:,} pairs of SNLI it {tuned}."
    yield (
        f"3. {contrastive.model} {contrastive.order(plain)} {plain.model} "
        f"({contrastive.points(plain)}); "
        "with one seed each that is about these two models, not about their recipes."
    )
