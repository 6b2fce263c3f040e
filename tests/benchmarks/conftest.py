"""The benchmarks are programs, not a package: their folder is put on the path. A source
distribution has none of them.
"""

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))
collect_ignore_glob = [] if BENCHMARKS.is_dir() else ["test_*.py"]
