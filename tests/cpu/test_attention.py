"""Attention within packed sentences: a plain loop over sentences and heads, its gradient, and where
masks fall.
"""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from embedlab.cpu import attention
from embedlab.cpu import attention as filled_attention
from embedlab.cpu.attention import BF16_SENTENCES, FUSED_TOKENS, VECTOR, attend
from embedlab.cpu.linear import can_multiply
from embedlab.cpu.padding import TokenSpan, padded_layout

HEADS, DIM = 3, 4
LENGTHS = [
    TokenSpan(3, 2, 2),
    TokenSpan(2, VECTOR - 1, VECTOR - 1),
    TokenSpan(1, VECTOR, VECTOR),
    TokenSpan(2, FUSED_TOKENS, FUSED_TOKENS),
]
FIRSTS = [TokenSpan(span.sentences, 1, span.tokens) for span in LENGTHS]


def states_of(
    spans: Sequence[TokenSpan], kind: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(3)
    selected = sum(span.sentences * span.query_tokens for span in spans)
    key_places = sum(span.sentences * span.tokens for span in spans)
    return tuple(
        torch.randn(tokens, HEADS, DIM).to(kind).requires_grad_()
        for tokens in (selected, key_places, key_places)
    )  # type: ignore[return-value]


def by_loop(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    spans: Sequence[TokenSpan],
    scale: float,
    masks: Sequence[Tensor] = (),
) -> Tensor:
    """One sentence and one head at a time; MASKS have those of one after the other, and may be for
    more tokens.
    """
    mixed, selected, key_places = [], 0, 0
    left = iter([mask for part in masks for mask in part])
    for span in spans:
        for _ in range(span.sentences):
            query_tokens, own = (
                slice(selected, selected + span.query_tokens),
                slice(key_places, key_places + span.tokens),
            )
            heads = []
            for head in range(HEADS):
                scores = scale * query[query_tokens, head] @ key[own, head].T
                weights = scores.exp() / scores.exp().sum(dim=1, keepdim=True)
                if masks:
                    weights = weights * next(left)[: span.query_tokens, : span.tokens]
                heads.append(weights @ value[own, head])
            mixed.append(torch.stack(heads, dim=1))
            selected, key_places = query_tokens.stop, own.stop
    return torch.cat(mixed)


@pytest.mark.parametrize("spans", [LENGTHS, FIRSTS], ids=["all-ask", "first-tokens-ask"])
def test_each_sentence_attends_to_itself_alone(spans: list[TokenSpan]) -> None:
    states = states_of(spans)
    torch.testing.assert_close(attend(*states, spans, scale=0.3), by_loop(*states, spans, 0.3))
    with torch.inference_mode():
        torch.testing.assert_close(attend(*states, spans, scale=0.3), by_loop(*states, spans, 0.3))


@pytest.mark.parametrize("rate", [0.0, 0.4])
@pytest.mark.parametrize("spans", [LENGTHS, FIRSTS], ids=["all-ask", "first-tokens-ask"])
def test_the_gradient_is_the_loops(
    spans: list[TokenSpan], rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    masks: list[Tensor] = []
    draw = filled_attention._masks

    def drawn(weights: Sequence[Tensor], rate: float) -> Sequence[Tensor | None]:
        drawn_masks = draw(weights, rate)
        masks.extend(mask for mask in drawn_masks if mask is not None)
        return drawn_masks

    monkeypatch.setattr(filled_attention, "_masks", drawn)
    states = states_of(spans)
    goal = torch.randn_like(states[0])
    found = torch.autograd.grad(
        (attend(*states, spans, scale=0.3, dropout=rate) * goal).sum(), states
    )
    assert sum(map(len, masks)) == (HEADS * sum(span.sentences for span in spans) if rate else 0)
    assert all(bool((mask == 0).any()) for mask in masks)
    expected = torch.autograd.grad((by_loop(*states, spans, 0.3, masks) * goal).sum(), states)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("spans", "rounding"), [(LENGTHS[:-1], 1e-6), (LENGTHS, 4e-3)], ids=["short", "long-too"]
)
def test_bf16_states_of_short_sentences_are_encoded_in_float32_under_autocast_too(
    spans: list[TokenSpan], rounding: float
) -> None:
    states = states_of(spans, torch.bfloat16)
    expected = by_loop(*(part.float() for part in states), spans, 0.3).bfloat16()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(
            attend(*states, spans, scale=0.3), expected, rtol=2**-7, atol=rounding
        )


@pytest.mark.parametrize("spans", [LENGTHS, FIRSTS], ids=["all-ask", "first-tokens-ask"])
def test_bf16_states_learn_in_bf16_what_they_learn_in_float32_to_half_a_percent(
    spans: list[TokenSpan],
) -> None:
    states = states_of(spans, torch.bfloat16)
    goal = torch.randn_like(states[0])
    wide = tuple(part.detach().double().requires_grad_() for part in states)
    expected = torch.autograd.grad(
        (by_loop(wide[0], wide[1], wide[2], spans, 0.3) * goal).sum(), wide
    )
    with torch.autocast("cpu", torch.bfloat16):
        mixed = attend(*states, spans, scale=0.3)
        found = torch.autograd.grad((mixed * goal).sum(), states)
    for one, other in zip([mixed, *found], [by_loop(*wide, spans, 0.3), *expected], strict=True):
        assert one.dtype == torch.bfloat16
        assert (one - other).norm() < 5e-3 * other.norm()


def test_where_onednn_does_not_multiply_bf16_states_learn_in_float32(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = LENGTHS[:-1]
    monkeypatch.setattr(attention, "can_multiply", lambda kind: kind != torch.bfloat16)
    states = states_of(short, torch.bfloat16)
    wide = tuple(part.detach().float().requires_grad_() for part in states)
    mixed, expected = (
        attend(*states, short, scale=0.3),
        attend(wide[0], wide[1], wide[2], short, scale=0.3),
    )
    goal = torch.randn_like(expected).bfloat16()
    found = torch.autograd.grad((mixed * goal).sum(), states)
    for one, other in zip(
        [mixed, *found],
        [expected, *torch.autograd.grad((expected.bfloat16() * goal).sum(), wide)],
        strict=True,
    ):
        assert one.dtype == torch.bfloat16
        torch.testing.assert_close(one, other.bfloat16())


@pytest.mark.skipif(
    not can_multiply(torch.bfloat16), reason="this processor's oneDNN has no bf16 products"
)
@pytest.mark.parametrize(
    ("kind", "multiple"), [(torch.float32, 1), (torch.bfloat16, BF16_SENTENCES)]
)
def test_only_bf16_whose_products_onednn_builds_programs_for_has_whole_multiples_of_sentences(
    kind: torch.dtype, multiple: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    selected: list[int] = []
    monkeypatch.setattr(
        attention,
        "padded_layout",
        lambda spans, heads, multiple: (
            selected.append(multiple) or padded_layout(spans, heads, multiple)
        ),
    )
    attend(*states_of(LENGTHS, kind), LENGTHS, scale=0.3, dropout=0.1)
    assert selected == [multiple]


@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize(
    "spans", [LENGTHS[:-1], LENGTHS, FIRSTS], ids=["short", "long-too", "first-tokens-ask"]
)
def test_tokens_of_no_sentence_attend_to_nothing_and_learn_nothing(
    spans: list[TokenSpan], kind: torch.dtype
) -> None:
    states = states_of(spans, kind)
    more = tuple(
        torch.cat([part.detach(), torch.full((3, HEADS, DIM), 9.0, dtype=kind)]).requires_grad_()
        for part in states
    )
    goal = torch.randn_like(more[0])
    found = attend(more[0], more[1], more[2], spans, scale=0.3)
    expected = attend(*states, spans, scale=0.3)
    torch.testing.assert_close(found[:-3], expected)
    assert not found[-3:].any()
    gradients = torch.autograd.grad((found * goal).sum(), more)
    for one, other in zip(
        gradients, torch.autograd.grad((expected * goal[:-3]).sum(), states), strict=True
    ):
        torch.testing.assert_close(one[:-3], other)
        assert not one[-3:].any()
