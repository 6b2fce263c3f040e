"""Score two typed sentences with the chosen models while the user types."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, Static

from embedlab.analysis.overlap import dice
from embedlab.core.errors import EmbedlabError
from embedlab.data.words import distinct_words
from embedlab.tui.key_table import shown_key
from embedlab.tui.model_titles import short_name
from embedlab.tui.pair_table.scorer import ScorerProcess, TypedScore
from embedlab.tui.pairs.sections import highlighted
from embedlab.tui.widgets.bars import bar
from embedlab.tui.widgets.plain import plain

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard

SCORE_AFTER_S = 0.35  # without a key


class TypedPairScreen(ModalScreen[None]):
    """Show the word overlap at once, and each model's cosine as soon as the scorer returns it."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Close")]

    def __init__(self, models: Sequence[str], sentences: tuple[str, str]) -> None:
        super().__init__()
        self._models = list(models)
        self._sentences = sentences
        self._scores: dict[str, TypedScore] = {}
        self._number = 0
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static("A pair of your own", classes="dialog-title")
            yield Input(plain(self._sentences[0]), id="first", placeholder="sentence 1")
            yield Input(plain(self._sentences[1]), id="second", placeholder="sentence 2")
            yield Static(id="typed-overlap")
            yield Static(id="typed-scores")
            yield Static("tab  other sentence   esc  close", classes="dialog-hint")

    def on_mount(self) -> None:
        """Receive scores while the screen is open."""
        self._listen()
        self._changed()

    def on_input_changed(self) -> None:
        """Update the overlap at once, the scores after a pause in typing."""
        self._changed()

    def _changed(self) -> None:
        first, second = (self.query_one(name, Input).value for name in ("#first", "#second"))
        shared = distinct_words(first) & distinct_words(second)
        lines = [highlighted(first, shared), highlighted(second, shared), Content.styled(f"Dice {dice(first, second):z.3f}", "$text-faint")]
        self.query_one("#typed-overlap", Static).update(Content("\n").join(lines))
        self._scores = {}
        self._show_scores()
        if self._timer is not None:
            self._timer.stop()
        if first.strip() and second.strip() and self._models:
            self._timer = self.set_timer(SCORE_AFTER_S, self._request)

    @work(exclusive=True, group="request")
    async def _request(self) -> None:
        first, second = (self.query_one(name, Input).value for name in ("#first", "#second"))
        try:
            self._number = await self._scorer.request(first, second, self._models)
        except EmbedlabError as error:
            self._dashboard.report(error)

    @work(exclusive=True, group="listen")
    async def _listen(self) -> None:
        if not self._models:
            return
        try:
            async for score in self._scorer.scores():
                if score.number == self._number:
                    self._scores[score.model] = score
                    self._show_scores()
        except EmbedlabError as error:
            self._dashboard.report(error)

    @property
    def _dashboard(self) -> "Dashboard":
        return cast("Dashboard", self.app)

    @property
    def _scorer(self) -> ScorerProcess:
        return self._dashboard.scorer_process

    def _show_scores(self) -> None:
        lines = [self._line(name) for name in self._models] or [
            Content.styled(f"no model is chosen: close and press {shown_key('models')}", "$text-faint")
        ]
        self.query_one("#typed-scores", Static).update(Content("\n").join(lines))

    def _line(self, name: str) -> Content:
        label, score = f"{short_name(plain(name), 14):<14} ", self._scores.get(name)
        if score is None:
            return Content.assemble(label, ("…", "$text-faint"))
        if score.similarity is None:
            return Content.assemble(label, (f"{score.error}  {score.hint}", "$text-error"))
        return Content.assemble(
            label, f"{score.similarity:z6.3f} ", (bar(score.similarity, min(0.0, score.similarity), 1.0, 40), "$text-primary")
        )
