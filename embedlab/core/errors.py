"""The errors a user can cause, each with the exit code it ends the program with."""

from enum import IntEnum


class ExitCode(IntEnum):
    """How an embedlab process ends."""

    OK = 0
    FAILED = 1  # the work failed: training diverged, evaluation broke
    USAGE = 2  # what was typed is wrong: usage, recipe, key, name, expression, settings
    MISSING = 3  # something needed is missing or unusable: data file, hub, checkpoint, device, disk
    INTERRUPTED = 130


class EmbedlabError(Exception):
    """The work failed for a reason the user can act on; printed as two lines, never as a traceback.

    The message says what was wrong with the value in quotes, the hint is the next thing to type.
    """

    exit_code = ExitCode.FAILED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(EmbedlabError):
    """What was typed is wrong: a flag, recipe, key, model or task name, expression or setting."""

    exit_code = ExitCode.USAGE


class MissingError(EmbedlabError):
    """Something needed is missing or unusable: a data file, the hub, a checkpoint, a device, disk space."""

    exit_code = ExitCode.MISSING


class Interrupted(EmbedlabError):  # noqa: N818 - a requested stop is not an error
    """The user or the machine stopped the work; what was computed is saved."""

    exit_code = ExitCode.INTERRUPTED
