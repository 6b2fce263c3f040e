"""A short list of the pairs on which models disagree most."""

from collections.abc import Mapping, Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from embedlab.tui.model_titles import short_name
from embedlab.tui.widgets.plain import plain


class DisagreementList(VerticalScroll):
    """A few pairs, each on three lines."""

    def compose(self) -> ComposeResult:
        yield Static()

    def show(self, pairs: Sequence[Mapping[str, Any]], models: Sequence[str]) -> None:
        """Show these pairs with the score that each model gives them."""
        what = "rank gap" if len(models) > 1 else "rank error"
        parts = [Content.styled(f"largest disagreements ({what})" if pairs else "no pairs to disagree on", "bold")]
        for pair in pairs:
            scores = "  ".join(f"{short_name(plain(name), 12)} {pair[name]:z.2f}" for name in models if pair.get(name) is not None)
            head = Content.assemble((f"{pair['size']:z.0f} ", "$text-warning bold"), (f"gold {pair['gold']:z.1f}  {scores}", "$text-faint"))
            parts += [head, Content(f"  {plain(pair['sentence1'])}"), Content(f"  {plain(pair['sentence2'])}")]
        self.query_one(Static).update(Content("\n").join(parts))
