"""Memory that polars freed goes back to the system: its allocator reads how when it is loaded."""

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
