"""The files for contributors: workflows, forms of issues, citation and lowest versions agree with
the rest of the repository.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}

_VERSION = re.compile(r"^([\w.-]+)==([\w.]+)$", re.MULTILINE)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def test_each_action_is_of_a_fixed_commit() -> None:
    for path in WORKFLOWS.values():
        for use in re.findall(r"uses: (.*)", path.read_text("utf-8")):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", use)


def test_nothing_is_published_unless_the_repository_says_so() -> None:
    publish = read(WORKFLOWS["release"])["jobs"]["publish"]
    assert publish["if"] == "vars.PUBLISH == 'true'"
    assert publish["needs"] == "build"
    assert publish["permissions"] == {"id-token": "write"}
    assert not any("password" in step.get("with", {}) for step in publish["steps"])


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
