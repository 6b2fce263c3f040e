"""A process that loads a model and prints the peak of the memory that this took: arguments are a
small model, a model and a precision.
"""

import sys
from pathlib import Path

import torch

from embedlab.encoders.device import Machine
from embedlab.encoders.loading import load_plain
from embedlab.models.catalog import ModelSpec


def memory(field: str) -> int:
    """A field of the kernel's account of this process, in bytes."""
    line = next(
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith(f"{field}:")
    )
    return int(line.split()[1]) * 1024


def load(folder: str, precision: str) -> object:
    machine = Machine(device=torch.device("cpu"), precision=precision, threads=1)  # type: ignore[arg-type]
    return load_plain(ModelSpec(name="it", kind="folder", location=folder), machine, offline=True)


def peak(small: Path, folder: Path, precision: str) -> int:
    """The bytes that this process takes at most beside those before, while it loads FOLDER."""
    load(str(small), precision)  # what is loaded once and for all models
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    model = load(str(folder), precision)
    found = memory("VmHWM") - before
    del model
    return found


if __name__ == "__main__":
    print(peak(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))  # noqa: T201
