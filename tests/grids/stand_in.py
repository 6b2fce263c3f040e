"""Stands in for `embedlab train` and `embedlab evaluate`: the same files, lock, checkpoints and exit codes in a fraction of a second.

It imports nothing of the package, which alone would take longer than a cell. FAULTS in the environment is JSON: a part of
the run's id → "raise", "diverge", "memory", "usage", "once" (fails the first time) or "suicide".
"""

import fcntl
import hashlib
import json
import os
import signal
import sys
import time
import tomllib
from pathlib import Path

STEPS = 8
STEP_S = float(os.environ.get("STEP_S", "0.01"))
HOLD_AT = int(os.environ.get("HOLD_AT", "-1"))  # the step at which to wait until somebody asks for the end
RUNS = Path(os.environ["EMBEDLAB_RUNS"] + ("-sample" if os.environ["EMBEDLAB_SAMPLE"] == "True" else ""))
is_stopping = False


def stop(number: int, frame: object) -> None:
    global is_stopping
    is_stopping = True


def misbehave(run: Path) -> None:
    faults = json.loads(os.environ.get("FAULTS", "{}"))
    match next((faults[part] for part in faults if part in f"{run.parent.name}@{run.name.removeprefix('seed-')}"), ""):
        case "raise":
            raise ValueError("it does not work")
        case "diverge":
            fail("training diverged at step 3: the loss is nan", 1)
        case "memory":
            raise MemoryError("cannot allocate 4 TiB")
        case "usage":
            fail("what was typed is wrong", 2)
        case "once" if not (run / "failed-before").exists():
            (run / "failed-before").touch()
            fail("a passing trouble", 1)
        case "suicide":
            os.kill(os.getpid(), signal.SIGKILL)


def fail(message: str, code: int) -> None:
    report(message, code)
    sys.exit(code)


def report(message: str, code: int) -> None:
    with Path(os.environ["EMBEDLAB_ERRORS_TO"]).open("a") as file:
        file.write(json.dumps({"event": "failed", "time": time.time(), "message": message, "hint": "", "exit_code": code}) + "\n")


def tell(run: Path, kind: str, **values: object) -> None:
    with (run / "events.jsonl").open("a") as file:
        file.write(json.dumps({"event": kind, "time": time.time(), **values}) + "\n")


def train(recipe: str, run: Path) -> None:
    state, seed = run / "checkpoints" / "state", run.name.removeprefix("seed-")
    if not (run / "recipe.toml").exists():
        (run / "recipe.toml").write_text(recipe)
    (run / "gpu").write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "none"))
    (run / "threads").write_text(f"{os.environ['OMP_NUM_THREADS']} {os.environ['EMBEDLAB_THREADS']}")
    step, value = json.loads(state.read_text()) if state.exists() else (0, hashlib.sha256(recipe.encode()).hexdigest())
    tell(run, "started", pid=os.getpid(), host="here", steps=STEPS, step=step)
    while step < STEPS:
        if is_stopping:
            tell(run, "interrupted", step=step)
            sys.exit(130)
        if step == 3:
            misbehave(run)
        time.sleep(STEP_S)
        step, value = step + 1, hashlib.sha256(f"{value} {seed} {step + 1}".encode()).hexdigest()
        lr = tomllib.loads(recipe)["stage"][0]["optim"]["lr"]
        tell(
            run,
            "step",
            stage=0,
            epoch=step / STEPS,
            step=step,
            steps=STEPS,
            loss=1 / step,
            lr=lr,
            rows_per_s=9.0,
            eta_s=1.0,
            memory_mib=1.0,
        )
        tell(run, "dev", step=step, score=1e6 * lr)
        state.parent.mkdir(exist_ok=True)
        state.with_name("new").write_text(json.dumps([step, value]))
        state.with_name("new").rename(state)
        while step == HOLD_AT and not is_stopping:
            time.sleep(0.01)
    (run / "model").mkdir(exist_ok=True)
    (run / "model" / "value").write_text(value)
    tell(run, "finished", step=step)


def main() -> None:
    signal.signal(signal.SIGTERM, stop)
    command, *words = sys.argv[1:]
    if command == "train":
        options = dict(zip(words[2::2], words[3::2], strict=True))  # after the recipe and --resume
        run = RUNS / options["--name"] / f"seed-{options['--seed']}"
        with (run / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            train(Path(words[0]).read_text(), run)
        return
    name, seed = words[0].split("@")
    run = RUNS / name / f"seed-{seed}"
    (run / "evaluations").mkdir(exist_ok=True)
    with (run / "evaluated").open("a") as file:
        file.write(f"{words[2]}\n")
    (run / "evaluations" / f"{words[2]}.json").write_text("{}")


try:
    main()
except Exception as error:
    report(f"{type(error).__name__}: {error}", 1)
    raise
