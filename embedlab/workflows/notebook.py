"""The functions of `import embedlab`: each takes what its command takes, and gives a frozen result instead of printing it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from embedlab.choices import Aggregate, Correlation, SettingName, Test
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.progress import ProgressDisplay
from embedlab.core.settings import Settings, load_settings, trust_notice
from embedlab.encoders.encoder import PairScorer, Vectors
from embedlab.models.aliases import declared
from embedlab.workflows.arguments import names_of, pairs_of, refuse_unknown_keywords, seeds_of, texts_of, values_of
from embedlab.workflows.compare import CompareOptions, comparison_report
from embedlab.workflows.evaluate import EvaluateOptions, evaluation_report
from embedlab.workflows.models import load_members, resolve_model
from embedlab.workflows.pairs import PairsOptions, pairs_report
from embedlab.workflows.power import PowerOptions, power_report
from embedlab.workflows.report import Report
from embedlab.workflows.session import successive
from embedlab.workflows.train.plan import TrainOptions
from embedlab.workflows.train.report import Trained, training_report
from embedlab.workflows.why import WhyOptions, WhyReport, why_report

Similarities = NDArray[np.float32]
AnyReport = TypeVar("AnyReport", bound=Report)


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A model of one or several seeds, ready to encode and to score."""

    name: str
    members: tuple[PairScorer, ...]

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """The vectors of SENTENCES, (sentences, dim) in float32; a model of several seeds, or without vectors, is a UsageError."""
        if len(self.members) > 1:
            raise UsageError(f"{self.name!r} has {len(self.members)} seeds", hint=f"load one: {self.members[0].name}")
        encode_sentences: Callable[[Sequence[str]], Vectors] | None = getattr(self.members[0], "encode", None)
        if encode_sentences is None:
            raise UsageError(f"{self.name!r} has no vectors of sentences", hint="score() compares pairs with it")
        return encode_sentences(texts_of(sentences, "sentences"))

    def score(self, first: Sequence[str], second: Sequence[str]) -> Similarities:
        """The similarity of each pair, (pairs,): the mean over the seeds."""
        sides = pairs_of(first, second)
        mean: Similarities = np.mean([member.score(*sides) for member in self.members], axis=0)
        return mean


@dataclass(frozen=True, kw_only=True)
class NotebookSession:
    """A session without a terminal: what is said is gathered, progress is shown as bars where that is wanted."""

    settings: Settings
    shows_progress: bool = False
    said: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Gather TEXT."""
        self.said.append(text)

    def warn(self, text: str) -> None:
        """Gather TEXT."""
        self.said.append(text)

    def report(self, error: EmbedlabError) -> None:
        """Gather the message of an error."""
        self.said.append(error.message)

    @contextmanager
    def progress(self, label: str) -> Iterator[ProgressDisplay]:
        """Show a bar with a LABEL, or nothing."""
        if not self.shows_progress:
            yield lambda _done, _total, _text="": None
            return
        from tqdm.auto import tqdm

        with tqdm(desc=label, disable=False) as bar:  # also while the bars of other programs are silenced

            def tick(done: int, total: int, /, text: str = "") -> None:
                bar.total = total
                bar.set_postfix_str(text, refresh=False)
                bar.update(done - bar.n)

            yield tick

    def progresses(self) -> AbstractContextManager[Callable[[str], ProgressDisplay]]:
        """Show one bar after the other."""
        return successive(self.progress)


def load(name: str, *, progress: bool = False, **settings: Any) -> LoadedModel:
    """Load the model NAME (a run, run@seed, folder, hub id, catalog name, combination, word-vectors:FILE or dice)."""
    session = _session(load, progress, settings)
    found = resolve_model(declared(name), session)
    return LoadedModel(name=found.name, members=tuple(load_members(found, session, cached=True)))


def encode(model: str, sentences: Sequence[str], *, progress: bool = False, **settings: Any) -> Vectors:
    """The vectors of SENTENCES by MODEL, (sentences, dim) in float32."""
    return load(model, progress=progress, **settings).encode(sentences)


def score_pairs(model: str, first: Sequence[str], second: Sequence[str], *, progress: bool = False, **settings: Any) -> Similarities:
    """The similarity of each pair of sentences by MODEL, (pairs,)."""
    return load(model, progress=progress, **settings).score(first, second)


def evaluate(
    models: str | Sequence[str],
    *,
    suite: str | None = None,
    tasks: str | Sequence[str] = (),
    by: str = "dataset",
    where: str = "",
    aggregate: Aggregate | None = None,
    metric: Correlation = "spearman",
    setting: SettingName = "literature",
    common: bool = False,
    again: bool = False,
    progress: bool = False,
    **settings: Any,
) -> Report:
    """Evaluate MODELS on a SUITE (a task, or "all") or on single TASKS and datasets, as `embedlab evaluate` does; results are stored.

    COMMON takes the pairs that all of them score, where a brought file lacks some; nothing is stored then.
    """
    options = EvaluateOptions(
        models=_names(models),
        suite=suite,
        tasks=names_of(tasks),
        by=by,
        where=where,
        aggregate=aggregate,
        metric=metric,
        setting=setting,
        common=common,
        again=again,
    )
    return _reported(evaluate, lambda session: evaluation_report(options, session), progress, settings)


def compare(
    models: Sequence[str],
    *,
    suite: str | Sequence[str] | None = None,
    tasks: str | Sequence[str] = (),
    by: str = "dataset",
    where: str = "",
    aggregate: Aggregate = "all",
    test: Test = "dyadic",
    equivalent: float | None = None,
    setting: SettingName = "literature",
    common: bool = False,
    published: bool = False,
    progress: bool = False,
    **settings: Any,
) -> Report:
    """Compare MODELS with the first of them, with 95% intervals; EQUIVALENT is a margin in points.

    BY is a property of items (dataset, source, dice, words, negation …), WHERE an expression that picks some of them.
    A model that does not score all pairs of a dataset has no number there; COMMON takes the pairs that all models score.
    """
    options = CompareOptions(
        models=_names(models),
        suites=names_of(suite),
        tasks=names_of(tasks),
        by=by,
        where=where,
        aggregate=aggregate,
        test=test,
        equivalent=equivalent,
        setting=setting,
        common=common,
        published=published,
    )
    return _reported(compare, lambda session: comparison_report(options, session), progress, settings)


def power(
    first: str,
    second: str,
    *,
    suite: str | Sequence[str] | None = None,
    tasks: str | Sequence[str] = (),
    where: str = "",
    detect: float | None = None,
    seeds: int | None = None,
    setting: SettingName = "literature",
    common: bool = False,
    progress: bool = False,
    **settings: Any,
) -> Report:
    """Which difference between two models their items and seeds can detect, at 5% with 80% power.

    DETECT is a difference in points, of which the table says how many seeds it needs; SEEDS is the number of seeds of a plan.
    """
    options = PowerOptions(
        first=declared(first),
        second=declared(second),
        suites=names_of(suite),
        tasks=names_of(tasks),
        where=where,
        detect=detect,
        seeds=seeds,
        setting=setting,
        common=common,
    )
    return _reported(power, lambda session: power_report(options, session), progress, settings)


def why(
    first: str,
    second: str,
    *,
    suite: str | Sequence[str] = (),
    tasks: str | Sequence[str] = (),
    where: str = "",
    setting: SettingName = "literature",
    rows: int = 8,
    examples: int = 5,
    progress: bool = False,
    **settings: Any,
) -> WhyReport:
    """Why two models differ: on which kinds of items, what those have in common that one alone gets right, and typical ones.

    ROWS and EXAMPLES limit what the tables show; the frame has every row, and `explanation` what is behind them.
    """
    options = WhyOptions(
        first=declared(first),
        second=declared(second),
        suites=names_of(suite),
        tasks=names_of(tasks),
        where=where,
        setting=setting,
        rows=rows,
        examples=examples,
    )
    return _reported(why, lambda session: why_report(options, session), progress, settings)


def pairs(
    models: str | Sequence[str],
    *,
    where: str = "",
    name: str = "",
    sort: str | None = None,
    limit: int | None = None,
    datasets: str | Sequence[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> Report:
    """Single pairs with every model's similarity and rank error and the gap between models; WHERE is the filter of `embedlab pairs`.

    NAME calls what it picks @NAME in every filter from then on.
    """
    options = PairsOptions(models=_names(models), datasets=names_of(datasets) or None, where=where, name=name, sort=sort, limit=limit)
    return _reported(pairs, lambda session: pairs_report(options, session), progress, settings)


def train(
    recipe: str,
    *,
    set: Mapping[str, object] | None = None,
    seeds: int | Sequence[int] = (),
    name: str | None = None,
    encoder: str | None = None,
    dev: str | None = None,
    max_steps: int | None = None,
    resume: bool = False,
    progress: bool = False,
    **settings: Any,
) -> Trained:
    """Train RECIPE in this process with other values SET, one run for each of SEEDS, and evaluate the models on the recipe's tasks.

    A file of rows in place of a recipe is trained on as `embedlab train FILE` does; DEV is the dataset or file of the dev score.
    A run that is finished is not trained again. RESUME continues unfinished runs from their checkpoints.
    """
    options = TrainOptions(
        recipe=recipe,
        overrides=values_of(set),
        seeds=seeds_of(seeds),
        name=name,
        encoder=encoder,
        dev=dev,
        max_steps=max_steps,
        resume=resume,
    )
    return _reported(train, lambda session: training_report(options, session), progress, settings)


def _reported(
    function: Callable[..., Any], work: Callable[[NotebookSession], AnyReport], progress: bool, settings: dict[str, Any]
) -> AnyReport:
    """The report of a workflow with what was said on the way; an error carries that too, for its traceback."""
    session = _session(function, progress, settings)
    try:
        report = work(session)
    except EmbedlabError as error:
        for text in session.said:
            error.add_note(text)
        raise
    return replace(report, notes=tuple(dict.fromkeys([*report.notes, *session.said])))


def _session(function: Callable[..., Any], progress: bool, settings: dict[str, Any]) -> NotebookSession:
    """The settings of the command line as keywords; what is not given comes from the environment and the files."""
    refuse_unknown_keywords(settings, function)
    effective, origins = load_settings(settings, given_as="keyword")
    notice = trust_notice(origins, {origin.key for origin in origins})
    return NotebookSession(settings=effective, shows_progress=progress, said=[notice] if notice else [])


def _names(models: str | Sequence[str]) -> list[str]:
    names = [declared(name) for name in names_of(models)]
    if not names:
        raise UsageError("no model is named", hint='for example embedlab.evaluate(["dice"], sample=True)')
    return names
