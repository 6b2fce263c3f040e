"""What a recipe declares about its keys: where it differs from the paper, or says what the paper
leaves open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from embedlab.core.errors import UsageError
from embedlab.core.nearest import nearest_name
from embedlab.core.schema import TomlTable, build, quote, table

IN_STAGE = ("data", "objective", "optim")  # sections of a stage


@table
class Declaration:
    """What `[deviations]` of a recipe says of one key."""

    paper: str  # what the paper says, or that it says nothing
    source: str  # where this can be read
    here: str | None = None  # what is done here; absent: the value of the key


@dataclass(frozen=True, kw_only=True)
class DeclaredDeviation:
    """One declared difference from the paper, with the full keys that it is about."""

    keys: tuple[str, ...]  # "stage.0.optim.clip"
    paper: str
    source: str
    here: str | None


def declared_deviations(values: Mapping[str, Any], *, where: str) -> tuple[DeclaredDeviation, ...]:
    """Return what the table [deviations] in VALUES of a recipe declares; whether its keys exist is
    for the caller to check.
    """
    declared = values.get("deviations", {})
    if not isinstance(declared, dict):
        raise UsageError(
            f"{where}: 'deviations' is {quote(declared)}: not a table",
            hint='"optim.clip" = { paper = "…", source = "…" }',
        )
    stages = values.get("stage")
    count = len(stages) if isinstance(stages, list) else 0
    deviations = []
    for key, said in declared.items():
        full_name = f"deviations.{key}"
        if not isinstance(said, dict):
            raise UsageError(
                f"{where}: {full_name!r} is {quote(said)}: not a table",
                hint='give { paper = "…", source = "…" }',
            )
        declaration = build(Declaration, said, where=where, prefix=full_name)
        deviations.append(
            DeclaredDeviation(
                keys=full_keys(key, count, f"{where}: {full_name!r}"),
                paper=declaration.paper,
                source=declaration.source,
                here=declaration.here,
            )
        )
    return tuple(deviations)


def check_declared(
    declared: Sequence[DeclaredDeviation], known: frozenset[str], *, where: str
) -> None:
    """Refuse a deviation of a key that the recipe does not have; KNOWN are all that it could
    set.
    """
    for deviation in declared:
        for key in deviation.keys:
            if key not in known:
                guess = nearest_name(key, known)
                hint = (
                    f"did you mean {guess!r}?"
                    if guess
                    else "`embedlab recipes NAME` shows the keys of a recipe"
                )
                raise UsageError(
                    f"{where}: 'deviations' names {key!r}, which is not a key of the recipe",
                    hint=hint,
                )


def merge_declared(declared: Sequence[DeclaredDeviation]) -> list[DeclaredDeviation]:
    """Return DECLARED with those that say the same of one key of several stages as one."""
    keys_of: dict[tuple[str, str, str, str | None], list[str]] = {}
    for deviation in declared:
        for key in deviation.keys:
            keys_of.setdefault(
                (without_stage(key), deviation.paper, deviation.source, deviation.here), []
            ).append(key)
    return [
        DeclaredDeviation(keys=tuple(keys), paper=paper, source=source, here=here)
        for (_, paper, source, here), keys in keys_of.items()
    ]


def without_stage(key: str) -> str:
    """Return "optim.lr" for "stage.0.optim.lr"."""
    return key.split(".", 2)[-1] if key.startswith("stage.") else key


def short_keys(keys: Sequence[str], stages: int) -> str:
    """Return the KEYS of one name as one text, without a stage where they are those of all STAGES
    of a recipe.
    """
    numbers = [key.split(".")[1] for key in keys if key.startswith("stage.")]
    return (
        without_stage(keys[0])
        if len(numbers) in {0, stages}
        else f"stage.{'+'.join(numbers)}.{without_stage(keys[0])}"
    )


def full_keys(key: str, stages: int, where: str) -> tuple[str, ...]:
    """Return the full keys of KEY as `--set` reads it: "optim.lr" of a single stage,
    "stages.optim.lr" of each.
    """
    first, _, rest = key.partition(".")
    if first == "stages":
        return tuple(f"stage.{index}.{rest}" for index in range(stages))
    if first not in IN_STAGE:
        return (key,)
    if stages != 1:
        raise UsageError(
            f"{where}: the recipe has {stages} stages",
            hint=f"name one, stage.0.{key}, or all of them, stages.{key}",
        )
    return (f"stage.0.{key}",)


def joined_tables(parts: Sequence[TomlTable]) -> TomlTable:
    """Return the table [deviations] of recipes one after the other: stages count on, and the
    encoder is that of the last.
    """
    joined: TomlTable = {}
    before = 0
    for number, values in enumerate(parts):
        stages = values.get("stage")
        count = len(stages) if isinstance(stages, list) else 0
        declared = values.get("deviations", {})
        for key, said in declared.items() if isinstance(declared, dict) else ():
            for full in full_keys(key, count, f"deviations.{key}"):
                name, index, rest = (*full.split(".", 2), "", "")[:3]
                if name == "stage":
                    joined[f"stage.{before + int(index)}.{rest}"] = said
                elif number == len(parts) - 1:
                    joined[full] = said
        before += count
    return joined
