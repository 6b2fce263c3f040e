"""Stands in for `embedlab train` and `embedlab evaluate`: the same files, lock, checkpoints and
exit codes in a fraction of a second.

It imports nothing of the package, and only what loads at once: anything more would take longer than
a cell. Its first argument is the folder of xxhash, as it starts without those of Python. FAULTS in
the environment is JSON: a part of the run's id → "raise", "diverge", "memory", "usage" or
"suicide".
"""

import fcntl
import json
import os
import signal
import sys
import time
import zlib

sys.path.append(sys.argv[1])
from xxhash import xxh32_hexdigest

STEPS = 8
STEP_S = float(os.environ.get("STEP_S", "0.01"))
# the step at which to wait until the end is requested
HOLD_AT = int(os.environ.get("HOLD_AT", "-1"))
RUNS = os.environ["EMBEDLAB_RUNS"]
is_stopping = False


def stop(number: int, frame: object) -> None:
    global is_stopping
    is_stopping = True


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to load
        return file.read()


def write(path: str, text: str, *, mode: str = "w") -> None:
    with open(path, mode, encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)


def next_value(value: str) -> str:
    """A number that hangs on all before it."""
    return f"{zlib.crc32(value.encode()):08x}"


def misbehave(cell: str) -> None:
    faults = json.loads(os.environ.get("FAULTS", "{}"))
    match next((faults[part] for part in faults if part in cell), ""):
        case "raise":
            raise ValueError("it does not work")
        case "diverge":
            fail("training diverged at step 3: the loss is nan", 1)
        case "memory":
            raise MemoryError("cannot allocate 4 TiB")
        case "usage":
            fail("what was typed is wrong", 2)

        case "suicide":
            os.kill(os.getpid(), signal.SIGKILL)


def fail(message: str, code: int) -> None:
    report(message, code)
    sys.exit(code)


def report(message: str, code: int, cause: str = "") -> None:
    append(
        os.environ["EMBEDLAB_ERRORS_TO"],
        "failed",
        message=message,
        hint="",
        exit_code=code,
        cause=cause,
    )


def append(path: str, kind: str, **values: float | str) -> None:
    """Write an event as one line of JSON."""
    line = json.dumps({"event": kind, "time": time.time(), **values}).removesuffix("}")
    write(path, f'{line}, "checksum": "{xxh32_hexdigest(line.encode())}"}}\n', mode="a")


def begun(run: str, recipe: str) -> tuple[int, str]:
    """The step and the value to go on from."""
    if not os.path.exists(f"{run}/recipe.toml"):  # noqa: PTH110
        write(f"{run}/recipe.toml", recipe)
    write(f"{run}/gpu", os.environ.get("CUDA_VISIBLE_DEVICES", "none"))
    write(f"{run}/threads", f"{os.environ['OMP_NUM_THREADS']} {os.environ['EMBEDLAB_THREADS']}")
    if not os.path.exists(f"{run}/checkpoints/state"):  # noqa: PTH110
        return 0, next_value(recipe)
    step, value = read(f"{run}/checkpoints/state").split()
    return int(step), value


def train(recipe: str, run: str, name: str, seed: str) -> None:
    log = f"{run}/events.jsonl"
    step, value = begun(run, recipe)
    lr = float(
        next(line for line in recipe.splitlines() if line.startswith("lr = ")).removeprefix("lr = ")
    )
    append(log, "started", pid=os.getpid(), host="here", steps=STEPS, step=step)
    while step < STEPS:
        if is_stopping:
            append(log, "interrupted", step=step)
            sys.exit(130)
        if step == 3:
            misbehave(f"{name}@{seed}")
        time.sleep(STEP_S)
        step, value = step + 1, next_value(f"{value} {seed} {step + 1}")
        rates = {"loss": 1 / step, "lr": lr, "rows_per_s": 9.0, "eta_s": 1.0, "memory_mib": 1.0}
        append(log, "step", stage=0, epoch=step / STEPS, step=step, steps=STEPS, **rates)
        append(log, "dev", step=step, score=1e6 * lr)
        os.makedirs(f"{run}/checkpoints", exist_ok=True)  # noqa: PTH103
        write(f"{run}/checkpoints/new", f"{step} {value}")
        os.rename(f"{run}/checkpoints/new", f"{run}/checkpoints/state")  # noqa: PTH104
        while step == HOLD_AT and not is_stopping:
            time.sleep(0.01)
    os.makedirs(f"{run}/model", exist_ok=True)  # noqa: PTH103
    write(f"{run}/model/value", value)
    append(log, "finished", step=step)


def evaluate(run: str, task: str) -> None:
    os.makedirs(f"{run}/evaluations", exist_ok=True)  # noqa: PTH103
    write(f"{run}/evaluated", f"{task}\n", mode="a")
    write(f"{run}/evaluations/{task}.json", "{}")


def main() -> None:
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, stop)
    command, *words = sys.argv[2:]
    if command == "train":
        options = dict(zip(words[2::2], words[3::2], strict=True))  # after the recipe and --resume
        run = f"{RUNS}/{options['--name']}/seed-{options['--seed']}"
        with open(f"{run}/lock", "a") as lock:  # noqa: PTH123
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            train(read(words[0]), run, options["--name"], options["--seed"])
        return
    name, seed = words[0].split("@")
    evaluate(f"{RUNS}/{name}/seed-{seed}", words[2])


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        report(
            f"{type(error).__name__}: {error}",
            1,
            "memory" if isinstance(error, MemoryError) else "",
        )
        raise
