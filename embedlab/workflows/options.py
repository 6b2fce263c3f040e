"""How the command line takes the fields of a workflow's options: each field carries its flags and its help, written once.

It is imported with the command line, so that it imports nothing that takes time.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Flag:
    """The words that set one field, as an annotation of it."""

    names: tuple[str, ...]
    help: str
    metavar: str | None = None
    completes: str | None = None  # the function of cli/completion that lists values


TASKS = Flag(
    names=("--task", "--dataset"),
    metavar="NAME",
    help="Only this dataset, your own file of pairs, hub:OWNER/NAME, mteb:NAME, probing files (gum-probing, probing:DIR) or a task.",
    completes="datasets",
)
BY = Flag(
    names=("--by",),
    metavar="PROPERTY",
    help="Group items by dataset, source, dice, words, negation or another property (a wrong name lists them), numbers by fifths; "
    "or by an expression such as 'dice>0.5': what fits, and the rest.",
    completes="properties",
)
WHERE = Flag(names=("--where",), metavar="EXPRESSION", help="Only items that fit, such as 'negation:one dice>0.5'; see `embedlab pairs`.")
SETTING = Flag(names=("--setting",), help="How transfer and probing train their classifiers.")
COMMON = Flag(names=("--common",), help="Take the pairs that all models score, where a brought file lacks some; titles count them.")
ROWS = Flag(names=("--rows",), help="One row a slice, or one row a model: no differences, and narrow enough for most papers.")
