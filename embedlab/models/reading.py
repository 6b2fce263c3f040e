"""How a text is read: all that decides which tokens a model gets, beside its tokenizer, and the
precision in which it computes them.
"""

from dataclasses import dataclass
from typing import Literal, get_args

Case = Literal["kept", "lower"]  # whatever the tokenizer itself does
Special = Literal["all", "no-end", "none"]  # tokens that are put around a text
Side = Literal["right", "left"]
Dtype = Literal["float32", "tf32", "bf16", "fp16", "int8"]
NATIVE = "native"  # the one value of @code
CHOICES = {
    "case": get_args(Case),
    "special": get_args(Special),
    "padding": get_args(Side),
    "dtype": get_args(Dtype),
}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How each text becomes the input of a model."""

    max_tokens: int  # of the longest input, special tokens included; the rest is cut
    prompt: str = ""  # put before a text, and before the first of a pair
    case: Case = "kept"
    special: Special = "all"
    # with "left" vectors of models with absolute positions depend on the longest text of a batch
    padding: Side = "right"
    dtype: Dtype | None = None  # of matrix products; None: that of the command

    @property
    def details(self) -> tuple[str, ...]:
        """What is read differently than in nearly all models, as `key=value`."""
        usual_values = {"prompt": "", "special": "all", "padding": "right"}
        return tuple(
            f"{key}={value}"
            for key, usual in usual_values.items()
            if (value := getattr(self, key)) != usual
        )


@dataclass(frozen=True, kw_only=True)
class UsageOptions:
    """How a model is to be used differently than its folder states; None leaves what is stated."""

    pooling: str | None = None
    max_tokens: int | None = None
    # the name of a prompt that the folder states, or its text; "" for none
    prompt: str | None = None
    dim: int | None = None  # numbers of each vector, the first ones
    layer: int | None = (
        # whose hidden states are pooled, as transformers numbers them: 0 the embeddings, -1 the
        # last
        None
    )
    # the folder or hub id of a peft adapter, with which the model is changed
    adapter: str | None = None
    # "native": transformers' own class computes what the folder has code for
    code: str | None = None
    case: Case | None = None
    special: Special | None = None
    padding: Side | None = None
    dtype: Dtype | None = None
