"""Export the pair view to a file or to the clipboard."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType

import polars as pl

from embedlab.core.errors import UsageError
from embedlab.core.paths import typed_path
from embedlab.core.printable import markdown_text, without_formula
from embedlab.store.files import write_atomic


def write_view(view: pl.DataFrame, path: Path) -> None:
    """Write VIEW in the format of PATH's suffix."""
    write_atomic(path, _FORMATS[path.suffix.lower()](view), hint="choose another folder")


def check_path(text: str) -> Path:
    """The path of an export: one of the formats, or a picture of the screen."""
    return path_to_write(
        text,
        {*_FORMATS, ".svg"},
        hint="end it in .csv, .tsv, .parquet, .md or .svg (a picture of the screen)",
    )


def path_to_write(text: str, endings: Collection[str], *, hint: str) -> Path:
    """The typed path, if it ends in one of ENDINGS and its folder exists; HINT names the
    endings.
    """
    try:
        path = typed_path(text)
        if path.suffix.lower() not in endings:
            raise UsageError(f"{text!r} has no known format", hint=hint)
        if not path.parent.is_dir():
            raise UsageError(f"no folder {str(path.parent)!r}", hint="choose a folder that exists")
        if path.is_dir():
            raise UsageError(f"{text!r} is a folder", hint="choose the name of a file")
    except (OSError, RuntimeError) as error:  # too long, forbidden, or the home of an unknown user
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"cannot write to {text!r}: {reason}", hint="choose another file"
        ) from error
    return path


def to_tsv(view: pl.DataFrame) -> str:
    """Tab-separated text with a header; tabs and line ends inside a sentence become blanks."""
    flat = view.with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]+", " "))
    return flat.write_csv(separator="\t", quote_style="never")


def to_csv(view: pl.DataFrame) -> str:
    """CSV with a header; text that a spreadsheet would run as a formula gets an apostrophe, as in
    `--format csv`.
    """
    texts = [name for name, kind in view.schema.items() if kind == pl.String]
    is_formula = [pl.col(name).str.contains(r"^[=+\-@\t\r]").any() for name in texts]
    unsafe = [
        name
        for name, is_one in zip(
            texts, view.select(is_formula).row(0) if texts else (), strict=False
        )
        if is_one
    ]
    safe = (
        view.with_columns(pl.col(unsafe).map_elements(without_formula, return_dtype=pl.String))
        if unsafe
        else view
    )
    return safe.rename({name: without_formula(name) for name in view.columns}).write_csv()


def to_markdown(view: pl.DataFrame) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(map(markdown_text, view.columns)) + " |", "|" + "---|" * view.width]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in view.iter_rows()]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = f"{value:z.4f}" if isinstance(value, float) else str(value)
    return markdown_text(text)


def _parquet(view: pl.DataFrame) -> bytes:
    from io import BytesIO

    content = BytesIO()
    view.write_parquet(content)
    return content.getvalue()


_FORMATS: Mapping[str, Callable[[pl.DataFrame], str | bytes]] = MappingProxyType(
    {".csv": to_csv, ".tsv": to_tsv, ".parquet": _parquet, ".md": to_markdown}
)
