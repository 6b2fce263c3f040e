"""The files for contributors: workflows, forms of issues, citation and lowest versions agree with
the rest of the repository.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from embedlab.core.version import __version__
from tests.inventory import commands

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
FORMS = [
    path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"
]

_TARGET = re.compile(r"^([\w-]+):(?!=)", re.MULTILINE)
_VERSION = re.compile(r"^([\w.-]+)==([\w.]+)$", re.MULTILINE)

CITATION_KEYS = {
    "cff-version",
    "message",
    "type",
    "title",
    "abstract",
    "authors",
    "version",
    "keywords",
    "references",
}
REFERENCE_KEYS = {
    *("type", "title", "authors", "year", "identifiers", "url", "notes", "doi"),
    *("collection-title", "conference", "publisher", "start", "end"),
}
REFERENCE_TYPES = {
    "article",
    "conference-paper",
    "report",
}  # those of the format that are used here


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in WORKFLOWS.values():
        for name, job in read(path)["jobs"].items():
            yield f"{path.stem}/{name}", job


def lines_run() -> list[str]:
    return [
        line
        for _, job in jobs()
        for step in job["steps"]
        for line in str(step.get("run", "")).splitlines()
        if line
    ]


def test_the_matrix_has_each_python_and_system_of_the_classifiers() -> None:
    ours = {
        one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)
    }
    matrix = read(WORKFLOWS["ci"])["jobs"]["test"]["strategy"]["matrix"]["include"]
    assert {one["python"] for one in matrix} == ours
    assert {one["os"].partition("-")[0] for one in matrix} == {"ubuntu", "macos"}
    assert {one for one in PROJECT["classifiers"] if one.startswith("Operating")} == {
        "Operating System :: MacOS",
        "Operating System :: POSIX :: Linux",
    }
    assert min(ours, key=Version) == PROJECT["requires-python"].removeprefix(">=")


def test_each_workflow_runs_targets_and_programs_that_exist() -> None:
    targets = set(_TARGET.findall((ROOT / "Makefile").read_text("utf-8")))
    programs = {"embedlab", "pytest"}  # of the environment that a target makes
    for line in lines_run():
        words = [
            word for word in line.partition(" #")[0].split() if not word.startswith("CONSTRAINTS=")
        ]
        if words[0] == "make":
            assert set(words[1:]) <= targets, line
        elif words[0] != "test":  # of the shell
            assert words[0].removeprefix(".venv/bin/") in programs, line
    assert {"make check", "make test", "make docs", "make dist"} <= set(lines_run())
    for name in re.findall(r"CONSTRAINTS=(\S+)", "\n".join(lines_run())):
        assert name == "/dev/null" or (ROOT / name).exists()


def test_each_action_is_of_a_fixed_commit() -> None:
    for path in WORKFLOWS.values():
        for use in re.findall(r"uses: (.*)", path.read_text("utf-8")):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", use)


def test_each_schedule_starts_a_job() -> None:
    text = WORKFLOWS["ci"].read_text("utf-8")
    for cron in re.findall(r'cron: "([^"]+)"', text):
        assert f"github.event.schedule == '{cron}'" in text


def test_nothing_is_published_unless_the_repository_says_so() -> None:
    publish = read(WORKFLOWS["release"])["jobs"]["publish"]
    assert publish["if"] == "vars.PUBLISH == 'true'"
    assert publish["needs"] == "build"
    assert publish["permissions"] == {"id-token": "write"}
    assert not any("password" in step.get("with", {}) for step in publish["steps"])


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_has_fields_with_labels_and_names_commands_that_exist(path: Path) -> None:
    form = read(path)
    assert form["name"]
    assert form["description"]
    names = [field["id"] for field in form["body"]]
    assert len(set(names)) == len(names) >= 3
    assert all(
        field["type"] in {"textarea", "input", "dropdown"} and field["attributes"]["label"]
        for field in form["body"]
    )
    offered = dict(commands())
    for words in re.findall(r"`embedlab ([^`]+)`", path.read_text("utf-8")):
        assert any(words == name or words.startswith(f"{name} ") for name in offered), words
    for option in re.findall(r"`(--[\w-]+)`", path.read_text("utf-8")):
        assert any(option in word.split("/") for known in offered.values() for word in known), (
            option
        )


def test_the_citation_follows_the_rules_of_its_format() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation.keys() <= CITATION_KEYS
    assert citation["cff-version"] == "1.2.0"
    assert (citation["type"], citation["title"], citation["version"]) == (
        "software",
        PROJECT["name"],
        __version__,
    )
    assert citation["authors"] == PROJECT["authors"]
    assert citation["message"]
    assert citation["keywords"] == PROJECT["keywords"]
    for reference in citation["references"]:
        assert reference.keys() <= REFERENCE_KEYS
        assert reference["type"] in REFERENCE_TYPES
        assert isinstance(reference["title"], str)
        assert all(
            author.keys() <= {"family-names", "given-names"} for author in reference["authors"]
        )
        assert reference["authors"]
        assert re.fullmatch(r"10\.\d{4,9}/[\w:/;.()-]+", reference.get("doi", "10.1234/none"))


def test_the_citation_has_each_paper_by_the_title_of_its_page() -> None:
    references = read(ROOT / "CITATION.cff")["references"]
    pages = {
        path.stem: path.read_text("utf-8")
        for path in (ROOT / "docs" / "papers").glob("*.md")
        if path.stem not in {"index", "rows"}
    }
    assert {one["notes"].split()[0] for one in references} == pages.keys()
    for one in references:
        name = one["notes"].split()[0]
        assert one["title"].partition(":")[0] in pages[name]
        assert one["authors"][0]["family-names"].lower() == name


def test_the_lowest_versions_are_those_that_the_project_declares() -> None:
    lowest = {
        name: Version(number)
        for name, number in _VERSION.findall((ROOT / "constraints-lowest.txt").read_text("utf-8"))
    }
    declared = [
        Requirement(line)
        for line in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]
    ]
    for requirement in declared:
        for bound in (bound for bound in requirement.specifier if bound.operator != "<"):
            assert lowest[requirement.name] == Version(bound.version), requirement


def test_every_dependency_has_a_pinned_version() -> None:
    pinned = {
        name.replace("_", "-")
        for name, _ in _VERSION.findall((ROOT / "constraints.txt").read_text("utf-8"))
    }
    extras = PROJECT["optional-dependencies"]
    wanted = [
        Requirement(line).name
        for line in [*PROJECT["dependencies"], *extras["test"], *extras["docs"]]
    ]
    assert set(wanted) - {"embedlab"} <= pinned


def test_the_page_for_contributors_names_targets_that_exist() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    targets = set(_TARGET.findall((ROOT / "Makefile").read_text("utf-8")))
    assert set(re.findall(r"make (\w+)", page)) - {"are"} <= targets
    assert len(re.search(r"```console [^\n]*\n(.*?)```", page, re.DOTALL)[1].splitlines()) <= 10  # type: ignore[index]


def test_the_page_for_contributors_shows_how_to_add_each_kind_of_plug_in() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for heading in re.findall(
        r"^## (An? .*)$", (ROOT / "docs" / "plugins.md").read_text("utf-8"), re.MULTILINE
    ):
        if heading != "A package":
            assert f"[{heading}](docs/plugins.md#" in page
