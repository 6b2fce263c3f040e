"""What could once be typed, and what to use instead: the one table of it. tests/test_inventory.py
compares it with the list of signed removals.
"""

from collections.abc import Mapping, Sequence

_DATA = "--data starter, real pairs inside embedlab, or --data tiny, a generated corpus"
_SETTINGS = (
    "put settings into the file that `embedlab config` names, or into one that --config names"
)

# A command, an option, an option with a value, or an option of one command.
INSTEAD: Mapping[str, str] = {
    "trust": _SETTINGS,
    "plugins trust": "name the file in the user's settings, or give it with --plugin",
    "plugins ls": "embedlab doctor --plugins",
    "data items": "embedlab data ls DATASET --items",
    "data selections": "embedlab data ls --selections",
    "verify": "embedlab same A.json B.json",
    "--sample": _DATA,
    "compare --test": "remove --test: dyadic is the test of every task",
    "grid run --budget": "remove --budget: every cell trains to its end; fewer cells take less",
}


def instead_of(words: Sequence[str]) -> str:
    """Return what to use instead of the first removed thing among typed WORDS; empty where there is
    none.
    """
    line = f"{' '.join(words)} ".replace("=", " ")
    for name, use in INSTEAD.items():
        command, mark, option = name.partition("--")
        begins = line.startswith(command if mark else f"{command} ")
        if begins and (not mark or f" {mark}{option} " in f" {line}"):
            return use
    return ""
