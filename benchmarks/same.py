"""Whether `same` names what is wrong with a server: real models behind endpoints with one fault, or
two, or none.

    python benchmarks/same.py --model minilm=minilm --model small=DIR [--write]

Each model is served by transformers alone, each time with another alteration, and `same` is asked
about it. Right is the planted cause and no other, "the same" where an alteration changes nothing,
and "not explained" where no hypothesis can know it. A small random decoder with a prompt, in the
layout of Qwen3, is tried too. With onnxruntime and onnx installed, an ONNX copy is served as well,
and one that is quantised to 8 bits.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from record import write_table

from embedlab.api import NotebookSession
from embedlab.commands.same import SameOptions, same
from embedlab.core.settings import Settings
from embedlab.models.catalog import resolve
from embedlab.models.hosts import note_typed
from tests.encoders.altered_server import PROMPT, Served, serving, write_qwen

Causes = set[tuple[str, str]]
NOT_EXPLAINED: Causes = {("", "")}
COLUMNS = ["alteration", "named", "right", "s", "processor s"]


class Copies(Served):
    """The served model, and copies of it in ONNX."""

    def __init__(self, folder: str, other: str | None) -> None:
        super().__init__(folder, other)
        self.sessions: dict[str, Any] = {}

    def faulty_model(self, faults: set[str]) -> Any:
        """The copy that is asked for."""
        name = next(iter(faults & {"onnx", "onnx-int8"}), None)
        if name is None:
            return super().faulty_model(faults)
        if name not in self.sessions:
            self.sessions[name] = _session(self.model, is_int8=name == "onnx-int8")
        session = self.sessions[name]

        def answer(input_ids: torch.Tensor, attention_mask: torch.Tensor, **_: bool) -> Any:
            given = {"ids": input_ids.numpy(), "mask": attention_mask.numpy()}
            return SimpleNamespace(last_hidden_state=torch.from_numpy(session.run(None, given)[0]))

        return answer


def _session(model: torch.nn.Module, *, is_int8: bool) -> Any:
    from onnxruntime import InferenceSession
    from onnxruntime.quantization import quantize_dynamic

    class States(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model  # a part of it: else its weights are no initialisers to quantise

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            away = (1 - mask)[:, None, None, :].float() * -1e9  # a mask of its own can be traced
            away = away.expand(-1, 1, ids.shape[1], -1)
            states: torch.Tensor = self.inner(input_ids=ids, attention_mask=away).last_hidden_state
            return states

    with TemporaryDirectory() as folder:
        path, small = f"{folder}/model.onnx", f"{folder}/int8.onnx"
        ids, mask = torch.randint(5, 99, (2, 7)), torch.ones(2, 7, dtype=torch.int64)
        mask[1, 4:] = 0
        names = ("ids", "mask", "states")
        torch.onnx.export(
            States().eval(), (ids, mask), path, dynamo=False, opset_version=17,
            input_names=names[:2], output_names=names[2:],
            dynamic_axes={name: {0: "texts", 1: "tokens"} for name in names},
        )  # fmt: skip
        if is_int8:
            quantize_dynamic(path, small)
        return InferenceSession(small if is_int8 else path)


def alterations(served: Served, other: str) -> Iterator[tuple[str, Causes]]:
    """Yield what is served, and what should be said of it."""
    for name in ("plain", "float16", "bf16", "one-by-one", "reversed-batches", "one-thread"):
        yield name, set()
    own, layers = served.pooling, int(served.model.config.num_hidden_layers)
    for pooling in ("cls", "max", "last", "mean"):
        if pooling != own:
            yield pooling, {("pooling", pooling)}
    yield "layer", {("layer", str(layers - 1))}
    norm = "not normalised" if served.is_normalised else "normalised"
    yield norm.replace(" ", "-"), {("norm", norm)}
    if served.prompt:
        yield "no-prompt", {("prompt", "")}
        yield "prompt-twice", {("prompt", "twice")}
    else:
        yield "prompt", {("prompt", PROMPT)}
        yield "prompt-twice", {("prompt", 2 * PROMPT)}
    for length in (32, 64, 128):
        if length < served.limit:
            yield f"cut-{length}", {("truncation", str(length))}
    yield "no-end", {("special", "no-end")}
    if own == "last":
        yield "right-pad", {("padding", "")}
    else:
        yield "no-special", {("special", "none")}
        yield "no-begin", {("special", "no-begin")}
        yield "no-mask", {("padding", "")}
        yield "dropout", {("chance", "")}
    width = int(served.model.config.hidden_size)
    yield "shuffled", {("order", "")}
    yield "other", {("model", other)}
    yield "dim-cut", {("dim", str(width // 2))}
    yield "int8-vectors", {("stored", "int8")}
    yield "binary", {("stored", "binary")}
    yield "int8-weights", {("weights", "int8")}
    yield "noise", NOT_EXPLAINED
    yield "max+cut-64", {("pooling", "max"), ("truncation", "64")}
    yield "cls+no-end", {("pooling", "cls"), ("special", "no-end")}
    if not served.prompt:
        yield "cls+prompt", {("pooling", "cls"), ("prompt", PROMPT)}
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError:
        return
    if own != "last":
        yield "onnx", set()
        yield "onnx-int8", {("weights", "int8")}


def rows_of(title: str, folder: Path, other: Path, chosen: list[str]) -> Iterator[list[str]]:
    """Yield the row of each alteration of the model in FOLDER."""
    known = Copies(str(folder), None)
    with serving(folder, other, Copies) as address:
        for name, right in alterations(known, str(other)):
            if chosen and name not in chosen:
                continue
            served = f"{address}#{name}"
            note_typed(served)
            start, used = perf_counter(), process_time()
            with redirect_stderr(StringIO()):
                report = same(
                    SameOptions(reference=str(folder), served=served, candidates=(str(other),)),
                    NotebookSession(settings=Settings(device="cpu", endpoint_check="off")),
                )
            seconds = [f"{perf_counter() - start:.1f}", f"{process_time() - used:.1f}"]
            (verdict,) = report.tables[0].data()["verdict"]
            found = {(each["kind"], _value(each)) for each in verdict["causes"]}
            found = found or (set() if verdict["same"] else NOT_EXPLAINED)
            named = verdict["cause"] or ("the same" if verdict["same"] else "not explained")
            named = named.replace(str(other), "the other")
            is_right = found == right and report.exit_code == (4 if right else 0)
            first = verdict["causes"][:1]
            is_first = any((each["kind"], _value(each)) in right for each in first)
            answer = "yes" if is_right else "first" if is_first else "no"
            row = [f"{title}: {name}", named, answer, *seconds]
            print(*row, sep="\t", flush=True)
            yield row


def _value(cause: dict[str, str]) -> str:
    return "" if cause["kind"] == "order" else cause["value"]


def main() -> None:
    """Try all models, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--model", action="append", default=[], metavar="TITLE=MODEL", help="a model to serve"
    )
    parser.add_argument("--only", action="append", default=[], metavar="ALTERATION")
    parser.add_argument("--write", action="store_true", help="write the table into results/")
    arguments = parser.parse_args()
    named = [each.partition("=")[::2] for each in arguments.model]
    models = {title: Path(resolve(name, Path("none")).members[0].location) for title, name in named}
    with ExitStack() as stack:
        small = Path(stack.enter_context(TemporaryDirectory())) / "qwen3"
        write_qwen(small, PROMPT)
        models["qwen3"] = small
        folders = [*models.values()]
        rows = [
            row
            for (title, folder), other in zip(
                models.items(), np.roll(np.array(folders, dtype=object), 1), strict=True
            )
            for row in rows_of(title, folder, other, arguments.only)
        ]
    right, first = (sum(row[2] == answer for row in rows) for answer in ("yes", "first"))
    seconds = [float(row[3]) for row in rows]
    if arguments.write:
        write_table(
            "same", "What `same` says of servers with a fault", COLUMNS, rows,
            packages=("embedlab", "torch", "transformers", "tokenizers", "onnxruntime"),
            notes=[
                f"{right} of {len(rows)} are right, of {first} more the first of two causes: with it "
                f"what is left is within bf16; the longest took {max(seconds):.0f} s with its server "
                f"in the same process",
                "other: the model of the row before in its place, which is a candidate; qwen3: a "
                "random decoder of 2 layers that reads the last token and has a prompt",
            ],
        )  # fmt: skip


if __name__ == "__main__":
    main()
