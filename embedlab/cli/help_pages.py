"""Help in layers: the front page has the everyday commands, and a command first what most need."""

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

EXPERT, SHARED_PANEL = "Expert", "Shared"  # where an option is shown; others come first
WHAT = "Train, compare and debug sentence embeddings, and know whether a difference is real."
EXIT_CODES = (
    "Exit codes: 0 ok, 1 the work failed, 2 what was typed is wrong, 3 something needed is "
    "missing or unusable (data file, hub, checkpoint, device, disk), 4 shown different or worse, "
    "5 not known, 130 interrupted."
)
EVERYDAY: Mapping[str, Mapping[str, str]] = {
    "Train and run": {
        "train": "train a recipe, or on your own rows",
        "runs": "see, stop, resume and remove runs",
        "grid": "run an ablation and print its table",
        "reproduce": "a paper's table, printed values beside ours",
    },
    "Compare and look": {
        "compare": "models side by side, and whether they differ",
        "evaluate": "all numbers of a model",
        "why": "on which kinds of items two models differ",
        "pairs": "the single pairs on which models disagree",
        "explain": "what each word of two sentences does",
        "tui": "all of it in a dashboard",
    },
    "Data and models": {
        "data": "see, check and fetch corpora",
        "models": "models that come in packages, and names of your own",
        "recipes": "the trainings that embedlab ships",
        "doctor": "what this machine has, and what is wrong with it",
    },
}
# The other commands, in the order of the front page; one that is not here comes last.
MORE = (
    *("demo", "score", "nearest", "encode", "export", "power", "same", "audit"),
    *("config", "cache"),
)
ORDER = (*(name for group in EVERYDAY.values() for name in group), *MORE)


def front_page() -> str:
    """Return what `embedlab --help` prints, without loading a command."""
    everyday = {name for group in EVERYDAY.values() for name in group}
    other_names = [name for name in command_names() if name not in everyday]
    lines = ["Usage: embedlab COMMAND …", "", f"  {WHAT}"]
    for title, commands in EVERYDAY.items():
        lines += ["", f"{title}:", *(f"  {name:<11}{text}" for name, text in commands.items())]
    lines += ["", "More:", f"  {', '.join(other_names)}", "", "Options:"]
    lines += [
        "  -h, --help            of a command: embedlab COMMAND --help",
        "  --options             the options that most commands share",
        "  -V, --version",
        "  --install-completion, --show-completion",
        "",
    ]
    return "\n".join([*lines, *textwrap.wrap(EXIT_CODES, 78), ""])


def command_names() -> list[str]:
    """Return the commands in the order of the front page, those that are not on it by name; they
    are files that declare one.
    """
    folder = Path(__file__).parents[1] / "commands"
    names = {path.stem for path in folder.glob("*.py") if "\n@command(" in path.read_text("utf-8")}
    return sorted(names, key=lambda name: (ORDER.index(name) if name in ORDER else 99, name))


class HelpedCommand(TyperCommand):
    """A command whose help shows the options that most need, then those of experts, and names the
    shared ones in a line.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options in layers."""
        layers: dict[str, list[tuple[str, str]]] = {
            title: [] for title in ("Arguments", "Options", EXPERT, SHARED_PANEL)
        }
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                kind = "Arguments" if param.param_type_name == "argument" else "Options"
                layers[getattr(param, "rich_help_panel", None) or kind].append(record)
        shared_records = layers.pop(SHARED_PANEL)
        for title, records in layers.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if shared_records:
            names = [flags_text.partition(" <")[0] for flags_text, _ in shared_records]
            with formatter.section("Shared (`embedlab --options` explains them)"):
                for line in textwrap.wrap(", ".join(names), 76):
                    formatter.write(f"  {line}\n")
