"""What if: both sentences of an item to edit, what each model says then, what each word does."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from embedlab.choices import EditRule
from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import state_folder
from embedlab.core.printable import one_line
from embedlab.core.python_processes import python_command, start_piped
from embedlab.core.schema import unbuild
from embedlab.core.settings import Settings
from embedlab.data.words import edit_sentence
from embedlab.tui.plain import faint, shorten_middle
from embedlab.tui.theme import model_colour, model_sign

REST_S = 0.4  # of the keys, before what was typed is scored
MOST_WORDS = 60
Pair = tuple[str, str]


class ScorerProcess:
    """A process that scores pairs, so that the dashboard loads no model; it stays until closed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None
        self._number = 0
        self._lock = asyncio.Lock()

    async def score(
        self, pairs: Sequence[Pair], models: Sequence[str]
    ) -> Mapping[str, Sequence[float] | str]:
        """The similarities of PAIRS by model, or why it has none."""
        async with self._lock:
            if self._process is None or self._process.returncode is not None:
                values = json.dumps(unbuild(self._settings))
                command = python_command(values, module="embedlab.encoders.pair_worker")
                log = state_folder() / "typed-pairs.log"
                await asyncio.to_thread(log.parent.mkdir, parents=True, exist_ok=True)
                with await asyncio.to_thread(log.open, "wb") as file:
                    self._process = await start_piped(command, stderr=file)
            source, sink = self._process.stdin, self._process.stdout
            assert source is not None
            assert sink is not None
            self._number += 1
            question = {
                "number": self._number,
                "first": [first for first, _ in pairs],
                "second": [second for _, second in pairs],
                "models": list(models),
            }
            source.write(json.dumps(question).encode() + b"\n")
            with suppress(ConnectionError):
                await source.drain()
            answers: dict[str, Sequence[float] | str] = {}
            while len(answers) < len(models):
                if not (line := await sink.readline()):
                    hint = f"its log: {state_folder() / 'typed-pairs.log'}"
                    raise EmbedlabError("the process that scores typed pairs ended", hint=hint)
                reply = json.loads(line)
                if reply["number"] == self._number:
                    answers[reply["model"]] = reply.get("error") or reply["similarities"]
            return answers

    async def close(self) -> None:
        """End the process."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.terminate()
            await self._process.wait()


def pairs_without_words(pair: Pair) -> list[tuple[int, str, Pair]]:
    """PAIR without each of its words: which sentence, the word, and what is left."""
    shortened = []
    for side, sentence in enumerate(pair):
        for match in list(re.finditer(r"\S+", sentence))[:MOST_WORDS]:
            remaining_text = " ".join((sentence[: match.start()] + sentence[match.end() :]).split())
            if remaining_text:
                remaining_pair = (
                    (remaining_text, pair[1]) if side == 0 else (pair[0], remaining_text)
                )
                shortened.append((side, match.group(), remaining_pair))
    return shortened


class WhatIf(VerticalScroll):
    """Two fields with sentences, and below them what the models say."""

    DEFAULT_CSS = """
    WhatIf { height: 1fr; display: none; }
    WhatIf Input { height: 1; border: none; padding: 0; background: $boost; margin-bottom: 1; }
    WhatIf Input:focus { background: $primary-muted; }
    WhatIf Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("ctrl+t", "words", "Words", tooltip="what each word does"),
        Binding("ctrl+n", "edit('negate')", "Negate", tooltip="negate the sentence"),
        Binding("ctrl+r", "edit('number')", "Number", tooltip="another number in it"),
    ]

    class Left(Message):
        """The pane is to be closed."""

    def __init__(self) -> None:
        super().__init__(id="what-if", classes="panel")
        self.border_title = "what if · ctrl+t: what each word does"
        self.scorer: ScorerProcess | None = None
        self._pair: Pair = ("", "")
        self._before: Mapping[str, float] = {}
        self._places: Mapping[str, int] = {}
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Yield the fields and the answer."""
        yield Input(id="first-sentence", compact=True)
        yield Input(id="second-sentence", compact=True)
        yield Static(markup=False)

    def open(
        self,
        pair: Pair,
        stored_scores: Mapping[str, float],
        places: Mapping[str, int],
        settings: Settings,
    ) -> None:
        """Edit PAIR, whose STORED_SCORES are similarities by model; PLACES are those of the models
        among the chosen ones: their signs and colours follow from it.
        """
        self.scorer = self.scorer or ScorerProcess(settings)
        self._pair, self._before, self._places = pair, stored_scores, places
        for field, text in zip(self.query(Input), pair, strict=True):
            field.value = one_line(text)  # without what moves the cursor of a terminal
        self.query(Input).first().focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Score what is typed after a rest."""
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(REST_S, self.score)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the other sentence."""
        event.stop()
        self.screen.focus_next()

    @property
    def typed(self) -> Pair:
        """Both sentences as they are now."""
        first, second = (field.value for field in self.query(Input).results(Input))
        return first, second

    def action_edit(self, rule: EditRule) -> None:
        """Edit the sentence under the cursor by a RULE, where that is safe."""
        for field in self.query(Input).results(Input):
            text = edit_sentence(field.value, rule) if field.has_focus else None
            if text is not None and text not in self.typed:
                field.value = text
                return
        self.app.notify("this rule does not fit the sentence, or makes both the same")

    def action_leave(self) -> None:
        """Close the pane."""
        self.post_message(self.Left())

    @work(exclusive=True, group="what-if", exit_on_error=False)
    async def score(self) -> None:
        """Show what each model says of the sentences as they are typed."""
        answers = await self._scores([self.typed])
        lines = []
        for model, before in self._before.items():
            place = self._places[model]
            scores = answers.get(model, "")
            name = (f"{model_sign(place)} {model[:18]:<19}", model_colour(place))
            if isinstance(scores, str):
                lines.append(Content.assemble(name, (scores, "$text-error")))
                continue
            moved = scores[0] - before
            change_text = f"  {moved:+z.3f} beside the item" if abs(moved) >= 0.0005 else ""
            lines.append(
                Content.assemble(name, (f"{scores[0]:z.3f}", "bold"), (change_text, "$faint"))
            )
        self.query_one(Static).update(Content("\n").join(lines))

    @work(exclusive=True, group="what-if", exit_on_error=False)
    async def action_words(self) -> None:
        """Show by how much each word brings both sentences together."""
        pair = self.typed
        shortened = pairs_without_words(pair)
        answers = await self._scores(
            [pair, *(remaining_pair for _, _, remaining_pair in shortened)]
        )
        width = max([9, *(cell_len(word) for _, word, _ in shortened)]) + 2  # of its title at least
        scores_of_model = {m: a for m, a in answers.items() if not isinstance(a, str)}
        head = "".join(
            f"{model_sign(self._places[m])} {shorten_middle(m, 12):<14}" for m in scores_of_model
        )
        lines = [Content.styled(f"{'each word':<{width}}{head}", "bold $faint")]
        for number, (side, word, _) in enumerate(shortened, start=1):
            styled: list[tuple[str, str]] = [(set_cell_size(word, width), "italic" * side)]
            for model, scores in scores_of_model.items():
                effect = scores[0] - scores[number]
                style = model_colour(self._places[model]) if abs(effect) >= 0.02 else "$faint"
                styled.append((f"{effect:<+z16.3f}", style))
            lines.append(Content.assemble(*styled))
        note = (
            "+ brings the sentences together, - sets them apart; the second sentence is in italics"
        )
        self.query_one(Static).update(Content("\n").join([*lines, faint(note)]))

    async def _scores(self, pairs: Sequence[Pair]) -> Mapping[str, Sequence[float] | str]:
        assert self.scorer is not None
        self.query_one(Static).update(faint("scoring …"))
        try:
            return await self.scorer.score(pairs, [*self._before])
        except EmbedlabError as error:
            return dict.fromkeys(self._before, error.message)

    async def on_unmount(self) -> None:
        """End the process."""
        if self.scorer is not None:
            await self.scorer.close()
