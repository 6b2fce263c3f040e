"""Inputs about servers of vectors, and about names that mean several things."""

from itertools import count

from tests.cases.runner import FOLDER, Case

_SERVER = FOLDER / "endpoint-batch-limit" / "srv.py"
_PORT = 18765
_PORTS = count(_PORT)
_HOST = f"http://127.0.0.1:{_PORT}"
_PREFIXED = """
import shutil, sys
from pathlib import Path
from safetensors.torch import load_file, save_file
start = Path(sys.argv[1])
for prefix in ("module.", "_orig_mod.", "base_model.model."):
    folder = Path(prefix.split(".")[0])
    shutil.copytree(start, folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    tensors = {prefix + name: value for name, value in load_file(start / "model.safetensors").items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
"""


def _served(name: str, command: str, *says: str) -> Case:
    """Return the row of a COMMAND beside the server of an input, which ends with it and has a port
    of its own.
    """
    port = next(_PORTS)
    started = f"sed s/{_PORT}/{port}/ {_SERVER} > own.py; python own.py & server=$!; "
    waits = f"until python -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))' "
    quiet = "2>/dev/null; do sleep 0.1; done; "
    return Case(
        name=name,
        command=f"{started}trap 'kill $server' EXIT; {waits}{quiet}"
        f"{command.replace(str(_PORT), str(port))}",
        says=says,
        in_shell=True,
    )


CASES = (
    _served(
        "endpoint-azure",
        "printf 'sentence1\\tsentence2\\tscore\\na b\\tc d\\t1\\nb c\\tc e\\t2\\na\\tb\\t3\\n' > s.tsv; "
        f"embedlab evaluate '{_HOST}/openai/deployments/d/embeddings?api-version=2024-02-01#m' "
        "s.tsv && grep -h openai srv.log",
        "/openai/deployments/d/embeddings?api-version=2024-02-01 n=",
    ),
    _served(
        "endpoint-batch-limit",
        f"embedlab evaluate {_HOST}/lim10/v1#m --data starter; "
        "test $(grep -c lim10 srv.log) -lt 420 && echo few requests",
        "few requests",
    ),
    *(
        _served(
            "endpoint-one-text-500",
            f"embedlab evaluate {_HOST}/{mode}/v1#m s.tsv",
            "no vector of 'The cat sits.'",
            "which are left out for every model",
        )
        for mode in ("nan500", "null")
    ),
    Case(
        name="paper-endpoint",
        command="cd ..; EMBEDLAB_API_KEY=sk-x embedlab reproduce paper-endpoint/paper table1 "
        "--data starter",
        code=2,
        says=["a file names '127.0.0.1:9777'", "--allow-host 127.0.0.1:9777"],
        in_shell=True,
    ),
    Case(
        name="name-shadow",
        command="embedlab train snli-supcl --data tiny --max-steps 2 --name minilm",
        code=2,
        says=["no run can be called 'minilm'"],
    ),
    Case(
        name="name-shadow",
        command="embedlab train snli-supcl --data tiny --max-steps 2 --name r1 "
        "--set evaluate.tasks=[] --set evaluate.dev=none && mv runs/r1 runs/minilm && "
        "embedlab score 'a cat sat' 'a dog' -m minilm",
        says=["the run 'minilm', not the published checkpoint of that name"],
        in_shell=True,
    ),
    *(
        Case(
            name="prefixes",
            command=f"cat > make.py <<'E'\n{_PREFIXED}\nE\npython make.py "
            f"{FOLDER.parent}/models/minilm3-mlm; embedlab score 'a cat' 'a dog' -m ./{folder}",
            code=3,
            says=[f"its tensors are called {folder}."],
            in_shell=True,
        )
        for folder in ("module", "_orig_mod", "base_model")
    ),
)
