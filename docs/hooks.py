"""What `make docs` adds to the pages of this folder: the reference from the code, pages from
elsewhere, the layout's picture.

Nothing of it is stored: each build makes it anew, so that it cannot be older than the code. Pages
link to the reference by a section of `reference/README.md`, which is there for readers of the
repository too; on the site such a link leads to the generated page.
"""

import posixpath
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from docs.reference import commands, imports, keys, papers, parts, stored  # noqa: E402

GENERATED: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands.page,
    "reference/settings.md": keys.settings_page,
    "reference/recipes.md": keys.recipes_page,
    "reference/grids.md": keys.grids_page,
    "reference/papers.md": keys.papers_page,
    "reference/objectives.md": parts.objectives_page,
    "reference/tasks.md": parts.tasks_page,
    "reference/datasets.md": parts.datasets_page,
    "reference/models.md": parts.models_page,
    "reference/runs.md": stored.runs_page,
    "reference/json.md": stored.schemas_page,
    "reference/python.md": stored.python_page,
    "pictures/imports.svg": imports.picture,
}
MIRRORED = (  # under the same path in the site
    *("research/*.md", "research/statistics/*.md", "research/*.toml", "research/scores/*.parquet"),
    *("benchmarks/results/*.md", "pictures/*.svg"),
)
PLACED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
}

_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)]*)?\))")
_FENCE = re.compile(r"^```(console|toml|text|python) ([^\n]*)$", re.MULTILINE)
_REFERENCE = re.compile(r"(\]\((?:\.\./)*reference/)README\.md#(\w+)\)")
_SECTION = re.compile(r"^## (\w+)$", re.MULTILINE)
_PICTURE = "<!-- picture of the imports -->"
_TABLES = re.compile(r"^<!-- tables of (\w+) -->$", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages and those from elsewhere."""
    from mkdocs.structure.files import File

    for place, make in GENERATED.items():
        files.append(File.generated(config, place, content=make()))
    for source, place in sources().items():
        files.append(File.generated(config, place, content=source.read_bytes()))
    return files


def sources() -> dict[Path, str]:
    """Return the files outside docs that are part of the site, with their places."""
    found = {ROOT / name: place for name, place in PLACED.items() if (ROOT / name).exists()}
    return found | {
        path: path.relative_to(ROOT).as_posix()
        for pattern in MIRRORED
        for path in sorted(ROOT.glob(pattern))
    }


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in a paper's tables, point links at the site's places, and make the marks of blocks
    readable.
    """
    uri = page.file.src_uri
    if uri.startswith(
        ("research/", "benchmarks/", "changelog")
    ):  # guides and reference come first in a search
        page.meta.setdefault("search", {"boost": 0.3})
    if uri.startswith(("research/", "benchmarks/")):
        heading = markdown.lstrip("# ").partition("\n")[0]
        page.meta.setdefault(
            "title", f"{heading} ({posixpath.basename(uri).removesuffix('.md')})"
        )  # several share a heading
    markdown = _TABLES.sub(lambda found: papers.tables_of(found[1]), markdown)
    if uri == "reference/README.md":
        markdown = _SECTION.sub(
            lambda found: f"## {found[1]}\n\n[All of {found[1]}]({found[1].lower()}.md)", markdown
        )
    markdown = _REFERENCE.sub(r"\1\2.md)", markdown)
    markdown = markdown.replace(_PICTURE, "![Imports between packages](pictures/imports.svg)")
    markdown = _FENCE.sub(_fence, markdown)
    return _LINK.sub(lambda found: f"{found[1]}{placed(found[2], uri)}{found[3]}", markdown)


def placed(target: str, uri: str) -> str:
    """Return a link of the page at URI, written for the repository, as a link within the site."""
    if "://" in target or target.startswith("mailto:"):
        return target
    original = {place: name for name, place in PLACED.items()}.get(uri)
    folder = "" if original or uri.startswith(("research/", "benchmarks/")) else "docs"
    source = original or posixpath.join(folder, uri)
    repository = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    place = PLACED.get(repository) or (
        repository.removeprefix("docs/") if repository.startswith("docs/") else repository
    )
    return posixpath.relpath(place, posixpath.dirname(uri) or ".")


def _fence(found: re.Match[str]) -> str:
    """The opening of a block, with a file's name as its title."""
    facts = dict(re.findall(r'([\w-]+)=("[^"]*"|\S+)', found[2]))
    opening = f"```{found[1]}"
    if file := facts.get("file"):
        opening += f' title="{file}"'
    return opening
