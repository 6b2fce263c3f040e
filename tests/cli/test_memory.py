"""What is set before libraries are loaded: how polars gives memory back, how threads of torch wait,
and when Python collects.
"""

import subprocess
import sys

PROGRAM = """
import embedlab.__main__, os, sys
assert "polars" not in sys.modules
print(os.environ["_RJEM_MALLOC_CONF"])
"""


def test_the_allocator_of_polars_is_set_before_it_is_loaded_and_as_the_user_says() -> None:
    for environment, expected in (
        ({}, "dirty_decay_ms:500,muzzy_decay_ms:0"),
        ({"_RJEM_MALLOC_CONF": "narenas:1"}, "narenas:1"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == expected


THREADS = """
import embedlab, os, sys
assert "torch" not in sys.modules
print(os.environ.get("OMP_WAIT_POLICY"), os.environ.get("GOMP_SPINCOUNT"))
"""


def test_waiting_threads_of_torch_sleep_unless_the_user_says_how_they_wait() -> None:
    for environment, expected in (
        ({}, "passive None"),
        ({"OMP_WAIT_POLICY": "active"}, "active None"),
        ({"GOMP_SPINCOUNT": "5"}, "None 5"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", THREADS],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
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
