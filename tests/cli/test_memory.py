"""What is set before libraries are loaded: how polars gives memory back, how threads of torch wait,
and when Python collects.
"""

import subprocess
import sys

import pytest

PROGRAM = """
import embedlab.__main__, os, sys
assert "polars" not in sys.modules
print(os.environ["_RJEM_MALLOC_CONF"])
"""


THREADS = """
import embedlab, os, sys
assert "torch" not in sys.modules
print(os.environ.get("OMP_WAIT_POLICY"), os.environ.get("GOMP_SPINCOUNT"))
"""


@pytest.mark.parametrize(
    ("program", "environment", "expected"),
    [
        (PROGRAM, {}, "dirty_decay_ms:500,muzzy_decay_ms:0"),
        (PROGRAM, {"_RJEM_MALLOC_CONF": "narenas:1"}, "narenas:1"),
        (THREADS, {}, "passive None"),
        (THREADS, {"OMP_WAIT_POLICY": "active"}, "active None"),
        (THREADS, {"GOMP_SPINCOUNT": "5"}, "None 5"),
    ],
)
def test_libraries_are_told_how_to_give_back_and_wait_unless_the_user_says(
    program: str, environment: dict[str, str], expected: str
) -> None:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected


ENDING = """
import atexit, gc, sys
atexit.register(lambda: print(gc.get_freeze_count() > 1000, gc.get_threshold()[0]))
import embedlab.__main__
sys.argv = ["embedlab", "--version"]
embedlab.__main__.main()
"""


def test_a_command_collects_rarely_while_it_imports_and_not_when_it_ends() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "True 20000"
