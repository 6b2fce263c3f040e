"""Attention within packed sentences: a plain loop over sentences and heads, its gradient, and where
masks fall.
"""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from embedlab.cpu import attention
from embedlab.cpu.attention import FUSED_TOKENS, VECTOR, attend
from embedlab.cpu.padding import TokenSpan

HEADS, DIM, SCALE = 3, 4, 0.3
LENGTHS = [
    TokenSpan(3, 2, 2),
    TokenSpan(2, VECTOR - 1, VECTOR - 1),
    TokenSpan(1, VECTOR, VECTOR),
    TokenSpan(2, FUSED_TOKENS, FUSED_TOKENS),
]
FIRSTS = [TokenSpan(span.sentences, 1, span.tokens) for span in LENGTHS]


def states_of(
    spans: Sequence[TokenSpan], kind: torch.dtype = torch.float64, *, more: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of the tokens of SPANS, and of MORE that are of no sentence."""
    torch.manual_seed(3)
    asking = sum(span.sentences * span.query_tokens for span in spans) + more
    answering = sum(span.sentences * span.tokens for span in spans) + more
    return tuple(
        torch.randn(tokens, HEADS, DIM).to(kind).requires_grad_()
        for tokens in (asking, answering, answering)
    )  # type: ignore[return-value]


def by_loop(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    spans: Sequence[TokenSpan],
    masks: Sequence[Tensor] = (),
) -> Tensor:
    """One sentence and one head at a time; MASKS have those of one after the other, and may be for
    more tokens. What is of no sentence is zero.
    """
    mixed, asked, answered = [], 0, 0
    left = iter([mask for part in masks for mask in part])
    for span in spans:
        for _ in range(span.sentences):
            asking = slice(asked, asked + span.query_tokens)
            own = slice(answered, answered + span.tokens)
            heads = []
            for head in range(HEADS):
                weights = (SCALE * query[asking, head] @ key[own, head].T).softmax(dim=1)
                if masks:
                    weights = weights * next(left)[: span.query_tokens, : span.tokens]
                heads.append(weights @ value[own, head])
            mixed.append(torch.stack(heads, dim=1))
            asked, answered = asking.stop, own.stop
    return torch.cat([*mixed, torch.zeros_like(query[asked:])])


def learnt(mixed: Tensor, states: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """What was computed of STATES, and their gradients."""
    torch.manual_seed(4)
    goal = torch.randn(mixed.shape).to(mixed.dtype)
    return mixed, *torch.autograd.grad((mixed * goal).sum(), states)


@pytest.mark.parametrize("spans", [LENGTHS, FIRSTS], ids=["all-ask", "first-tokens-ask"])
def test_each_sentence_attends_to_itself_alone(spans: list[TokenSpan]) -> None:
    states = states_of(spans)
    expected = by_loop(*states, spans)
    with torch.inference_mode():
        torch.testing.assert_close(attend(*states, spans, scale=SCALE), expected)


@pytest.mark.parametrize("rate", [0.0, 0.4])
@pytest.mark.parametrize(
    "spans", [LENGTHS[:-1], LENGTHS, FIRSTS], ids=["short", "long-too", "first-tokens-ask"]
)
def test_the_gradient_is_the_loops_and_tokens_of_no_sentence_learn_nothing(
    spans: list[TokenSpan], rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    masks: list[Tensor] = []
    draw = attention._masks

    def drawn(weights: Sequence[Tensor], rate: float) -> Sequence[Tensor | None]:
        found = draw(weights, rate)
        masks.extend(mask for mask in found if mask is not None)
        return found

    monkeypatch.setattr(attention, "_masks", drawn)
    states = states_of(spans, more=3)
    found = learnt(attend(*states, spans, scale=SCALE, dropout=rate), states)
    assert sum(map(len, masks)) == (HEADS * sum(span.sentences for span in spans) if rate else 0)
    assert all(bool((mask == 0).any()) for mask in masks)
    for one, other in zip(found, learnt(by_loop(*states, spans, masks), states), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("spans", "rounding"), [(LENGTHS[:-1], 1e-6), (LENGTHS, 4e-3)], ids=["short", "long-too"]
)
def test_bf16_states_of_short_sentences_are_encoded_in_float32_under_autocast_too(
    spans: list[TokenSpan], rounding: float
) -> None:
    states = states_of(spans, torch.bfloat16, more=3)
    expected = by_loop(*(part.float() for part in states), spans).bfloat16()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        found = attend(*states, spans, scale=SCALE)
    torch.testing.assert_close(found, expected, rtol=2**-7, atol=rounding)


@pytest.mark.parametrize(
    ("spans", "multiplies", "near"),
    [(LENGTHS, True, 5e-3), (FIRSTS, True, 5e-3), (LENGTHS[:-1], False, 3e-3)],
    ids=["all-ask", "first-tokens-ask", "without-bf16-products"],
)
def test_bf16_states_learn_in_bf16_what_they_learn_in_float32_to_half_a_percent(
    spans: list[TokenSpan], multiplies: bool, near: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not multiplies:
        monkeypatch.setattr(attention, "can_multiply", lambda kind: kind != torch.bfloat16)
    states = states_of(spans, torch.bfloat16, more=3)
    wide = tuple(part.detach().double().requires_grad_() for part in states)
    with torch.autocast("cpu", torch.bfloat16):
        found = learnt(attend(*states, spans, scale=SCALE), states)
    for one, other in zip(found, learnt(by_loop(*wide, spans), wide), strict=True):
        assert one.dtype == torch.bfloat16
        assert (one - other).norm() < near * other.norm()
