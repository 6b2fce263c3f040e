"""`embedlab explain`: what the words of two sentences do to their similarity, under each of some
models and between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import TYPE_CHECKING, Annotated

from embedlab.choices import EDIT_RULES, ExplainView
from embedlab.commands.command import command
from embedlab.commands.options import Flag
from embedlab.commands.score import TwoSentences
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.nearest import unknown_name_error
from embedlab.core.printable import count_text
from embedlab.core.session import ProgressCallback, Session
from embedlab.core.settings import Settings
from embedlab.reports.report import Report

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from embedlab.analysis.word_effects import EditedSentence, TokenView
    from embedlab.data.dataset import Part
    from embedlab.data.words import ShownWord
    from embedlab.encoders.encoder import PairScorer
    from embedlab.models.catalog import Model, ModelSpec


DEFAULT_REFERENCE = "starter"  # the pairs inside embedlab


@dataclass(frozen=True, kw_only=True)
class ExplainOptions(TwoSentences):
    """Two sentences, the models that compare them, and what is shown."""

    reference: Annotated[
        str | None,
        Flag(
            metavar="DATASET|FILE",
            help="Pairs among which similarities are ranked. [default: the pair's own dataset, "
            "else starter]",
            completes="datasets",
        ),
    ] = None
    instead: Annotated[
        Sequence[str],
        Flag(
            metavar="SENTENCE",
            help="An edited sentence in place of the nearer one; again for more.",
        ),
    ] = ()
    edits: Annotated[
        Sequence[str],
        Flag(
            names=("--edit",),
            metavar="|".join(EDIT_RULES),
            help="Edit a sentence by a rule: the second one if the rule is safe there.",
        ),
    ] = ()
    view: Annotated[
        ExplainView,
        Flag(
            help="effects: leave out words. tokens: the sum over pairs of tokens, for mean "
            "pooling.",
        ),
    ] = "effects"


@command("data runs machine output latex")
def explain(options: ExplainOptions, session: Session) -> Report:
    """Print what each word of two sentences adds to their similarity: how far the percentile rank
    of the pair falls without it.

    Percentile ranks among the pairs of a reference make models of different scales comparable; with
    several models their differences from the first show which words make them differ. Each sentence
    is encoded once without each of its words.

    Examples:
        $ embedlab explain "A man plays a guitar." "A man is not playing a guitar." -m minilm -m
          dice
        $ embedlab explain "It rains." "It is raining." -m minilm -m wordllama --instead "It is
          not raining."
        $ embedlab explain "Two dogs are running." "Two dogs run." -m minilm --edit negate --edit
          number

    """
    from embedlab.evaluation import refuse_twice, resolve_models

    check_options(options)
    refuse_twice(options.models)
    models = resolve_models(options.models, session)
    for spec in (spec for model in models for spec in model.members):
        check_member(spec)
    make = _token_report if options.view == "tokens" else _effect_report
    return make(options, models, session)


@dataclass(frozen=True, kw_only=True, eq=False)
class Variants:
    """All sentences that an explanation compares."""

    first: tuple[str, ...]  # the first sentence, and without each of its words
    second: tuple[str, ...]
    edited: tuple[tuple[str, str], ...]  # pairs with an edited sentence

    @classmethod
    def of(cls, first: str, second: str, edits: Sequence[EditedSentence] = ()) -> Variants:
        """Return the variants of two sentences."""
        from embedlab.data.words import without_each

        pairs = (
            (edit.text, second) if edit.replaces == 0 else (first, edit.text) for edit in edits
        )
        return cls(first=without_each(first), second=without_each(second), edited=tuple(pairs))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Each variant of the first sentence with each of the second, then the edited pairs."""
        return [*product(self.first, self.second), *self.edited]

    @property
    def sentences(self) -> list[str]:
        """Each different sentence once."""
        return list(dict.fromkeys(chain.from_iterable(self.pairs)))


def check_options(options: ExplainOptions) -> None:
    """Refuse sentences without a word, and options of another view."""
    from embedlab.data.text_file import refuse_half
    from embedlab.data.words import shown_words

    for sentence in (options.first, options.second, *options.instead):
        refuse_half(sentence, "a sentence")
    for sentence in (options.first, options.second):
        if not shown_words(sentence):
            raise UsageError(
                f"{sentence!r} has no word to leave out", hint="give two sentences in quotes"
            )
    of_effects = {"instead": options.instead, "edit": options.edits, "reference": options.reference}
    given = [option for option, value in of_effects.items() if value]
    if options.view == "tokens" and given:
        raise UsageError(
            f"option {given[0]} is for the view 'effects', where words are left out",
            hint="remove one of the two options",
        )
    if unknown_rule := next((rule for rule in options.edits if rule not in EDIT_RULES), None):
        raise unknown_name_error("rule of edits", unknown_rule, EDIT_RULES)


def check_member(spec: ModelSpec) -> None:
    """Refuse a model that has no similarity of sentences without one of their words."""
    from embedlab.models.encoder_kind import encoder_kind

    for member_part in spec.parts:
        check_member(member_part)
    if spec.is_fitted:
        raise UsageError(
            f"{spec.name!r} is whitened by the sentences that are scored: variants of two "
            f"sentences are too few for that",
            hint="whiten it by a file: @whiten=FILE",
        )
    if spec.is_prefixed and encoder_kind(spec.kind).backend == "file":
        output = "vectors" if encoder_kind(spec.kind).has_vectors else "scores"
        raise UsageError(
            f"{spec.name!r} has only the {output} in its file, and none of sentences that lack a "
            "word",
            hint="name the model itself, which can compute them",
        )
    if spec.kind == "ensemble":
        raise UsageError(
            f"{spec.name!r} has no vectors: it averages predictions",
            hint="average:a,b averages vectors",
        )


def similarities_of(
    scorer: PairScorer, variants: Variants, progress: ProgressCallback | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return what SCORER gives each variant of the first sentence with each of the second, as a
    table, and each pair with an edited one; what has vectors encodes a sentence once.
    """
    import numpy as np

    firsts, seconds = zip(*variants.pairs, strict=True)
    scores = scorer.score(firsts, seconds, progress)
    if np.isnan(scores).any():
        raise UsageError(
            f"{scorer.name!r} gives no score of some variants of the sentences",
            hint="name a model that scores all pairs",
        )
    shape = len(variants.first), len(variants.second)
    table, edited = np.split(scores, [shape[0] * shape[1]])
    return table.reshape(shape), edited


def _effect_report(options: ExplainOptions, models: Sequence[Model], session: Session) -> Report:
    import numpy as np

    from embedlab.analysis.word_effects import ExplainedModel, WordEffects
    from embedlab.data.marks import data_marks
    from embedlab.data.words import shown_words
    from embedlab.evaluation import load_members
    from embedlab.reports.notes import model_marks, model_notes
    from embedlab.reports.words import EXPLAINED, effect_tables

    edits = list(_edits(options))
    made_rules = {edit.rule for edit in edits}
    notes = [
        f"the rule {rule!r} is not safe in either sentence"
        for rule in dict.fromkeys(options.edits)
        if rule not in made_rules
    ]
    if notes and not edits:
        raise UsageError(notes[0], hint='type the edited one: --instead "…"')
    variants = Variants.of(options.first, options.second, edits)
    reference_part = _reference(options, session)
    pairs = reference_part.frame["sentence1"].to_list(), reference_part.frame["sentence2"].to_list()
    explained = []
    for model in models:
        members = load_members(model, session, cached=True)
        _say_cost(model, members, variants, pairs, session)
        numbers = []
        with session.progress(f"explaining by {model.name}") as tick:
            for member in members:
                reference = member.score(*pairs, tick)
                scored_reference = reference[~np.isnan(reference)]
                if not len(scored_reference):
                    raise MissingError(
                        f"{member.name!r} scores no pair of {reference_part.state.name}",
                        hint="name another set: --reference DATASET",
                    )
                numbers.append((*similarities_of(member, variants, tick), scored_reference))
        explained.append(ExplainedModel.of(model.name, numbers))
        notes += model_notes(model, members)
    effects = WordEffects(
        sentences=(options.first, options.second),
        words=(tuple(shown_words(options.first)), tuple(shown_words(options.second))),
        models=tuple(explained),
        reference=reference_part.state.name,
        pairs=len(pairs[0]),
        edits=tuple(edits),
    )
    marks = sorted({*model_marks(models), *data_marks([reference_part.state])})
    return Report.of(
        *effect_tables(effects, marks=marks, notes=notes),
        schema=EXPLAINED,
        behind={"explanation": effects, "token_views": ()},
    )


def _edits(options: ExplainOptions) -> Iterator[EditedSentence]:
    """Yield the sentences that the user edited, each in place of the nearer one, and those of
    rules: of the second if one is safe there.
    """
    from embedlab.analysis.word_effects import EditedSentence
    from embedlab.data.words import edit_sentence, nearer_sentence, shown_words

    for text in options.instead:
        if text in {options.first, options.second}:
            raise UsageError(
                f"{text!r} is the sentence itself", hint="--instead takes an edited one"
            )
        if not shown_words(text):
            raise UsageError(
                f"the edited sentence {text!r} has no word", hint='--instead "an edited sentence"'
            )
        yield EditedSentence(
            text=text, replaces=nearer_sentence(text, options.first, options.second)
        )
    for rule in (rule for rule in EDIT_RULES if rule in options.edits):
        for side, sentence in ((1, options.second), (0, options.first)):
            if (edited_text := edit_sentence(sentence, rule)) is not None:
                yield EditedSentence(text=edited_text, replaces=side, rule=rule)
                break


def _reference(options: ExplainOptions, session: Session) -> Part:
    """Return the pairs that similarities are ranked among."""
    from embedlab.data.own_files import holds_queries, open_query_file
    from embedlab.data.published import canonical_name
    from embedlab.data.source import Source, open_scored
    from embedlab.tasks.task import task

    source = Source.from_settings(session.settings)
    if options.reference is not None:
        name = canonical_name(options.reference)
        return open_query_file(name).part if holds_queries(name) else open_scored(source, name)
    local_source = replace(source, downloads=False)
    for name in source.suite(task("sts").datasets):
        try:
            candidate = local_source.open(name)
        except MissingError:  # it is not needed
            continue
        if _has_pair(candidate, options):
            return candidate
    return source.open(DEFAULT_REFERENCE)


def _has_pair(part: Part, options: ExplainOptions) -> bool:
    """Whether PART has the two sentences as a pair, in either order."""
    pairs = {*zip(part.frame["sentence1"], part.frame["sentence2"], strict=True)}
    first, second = options.first, options.second
    return (first, second) in pairs or (second, first) in pairs


def _say_cost(
    model: Model,
    members: Sequence[PairScorer],
    variants: Variants,
    pairs: tuple[list[str], list[str]],
    session: Session,
) -> None:
    """Report first what is computed by a model that costs money or time: one of a server, and one
    that scores pairs one by one.
    """
    from embedlab.encoders.vector_cache import CachedEncoder
    from embedlab.evaluation import needs_network

    sentences = list(dict.fromkeys([*variants.sentences, *pairs[0], *pairs[1]]))
    for spec, member in zip(model.members, members, strict=True):
        if needs_network(spec):
            request_count = len(sentences)
            if isinstance(member, CachedEncoder):
                request_count -= int(member.knows(sentences).sum())
            session.note(
                f"{member.name}: {count_text(request_count, 'sentences')} to request of its "
                f"server; the pair has {len(variants.sentences)}"
            )
        elif not hasattr(member, "encode") and spec.kind != "dice":
            session.note(
                f"{member.name} scores pairs: {len(variants.pairs)} for the two sentences and "
                f"{len(pairs[0])} of the reference"
            )


def _token_report(options: ExplainOptions, models: Sequence[Model], session: Session) -> Report:
    """Return the exact sum over pairs of tokens, for each member of each model."""
    from embedlab.data.words import shown_words
    from embedlab.reports.notes import model_marks
    from embedlab.reports.words import EXPLAINED, token_tables

    sentences = (options.first, options.second)
    words = shown_words(options.first), shown_words(options.second)
    views = [_token_view(model, sentences, words, session.settings) for model in models]
    tables = token_tables(views, words, marks=model_marks(models))
    evidence = {"explanation": None, "token_views": tuple(views)}
    return Report.of(*tables, schema=EXPLAINED, behind=evidence)


def _token_view(
    model: Model,
    sentences: tuple[str, str],
    words: Sequence[Sequence[ShownWord]],
    settings: Settings,
) -> TokenView:
    import numpy as np

    from embedlab.analysis.word_effects import (
        TokenView,
        sum_by_word,
        token_pair_sum,
        words_of_tokens,
    )
    from embedlab.encoders.loading import token_vectors_of  # heavy

    tables = []
    for spec in model.members:
        first, second = map(token_vectors_of(spec, settings), sentences)
        first_owners, second_owners = (
            words_of_tokens(tokens.spans, [word.span for word in words_of_sentence])
            for tokens, words_of_sentence in zip((first, second), words, strict=True)
        )
        sizes = len(words[0]), len(words[1])
        parts = token_pair_sum(first, second)
        tables.append(sum_by_word(parts, first_owners, second_owners, sizes))
    contributions = np.mean(tables, axis=0)
    return TokenView(name=model.name, cosine=float(contributions.sum()), parts=contributions)
