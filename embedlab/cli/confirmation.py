"""The question before something is deleted."""

from dataclasses import dataclass
from typing import Annotated

from embedlab.cli.terminal import Terminal
from embedlab.core.errors import UsageError
from embedlab.workflows.options.flag import Flag


@dataclass(frozen=True, kw_only=True)
class ConfirmOptions:
    """Whether the question is answered already."""

    yes: Annotated[bool, Flag(names=("--yes", "-y"), help="Delete without confirmation.")] = False

    def require(self, question: str, refusal: str, terminal: Terminal) -> None:
        """Go on where the user agrees; otherwise it is a UsageError with the REFUSAL."""
        if not self.yes and not terminal.confirm(question):
            raise UsageError(f"{refusal}: not confirmed", hint="add --yes")
