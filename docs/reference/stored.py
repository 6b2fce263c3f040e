"""The pages of files: what a run holds, its events, and the schemas of stored JSON and of `--json`
answers.
"""

import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docs.reference.text import code, fields_of, first_line, table

ANSWERS = {  # the command whose rows a frame holds
    "EVALUATED": "evaluate",
    "COMPARED": "compare",
    "PAIRED": "pairs",
}
# a line of a schema: the name of a column, and what is said of it
_COLUMN = re.compile(r"^    (\w+) (?:text|number|count|truth)(?:  # (.*))?$", re.MULTILINE)


def runs_page() -> str:
    """Return the page of the files of a run."""
    from embedlab.runs.events import Event
    from embedlab.runs.store import RunFolder

    run = RunFolder.of(Path("runs"), "NAME", 1)
    files = [
        (code(path.relative_to(run.path)), first_line(own.__doc__))
        for name, own in vars(RunFolder).items()
        if isinstance(own, property)
        and hasattr(path := getattr(run, name), "relative_to")
        and path != run.path
    ]
    events = [
        (
            code(cls.kind),
            first_line(cls.__doc__),
            ", ".join(code(one.name) for one in fields_of(cls) if one.name != "time"),
        )
        for cls in _kinds(Event)
    ]
    return (
        "# Files of a run\n\nA run is the folder `runs/NAME/seed-N` of plain files, each "
        "replaced in one step, so that a killed process leaves no "
        "half of one. Everything that is shown of a run follows from them.\n\n"
        + table(("file", "holds"), files)
        + "\n`heads.safetensors` has the trained layers on top of the encoder, `lock` is "
        "locked by the process that trains. `model` opens in "
        "sentence-transformers.\n\n"
        "## Events\n\n`events.jsonl` has one JSON object a line, each with `event`, `time` "
        "(seconds since 1970) and a checksum.\n\n" + table(("event", "what", "with"), events)
    )


def _kinds(event: Any) -> list[Any]:
    from embedlab.runs import events

    found = [
        one
        for one in vars(events).values()
        if isinstance(one, type) and issubclass(one, event) and one.kind
    ]
    return list({one.kind: one for one in reversed(found)}.values())[::-1]


def schemas_page() -> str:
    """Return the page of schemas: the rows of answers and the stored JSON files."""
    from embedlab.reports import frames

    parts = [
        "# JSON\n\n`--json` writes one object: of scores and pairs with `rows`, which "
        "`.frame` in Python holds too, `notes`, and what decides the "
        "numbers. Keys are stable, numbers have full precision, and an undefined number is null.\n"
    ]
    source = inspect.getsource(frames)
    notes = dict(re.findall(_COLUMN, source))
    for name, command in ANSWERS.items():
        own = dict(re.findall(_COLUMN, source.split(f"{name} = schema_of(")[1].partition("\n)")[0]))
        rows = [
            (code(column), _dtype(dtype), own[column] or notes[column])
            for column, dtype in getattr(frames, name).items()
        ]
        parts.append(f"## Rows of {command}\n\n{table(('column', 'is', 'meaning'), rows)}")
    for title, cls in _stored().items():
        parts.append(f"## {title}\n\n{first_line(cls.__doc__)}\n\n{_folded(_schema(cls))}")
    return "\n".join(parts)


def _stored() -> dict[str, Any]:
    from embedlab.runs.environment import Environment
    from embedlab.runs.evaluations import Evaluation

    return {"evaluations/TASK.json": Evaluation, "environment.json": Environment}


def _schema(cls: Any) -> dict[str, Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(cls).json_schema()


def _folded(schema: Mapping[str, Any]) -> str:
    """Return a schema as a part of a page that is folded away."""
    text = json.dumps(schema, indent=1, ensure_ascii=False)
    return f'??? note "JSON Schema"\n\n    ```json\n{_indented(text)}\n    ```\n'


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


def _dtype(dtype: Any) -> str:
    return {
        "Float64": "number",
        "Int64": "whole number",
        "String": "text",
        "Boolean": "`true` or `false`",
    }.get(str(dtype), str(dtype))


def python_page() -> str:
    """Return the page of the Python API: signatures and docstrings of `import embedlab`."""
    import embedlab
    from embedlab.api import LoadedModel
    from embedlab.reports.report import Report

    parts = [
        "# Python API\n\n[In Python](../python.md) explains these with examples. Settings "
        "are `data=`, `runs=` and the others of [Settings](settings.md).\n"
    ]
    parts += [_callable(f"embedlab.{name}", getattr(embedlab, name)) for name in embedlab.__all__]
    for cls in (LoadedModel, Report):
        parts.append(f"## {cls.__name__}\n\n{inspect.cleandoc(cls.__doc__ or '')}\n")
        for name, own in vars(cls).items():
            if (
                not name.startswith("_")
                and (callable(own) or isinstance(own, property))
                and own.__doc__
            ):
                shown = name if isinstance(own, property) else f"{name}{_signature(own)}"
                parts.append(f"`{shown}`\n:   {first_line(own.__doc__)}\n")
    return "\n".join(parts)


def _callable(name: str, function: Any) -> str:
    from embedlab.commands.options import options_schema

    text = (
        f"## "
        f"{name}\n\n```py\n{name}{_lines(_signature(function))}\n```\n\n{inspect.cleandoc(function.__doc__ or '')}\n"
    )
    options = getattr(function, "options", None)
    return text if options is None else f"{text}\n{_folded(options_schema(options))}"


def _signature(function: Any) -> str:
    text = str(inspect.signature(function))
    text = re.sub(r"Optional\[(.*?\])\]", r"\1 | None", text)
    text = re.sub(r"ndarray\[tuple\[Any, ...\], dtype\[float32\]\]", "array of float32", text)
    text = re.sub(
        r"(?:collections\.abc|typing|embedlab(?:\.\w+)+|pathlib|polars\.dataframe\.frame|numpy)\.",
        "",
        text,
    )
    return re.sub(r"\(self(?:, )?", "(", text)


def _lines(signature: str) -> str:
    """Return a signature with a line for each parameter, where it is long."""
    if len(signature) < 80:
        return signature
    parameters, _, given = signature[1:].rpartition(")")
    parts = re.split(r", (?=[*\w]+(?::|,|$)|\*)", parameters)
    return "(\n" + "".join(f"    {part},\n" for part in parts) + f"){given}"
