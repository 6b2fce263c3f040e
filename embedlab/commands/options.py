"""Options: fields of frozen dataclasses, each with its flag and its help, and those that commands
share.

Nothing here imports what takes time: options are imported with the command line.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Annotated, Any, TypeVar, get_origin, get_type_hints

from embedlab.choices import SettingName, TableRows


@dataclass(frozen=True, kw_only=True)
class Flag:
    """How one field is set, as an annotation of it: by a word with its name, or as an argument
    where it has no default.
    """

    help: str
    names: tuple[str, ...] = ()  # the words that set it, where they are others
    is_argument: bool = False  # though it has a default
    metavar: str | None = None
    completes: str | None = None  # the kind whose names `completer` of cli/declared.py lists
    min: int | None = None
    max: int | None = None
    typed: Any = None  # what is typed where that is not of the field's type, and then
    reads: Callable[[Any], Any] | None = None  # what makes the field's value of it
    is_expert: bool = False  # few need it: help shows it below the others
    python: str | None = None  # its name in Python, where that is another; "": only a terminal's


@dataclass(frozen=True, kw_only=True)
class Option:
    """A field of options: its name, its type, its default (MISSING where it has none), and its
    flag.
    """

    name: str
    kind: Any
    default: Any
    flag: Flag

    @property
    def names(self) -> tuple[str, ...]:
        """The words that set it on a command line; empty for an argument."""
        is_argument = self.flag.is_argument or self.default is MISSING
        own_names = () if is_argument else (f"--{self.name.replace('_', '-')}",)
        return self.flag.names or own_names

    @property
    def is_several(self) -> bool:
        """Whether it holds several values, each typed by itself."""
        return get_origin(self.kind) in {Sequence, tuple}

    @property
    def argument(self) -> str:
        """Its name in Python; empty where a terminal alone has it."""
        return self.name if self.flag.python is None else self.flag.python


@cache
def options_of(options: type) -> tuple[Option, ...]:
    """Return the fields of OPTIONS that have a flag, shared ones before the command's own."""
    hints = get_type_hints(options, include_extras=True)
    return tuple(
        Option(name=field.name, kind=hints[field.name].__origin__, default=field.default, flag=flag)
        for field in fields(options)
        for flag in getattr(hints[field.name], "__metadata__", ())
        if isinstance(flag, Flag)
    )


def typed_words(options: object, names: str) -> list[str]:
    """Return the words that set the fields NAMES of OPTIONS as they are, in this order: none for
    what is None or False.
    """
    kind: type = type(options)
    flags = {option.name: option.names for option in options_of(kind)}
    arguments: list[str] = []
    for name in names.split():
        value = getattr(options, name)
        for item in value if isinstance(value, tuple) else [value]:
            if item is not None and item is not False:
                arguments += flags[name][:1] if item is True else [flags[name][0], str(item)]
    return arguments


def options_schema(options: type) -> Mapping[str, Any]:
    """Return the JSON Schema of OPTIONS, for programs that write or check them."""
    declared_options = options_of(options)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": options.__name__,
        "description": (options.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": {option.name: _option_schema(option) for option in declared_options},
        "required": [option.name for option in declared_options if option.default is MISSING],
        "additionalProperties": False,
    }


def _option_schema(option: Option) -> Mapping[str, Any]:
    from pydantic import TypeAdapter

    adapter = TypeAdapter(option.kind)
    schema = adapter.json_schema()
    flag = option.flag
    bounds = {"minimum": flag.min, "maximum": flag.max} if flag.typed is None else {}
    for value_schema in [schema, schema.get("items", {}), *schema.get("anyOf", ())]:
        if value_schema.get("type") in {"integer", "number"}:
            value_schema.update(
                {name: bound for name, bound in bounds.items() if bound is not None}
            )
    if option.default is not MISSING:
        schema["default"] = adapter.dump_python(option.default, mode="json")
    return {**schema, "description": flag.help}


Typed = TypeVar("Typed", str, list[str])


def take_aliases(value: Typed) -> Typed:
    """Store the aliases among typed models, and give their names."""
    from embedlab.models.aliases import take_alias

    return [take_alias(name) for name in value] if isinstance(value, list) else take_alias(value)


_MODEL_HELP = (
    "A run, run@seed, folder, hub id, catalog name,{dice} average:a,b, or word-vectors:FILE,{scores} "
    "vectors:FILE, wordllama:NAME, http://HOST/v1#MODEL; NAME=MODEL calls it NAME from then on; "
    "options follow it: @pooling=, @prompt=, @role=, @dim=, @layer=, @whiten=, "
    "@normalise, @bits=, @adapter=, "
    "@code=native, @revision=, @max_tokens=, @case=, @special=, @padding=, @dtype=."
)
MODEL_HELP = _MODEL_HELP.format(dice=" dice,", scores=" scores:FILE,")
OF_TEXTS_HELP = _MODEL_HELP.format(dice=" dice,", scores="")  # what encodes or scores any text
ENCODER_HELP = _MODEL_HELP.format(dice="", scores="")


def model_flag(
    help: str = MODEL_HELP, *names: str, metavar: str = "MODEL", is_argument: bool = False
) -> Flag:
    """Return the flag of a field that names models."""
    return Flag(
        names=names,
        is_argument=is_argument,
        metavar=metavar,
        help=help,
        completes="models",
        reads=take_aliases,
    )


COLUMN = Flag(help="Column of a table. [default: sentence]")
NAMED_MODELS = model_flag(f"{OF_TEXTS_HELP} Give it again for more.", "--model", "-m")


@dataclass(frozen=True, kw_only=True)
class ModelsAndFiles:
    """Models, among which a user may name files to evaluate them on."""

    models: Annotated[
        Sequence[str],
        model_flag(
            f"{MODEL_HELP} A .csv, .tsv, .jsonl or .parquet file of your own is what they are "
            f"evaluated on.",
            metavar="MODEL... [FILE...]",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class TwoModels:
    """Two models that are compared, and a file to compare them on."""

    first: Annotated[str, model_flag()]
    second: Annotated[str, model_flag()]
    file: Annotated[
        str | None,
        Flag(
            is_argument=True,
            metavar="FILE",
            help="Your own rows, in place of --task FILE.",
            python="",
        ),
    ] = None

    @property
    def models(self) -> Sequence[str]:
        """All that was typed, in order."""
        return [self.first, self.second, *([self.file] if self.file is not None else [])]


TASKS = Flag(
    names=("--task", "--dataset"),
    metavar="NAME",
    help="Only this dataset, your own file of pairs, hub:OWNER/NAME, mteb:NAME, probing "
    "files (gum-probing, probing:DIR) "
    "or a task; again for more.",
    completes="datasets",
)
UNSEEN = Flag(
    help="Only items that no compared model is known to have read in training.",
)


@dataclass(frozen=True, kw_only=True)
class ChosenItems:
    """Which items."""

    tasks: Annotated[Sequence[str], TASKS] = ()
    where: Annotated[
        str,
        Flag(
            metavar="EXPRESSION",
            help="Only items that match, such as 'negation:one dice>0.5'; see `embedlab pairs`.",
        ),
    ] = ""
    selection: Annotated[
        str,
        Flag(
            is_expert=True,
            metavar="NAME",
            help="Only items of the selection called NAME; `embedlab data ls --selections` lists "
            "them.",
        ),
    ] = ""
    unseen: Annotated[bool, UNSEEN] = False

    @property
    def expression(self) -> str:
        """What picks the items; empty for all."""
        terms = [
            *([f"@{self.selection.removeprefix('@')}"] if self.selection else []),
            *(["-trained:*"] if self.unseen else []),
        ]
        if not terms:
            return self.where.strip()
        from embedlab.analysis.expressions import with_terms

        return with_terms(self.where, terms)


SUITES = Flag(
    names=("--suite",),
    metavar="TASK",
    help="A task, mteb:BENCHMARK, or all; again for more. [default: sts]",
    completes="tasks",
    python="suite",
)


@dataclass(frozen=True, kw_only=True)
class TaskItems(ChosenItems):
    """Which tasks and datasets, and which of their items."""

    suites: Annotated[Sequence[str], SUITES] = ()
    setting: Annotated[
        SettingName,
        Flag(
            is_expert=True,
            help="How transfer and probing train their classifiers.",
        ),
    ] = "literature"


@dataclass(frozen=True, kw_only=True)
class CommonItems(TaskItems):
    """Tasks, datasets and their items, of which a model may score some alone."""

    common: Annotated[
        bool,
        Flag(
            is_expert=True,
            help="Only items that all models score, if a file of scores lacks some.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class GroupedItems(CommonItems):
    """Tasks, datasets and their items, in groups that are the rows of a table."""

    by: Annotated[
        str,
        Flag(
            metavar="PROPERTY",
            help="Group items by source, dice, words, negation or another property (a wrong name "
            "lists all): numbers in fifths, words:3 in thirds; again to cross two; or by an "
            "expression such as 'dice>0.5'.",
            completes="properties",
            typed=list[str],
            reads=",".join,
        ),
    ] = "dataset"
    rows: Annotated[
        TableRows,
        Flag(
            is_expert=True,
            help="One row per slice, or one per model without differences: narrow enough for "
            "papers.",
        ),
    ] = "slices"


@dataclass(frozen=True, kw_only=True)
class ModelsOnItems(GroupedItems, ModelsAndFiles):
    """Models, and the items on which they are measured."""


@dataclass(frozen=True, kw_only=True)
class FigureOptions:
    """What is drawn of an answer."""

    figure: Annotated[
        Sequence[str],
        Flag(
            is_expert=True,
            metavar="FILE",
            help="Also draw FILE.pdf, .svg or .png for a paper; "
            "'FILE?kind=KIND&width=INCHES&title' chooses (a wrong kind lists them).",
            python="",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class SignatureOptions(FigureOptions):
    """What is shown besides an answer."""

    signature: Annotated[
        bool,
        Flag(
            is_expert=True,
            help="Also show, one line per model, everything that decides its numbers.",
            python="",
        ),
    ] = False


HTML = Flag(metavar="FILE", help="Also write a page with tables and plots.", python="")


@dataclass(frozen=True, kw_only=True)
class ConfirmationOptions:
    """Whether the question before a deletion is answered already."""

    yes: Annotated[bool, Flag(names=("--yes", "-y"), help="Delete without confirmation.")] = False


def with_profile(
    profile: str | None, overrides: Iterable[str], max_steps: int | None = None
) -> tuple[str, ...]:
    """Return OVERRIDES behind a PROFILE and before a length, as `--set` takes them; None for those
    of the recipe.
    """
    from embedlab.core.overrides import PROFILE

    length = (f"max_steps={max_steps}",) if max_steps is not None else ()
    return (*((f"{PROFILE}={profile}",) if profile is not None else ()), *overrides, *length)


@dataclass(frozen=True, kw_only=True)
class RecipeValues:
    """Other values than those of recipes; None: theirs."""

    overrides: Annotated[
        tuple[str, ...],
        Flag(
            names=("--set",),
            metavar="KEY=VALUE",
            help="Another value for a key of the recipe; again for more.",
            python="set",
        ),
    ] = ()
    profile: Annotated[
        str | None,
        Flag(
            is_expert=True,
            metavar="NAME",
            help="Values of the recipe: those of the paper, or code for those of the authors' "
            "public code.",
        ),
    ] = None
    encoder: Annotated[str | None, model_flag("Start from this encoder.")] = None
    max_steps: Annotated[
        int | None,
        Flag(
            metavar="N",
            help="Train only N steps, stage after stage; warm-up and schedule are fitted to them. "
            "Scores are marked as shortened.",
            min=1,
        ),
    ] = None

    @property
    def all_overrides(self) -> tuple[str, ...]:
        """What is set in every recipe."""
        return with_profile(self.profile, self.overrides, self.max_steps)


@dataclass(frozen=True, kw_only=True)
class Trainings(RecipeValues):
    """Many trainings, and who does them."""

    seeds: Annotated[
        int | None,
        Flag(
            metavar="N",
            help="Each of the seeds 1 to N. [default: the grid file's own; 3 for a paper]",
            min=1,
            max=10_000,
        ),
    ] = None
    workers: Annotated[
        int | None,
        Flag(
            metavar="N",
            help="Number of parallel trainings. [default: GPUs, or CPUs]",
            min=1,
            max=4096,
        ),
    ] = None
    cluster: Annotated[
        str | None,
        Flag(
            is_expert=True,
            metavar="ADDRESS",
            help="Run the trainings on this Ray cluster, or as jobs of Slurm: "
            "slurm[:KEY=VALUE,...].",
        ),
    ] = None
    dry_run: Annotated[bool, Flag(help="Print the cells; run nothing.", python="")] = False
