"""`embedlab same`: whether what is served is the model that one thinks, or two results are of the
same thing, and if not, why.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from embedlab.commands.command import command
from embedlab.commands.compare import CompareOptions, compare
from embedlab.commands.options import MODEL_HELP, Flag, model_flag
from embedlab.core.errors import EmbedlabError, ExitCode, MissingError, UsageError
from embedlab.core.foreign_files import check_output
from embedlab.core.printable import count_text
from embedlab.core.session import Session
from embedlab.reports.report import Report
from embedlab.reports.tables import Table, columns_of

if TYPE_CHECKING:
    from embedlab.choices import Similarity
    from embedlab.encoders.encoder import Encoder
    from embedlab.encoders.same import ChosenText, ServedDifference, VariedReference
    from embedlab.models.catalog import ModelSpec
    from embedlab.runs.results import StoredResult


FEWEST = 8  # texts that both encode, below which nothing is said
MOST_TEXTS = 200
MOST_RUNS = 8  # whose vectors are tried
SHOWN = 10  # hypotheses in JSON
LIMITS = (64, 128, 256, 512)
ALIKE = {"cosine", "dot", "euclidean"}  # rank pairs of vectors of length 1 alike


@dataclass(frozen=True, kw_only=True)
class SameOptions:
    """A reference, and what is served in its name."""

    reference: Annotated[
        str,
        model_flag(f"What it should be. {MODEL_HELP}", metavar="REFERENCE"),
    ]
    served: Annotated[
        str | None,
        model_flag(
            "The model to check: an endpoint, a folder, vectors:FILE, or any other model.",
            metavar="SERVED",
            is_argument=True,
        ),
    ] = None
    candidates: Annotated[
        Sequence[str],
        Flag(
            names=("--candidate",),
            metavar="MODEL",
            help="Another model that it could be, besides those of packages, finished runs and "
            "downloaded revisions; again for more.",
            completes="models",
        ),
    ] = ()
    tasks: Annotated[
        Sequence[str],
        Flag(
            names=("--task",),
            metavar="NAME",
            help="Also measure what the difference costs in points on this dataset or file; again "
            "for more.",
            completes="datasets",
        ),
    ] = ()
    texts: Annotated[
        Path | None,
        Flag(
            names=("--write-texts",),
            metavar="FILE",
            help="Only write the chosen texts to FILE, as JSON lines for another program to encode.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """Two files of results."""

    first: Annotated[
        Path,
        Flag(
            metavar="A.json",
            help="What `evaluate --json` or `compare --json` printed, or a run's "
            "evaluations/TASK.json.",
        ),
    ]
    second: Annotated[Path, Flag(metavar="B.json", help="A second file of that kind.")]


@command("data runs machine output")
def same(options: SameOptions, session: Session) -> Report:
    """Check whether SERVED is REFERENCE, and if not, find the change of REFERENCE that gives its
    vectors.

    About 200 texts of many kinds are encoded by both: short and around each usual limit of tokens,
    casing, accents, other scripts, emoji, code, spaces. Then REFERENCE is varied: pooling, layer,
    prompts, special tokens, truncation at any length, casing and spaces, dimensions, bits, padding
    in batches, the order of texts, other models at hand; singly and together. Lengths of vectors
    are compared too, as a cosine cannot see them. The exit code is 0 if both are the same to the
    stated precision (1 − cosine at most 2e-6 in float32, 1e-4 in float16, 3e-3 in bf16), 4 if they
    differ, explained or not, and 5 if that is not known.

    Two results, A.json and B.json, as `evaluate --json`, `compare --json` or a run's evaluations
    hold them, are compared by their signatures, part by part, and by the scores that both have.
    Another version of embedlab is shown, but does not count as a difference. Scores agree if they
    differ by less than half of the last digit that tables print; a difference has an interval if
    the pairs are at hand (--data) and the scores of both models are stored.

    Examples:
        $ embedlab same minilm http://localhost:8000/v1#MODEL
        $ embedlab same minilm ./quantised --task sts-benchmark
        $ embedlab same minilm vectors:exported.parquet --json
        $ embedlab same mine.json theirs.json

    """
    if options.texts is not None:
        check_output(
            options.texts,
            "--write-texts",
            example="texts.jsonl",
            what="a file of texts",
            mark=b'"kind": "plain"',
        )
    import numpy as np

    from embedlab.encoders.encoder import RefusedTextsError
    from embedlab.encoders.same import Search, VariedReference
    from embedlab.evaluation import needs_network, only_member, resolve_model
    from embedlab.tasks._searchers import MODELS_WITH_FOLDER

    files = (options.reference, str(options.served))
    if all(name.endswith(".json") for name in files):
        return verify(VerifyOptions(first=Path(files[0]), second=Path(files[1])), session)

    spec = only_member(resolve_model(options.reference, session))
    reference = VariedReference(_encoder(spec, session), _prompts(spec))
    if options.texts is not None:
        return _write_texts(options.texts, _texts(reference))
    if options.served is None:
        raise UsageError("no SERVED is named", hint=f"embedlab same {options.reference} SERVED")
    served_spec = only_member(resolve_model(options.served, session))
    encoder = _encoder(served_spec, session)
    texts = _file_texts(served_spec) if served_spec.kind == "vectors" else _texts(reference)
    with session.progress("encoding") as tick:
        try:
            vectors, is_accepted = encoder.encode_accepted([text.text for text in texts], None)
        except RefusedTextsError:  # all of them
            is_accepted = np.zeros(len(texts), np.bool_)
        accepted_count = int(is_accepted.sum())
        refused_count = len(texts) - accepted_count
        if accepted_count < FEWEST:
            title = (
                f"whether {options.served} is {options.reference} is not known: "
                f"{count_text(accepted_count, 'texts were')} encoded by both, and {refused_count} "
                "refused"
            )
            table = Table(title, [], [], records={"verdict": [{"same": None}]})
            return Report.of(table, exit_code=ExitCode.UNKNOWN, behind={"cause": None})
        tick(1, 2)
        difference = Search(
            chosen_texts=list(compress(texts, is_accepted)),
            served=vectors[is_accepted],
            reference=reference,
            encode_again=encoder.encode if needs_network(served_spec) else None,
            other_models=dict(_other_encoders(options, spec, served_spec, session)),
        ).find_causes()
        tick(2, 2)
    if served_spec.kind in MODELS_WITH_FOLDER and not difference.is_unexplained.any():
        difference = _with_similarity(difference, encoder.similarity, reference.encoder.similarity)
    tables = [_table(options, difference, refused_count)]
    if options.tasks:
        comparison_report = compare(
            CompareOptions(models=(options.reference, options.served), tasks=options.tasks), session
        )
        tables += comparison_report.tables
    return Report.of(
        *tables,
        exit_code=ExitCode.OK if difference.is_same else ExitCode.DIFFERENT,
        behind={"cause": difference.cause_text or None},
    )


def _encoder(spec: ModelSpec, session: Session) -> Encoder:
    from embedlab.encoders.loading import load_encoder

    return load_encoder(spec, session.settings)


def _with_similarity(
    difference: ServedDifference, served: Similarity, reference: Similarity
) -> ServedDifference:
    """Return a DIFFERENCE between vectors with another cause, where models compare them otherwise
    and do not rank pairs alike for it.
    """
    import numpy as np

    from embedlab.encoders.same import Change

    is_unit = np.allclose(difference.norms, 1, atol=1e-3)
    if served == reference or (is_unit and {served, reference} <= ALIKE):
        return difference
    change = Change("similarity", f"compared by {served}", served)
    return replace(difference, causes=(*difference.causes, change))


def _prompts(spec: ModelSpec) -> list[str]:
    """The prompts that the folder of a model states."""
    from embedlab.models.modules import stated_prompts

    if not spec.is_transformer or not Path(spec.location).is_dir():
        return []
    with suppress(MissingError):
        return list(stated_prompts(Path(spec.location)).values())
    return []


def _texts(reference: VariedReference) -> list[ChosenText]:

    from embedlab.encoders.same import chosen_texts

    limits = {*LIMITS}
    if reference.transformer is not None and reference.transformer.max_tokens <= 2 * max(LIMITS):
        limits.add(reference.transformer.max_tokens)
    return chosen_texts(sorted(limits), reference.begin)


def _file_texts(spec: ModelSpec) -> list[ChosenText]:
    """Return texts of exported vectors, of all lengths up to the longest."""
    import numpy as np

    from embedlab.encoders.kinds.brought import open_vectors
    from embedlab.encoders.same import LENGTH, PLAIN, ChosenText

    texts = sorted(open_vectors(spec.location).sentences, key=lambda text: (len(text), text))
    indices = np.unique(np.linspace(0, len(texts) - 1, MOST_TEXTS).astype(int))
    chosen = []
    for index in indices.tolist():
        text = texts[index]
        kind = PLAIN if text.isascii() and text.strip() == text else "not ASCII"
        if len(text.split()) > 40:
            kind = LENGTH
        chosen.append(ChosenText(text=text, kind=kind))
    return chosen


def _other_encoders(
    options: SameOptions, reference: ModelSpec, served_spec: ModelSpec, session: Session
) -> Iterator[tuple[str, Callable[[], Encoder]]]:
    """Yield other models that may be served: named models, downloaded revisions, models of packages
    and finished runs.
    """
    from embedlab.evaluation import resolve_model
    from embedlab.models.catalog import finished_runs
    from embedlab.models.published import PACKAGED

    names = [*options.candidates]
    if reference.is_on_hub or "snapshots" in Path(reference.location).parts:
        folder = Path(reference.location)
        names += [str(path) for path in folder.parent.glob("*") if path != folder]
    names += [name for name, model in PACKAGED.items() if model.state == "installed"]
    names += finished_runs(session.settings.runs)[:MOST_RUNS]
    for name in dict.fromkeys(names):
        try:
            spec = resolve_model(name, session).members[0]
            if {spec.location} & {reference.location, served_spec.location}:
                continue
            yield name, partial(_encoder, spec, session)
        except EmbedlabError:
            if name in options.candidates:
                raise


def _write_texts(path: Path, texts: Sequence[ChosenText]) -> Report:
    from embedlab.core.disk import write_atomic

    lines = [
        json.dumps({"sentence": chosen_text.text, "kind": chosen_text.kind}) + "\n"
        for chosen_text in texts
    ]
    write_atomic(path, "".join(lines).encode(), hint="choose another FILE")
    table = Table(f"{count_text(len(texts), 'texts are')} in {path}", [], [])
    return Report.of(table, behind={"cause": None})


def _table(options: SameOptions, difference: ServedDifference, refused_count: int) -> Table:
    import numpy as np

    causes, tried = difference.causes, difference.hypotheses
    distances = {"reference": difference.reference_distances}
    columns = columns_of("kind = texts [key]", "texts = n", "reference = least cosine .6 >")
    if difference.changes_cosines:
        distances["explained"] = difference.explained_distances
        columns += columns_of("explained .6 >")
    kinds = np.array([chosen_text.kind for chosen_text in difference.texts])
    rows: list[dict[str, str | float]] = []
    for kind in dict.fromkeys(kinds.tolist()):
        is_kind = kinds == kind
        row: dict[str, str | float] = {"kind": kind, "texts": int(is_kind.sum())}
        for name, distances_of_texts in distances.items():
            row[name] = 1 - float(distances_of_texts[is_kind].max())
        rows.append(row)
    least_cosine = _finite(1 - float(difference.reference_distances.max()))
    served_norm, reference_norm = difference.norms
    notes = []
    if refused_count:
        refused = count_text(refused_count, "texts were")
        notes.append(f"{refused} refused by {options.served}, and left out")
    stored = [cause.description for cause in causes if cause.kind == "stored"]
    notes += [f"cosines are to the reference {description}" for description in stored]
    dim, reference_dim = difference.dims
    if dim < reference_dim:
        cut_note = "" if least_cosine is None else f": cosines are to its first {dim}"
        served_dims = count_text(dim, "numbers")
        notes.append(f"{served_dims} a vector served, {reference_dim} of the reference{cut_note}")
    notes.append(
        f"median length of a vector: {served_norm:.4g} served, {reference_norm:.4g} of the "
        "reference"
    )
    nearest = [hypothesis for hypothesis in tried[:SHOWN] if isfinite(hypothesis.median)]
    if nearest and not difference.is_same and not causes:
        texts = [
            f"{hypothesis.description}, median cosine {1 - hypothesis.median:.3f}"
            for hypothesis in nearest[:3]
        ]
        notes.append(f"nearest of {len(tried)} hypotheses: {'; '.join(texts)}")
    verdict: dict[str, Any] = {
        "same": difference.is_same,
        "cause": difference.cause_text or None,
        "causes": [
            {"kind": cause.kind, "value": cause.value, "words": cause.description}
            for cause in causes
        ],
        "precision": difference.precision,
        "least_cosine": least_cosine,
        "least_cosine_explained": _finite(1 - float(difference.explained_distances.max())),
        "texts": len(difference.texts),
        "unexplained": int(difference.is_unexplained.sum()),
        "norm_served": served_norm,
        "norm_reference": reference_norm,
    }
    hypotheses: list[dict[str, Any]] = [
        {
            "words": hypothesis.description,
            "explained": hypothesis.explained,
            "median_cosine": 1 - hypothesis.median,
        }
        for hypothesis in nearest
    ]
    records = {"verdict": [verdict], "hypotheses": hypotheses}
    return Table(_verdict(options, difference), columns, rows, notes, records=records)


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _verdict(options: SameOptions, difference: ServedDifference) -> str:
    from embedlab.models.grammar import title_of

    served, reference = title_of(str(options.served)), title_of(options.reference)
    farthest, worst = difference.reference_distances.max(), difference.explained_distances.max()
    if difference.is_same:
        return (
            f"{served} is {reference}, to the precision of {difference.precision}: least cosine "
            f"{1 - farthest:.7f} over {count_text(len(difference.texts), 'texts')}"
        )
    itself = f"least cosine {1 - farthest:.2f}" if isfinite(farthest) else "other dimensions"
    unexplained = list(compress(difference.texts, difference.is_unexplained))
    if not difference.causes:
        kinds = dict.fromkeys(chosen_text.kind for chosen_text in unexplained)
        is_few = 2 * len(unexplained) < len(difference.texts)
        kinds_note = f" on {', '.join(kinds)}" if is_few else ""
        return f"{served} is not {reference}{kinds_note} ({itself}): not explained"
    reached = "" if isnan(worst) else f": least cosine {1 - worst:.4f}"
    if difference.changes_cosines:
        reached += f" ({reference} itself: {itself})"
    remark = f"; {count_text(len(unexplained), 'texts are')} not explained" if unexplained else ""
    return f"{served} is {reference} {difference.cause_text}{reached}{remark}"


def verify(options: VerifyOptions, session: Session) -> Report:
    """Whether two files of results are of the same thing and agree: `.is_same`, and what differs.

    The results of one model and task in both are compared; what is only in one is noted.
    """
    from embedlab.reports.verification_table import verification_table
    from embedlab.runs.results import read_results
    from embedlab.scoring.verification import ResultPair

    files = (options.first, options.second)
    first, second = (read_results(path) for path in files)
    pairs = [
        ResultPair(first=one, second=other, files=files, settings=session.settings)
        for one in first
        for other in second
        if len(first) == len(second) == 1 or _is_same_subject(one, other)
    ]
    if not pairs:
        first_names, second_names = (
            ", ".join(dict.fromkeys(map(_name, results))) for results in (first, second)
        )
        raise UsageError(
            f"no model and task is in both files: {str(files[0])!r} has {first_names}, "
            f"{str(files[1])!r} has {second_names}",
            hint="give files with one result each, or of the same models and tasks",
        )
    tables, agree = zip(*map(verification_table, pairs), strict=True)
    compared = [result for pair in pairs for result in (pair.first, pair.second)]
    for path, results in zip(files, (first, second), strict=True):
        if alone := [result for result in results if not any(result is one for one in compared)]:
            session.note(f"not compared, only in {path}: {'; '.join(map(_name, alone))}")
    is_same = all(agree)
    return Report.of(
        *tables,
        exit_code=ExitCode.OK if is_same else ExitCode.DIFFERENT,
        behind={"is_same": is_same},
    )


def _is_same_subject(first: StoredResult, second: StoredResult) -> bool:
    """Return whether two results are of one model and on a common task."""
    tasks = {*first.signature.task} & {*second.signature.task}
    return first.model == second.model and bool(tasks)


def _name(result: StoredResult) -> str:
    from embedlab.models.grammar import title_of
    from embedlab.reports.verification_table import joined_or_none

    return f"{title_of(result.model)} on {joined_or_none(result.signature.task)}"
