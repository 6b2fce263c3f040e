"""Edit two sentences, or type two, and see what each chosen model gives them while the user
types.
"""

from asyncio import TimerHandle
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from embedlab.analysis.overlap import dice
from embedlab.choices import EditRule
from embedlab.core.errors import EmbedlabError
from embedlab.data.words import distinct_words
from embedlab.tui.command import command
from embedlab.tui.commands import COMMANDS, binding
from embedlab.tui.key_table import shown_key
from embedlab.tui.model_titles import short_name
from embedlab.tui.pair_table.scorer import ScorerProcess, TypedScore
from embedlab.tui.pairs.sections import highlighted
from embedlab.tui.pairs.what_if import EditFault, RankedModel, WhatIf, edit_by_rule
from embedlab.tui.terminal.delay import after
from embedlab.tui.widgets.bars import bar
from embedlab.tui.widgets.plain import plain

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard

SCORE_AFTER_S = 0.35  # without a key
_NAME = 14  # cells of a model
_KEYS = "  ".join(
    [
        *(f"{entry.key.shown[0]} {entry.label.lower()}" for entry in COMMANDS["what_if"]),
        "tab other",
        "esc close",
    ]
)

_FAULTS: Mapping[EditFault, str] = {
    "unsafe": "the rule {0!r} is not safe in either sentence",
    "equal": "the rule {0!r} makes both sentences the same",
}


class WhatIfScreen(ModalScreen[None]):
    """Show the word overlap at once, and each model's similarity, its rank and how far it moved as
    soon as the scorer returns it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding(command("back", "Close.", action="dismiss"), "what-if"),
        *(
            replace(binding(entry, "what_if"), priority=True) for entry in COMMANDS["what_if"]
        ),  # a field would take them
    ]

    def __init__(self, pair: WhatIf) -> None:
        super().__init__()
        self._pair = pair
        first, second = (plain(text) for text in pair.sentences)
        self.inputs = (
            Input(first, id="first", placeholder="sentence 1", compact=True),
            Input(second, id="second", placeholder="sentence 2", compact=True),
        )
        # Held, not searched for: a score may arrive while the screen is being closed, when its
        # parts are gone already.
        self._overlap, self._typed_scores = Static(id="typed-overlap"), Static(id="typed-scores")
        self._note = Static("", id="edit-note", classes="dialog-hint", markup=False)
        self._models = [model.name for model in pair.models]
        self._scores: dict[str, TypedScore] = {}
        self._before = {
            model.name: model.before for model in pair.models if model.before is not None
        }
        self._number = 0
        self._timer: TimerHandle | None = None

    def compose(self) -> ComposeResult:
        """Yield both lines, the overlap, the scores, a note and the keys."""
        with Vertical(classes="dialog"):
            yield Static(
                "What if: edit the pair" if any(self._pair.sentences) else "A pair of your own",
                classes="dialog-title",
            )
            yield from self.inputs
            yield self._overlap
            yield self._typed_scores
            yield self._note
            yield Static(_KEYS, classes="dialog-hint")

    def on_mount(self) -> None:
        """Receive scores while the screen is open."""
        self._listen()
        self._changed()

    def on_input_changed(self) -> None:
        """Update the overlap at once, the scores after a pause in typing."""
        self._changed()

    def action_edit(self, rule: EditRule) -> None:
        """Change the sentence under the cursor by RULE, or the other one where the rule is not safe
        in it.
        """
        inputs = self.inputs
        side = 0 if self.focused is inputs[0] else 1
        made = edit_by_rule((inputs[0].value, inputs[1].value), side, rule)
        if isinstance(made, str):
            self._note.update(f"{_FAULTS[made].format(rule)}: type the change")
            return
        inputs[made[0]].value = made[1]
        self._note.update(f"rule: {rule}, in sentence {made[0] + 1}; read it before you trust it")

    def action_restore(self) -> None:
        """Put the pair itself back."""
        for line, text in zip(self.inputs, self._pair.sentences, strict=True):
            line.value = plain(text)
        self._note.update("")

    @property
    def is_scored(self) -> bool:
        """Whether each model has answered for what the lines say."""
        return len(self._scores) == len(self._models)

    def _changed(self) -> None:
        first, second = (line.value for line in self.inputs)
        shared = distinct_words(first) & distinct_words(second)
        lines = [
            highlighted(first, shared),
            highlighted(second, shared),
            Content.styled(f"Dice {dice(first, second):z.3f}", "$text-faint"),
        ]
        self._overlap.update(Content("\n").join(lines))
        self._scores, self._number = {}, 0  # what still comes is of other sentences
        self._show_scores()
        if self._timer is not None:
            self._timer.cancel()
        if first.strip() and second.strip() and self._models:
            self._timer = after(SCORE_AFTER_S, self, self._request)

    @work(exclusive=True, group="request")
    async def _request(self) -> None:
        first, second = (line.value for line in self.inputs)
        try:
            number = await self._scorer.request([(first, second)], self._models)
            if [line.value for line in self.inputs] == [
                first,
                second,
            ]:  # starting the scorer takes seconds
                self._number = number
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
                    self._remember(score)
                    self._show_scores()
        except EmbedlabError as error:
            self._dashboard.report(error)

    def _remember(self, score: TypedScore) -> None:
        """Take the score of the unedited pair from the scorer where the table has none."""
        if score.similarity is not None and not self._pair.is_edited(
            *(line.value for line in self.inputs)
        ):
            self._before.setdefault(score.model, score.similarity)

    @property
    def _dashboard(self) -> "Dashboard":
        return cast("Dashboard", self.app)

    @property
    def _scorer(self) -> ScorerProcess:
        return self._dashboard.scorer_process

    def _show_scores(self) -> None:
        lines = [self._line(model) for model in self._pair.models]
        if not lines:
            lines = [
                Content.styled(
                    f"no model is chosen: close and press {shown_key('models')}", "$text-faint"
                )
            ]
        elif self._pair.dataset:
            title = f"{'':<{_NAME}} {'similarity':>10} {'rank':>6} {'moved':>6}"
            lines = [
                Content.styled(title, "$text-faint"),
                *lines,
                Content.styled(self._reference(), "$text-faint"),
            ]
        self._typed_scores.update(Content("\n").join(lines))

    def _reference(self) -> str:
        counts = sorted(
            {len(model.reference) for model in self._pair.models if len(model.reference)}
        )
        if not counts:
            return "no rank: these models have no scores of any pairs"
        pairs = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
        return (
            f"rank: percentile among {pairs} pairs of {self._pair.dataset}; moved: from the "
            f"pair itself"
        )

    def _line(self, model: RankedModel) -> Content:
        label, score = (
            f"{short_name(plain(model.name), _NAME):<{_NAME}} ",
            self._scores.get(model.name),
        )
        if score is None:
            return Content.assemble(label, ("…", "$text-faint"))
        similarity = score.similarity
        if similarity is None:
            return Content.assemble(label, (f"{score.error}  {score.hint}", "$text-error"))
        if not self._pair.dataset:
            return Content.assemble(
                label,
                f"{similarity:z6.3f} ",
                (bar(similarity, min(0.0, similarity), 1.0, 40), "$text-primary"),
            )
        rank = model.rank(similarity)
        is_edited = self._pair.is_edited(*(line.value for line in self.inputs))
        moved = model.movement(similarity, self._before.get(model.name)) if is_edited else None
        shown_rank, shown_move = (
            "–" if rank is None else f"{rank:z.1f}",
            "" if moved is None else f"{moved:+z.1f}",
        )
        drawn = "" if rank is None else bar(rank, 0.0, 100.0, 20)
        return Content.assemble(
            label, f"{similarity:z10.3f} {shown_rank:>6} {shown_move:>6} ", (drawn, "$text-primary")
        )
