"""What tables say below their numbers: of the data, of what the models learnt from, and of how each model was used."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from embedlab.analysis.scores import ModelColumns
    from embedlab.runs.evaluations import Evaluation
    from embedlab.tasks.sts import ScoredPairs

Facts = Mapping[str, str]  # pooling, max_tokens, precision, truncated: those that a member has

SAMPLE_NOTE = "sample: generated data, no number is about real language"
USED = ("pooling", "max_tokens", "precision")


def sample_note(marks: Sequence[str]) -> list[str]:
    """What the mark of generated data means, where it is among MARKS."""
    return [SAMPLE_NOTE] if "sample" in marks else []


def data_notes(scored: "ScoredPairs") -> list[str]:
    """What must be said of the pairs, and of what the models learnt from."""
    notes = [f"{state.name} is partial: {state.rows} of {state.expected_rows} rows" for state in scored.states if state.partial]
    skipped = [f"{state.name}: {count} pairs left out, {reason}" for state in scored.states for reason, count in state.skipped.items()]
    trained = [f"{model.name}: {note}" for model in scored.models for note in _of_all(model, scored)]
    return [*sample_note(scored.marks), *notes, *skipped, *trained]


def _of_all(model: "ModelColumns", scored: "ScoredPairs") -> list[str]:
    """The notes of a model's members, equal ones once."""
    return list(dict.fromkeys(note for member in model.members for note in scored.member_notes(member)))


def usage_notes(models: "Sequence[ModelColumns]", facts: Mapping[str, Facts]) -> list[str]:
    """How each of MODELS was used, by the FACTS of its members."""
    return [note for model in models for note in usage_note(model.name, [facts[member] for member in model.members])]


def usage_note(name: str, members: Sequence[Facts]) -> list[str]:
    """How the MEMBERS of a model were used, once where all were used alike, and how many are behind its means."""
    seeds = f", mean of {len(members)} seeds" if len(members) > 1 else ""
    told = []
    for facts in members:
        used = [f"{key.replace('_', ' ')} {facts[key]}" for key in USED if key in facts]
        cut = f", {facts['truncated']} sentences cut" if facts.get("truncated", "0") != "0" else ""
        told.append(f"{name}: {', '.join(used)}{cut}{seeds}")
    return list(dict.fromkeys(told))


def evaluation_facts(evaluation: "Evaluation") -> Facts:
    """How the member was used whose numbers a kept evaluation holds."""
    return {key: str(value) for key in USED if (value := getattr(evaluation, key)) is not None}
