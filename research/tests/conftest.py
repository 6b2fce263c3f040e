"""Programs of research/ are run from the repository: their folders are put on the path."""

import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.extend([str(ROOT), str(ROOT / "research/programs"), str(ROOT / "benchmarks")])

# fixtures of tests/, of which two keep tests from the user's own settings
shared_data, tiny_encoder, _home_of_fixtures_in_tmp, _home_in_tmp = (
    getattr(import_module("tests.conftest"), name)
    for name in ("shared_data", "tiny_encoder", "_home_of_fixtures_in_tmp", "_home_in_tmp")
)
