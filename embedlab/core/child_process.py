"""Python in another process, which neither the working folder nor a variable can give other code to run."""

import os
import subprocess
import sys


def run_module(module: str, *arguments: str) -> int:
    """Run a module of embedlab with ARGUMENTS to its end, without input and output, and return its exit code, negative for a signal."""
    ended = subprocess.run(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
        check=False,
    )
    return ended.returncode
