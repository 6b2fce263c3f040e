"""How a text is read is an option of each model, and does what transformers does by hand."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_encoder, scorer_for
from embedlab.models.catalog import resolve
from embedlab.models.folder import read_usage
from embedlab.models.location import spec_fingerprint

TEXTS = ["A Man runs", "the dog", "a man a dog a man a dog a man a dog", "run"]
CPU = Machine(device=torch.device("cpu"), precision="float32", threads=1)


def by_hand(folder: Path, option: str) -> np.ndarray:
    """Mean vectors of TEXTS by transformers, read as OPTION says."""
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    model = AutoModel.from_pretrained(folder, trust_remote_code=False).eval()
    key, _, value = option.partition("=")
    rows = []
    for text in TEXTS:
        ids = tokenizer(
            text.lower() if value == "lower" else text,
            add_special_tokens=value != "none",
            truncation=True,
            max_length=int(value) if key == "max_tokens" else 64,
        )["input_ids"]
        rows.append(ids[:-1] if value == "no-end" else ids)
    width = max(map(len, rows))
    vectors = []
    for ids in rows:
        empty = width - len(ids) if value == "left" else 0
        given = torch.tensor([[tokenizer.pad_token_id] * empty + ids])
        mask = torch.tensor([[0] * empty + [1] * len(ids)])
        with torch.inference_mode():
            states = model(input_ids=given, attention_mask=mask).last_hidden_state[0, empty:]
        vectors.append(states.mean(0).numpy())
    return np.stack(vectors)


@pytest.mark.parametrize(
    "option", ["", "max_tokens=5", "case=lower", "special=none", "special=no-end", "padding=left"]
)
def test_an_option_of_reading_does_what_transformers_does(option: str, small_bert: Path) -> None:
    name = f"{small_bert}@pooling=mean{'@' if option else ''}{option}"
    (spec,) = resolve(name, Path("none")).members
    found = load_encoder(spec, CPU).encode(TEXTS)
    np.testing.assert_allclose(found, by_hand(small_bert, option), atol=2e-6)
    (plain,) = resolve(f"{small_bert}@pooling=mean", Path("none")).members
    prints = {spec_fingerprint(each, precision="float32") for each in (spec, plain)}
    assert len(prints) == (2 if option else 1)


def test_a_dtype_is_that_of_one_model_alone(small_bert: Path) -> None:
    (wide, narrow) = (
        scorer_for(resolve(f"{small_bert}{dtype}", Path("none")).members[0], Settings(device="cpu"))
        for dtype in ("", "@dtype=bf16")
    )
    assert (wide.facts.precision, narrow.facts.precision) == ("float32", "bf16")
    apart = np.abs(wide.encode(TEXTS) - narrow.encode(TEXTS)).max()  # type: ignore[attr-defined]
    assert 0 < apart < 0.1


@pytest.mark.parametrize(
    "option", ["max_tokens=none", "case=upper", "special=some", "padding=middle", "dtype=fp8"]
)
def test_a_value_that_no_reading_has_is_refused(option: str, small_bert: Path) -> None:
    with pytest.raises(UsageError):
        resolve(f"{small_bert}@{option}", Path("none"))


def test_max_tokens_never_exceeds_the_positions(small_bert: Path) -> None:
    (spec,) = resolve(f"{small_bert}@max_tokens=100000", Path("none")).members
    limit = read_usage(small_bert).reading.max_tokens
    assert read_usage(small_bert, spec.wishes).reading.max_tokens == limit
