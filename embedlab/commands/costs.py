"""What models cost on this machine beside what they score: each measured in a process of its own,
its vectors also in fewer numbers.
"""

import json
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence

from embedlab.analysis.comparison import ComparedSlice
from embedlab.choices import SettingName
from embedlab.comparison.comparison import Slicing
from embedlab.core.errors import EmbedlabError
from embedlab.core.printable import count_text
from embedlab.core.python_processes import python_command, start
from embedlab.core.schema import build, unbuild
from embedlab.core.session import Session
from embedlab.core.settings import Settings
from embedlab.encoders.cost_worker import MeasuredCost
from embedlab.evaluation import gather, needs_network, resolve_model
from embedlab.models.catalog import FIT, Model
from embedlab.models.encoder_kind import prefix_of, shipped_kind
from embedlab.models.grammar import BITS, Single, parse_model, title_of
from embedlab.models.location import vector_length
from embedlab.reports.cost_table import FLOAT_BITS, CostRow, Costs
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.task_comparison import ComparisonInput, TaskComparison

SAMPLE = 512  # different sentences of the compared items, drawn by a fixed seed
SHARES = (2, 4)  # of the numbers of a vector: a half, a quarter
FEWEST_DIMS = 16
# of which scores are shown: the datasets of a task, or their average where there are more
MOST_SLICES = 3
_WORKER = "embedlab.encoders.cost_worker"


def costs_of(
    names: Sequence[str],
    setting: SettingName,
    selected_tasks: Sequence[SelectedTask],
    slicing: Slicing,
    gathered: ComparisonInput,
    session: Session,
) -> Costs:
    """Return what the models called NAMES cost, and what each of them loses with fewer numbers or
    bits a vector.
    """
    models = {name: resolve_model(name, session) for name in names}
    cost_of_model, notes = _measure_models(models, _sentences(gathered), session)
    rows: list[CostRow] = []
    slices: tuple[ComparedSlice, ...] = ()
    for name, model in models.items():
        variants = variants_of(name, model)
        comparison = gather(
            [name, *variants], selected_tasks, session, slicing=slicing, setting=setting
        ).compare(slicing)
        slices = slices or _slices(comparison)
        rows += _rows(name, model, variants, comparison, cost_of_model.get(name), slices)
    machine = _machine([*cost_of_model.values()])
    return Costs(rows=rows, slices=slices, machine=machine, notes=tuple(notes))


def variants_of(name: str, model: Model) -> dict[str, tuple[int, int]]:
    """Return the names of the MODEL's vectors with fewer numbers or bits, and how many of both: of
    one without vectors none.
    """
    spec, parsed = model.members[0], parse_model(name)
    length = vector_length(spec)
    if (
        length is None
        or not isinstance(parsed, Single)
        or spec.bits is not None
        or spec.whiten == FIT
    ):
        return {}
    variants = {
        f"{name}@dim={length // share}": (length // share, FLOAT_BITS)
        for share in SHARES
        if length // share >= FEWEST_DIMS
    }
    is_own_plugin = prefix_of(f"{spec.kind}:") is None
    if spec.dim is not None or not (is_own_plugin or "dim" in shipped_kind(spec.kind).options):
        variants = {}
    return variants | {f"{name}@bits={bits}": (length, bits) for bits in BITS}


def _sentences(gathered: ComparisonInput) -> list[str]:
    """Return different sentences of the compared items."""
    sentences: dict[str, None] = {}
    for outcomes in gathered.outcomes:
        for column in outcomes.sentences.get_columns():
            sentences |= dict.fromkeys(column.drop_nulls().to_list())
    texts = sorted(text for text in sentences if text.strip())
    return random.Random(0).sample(texts, min(SAMPLE, len(texts)))


def _measure_models(
    models: Mapping[str, Model], sentences: Sequence[str], session: Session
) -> tuple[dict[str, MeasuredCost], list[str]]:
    """Return the cost of each model that computes on this machine, one after the other, and why
    others have none.
    """
    costs, notes = {}, []
    with session.progress("measuring") as tick:
        for number, (name, model) in enumerate(models.items()):
            tick(number, len(models))
            spec, reason = model.members[0], ""
            if needs_network(spec):
                reason = "a server computes it"
            elif spec.only_searches:
                reason = "it only searches"
            else:
                try:
                    costs[name] = _measure(spec.name, sentences, session.settings)
                except EmbedlabError as error:
                    reason = error.message
            if reason:
                notes.append(f"{title_of(name)}: not measured: {reason}")
    pairs = [title_of(name) for name, cost in costs.items() if cost.scores_pairs]
    if pairs:
        notes.append(f"{', '.join(pairs)}: milliseconds of a pair, not of a sentence")
    return costs, notes


def _measure(name: str, sentences: Sequence[str], settings: Settings) -> MeasuredCost:
    command = python_command(json.dumps(unbuild(settings)), name, module=_WORKER)
    with start(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        written, log = process.communicate(json.dumps(sentences).encode())
    if process.returncode != 0:
        lines = log.decode(errors="replace").strip().splitlines() or ["it ended"]
        raise EmbedlabError(
            next((line for line in lines if "error:" in line), lines[-1]),
            hint="`embedlab evaluate` shows the error",
        )
    return build(MeasuredCost, json.loads(written.decode().splitlines()[-1]), where="cost")


def _slices(comparison: TaskComparison) -> tuple[ComparedSlice, ...]:
    """Return the first measure of each dataset, or of the average where there are many."""
    first_of_dataset: dict[tuple[str, str], ComparedSlice] = {}
    for compared in comparison.slices:
        first_of_dataset.setdefault((compared.task, compared.slice_key), compared)
    averages = [row for row in first_of_dataset.values() if row.averaged_keys]
    datasets = [row for row in first_of_dataset.values() if not row.averaged_keys]
    chosen_rows = (
        averages[-1:] if averages and len(datasets) > MOST_SLICES else datasets[:MOST_SLICES]
    )
    return tuple(chosen_rows)


def _rows(
    name: str,
    model: Model,
    variants: Mapping[str, tuple[int, int]],
    comparison: TaskComparison,
    cost: MeasuredCost | None,
    slices: Sequence[ComparedSlice],
) -> Iterator[CostRow]:
    length = vector_length(model.members[0])
    bits = model.members[0].bits or FLOAT_BITS
    compared = {compared.key: compared for compared in comparison.slices}
    shown_rows = {row.key: compared[row.key] for row in slices if row.key in compared}
    for variant, (dims, depth) in {name: (length, bits), **variants}.items():
        yield CostRow(
            model=name,
            name=variant,
            dims=dims,
            bits=depth,
            milliseconds=cost.milliseconds if cost is not None else (),
            memory_mib=cost.memory_mib if cost is not None else None,
            scores={key: compared.scores[variant] for key, compared in shown_rows.items()},
            losses={
                key: compared.differences[variant]
                for key, compared in shown_rows.items()
                if variant in compared.differences
            },
        )


def _machine(costs: Sequence[MeasuredCost]) -> str:
    if not costs:
        return "nothing was measured"
    first = costs[0]
    counts = sorted({cost.sentences for cost in costs})
    count = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
    hardware = ", ".join([first.device] * (first.device != "cpu") + [first.processor])
    threads = count_text(first.threads, "threads")
    return (
        f"measured on {hardware}, {threads}: {count} sentences of these items, the median of "
        f"{len(first.milliseconds)} rounds (fastest–slowest)"
    )
