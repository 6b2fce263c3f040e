"""The functions of `import embedlab`: each takes what its command takes, and gives a frozen result
instead of printing it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedlab.choices import Aggregate, Correlation, ExplainView, SettingName, TableRows
from embedlab.core.errors import UsageError
from embedlab.encoders.encoder import PairScorer, Vectors
from embedlab.workflows.arguments import model_name, names_of, pairs_of, task_names, texts_of
from embedlab.workflows.compare import ComparisonReport, comparison_report
from embedlab.workflows.data_reports import items_report, overlaps_report
from embedlab.workflows.evaluate import EvaluationReport, evaluation_report
from embedlab.workflows.explain.run import ExplanationReport, explanation_report
from embedlab.workflows.models import load_members, resolve_model
from embedlab.workflows.nearest import nearest_table
from embedlab.workflows.notebook_session import reported, session_of, typed_models
from embedlab.workflows.options.compare import CompareOptions
from embedlab.workflows.options.data import ItemsOptions, OverlapsOptions
from embedlab.workflows.options.evaluate import EvaluateOptions
from embedlab.workflows.options.explain import ExplainOptions
from embedlab.workflows.options.pairs import PairsOptions
from embedlab.workflows.options.power import PowerOptions
from embedlab.workflows.options.sentences import NearestOptions
from embedlab.workflows.options.why import WhyOptions
from embedlab.workflows.pairs import pairs_report
from embedlab.workflows.power import PowerReport, power_report
from embedlab.workflows.report import Report, report_of
from embedlab.workflows.verify import VerificationReport, verification_report
from embedlab.workflows.why import WhyReport, why_report

Similarities = NDArray[np.float32]
OneModel = Any
"""A name, an object with `encode(sentences)`, or a function from texts to vectors."""
Models = Any
"""One of these, a list of them, or a dictionary of them by name."""
Tasks = Any
"""Names of tasks, datasets or files; a data frame, or a list of (sentence1, sentence2, score)."""


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A model of one or several seeds, ready to encode and to score."""

    name: str
    members: tuple[PairScorer, ...]

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """The vectors of SENTENCES, (sentences, dim) in float32; a model of several seeds, or
        without vectors, is a UsageError.
        """
        if len(self.members) > 1:
            raise UsageError(
                f"{self.name!r} has {len(self.members)} seeds",
                hint=f"load one: {self.members[0].name}",
            )
        encode_sentences: Callable[[Sequence[str]], Vectors] | None = getattr(
            self.members[0], "encode", None
        )
        if encode_sentences is None:
            raise UsageError(
                f"{self.name!r} has no vectors of sentences", hint="score() compares pairs with it"
            )
        return encode_sentences(texts_of(sentences, "sentences"))

    def score(self, first: Sequence[str], second: Sequence[str]) -> Similarities:
        """The similarity of each pair, (pairs,): the mean over the seeds."""
        sides = pairs_of(first, second)
        mean: Similarities = np.mean([member.score(*sides) for member in self.members], axis=0)
        return mean


def load(name: OneModel, *, progress: bool = False, **settings: Any) -> LoadedModel:
    """Load the model NAME (a run, run@seed, folder, hub id, catalog name, combination,
    word-vectors:FILE or dice).
    """
    session = session_of(load, progress, settings)
    model = resolve_model(model_name(name), session)
    return LoadedModel(name=model.name, members=tuple(load_members(model, session, cached=True)))


def encode(
    model: OneModel, sentences: Sequence[str], *, progress: bool = False, **settings: Any
) -> Vectors:
    """The vectors of SENTENCES by MODEL, (sentences, dim) in float32."""
    return load(model, progress=progress, **settings).encode(sentences)


def score_pairs(
    model: OneModel,
    first: Sequence[str],
    second: Sequence[str],
    *,
    progress: bool = False,
    **settings: Any,
) -> Similarities:
    """The similarity of each pair of sentences by MODEL, (pairs,)."""
    return load(model, progress=progress, **settings).score(first, second)


def evaluate(
    models: Models,
    *,
    suite: str | Sequence[str] = (),
    tasks: Tasks = (),
    by: str = "dataset",
    where: str = "",
    selection: str = "",
    unseen: bool = False,
    aggregate: Aggregate | None = None,
    metric: Correlation = "spearman",
    setting: SettingName = "literature",
    common: bool = False,
    rows: TableRows = "slices",
    again: bool = False,
    mteb: str | Path | None = None,
    submission: str | Path | None = None,
    progress: bool = False,
    **settings: Any,
) -> EvaluationReport:
    """Evaluate MODELS on a SUITE (a task, or "all") or on single TASKS and datasets, as `embedlab
    evaluate` does; results are stored.

    COMMON takes the pairs that all of them score, where a brought file lacks some; nothing is
    stored then. ROWS are those of the tables.
    """
    options = EvaluateOptions(
        models=typed_models(models),
        suites=names_of(suite),
        tasks=task_names(tasks),
        by=by,
        where=where,
        selection=selection,
        unseen=unseen,
        aggregate=aggregate,
        metric=metric,
        setting=setting,
        common=common,
        rows=rows,
        again=again,
        mteb=Path(mteb) if mteb is not None else None,
        submission=Path(submission) if submission is not None else None,
    )
    return reported(
        evaluate, lambda session: evaluation_report(options, session), progress, settings
    )


def compare(
    models: Models,
    *,
    suite: str | Sequence[str] = (),
    tasks: Tasks = (),
    by: str = "dataset",
    where: str = "",
    selection: str = "",
    unseen: bool = False,
    aggregate: Aggregate = "all",
    equivalent: float | None = None,
    letters: bool = False,
    another_dataset: bool = False,
    setting: SettingName = "literature",
    common: bool = False,
    published: bool = False,
    cost: bool = False,
    rows: TableRows = "slices",
    progress: bool = False,
    **settings: Any,
) -> ComparisonReport:
    """Compare MODELS with the first of them, with 95% intervals; EQUIVALENT is a margin in points.

    BY is a property of items (dataset, source, dice, words, negation …), WHERE an expression that
    picks some of them. A model that does not score all pairs of a dataset has no number there;
    COMMON takes the pairs that all models score. COST measures time, memory and bytes on this
    machine, and what fewer dimensions and bits lose: a second table, and the figure `costs`.
    """
    options = CompareOptions(
        models=typed_models(models),
        suites=names_of(suite),
        tasks=task_names(tasks),
        by=by,
        where=where,
        selection=selection,
        unseen=unseen,
        aggregate=aggregate,
        equivalent=equivalent,
        letters=letters,
        another_dataset=another_dataset,
        setting=setting,
        common=common,
        published=published,
        cost=cost,
        rows=rows,
    )
    return reported(
        compare, lambda session: comparison_report(options, session), progress, settings
    )


def power(
    first: OneModel,
    second: OneModel,
    *,
    suite: str | Sequence[str] = (),
    tasks: Tasks = (),
    where: str = "",
    selection: str = "",
    unseen: bool = False,
    detect: float | None = None,
    seeds: int | None = None,
    setting: SettingName = "literature",
    common: bool = False,
    progress: bool = False,
    **settings: Any,
) -> PowerReport:
    """Which difference between two models their items and seeds can detect, at 5% with 80% power.

    DETECT is a difference in points, of which the table says how many seeds it needs; SEEDS is the
    number of seeds of a plan.
    """
    options = PowerOptions(
        first=model_name(first),
        second=model_name(second),
        suites=names_of(suite),
        tasks=task_names(tasks),
        where=where,
        selection=selection,
        unseen=unseen,
        detect=detect,
        seeds=seeds,
        setting=setting,
        common=common,
    )
    return reported(power, lambda session: power_report(options, session), progress, settings)


def why(
    first: OneModel,
    second: OneModel,
    *,
    suite: str | Sequence[str] = (),
    tasks: Tasks = (),
    where: str = "",
    selection: str = "",
    unseen: bool = False,
    rows: int = 4,
    examples: int = 5,
    setting: SettingName = "literature",
    progress: bool = False,
    **settings: Any,
) -> WhyReport:
    """Why two models differ: on which kinds of items, what those have in common that one alone gets
    right, and typical ones.

    ROWS and EXAMPLES limit what the tables show; the frame has every row, and `explanation` what is
    behind them.
    """
    options = WhyOptions(
        first=model_name(first),
        second=model_name(second),
        suites=names_of(suite),
        tasks=task_names(tasks),
        where=where,
        selection=selection,
        unseen=unseen,
        rows=rows,
        examples=examples,
        setting=setting,
    )
    return reported(why, lambda session: why_report(options, session), progress, settings)


def pairs(
    models: Models,
    *,
    tasks: Tasks = (),
    where: str = "",
    selection: str = "",
    unseen: bool = False,
    name: str = "",
    sort: str | None = None,
    limit: int | None = None,
    progress: bool = False,
    **settings: Any,
) -> Report:
    """Single pairs with every model's similarity and rank error and the gap between models; WHERE
    is the filter of `embedlab pairs`.

    NAME calls what it picks @NAME in every filter from then on.
    """
    options = PairsOptions(
        models=typed_models(models),
        tasks=task_names(tasks),
        where=where,
        selection=selection,
        unseen=unseen,
        name=name,
        sort=sort,
        limit=limit,
    )
    return reported(pairs, lambda session: pairs_report(options, session), progress, settings)


def explain(
    first: str,
    second: str,
    models: Models,
    *,
    reference: str | None = None,
    instead: str | Sequence[str] = (),
    edits: str | Sequence[str] = (),
    view: ExplainView = "effects",
    progress: bool = False,
    **settings: Any,
) -> ExplanationReport:
    """What each word of two sentences does to their similarity: what is lost without it, in points
    of percentile rank.

    Ranks are among the pairs of the dataset REFERENCE. INSTEAD are edited sentences, EDITS rules
    that edit one. The arrays behind the frame are in `explanation`; of VIEW "tokens", the sum over
    pairs of tokens, in `token_views`.
    """
    (sentence,), (other,) = pairs_of([first], [second])
    options = ExplainOptions(
        first=sentence,
        second=other,
        models=typed_models(models),
        reference=reference,
        instead=names_of(instead),
        edits=names_of(edits),
        view=view,
    )
    return reported(
        explain, lambda session: explanation_report(options, session), progress, settings
    )


def nearest(
    sentence: str,
    models: Models,
    *,
    file: str | Path | None = None,
    column: str | None = None,
    top: int = 10,
    progress: bool = False,
    **settings: Any,
) -> Report:
    """The sentences of a FILE, or of the available STS datasets, that each model finds closest to
    SENTENCE: TOP of them.
    """
    if top < 1:
        raise UsageError(f"top is {top} sentences", hint="give 1 or more")
    options = NearestOptions(
        sentence=sentence,
        models=typed_models(models),
        file=Path(file) if file is not None else None,
        column=column,
        top=top,
    )
    return reported(
        nearest, lambda session: report_of([nearest_table(options, session)]), progress, settings
    )


def verify(
    first: str | Path, second: str | Path, *, progress: bool = False, **settings: Any
) -> VerificationReport:
    """Whether two files of results are of the same thing and agree: `.is_same`, and what
    differs.
    """
    return reported(
        verify,
        lambda session: verification_report(Path(first), Path(second), session),
        progress,
        settings,
    )


def items(names: str | Sequence[str], **settings: Any) -> Report:
    """The scored items of the classified datasets in NAMES, by the numbers with which a file of
    predictions names them.
    """
    options = ItemsOptions(names=names_of(names))
    return reported(items, lambda session: items_report(options, session.settings), False, settings)


def overlaps(training: str, evaluations: str | Sequence[str], **settings: Any) -> Report:
    """How many sentences and pairs of the sets in EVALUATIONS the set TRAINING holds too, whatever
    their case and punctuation.
    """
    options = OverlapsOptions(training=training, evaluations=names_of(evaluations))
    return reported(
        overlaps, lambda session: overlaps_report(options, session.settings), False, settings
    )
