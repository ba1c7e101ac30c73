"""README and docs tell the truth: snippets run, commands parse, tables and pictures are live, links lead on."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from fiveup_env.cli.app import app as cli
from tests.docs.rules_pictures import FOLDER, pictures
from tests.docs.snippets import FENCE, Snippet, all_snippets, commands, snippets_of
from tests.docs.tables import MARKED, README, ROOT, TABLES, pages, rewritten

SNIPPETS = all_snippets()
LINKED = [*pages(), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "fiveup_env" / "policies").glob("*.md")]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def id_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", pages(), ids=id_of)
def test_tables_are_those_of_the_live_environment(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert rewritten(text) == text, "run: python -m tests.docs.tables"


def test_every_table_is_on_some_page() -> None:
    shown = {match[2] for page in pages() for match in MARKED.finditer(page.read_text(encoding="utf-8"))}
    assert shown == set(TABLES)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.name)
def test_snippet_runs(
    snippet: Snippet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if snippet.not_run:
        pytest.skip(snippet.not_run)
    for module in snippet.needs:
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    code = "\n" * (snippet.line - 1) + snippet.code  # so that tracebacks name the line of the page
    exec(compile(code, str(ROOT / snippet.page), "exec"), {"__name__": "__main__"})
    if snippet.output is not None:
        assert capsys.readouterr().out.strip() == snippet.output.strip()


def test_snippets_are_found() -> None:
    assert len(snippets_of(README)) >= 2
    assert sum(snippet.output is not None for snippet in SNIPPETS) >= 2
    fences = sum(len(re.findall(r"^```python", page.read_text(), re.M)) for page in pages())
    assert fences == len(SNIPPETS)


@pytest.mark.parametrize(("page", "arguments"), commands(), ids=lambda value: value if isinstance(value, str) else None)
def test_command_lines_are_taken(page: str, arguments: list[str]) -> None:
    """Parsed and not run; a command line that is not taken raises."""
    import typer.main

    group: Any = typer.main.get_command(cli)
    with group.make_context("fiveup", list(arguments)) as context:
        if context.invoked_subcommand or context._protected_args:
            rest = [*context._protected_args, *context.args]
            name, command, rest = group.resolve_command(context, rest)
            command.make_context(name, rest, parent=context)


def test_pictures_of_the_rules_are_drawn_anew() -> None:
    drawn = pictures()
    assert len(drawn) == 11
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")} == drawn, (
        "run: python -m tests.docs.rules_pictures"
    )
    text = (FOLDER.parent / "rules.md").read_text(encoding="utf-8")
    assert all(f"](rules/{name})" in text for name in drawn)


def test_the_picture_of_the_layers_is_that_of_the_imports() -> None:
    architecture = pytest.importorskip("tests.docs.architecture", reason="needs import-linter", exc_type=ImportError)
    assert architecture.PICTURE.read_text(encoding="utf-8") == architecture.picture(), (
        "run: python -m tests.docs.architecture"
    )


def anchors(page: Path) -> set[str]:
    """Ids of the headings of a page, as GitHub and the site make them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", LINKED, ids=id_of)
def test_links_anchors_and_pictures(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for picture, label, target in LINK.findall(text):
        assert label.strip(), f"{target}: a link or picture needs words"
        if re.match(r"[a-z]+:", target):
            assert target.startswith(("https://", "mailto:")), target
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target}: there is no such file"
        assert file.is_relative_to(ROOT), f"{target} leaves the repository"
        if anchor:
            assert anchor in anchors(file), f"{target}: there is no such heading; there are {sorted(anchors(file))}"
        if picture:
            check_picture(file)


def check_picture(file: Path) -> None:
    assert file.stat().st_size < 200_000
    if file.suffix == ".svg":
        root = ElementTree.parse(file).getroot()
        assert root.tag.endswith("svg") and root.get("viewBox")
        assert "http" not in file.read_text(encoding="utf-8").replace("http://www.w3.org/", "")
    else:
        assert file.read_bytes()[:4] == b"\x89PNG"
