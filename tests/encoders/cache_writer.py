"""A process that writes to an embedding cache until it is stopped: python cache_writer.py FOLDER
FIRST STEP COUNT.
"""

import sys
from pathlib import Path

import numpy as np

from embedlab.encoders.encoder import sentence_keys
from embedlab.encoders.vector_cache import EmbeddingCache

DIM = 256


def vectors_of(numbers: np.ndarray) -> np.ndarray:
    return np.repeat(numbers[:, None], DIM, axis=1).astype(np.float32)


def write(folder: Path, first: int, step: int, count: int) -> None:
    cache = EmbeddingCache(folder, "f", dim=DIM, limit_bytes=2**30)
    for start in range(first, first + step * count, step):
        numbers = np.arange(start, start + 200)
        cache.store(
            sentence_keys([f"sentence {number}" for number in numbers]),
            vectors_of(numbers),
            numbers % 2 == 0,
        )
        print(start, flush=True)  # noqa: T201 - shows the test how far it is


if __name__ == "__main__":
    write(Path(sys.argv[1]), *map(int, sys.argv[2:]))
