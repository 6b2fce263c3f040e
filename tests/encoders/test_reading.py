"""How a text is read is an option of each model, and does what transformers does by hand."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from embedlab.core.errors import UsageError
from embedlab.encoders.device import Machine
from embedlab.models.folder import read_usage
from tests.encoders.opening import fingerprint, opened, scorer_of, spec_of

TEXTS = ["A Man runs", "the dog", "a man a dog a man a dog a man a dog", "run"]


def by_hand(folder: Path, option: str) -> np.ndarray:
    """Mean vectors of TEXTS by transformers, read as OPTION says."""
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    model = AutoModel.from_pretrained(folder, trust_remote_code=False).eval()
    key, _, value = option.partition("=")
    rows = tokenizer(
        [text.lower() for text in TEXTS] if value == "lower" else TEXTS,
        add_special_tokens=value != "none",
        truncation=True,
        max_length=int(value) if key == "max_tokens" else 64,
    )["input_ids"]
    rows = [ids[:-1] for ids in rows] if value == "no-end" else rows
    tokenizer.padding_side = "left" if value == "left" else "right"
    given = tokenizer.pad({"input_ids": rows}, return_tensors="pt")
    with torch.inference_mode():
        states = model(**given).last_hidden_state
    mask = given["attention_mask"].unsqueeze(-1)
    return ((states * mask).sum(dim=1) / mask.sum(dim=1)).numpy()


@pytest.mark.parametrize(
    "option", ["max_tokens=5", "case=lower", "special=none", "special=no-end", "padding=left"]
)
def test_an_option_of_reading_does_what_transformers_does(
    option: str, small_bert: Path, cpu: Machine
) -> None:
    plain = f"{small_bert}@pooling=mean"
    found = opened(f"{plain}@{option}", cpu).encode(TEXTS)
    np.testing.assert_allclose(found, by_hand(small_bert, option), atol=2e-6)
    assert fingerprint(f"{plain}@{option}") != fingerprint(plain)


def test_a_dtype_is_that_of_one_model_alone(small_bert: Path) -> None:
    wide, narrow = (scorer_of(f"{small_bert}{dtype}") for dtype in ("", "@dtype=bf16"))
    assert (wide.facts.precision, narrow.facts.precision) == ("float32", "bf16")
    apart = np.abs(wide.encode(TEXTS) - narrow.encode(TEXTS)).max()
    assert 0 < apart < 0.1


@pytest.mark.parametrize(
    "option", ["max_tokens=none", "case=upper", "special=some", "padding=middle", "dtype=fp8"]
)
def test_a_value_that_no_reading_has_is_refused(option: str, small_bert: Path) -> None:
    with pytest.raises(UsageError):
        spec_of(f"{small_bert}@{option}")


def test_max_tokens_never_exceeds_the_positions(small_bert: Path) -> None:
    spec = spec_of(f"{small_bert}@max_tokens=100000")
    limit = read_usage(small_bert).reading.max_tokens
    assert read_usage(small_bert, spec).reading.max_tokens == limit
