"""Whether what is served is the model that one thinks, if not why, and what that costs."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embedlab.core.errors import EmbedlabError, ExitCode, MissingError, UsageError
from embedlab.models.catalog import ModelSpec, finished_runs
from embedlab.models.grammar import title_of
from embedlab.models.packaged import PACKAGED
from embedlab.models.prompts import stated_prompts
from embedlab.reports.tables import Column, Table
from embedlab.store.files import write_atomic
from embedlab.workflows.compare import comparison_report
from embedlab.workflows.models import needs_network, one_member, resolve_model
from embedlab.workflows.options.compare import CompareOptions
from embedlab.workflows.options.same import SameOptions
from embedlab.workflows.report import Report, report_of
from embedlab.workflows.session import Session

if TYPE_CHECKING:
    from embedlab.encoders.chosen_texts import ChosenText
    from embedlab.encoders.encoder import Encoder, Vectors
    from embedlab.encoders.same import Change, Explanation, VariedReference

FEWEST = 8  # texts that both encode, below which nothing is said
MOST_TEXTS = 200
MOST_RUNS = 8  # whose vectors are tried
SHOWN = 10  # hypotheses in JSON
LIMITS = (64, 128, 256, 512)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SameReport(Report):
    """Whether SERVED is REFERENCE: 0, 4 or 5 as the command ends."""

    exit_code: ExitCode
    cause: str | None  # in words; None: the same, or not explained


def same_report(options: SameOptions, session: Session) -> SameReport:
    """Encode the chosen texts by both models and explain the difference; TASKS also give its price
    in points.
    """
    from embedlab.encoders.same import Search, VariedReference

    spec = one_member(resolve_model(options.reference, session))
    reference = VariedReference(_encoder(spec, session), _prompts(spec))
    if options.texts is not None:
        return _written(options.texts, _texts(reference))
    if options.served is None:
        raise UsageError("no SERVED is named", hint=f"embedlab same {options.reference} SERVED")
    other = one_member(resolve_model(options.served, session))
    encoder = _encoder(other, session)
    texts = _file_texts(other) if other.kind == "vectors" else _texts(reference)
    with session.progress("encoding") as tick:
        texts, served, refused = _served(encoder, texts)
        tick(1, 2)
        if len(texts) < FEWEST:
            return _unknown(options, len(texts), refused)
        explanation = Search(
            texts,
            served,
            reference,
            again=encoder.encode if needs_network(other) else None,
            others=dict(_others(options, spec, other, served.shape[1], session)),
        ).explanation()
        tick(2, 2)
    tables = [_table(options, explanation, refused)]
    if options.tasks:
        compared = comparison_report(
            CompareOptions(models=(options.reference, options.served), tasks=options.tasks), session
        )
        tables += compared.tables
    return SameReport(
        **vars(report_of(tables)),
        exit_code=ExitCode.OK if explanation.is_same else ExitCode.DIFFERENT,
        cause=_cause(explanation.causes) or None,
    )


def _encoder(spec: ModelSpec, session: Session) -> "Encoder":
    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import load_encoder

    return load_encoder(spec, machine(session.settings), offline=session.settings.offline)


def _prompts(spec: ModelSpec) -> list[str]:
    """The prompts that the folder of a model states."""
    if not spec.is_transformer or not Path(spec.location).is_dir():
        return []
    with suppress(MissingError):
        return list(stated_prompts(Path(spec.location)).values())
    return []


def _texts(reference: "VariedReference") -> "list[ChosenText]":
    from embedlab.encoders.chosen_texts import chosen_texts

    own = [] if reference.transformer is None else [reference.transformer.max_tokens]
    limits = sorted({*LIMITS, *(limit for limit in own if limit <= 2 * max(LIMITS))})
    return chosen_texts(limits, reference.begin)


def _file_texts(spec: ModelSpec) -> "list[ChosenText]":
    """Texts of exported vectors: of all lengths, the longest included."""
    from embedlab.encoders.chosen_texts import LENGTH, PLAIN, ChosenText
    from embedlab.encoders.kinds.vectors import open_vectors

    texts = sorted(open_vectors(spec.location).sentences, key=lambda text: (len(text), text))
    places = np.unique(np.linspace(0, len(texts) - 1, MOST_TEXTS).astype(int))
    chosen = [texts[place] for place in places.tolist()]
    return [
        ChosenText(
            text=text,
            kind=LENGTH
            if len(text.split()) > 40
            else PLAIN
            if text.isascii() and text.strip() == text
            else "not ASCII",
        )
        for text in chosen
    ]


def _served(
    encoder: "Encoder", texts: "Sequence[ChosenText]"
) -> "tuple[list[ChosenText], Vectors, int]":
    """The texts that are encoded, their vectors, and how many texts are refused."""
    from embedlab.encoders.encoder import RefusedTextsError

    try:
        return [*texts], encoder.encode([each.text for each in texts]), 0
    except RefusedTextsError as error:
        refused = {text for text, _ in error.refused}
        left = [each for each in texts if each.text not in refused]
        vectors = encoder.encode([each.text for each in left]) if left else error.vectors
        return left, vectors, len(texts) - len(left)


def _others(
    options: SameOptions, reference: ModelSpec, served: ModelSpec, dim: int, session: Session
) -> "Iterator[tuple[str, Callable[[], Encoder]]]":
    """Yield other models that may be served: named ones, downloaded revisions, those of packages
    and finished runs.
    """
    names = [*options.candidates]
    if reference.is_on_hub or "snapshots" in Path(reference.location).parts:
        folder = Path(reference.location)
        names += [str(path) for path in folder.parent.glob("*") if path != folder]
    names += [name for name, model in PACKAGED.items() if model.state == "installed"]
    names += finished_runs(session.settings.runs)[:MOST_RUNS]
    for name in dict.fromkeys(names):
        try:
            spec = resolve_model(name, session).members[0]
            if {spec.location} & {reference.location, served.location}:
                continue
            yield name, partial(_encoder, spec, session)
        except EmbedlabError:
            if name in options.candidates:
                raise


def _unknown(options: SameOptions, count: int, refused: int) -> SameReport:
    title = (
        f"whether {options.served} is {options.reference} is not known: {count} texts were encoded "
        f"by both, and {refused} refused"
    )
    table = Table(title=title, columns=[], rows=[], records={"verdict": [{"same": None}]})
    return SameReport(**vars(report_of([table])), exit_code=ExitCode.UNKNOWN, cause=None)


def _written(path: Path, texts: "Sequence[ChosenText]") -> SameReport:
    lines = [json.dumps({"sentence": each.text, "kind": each.kind}) + "\n" for each in texts]
    write_atomic(path, "".join(lines).encode(), hint="choose another FILE")
    table = Table(title=f"{len(texts)} texts are in {path}", columns=[], rows=[])
    return SameReport(**vars(report_of([table])), exit_code=ExitCode.OK, cause=None)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _cause(causes: "Sequence[Change]") -> str:
    return ", ".join(cause.words for cause in causes)


def _table(options: SameOptions, explanation: "Explanation", refused: int) -> Table:
    kinds = list(dict.fromkeys(each.kind for each in explanation.texts))
    rows: list[Mapping[str, str | float]] = []
    for kind in kinds:
        place = np.array([each.kind == kind for each in explanation.texts])
        row: dict[str, str | float] = {
            "kind": kind,
            "texts": int(place.sum()),
            "reference": 1 - float(explanation.reference[place].max()),
        }
        if explanation.causes:
            row["explained"] = 1 - float(explanation.explained[place].max())
        rows.append(row)
    columns = [
        Column(key="kind", title="texts", role="key"),
        Column(key="texts", title="n"),
        Column(key="reference", title="least cosine", digits=6, align="right"),
    ]
    if explanation.causes:
        columns.append(Column(key="explained", title="explained", digits=6, align="right"))
    least = 1 - float(explanation.reference.max())
    notes = []
    if refused:
        notes.append(f"{refused} texts were refused by {options.served} and are left out")
    served, own = explanation.norms
    notes.append(f"median length of a vector: {served:.4g} served, {own:.4g} of the reference")
    if not explanation.is_same and not explanation.causes:
        nearest = "; ".join(
            f"{words}, median cosine {1 - median:.3f}" for words, _, median in explanation.tried[:3]
        )
        notes.append(f"nearest of {len(explanation.tried)} hypotheses: {nearest}")
    verdict = {
        "same": explanation.is_same,
        "cause": _cause(explanation.causes) or None,
        "causes": [
            {"kind": cause.kind, "value": cause.value, "words": cause.words}
            for cause in explanation.causes
        ],
        "precision": explanation.precision,
        "least_cosine": _finite(least),
        "least_cosine_explained": _finite(1 - float(explanation.explained.max())),
        "texts": len(explanation.texts),
        "unexplained": int(explanation.unexplained.sum()),
        "norm_served": served,
        "norm_reference": own,
    }
    return Table(
        title=_verdict(options, explanation),
        columns=columns,
        rows=rows,
        notes=notes,
        records={
            "verdict": [verdict],
            "hypotheses": [
                {"words": words, "explained": share, "median_cosine": 1 - median}
                for words, share, median in explanation.tried[:SHOWN]
                if np.isfinite(median)
            ],
        },
    )


def _verdict(options: SameOptions, explanation: "Explanation") -> str:
    served, reference = title_of(str(options.served)), title_of(options.reference)
    base, left = explanation.reference, explanation.unexplained
    least = "other dimensions" if np.isinf(base).any() else f"least cosine {1 - base.max():.2f}"
    if explanation.is_same:
        return (
            f"{served} is {reference}, to the precision of {explanation.precision}: least cosine "
            f"{1 - base.max():.7f} over {len(base)} texts"
        )
    if not explanation.causes:
        kinds = [
            each.kind for each, is_left in zip(explanation.texts, left, strict=True) if is_left
        ]
        where = f" on {', '.join(dict.fromkeys(kinds))}" if left.mean() < 0.5 else ""
        return f"{served} is not {reference}{where} ({least}): not explained"
    rest = f"; {int(left.sum())} texts are not explained" if left.any() else ""
    worst = explanation.explained.max()
    reached = "" if np.isnan(worst) else f": least cosine {1 - worst:.4f}"
    return (
        f"{served} is {reference} {_cause(explanation.causes)}{reached} ({reference} itself: "
        f"{least}){rest}"
    )
