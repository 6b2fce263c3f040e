"""The literature setting of MR, 410 fits on 10,662 x 384 features, beside the same protocol one fit
at a time.

    python benchmarks/transfer_classifier.py --data DIR [--model DIR] [--sample 8] [--whole]
    [--threads N]

Both sides are given the same features. The loop trains each fit with torch's own layer, loss and
optimiser, as SentEval does; unless --whole, it runs a sample of fits spread over folds and L2
values, and its time is that of the sample times the number of fits.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent))


def features_of_mr(data: Path, model: str, rows: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of MR's sentences, or of some ROWS of them, and their classes."""
    from embedlab.data.source import Source
    from embedlab.encoders.checkpoint import load_transformer
    from embedlab.encoders.device import Machine

    machine = Machine(
        device=torch.device("cpu"), precision="float32", threads=torch.get_num_threads()
    )
    frame = Source(folder=data, offline=True).open("mr", "all").frame
    frame = frame.sample(rows, seed=0) if rows else frame
    vectors = load_transformer(model, machine).encode(frame["sentence"].to_list())
    return vectors, np.unique(frame["label"].to_numpy(), return_inverse=True)[1]


def fit_alone(
    features: Tensor, labels: Tensor, train: np.ndarray, dev: np.ndarray, l2: float, seed: int
) -> float:
    """One fit of the literature setting as a loop of torch steps; the dev accuracy of its best
    check.
    """
    generator = np.random.default_rng(seed)
    torch.manual_seed(seed)
    layer = nn.Linear(features.shape[1], int(labels.max()) + 1)
    optimiser = torch.optim.Adam(layer.parameters(), lr=1e-3, weight_decay=l2)
    x, y, x_dev, y_dev = features[train], labels[train], features[dev], labels[dev]
    best, strikes = -1.0, 0
    for _ in range(50):
        for _ in range(4):
            for rows in torch.from_numpy(generator.permutation(len(train))).split(64):
                optimiser.zero_grad()
                F.cross_entropy(layer(x[rows]), y[rows]).backward()
                optimiser.step()
        with torch.no_grad():
            accuracy = float((layer(x_dev).argmax(1) == y_dev).double().mean())
        strikes += accuracy <= best
        best = max(best, accuracy)
        if strikes > 5:
            break
    return best


def time_loop(
    features: np.ndarray, labels: np.ndarray, sample: int | None
) -> tuple[float, int, int]:
    """Seconds for all inner fits one at a time, how many of them were run, and how many there are
    with the last ones.
    """
    from embedlab.classifiers.folds import stratified_folds
    from embedlab.classifiers.settings import SETTINGS

    setting = SETTINGS["literature"]
    wanted = [
        (fold.train[part.train], fold.train[part.dev], l2)
        for fold in stratified_folds(labels, setting.folds)
        for part in stratified_folds(labels[fold.train], setting.folds)
        for l2 in setting.l2
    ]
    fits = len(wanted) + setting.folds  # the last fit of each outer fold
    chosen = (
        wanted
        if sample is None
        else [wanted[at] for at in np.linspace(0, len(wanted) - 1, sample).astype(int)]
    )
    x, y = torch.from_numpy(features), torch.from_numpy(labels)
    started = time.perf_counter()
    for train, dev, l2 in chosen:
        fit_alone(x, y, train, dev, l2, seed=1111)
    return (time.perf_counter() - started) * fits / len(chosen), len(chosen), fits


def time_batched(features: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Seconds of the whole protocol here, and the accuracy."""
    from embedlab.classifiers.fits import Problem
    from embedlab.classifiers.protocols import Protocol
    from embedlab.classifiers.settings import SETTINGS

    started = time.perf_counter()
    outcome = Protocol(
        problem=Problem.of(features, labels), setting=SETTINGS["literature"]
    ).cross_validate()
    return time.perf_counter() - started, outcome.accuracy


def main() -> None:
    """Measure both sides and write the table."""
    from record import Measured, write

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", help="a folder; by default all-MiniLM-L6-v2")
    parser.add_argument("--sample", type=int, default=8, help="fits of the loop that are run")
    parser.add_argument("--whole", action="store_true", help="run all of them")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rows", type=int, help="only so many sentences, to try the program")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    from measure import default_model

    features, labels = features_of_mr(
        arguments.data, arguments.model or default_model(), arguments.rows
    )
    ours, accuracy = time_batched(features, labels)
    theirs, run, fits = time_loop(features, labels, None if arguments.whole else arguments.sample)
    what = f"MR in the literature setting, {fits} fits on {len(labels):,} x {features.shape[1]}"
    measured = [Measured(what=what, ours=ours, peer=theirs, unit="s", limit="≥ 20 x, < 60 s")]
    how = (
        "all fits of the loop were run"
        if run == fits
        else f"the loop ran {run} of {fits} fits; its time is theirs times {fits / run:.1f}"
    )
    write(
        "transfer_classifier",
        "The batched classifier",
        measured,
        packages=("embedlab", "torch"),
        notes=[
            how,
            f"accuracy {100 * accuracy:.2f}",
            f"{torch.get_num_threads()} threads on both sides",
        ],
    )


if __name__ == "__main__":
    main()
