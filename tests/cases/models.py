"""Inputs about models, what they are called, and servers."""

import shutil
from collections.abc import Callable
from pathlib import Path

from safetensors.torch import load_file, save_file

from tests.cases.runner import FOLDER, Case, nothing

PUBLISHED = FOLDER.parent / "models" / "minilm3-mlm"
PREFIXES = ("module.", "_orig_mod.", "base_model.model.")


def _refused(name: str, model: str, *says: str, prepare: Callable[[], object] = nothing) -> Case:
    """Return the row of a model's folder that has no vectors."""
    command = f"embedlab score 'zzz qqq' 'a dog' --model {model}"
    return Case(name=name, command=command, code=3, says=says, prepare=prepare)


def _without_a_tokenizer() -> None:
    Path("bare").mkdir()
    for file in ("config.json", "model.safetensors"):
        shutil.copyfile(PUBLISHED / file, Path("bare") / file)


def _prefixed() -> None:
    tensors = load_file(PUBLISHED / "model.safetensors")
    for prefix in PREFIXES:
        folder = Path(prefix.partition(".")[0])
        shutil.copytree(PUBLISHED, folder, copy_function=shutil.copyfile)
        folder.chmod(0o755)
        named = {prefix + name: value for name, value in tensors.items()}
        save_file(named, folder / "model.safetensors", metadata={"format": "pt"})


CASES = (
    _refused(
        "no-tokenizer",
        "./bare",
        "bare' has no tokenizer (tokenizer.json, vocab.txt, ...)",
        prepare=_without_a_tokenizer,
    ),
    *(
        _refused(
            "prefixes",
            f"./{prefix.partition('.')[0]}",
            f"its tensors are called {prefix}",
            prepare=_prefixed,
        )
        for prefix in PREFIXES
    ),
    _refused("gguf-onnx-tf", "./gguf", "holds GGUF weights (model-Q8_0.gguf)", "llama-server"),
    _refused("gguf-onnx-tf", "./onnxonly", "holds ONNX weights (onnx/model.onnx)", "vectors:FILE"),
    _refused("gguf-onnx-tf", "./tfonly", "holds TensorFlow weights (tf_model.h5)", "vectors:FILE"),
    _refused("git-lfs-pointer", "./lfsptr", "is a git-lfs pointer, not the file", "lfs pull"),
    _refused("old-0_BERT", "./old0bert", "has a module 'BERT'", "name the result vectors:FILE"),
    _refused(
        "st-module-raises",
        "sentence-transformers:./lstm",
        "sentence-transformers cannot compute 'sentence-transformers:./lstm': KeyError",
    ),
    *(
        Case(
            name="packed-binary",
            command=f"embedlab evaluate vectors:{file} pairs2.tsv",
            code=2,
            says=["packed bits, or whole numbers?", "np.unpackbits"],
        )
        for file in ("q_ubinary.npy", "q_binary.npy")
    ),
    Case(
        name="zero-vector",
        command="embedlab evaluate vectors:v_zero.npy s.tsv --notes",
        says=["1 sentence has a zero vector (similarity 0)"],
    ),
    Case(
        name="mteb-nan-result",
        command="embedlab evaluate mteb:mt --task sts-benchmark --data starter --notes",
        says=["main_score is NaN in STSBenchmark.json"],
    ),
)
