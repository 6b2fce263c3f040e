"""Inputs about models, what they are called, and servers."""

from tests.cases.runner import FOLDER, Case

_BARE = "../bare"  # beside the copy, of the model in ../shared/models without its tokenizer
_COPY = f"mkdir {_BARE}; cp {FOLDER.parent}/models/minilm3-mlm/{{config.json,model.safetensors}}"


def _encoded(name: str, model: str, *says: str) -> Case:
    """Return the row of a model's folder that is asked for vectors."""
    command = f"echo one > lines.txt; embedlab encode {model} lines.txt -o o.npy"
    return Case(name=name, command=command, code=3, says=says, in_shell=True)


CASES = (
    Case(
        name="no-tokenizer",
        command=f"{_COPY} {_BARE}; embedlab score 'zzz qqq' 'a dog' --model {_BARE}",
        code=3,
        says=["bare' has no tokenizer (tokenizer.json, vocab.txt, ...)"],
        in_shell=True,
    ),
    _encoded("gguf-onnx-tf", "./gguf", "holds GGUF weights (model-Q8_0.gguf)", "llama-server"),
    _encoded("gguf-onnx-tf", "./onnxonly", "holds ONNX weights (onnx/model.onnx)", "vectors:FILE"),
    _encoded("gguf-onnx-tf", "./tfonly", "holds TensorFlow weights (tf_model.h5)", "vectors:FILE"),
    _encoded("git-lfs-pointer", "./lfsptr", "is a git-lfs pointer, not the file", "lfs pull"),
    _encoded("old-0_BERT", "./old0bert", "has a module 'BERT'", "name the result vectors:FILE"),
    _encoded(
        "st-module-raises",
        "sentence-transformers:./lstm",
        "sentence-transformers cannot compute 'sentence-transformers:./lstm': KeyError",
    ),
    *(
        Case(
            name="packed-binary",
            command=f"embedlab evaluate vectors:{file} pairs2.tsv",
            code=2,
            says=["packed bits, or numbers of 8 bits?", "np.unpackbits"],
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
