"""The commands that a hint names, typed in the folder where it was given."""

import re
import shlex
from collections.abc import Callable, Sequence

from tests.cli.conftest import Answer

# What stands for something that only the user knows.
OPEN = re.compile(
    r"…|\.\.\.|\b(?:NAME|DIR|FILE|MODEL|TASK|RUN|VALUE|KEY|N|A|B|X|N1|OWNER|MEANING|LOW|HIGH)\b"
)
QUOTED = re.compile(r"`(embedlab [^`]+)`")
FILES = re.compile(r"'([^'?]+\?[^']+)'")  # a file with what is said of its columns
BARE = re.compile(r"(?:^|: )(embedlab .+?)(?=$|, or |; |, then )")
BEGINS_WORK = {"train", "grid run", "reproduce"}
LEFT = {"runs rm", "runs prune", "cache clear", "models forget", "tui"}


def hint_of(said: str) -> str:
    """Return the hint among the lines that a command wrote to stderr."""
    return next(
        (line.removeprefix("hint: ") for line in said.splitlines() if line.startswith("hint: ")), ""
    )


def commands_in(hint: str) -> list[list[str]]:
    """Return the words after `embedlab` of each command in a HINT that can be typed as it is."""
    found = QUOTED.findall(hint) or BARE.findall(hint)
    return [shlex.split(command)[1:] for command in found if not OPEN.search(command)]


def type_hints(call: Callable[..., Answer], line: Sequence[str], answer: Answer) -> int:
    """Type each command that the hint of the refused LINE names, none of which may end by the same
    error; return how many were typed. What begins work is only planned, what deletes or serves is
    left.
    """
    typed = 0
    hint = hint_of(answer.err)
    for words in [*commands_in(hint), *_with_files(line, hint)]:
        start = [word for word in words[:2] if not word.startswith("-")]
        if {*start[:1], " ".join(start)} & LEFT:
            continue
        is_work = bool({*start[:1], " ".join(start)} & BEGINS_WORK)
        if is_work and "--dry-run" in line and "--dry-run" not in words:
            continue  # it says to begin the work itself
        again = call(*words, *(["--dry-run"] if is_work and "--dry-run" not in words else []))
        same = again.code == answer.code and error_of(again.err) == error_of(answer.err)
        assert not same, (
            f"embedlab {shlex.join(line)}\n{answer.err}\nembedlab {shlex.join(words)}\n{again.err}"
        )
        typed += 1
    return typed


def _with_files(line: Sequence[str], hint: str) -> list[list[str]]:
    """Return LINE with each file that HINT says more of in the place of the one that was typed."""
    lines = []
    for file in FILES.findall(hint):
        path = file.partition("?")[0]
        places = [at for at, word in enumerate(line) if word.partition("?")[0] == path]
        if places and not OPEN.search(file):
            lines.append([file if at in places else word for at, word in enumerate(line)])
    return lines


def error_of(said: str) -> str:
    """Return the error among the lines that a command wrote to stderr."""
    return next((line for line in said.splitlines() if line.startswith("embedlab: error: ")), "")
