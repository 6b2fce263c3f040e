"""How sentence-transformers feeds the transformer of a folder: sentence_bert_config.json, and what
of it embedlab does not compute.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedlab.models.folder_files import PositiveInt, read_model_file

TRANSFORMER = "sentence_bert_config.json"
# Version 2 named the file by the architecture; the first that exists holds.
_NAMES = (
    TRANSFORMER,
    *(
        f"sentence_{name}_config.json"
        for name in ("roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
    ),
)
_LAST_STATES = {"method": "forward", "method_output_name": "last_hidden_state"}
_LOGITS = {"method": "forward", "method_output_name": "logits"}
# What a transformer of each purpose gives for a text, and under which name.
_OUTPUTS = {
    "feature-extraction": (_LAST_STATES, "token_embeddings"),
    "sequence-classification": (_LOGITS, "scores"),
}
# Arguments for transformers that do not change a vector in float32; any other may.
_HARMLESS = {
    *(
        "add_pooling_layer",
        "attn_implementation",
        "device_map",
        "dtype",
        "torch_dtype",
        "low_cpu_mem_usage",
        "use_safetensors",
    ),
    *("local_files_only", "padding_side", "trust_remote_code", "use_cache", "use_fast"),
}


@dataclass(frozen=True, kw_only=True)
class TransformerFile:
    """The settings of a Transformer module, in the files of versions 2 to 6."""

    max_seq_length: PositiveInt | None = None
    do_lower_case: bool | None = None
    transformer_task: str = "feature-extraction"
    modality_config: Mapping[str, Mapping[str, Any]] | None = None  # by kind of input
    module_output_name: str = "token_embeddings"
    processing_kwargs: Mapping[str, Mapping[str, Any]] | None = None
    tokenizer_name_or_path: str | None = None
    model_args: Mapping[str, Any] | None = None
    tokenizer_args: Mapping[str, Any] | None = None
    config_args: Mapping[str, Any] | None = None
    model_kwargs: Mapping[str, Any] | None = None
    processor_kwargs: Mapping[str, Any] | None = None
    config_kwargs: Mapping[str, Any] | None = None

    def uncomputed(self, purpose: str) -> str | None:
        """Name the setting that embedlab does not compute for a PURPOSE; None where it computes
        all.
        """
        output, name = _OUTPUTS[purpose]
        modalities = self.modality_config or {"text": output}
        without = (
            "without token vectors of texts"
            if purpose == "feature-extraction"
            else "without scores of texts"
        )
        settings = {
            f"for {self.transformer_task}": self.transformer_task != purpose,
            "with a chat template": "message" in modalities,
            without: modalities.get("text") != output or self.module_output_name != name,
            "with processing_kwargs": any((self.processing_kwargs or {}).values()),
            "with another tokenizer": self.tokenizer_name_or_path is not None,
        }
        given = {
            name: value
            for name, value in vars(self).items()
            if name.endswith(("_args", "_kwargs")) and name != "processing_kwargs"
        }
        settings |= {
            f"with {name}": not _HARMLESS.issuperset(value or ()) for name, value in given.items()
        }
        return next((name for name, is_set in settings.items() if is_set), None)


def read_transformer_file(folder: Path) -> TransformerFile:
    """Return the settings of the transformer in FOLDER; where it states none, the usual ones."""
    files = (read_model_file(folder / name, TransformerFile) for name in _NAMES)
    return next((file for file in files if file is not None), TransformerFile())
