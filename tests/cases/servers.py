"""Inputs about servers of vectors, and about names that mean several things."""

import shutil
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from tests.cases.runner import FOLDER, Case
from tests.cases.runs import train_r1

_SERVER = FOLDER / "endpoint-batch-limit" / "srv.py"
_HOST = "http://127.0.0.1:PORT"


def _serve(rows: str) -> int:
    """Serve vectors at a free port, which is returned, as long as the tests last; write ROWS to
    s.tsv.
    """
    if rows:
        Path("s.tsv").write_text(rows)
    names: dict[str, Any] = {}
    text = _SERVER.read_text().replace("18765", "0").replace(".serve_forever()", "")
    exec(text.replace("ThreadingHTTPServer((", "server = ThreadingHTTPServer(("), names)
    Thread(target=names["server"].serve_forever, daemon=True).start()
    return int(names["server"].server_port)


def _served(name: str, command: str, *says: str, rows: str = "") -> Case:
    """Return the row of a COMMAND beside the server of an input."""
    return Case(
        name=name, command=command, says=says, prepare=partial(_serve, rows), also=_requests
    )


def _requests() -> str:
    log = Path("srv.log").read_text()
    return f"{'few' if log.count('lim10') < 420 else 'many'} requests: {log}"


def _name_a_run_minilm() -> None:
    train_r1()
    shutil.move("runs/r1", "runs/minilm")


CASES = (
    _served(
        "endpoint-azure",
        f"embedlab evaluate '{_HOST}/openai/deployments/d/embeddings?api-version=2024-02-01#m' "
        "s.tsv",
        "/openai/deployments/d/embeddings?api-version=2024-02-01 n=",
        rows="sentence1\tsentence2\tscore\na b\tc d\t1\nb c\tc e\t2\na\tb\t3\n",
    ),
    _served(
        "endpoint-batch-limit",
        f"embedlab evaluate {_HOST}/lim10/v1#m --data starter",
        "few requests",
    ),
    *(
        _served(
            "endpoint-one-text-500",
            f"embedlab evaluate {_HOST}/{mode}/v1#m s.tsv",
            "no vector of 'The cat sits.'",
            "comparisons leave these out for every model",
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
        command="embedlab score 'a cat sat' 'a dog' -m minilm",
        prepare=_name_a_run_minilm,
        says=["the run 'minilm', not the published checkpoint of that name"],
    ),
)
