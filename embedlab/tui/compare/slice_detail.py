"""Every model on one slice: score, interval and tie letters, bars on one scale, and the difference
to the reference.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from embedlab.analysis.another_dataset import Elsewhere
from embedlab.analysis.comparison import ComparedSlice, SliceScore
from embedlab.analysis.seed_notes import REACH_SIGN
from embedlab.analysis.seed_tests import holm, odd_one
from embedlab.core.signs import PAIRS_SHARED, SENTENCES_SHARED
from embedlab.data.shared_text import Overlap
from embedlab.scoring.provenance import overlap_sign
from embedlab.tui.model_colours import model_colour
from embedlab.tui.model_titles import short_name
from embedlab.tui.runs.odd_seeds import ODD, SURE
from embedlab.tui.widgets.plain import plain
from embedlab.tui.widgets.text import fitted_lines

_LABEL = 14
_SEEDS = 3  # at each end
_ROOMY = 50  # cells; below this width, the numbers are under the name and not under the bar


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """What is known about the models of a slice besides their scores."""

    reference: str
    shared: Mapping[str, Overlap] = field(
        default_factory=dict
    )  # of the slice, with the training text of a model
    seeds: Mapping[str, Sequence[int]] = field(default_factory=dict)  # of the members of a model
    elsewhere: Mapping[str, Elsewhere] = field(
        default_factory=dict
    )  # by model, what is expected on another dataset


class SliceDetail(VerticalScroll):
    """The slice under the cursor."""

    def compose(self) -> ComposeResult:
        """Yield the text of the slice."""
        yield Static()

    def on_mount(self) -> None:
        """Begin without a slice."""
        self._shown: tuple[ComparedSlice | None, ModelFacts] = (None, ModelFacts(reference=""))

    def show(self, compared: ComparedSlice | None, facts: "ModelFacts") -> None:
        """Show a slice, or nothing."""
        self._shown = (compared, facts)
        self.query_one(Static).update(
            ""
            if compared is None
            else _content(compared, facts, self.scrollable_content_region.width)
        )

    def on_resize(self) -> None:
        """Fit the bars to the width."""
        self.show(*self._shown)


def _content(compared: ComparedSlice, facts: ModelFacts, width: int) -> Content:
    noun = "pairs · Spearman" if compared.metric == "spearman" else f"items · {compared.metric}"
    lines = [Content.styled(f"{plain(compared.title)} · {compared.pairs:,} {noun} x 100", "bold")]
    defined = [score for score in compared.scores.values() if score.value == score.value]
    low = min(
        (score.low if score.low == score.low else score.value for score in defined), default=0
    )
    high = max(
        (score.high if score.high == score.high else score.value for score in defined), default=1
    )
    odd = odd_seeds_of(compared, facts.seeds)
    for name, score in compared.scores.items():
        label = f"{short_name(plain(name), _LABEL):<{_LABEL}} "
        drawn = _whisker(
            score.value, score.low, score.high, (low, high), max(8, width - _LABEL - 2)
        )
        lines.append(Content.assemble(label, (drawn, model_colour(name))))
        indent = _LABEL + 1 if width >= _ROOMY else 1
        lines += [
            Content.assemble(" " * indent, line)
            for line in _numbers(compared, name, facts.reference, width - indent)
        ]
        lines += [
            Content(f"{'':{indent}}") + line
            for line in _on_another(facts.elsewhere.get(name), width - indent)
        ]
        lines += [
            Content(f"{'':{indent}}") + line
            for line in _by_seed(score, facts.seeds.get(name, ()), width - indent)
        ]
        if name in odd:
            lines.append(Content.styled(f"{'':{indent}}{odd[name]}", "$text-warning"))
        lines += [
            Content.styled(f"{'':{indent}}{text}", "$text-error")
            for text in _shared(facts.shared.get(name))
        ]
    tests = (
        [f"{ODD} Grubbs' test over the seeds, corrected over the models of this slice alone"]
        if odd
        else []
    )
    over = [
        f"another dataset: random effects over {', '.join(elsewhere.datasets)}"
        for elsewhere in facts.elsewhere.values()
    ][:1]
    lines += [
        Content.styled(note, "$text-faint")
        for note in (*compared.notes, *_dependence(compared), *tests, *over)
    ]
    return Content("\n").join(lines)


def _on_another(elsewhere: Elsewhere | None, width: int) -> list[Content]:
    """Where the difference to the reference is expected on another dataset of the kind."""
    if elsewhere is None:
        return []
    return fitted_lines(
        [
            Content("on another dataset"),
            Content(f"Δ {100 * elsewhere.new_low:+z.1f} to {100 * elsewhere.new_high:+z.1f}"),
        ],
        width,
        gap=1,
    )


def _by_seed(score: SliceScore, seeds: Sequence[int], width: int) -> list[Content]:
    """The score of each seed from the lowest, of many those at both ends: the odd one is the first
    or the last.
    """
    if len(seeds) < 2 or len(seeds) != len(score.members):
        return []
    parts = [
        f"{seed}: {100 * value:z.1f}"
        for value, seed in sorted(zip(score.members, seeds, strict=True))
    ]
    if len(parts) > 2 * _SEEDS:
        parts = [*parts[:_SEEDS], "…", *parts[-_SEEDS:]]
    return fitted_lines(
        [Content.styled(text, "$text-faint") for text in ("by seed", *parts)], width
    )


def odd_seeds_of(compared: ComparedSlice, seeds: Mapping[str, Sequence[int]]) -> Mapping[str, str]:
    """Return which seed of a model is apart from its others on a slice, by model, tested as on
    Runs.
    """
    tried = {
        name: odd_one(score.members)
        for name, score in compared.scores.items()
        if len(score.members) > 2 and len(score.members) == len(seeds.get(name, ()))
    }
    corrected = dict(zip(tried, holm([p for _, p in tried.values()]), strict=True))
    return {
        name: f"{ODD} seed {seeds[name][tried[name][0]]} is apart (p {p:.2g})"
        for name, p in corrected.items()
        if p < SURE
    }


def _shared(shared: Overlap | None) -> Iterator[str]:
    """What a model was trained on of the slice."""
    if shared and shared.shared_pairs:
        yield (
            f"{PAIRS_SHARED.sign} {shared.shared_pairs:,} of {shared.pairs:,} pairs are in "
            f"its training data"
        )
    if shared and shared.shared_sentences:
        sign = SENTENCES_SHARED.sign if shared.shared_pairs else overlap_sign(shared)
        yield (
            f"{sign} {shared.shared_sentences:,} of {shared.sentences:,} sentences are in "
            f"its training data"
        )


def _dependence(compared: ComparedSlice) -> Iterator[str]:
    """Notes on the effect of shared sentences on the slice's intervals."""
    if compared.design_effect >= 1.05:
        counted = (
            f": {compared.pairs:,} pairs of {compared.sentences:,} sentences"
            if compared.sentences
            else ""
        )  # 0: no pair shares one
        yield f"design effect {compared.design_effect:z.2f}{counted}"
    if compared.is_concentrated and compared.largest_topic is not None:
        yield (
            f"one topic of {compared.largest_topic.rows} pairs carries "
            f"{100 * compared.largest_topic.share:z.0f}% of the variance"
        )
    for name, difference in compared.differences.items():
        if difference.topic is not None:
            without, rows = difference.topic.without, difference.topic.rows
            yield (
                f"{difference.topic_sign} {name}: {100 * without:+z.2f} without the {rows} "
                f"pairs of one topic"
            )
    if any(
        compared.scores[name].letters != score.letters for name, score in compared.scores.items()
    ):
        yield REACH_SIGN


def _numbers(compared: ComparedSlice, name: str, reference: str, width: int) -> list[Content]:
    """The numbers of a model in lines of at most WIDTH cells: a longer one would be wrapped to the
    edge, between two words.
    """
    score = compared.scores[name]
    parts = [Content(f"{100 * score.value:z.2f}" if score.value == score.value else "·")]
    if score.low == score.low:
        parts.append(Content(f"[{100 * score.low:z.1f}, {100 * score.high:z.1f}]"))
    if score.sd == score.sd:
        parts.append(Content(f"sd {100 * score.sd:z.2f} over {len(score.members)} seeds"))
    if score.letters:
        parts.append(Content(f"group {compared.scores[name].letters}"))
    measured = compared.differences.get(name)
    if measured is None:
        return fitted_lines(
            [*parts, Content.styled("reference", "$text-faint")] if name == reference else parts,
            width,
        )
    if measured.p != measured.p:
        return fitted_lines(parts, width)
    style = (
        "$text-success"
        if measured.significant and measured.delta > 0
        else "$text-error"
        if measured.significant
        else "$text-faint"
    )
    corrected = "<0.001" if measured.p_holm < 0.001 else f"{measured.p_holm:z.3f}"
    difference = [
        f"Δ {100 * measured.delta:+z.2f}",
        f"[{100 * measured.low:+z.1f}, {100 * measured.high:+z.1f}]",
        f"Holm p {corrected}{measured.topic_sign}",
    ]
    return [
        *fitted_lines(parts, width),
        *fitted_lines([Content.styled(text, style) for text in difference], width, gap=1),
    ]


def _whisker(value: float, low: float, high: float, span: tuple[float, float], width: int) -> str:
    """├──●──┤ on the scale SPAN."""
    if value != value:
        return ""
    size = (span[1] - span[0]) or 1.0

    def cell_at(number: float) -> int:
        return round(min(max((number - span[0]) / size, 0.0), 1.0) * (width - 1))

    cells = [" "] * width
    if low == low:
        cells[cell_at(low) : cell_at(high) + 1] = ["─"] * (cell_at(high) - cell_at(low) + 1)
        cells[cell_at(low)], cells[cell_at(high)] = "├", "┤"
    cells[cell_at(value)] = "●"
    return "".join(cells)
