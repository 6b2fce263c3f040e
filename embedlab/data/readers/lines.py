"""Files whose lines are sentences: alone, with a class by a pattern, a file for each class, or line
n of several files together.
"""

import gzip
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.schema import table
from embedlab.data.dataset import COLUMNS, ParsedRows
from embedlab.data.reader import Reader, ReadSplit
from embedlab.data.text_file import Encoding, bad_line, read_lines, read_whole_lines


@table
class LinesOptions:
    """What a corpus says of its lines."""

    pattern: str = ""  # of a line, with the groups sentence and label
    encoding: Encoding = "utf-8"  # "latin-1": a copy that is UTF-8 throughout is read as such
    # line n of each file belongs to the same thing; the files are gzipped
    is_parallel: bool = False

    def __post_init__(self) -> None:
        """Refuse a pattern that gives no sentence and label."""
        try:
            groups = re.compile(self.pattern).groupindex
        except re.error as error:
            raise ValueError(f"the pattern is not a regular expression: {error}") from error
        if self.pattern and not {"sentence", "label"} <= {*groups}:
            raise ValueError("the pattern needs the groups (?P<sentence>…) and (?P<label>…)")


def _read(paths: Sequence[Path], *, options: LinesOptions, split: ReadSplit) -> ParsedRows:
    if options.is_parallel:
        return _parallel(paths)
    if split.has_file_per_class:
        return _classes(
            [
                (line.strip(), label)
                for path, label in zip(paths, split.classes, strict=True)
                for line in _alone(path, options)
            ]
        )
    (path,) = paths
    if options.pattern:
        numbered = enumerate(read_lines(path, encoding=options.encoding), 1)
        return _classes(
            [_sentence_and_label(path, number, line, options, split) for number, line in numbered]
        )
    return read_whole_lines(path)


def _classes(rows: Sequence[tuple[str, str]]) -> ParsedRows:
    return ParsedRows(
        frame=pl.DataFrame(rows, schema=dict(COLUMNS["classification"]), orient="row")
    )


def _alone(path: Path, options: LinesOptions) -> list[str]:
    """Return the sentences of a file of one class; a blank line is an empty sentence, as in the
    published counts.
    """
    lines = read_lines(path, encoding=options.encoding)
    if number := next((number for number, line in enumerate(lines, 1) if "\t" in line), None):
        raise bad_line(path, number, "a tab: expected a sentence alone")
    return lines


def _sentence_and_label(
    path: Path, number: int, line: str, options: LinesOptions, split: ReadSplit
) -> tuple[str, str]:
    match = re.fullmatch(options.pattern, line.strip())
    if match is None:
        raise bad_line(path, number, f"{line[:60]!r} is not a sentence with its class")
    if match["label"] not in split.classes:
        raise bad_line(
            path, number, f"class {match['label']!r} is not one of {', '.join(split.classes)}"
        )
    return match["sentence"].strip(), match["label"]


def _parallel(paths: Sequence[Path]) -> ParsedRows:
    """Return the lines of several gzipped files, those with the same number together; files of
    different lengths are a MissingError.
    """
    columns = [_gzipped(path) for path in paths]
    if odd := next(
        (
            path
            for path, column in zip(paths, columns, strict=True)
            if len(column) != len(columns[0])
        ),
        None,
    ):
        raise MissingError(
            f"{odd} and {paths[0]} have different numbers of lines", hint="get the files again"
        )
    captions = [text for together in zip(*columns, strict=True) for text in together]
    return ParsedRows(frame=pl.DataFrame({"sentence": captions}, schema=dict(COLUMNS["sentences"])))


def _gzipped(path: Path) -> list[str]:
    try:
        lines = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise MissingError(
            f"{path} is not a gzipped text: {error}", hint="get the file again"
        ) from error
    captions = [line.strip() for line in (lines[:-1] if lines[-1] == "" else lines)]
    if "" in captions:
        raise MissingError(
            f"{path}, line {captions.index('') + 1}: no caption", hint="get the file again"
        )
    return captions


def _files(options: LinesOptions, split: ReadSplit) -> int | None:
    return None if options.is_parallel else len(split.classes) if split.has_file_per_class else 1


READER = Reader(
    options=LinesOptions, read=_read, kinds=("sentences", "classification"), files=_files
)
