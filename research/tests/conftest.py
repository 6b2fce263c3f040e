"""Programs of research/ are run from the repository: their folders are put on the path."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.extend([str(ROOT), str(ROOT / "research/programs"), str(ROOT / "benchmarks")])
