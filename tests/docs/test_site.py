"""The site builds without a warning, loads nothing from other hosts, and has no dead links."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}
FETCHED = ("stylesheet", "icon", "preload", "preconnect", "dns-prefetch")


class Page(HTMLParser):
    """Ids, links, and what a browser loads by itself."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and given.get(LOADED[tag]) and (tag != "link" or given.get("rel", "") in FETCHED):
            self.loads.append(given[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for module in ("material", "mkdocstrings", "mkdocs_jupyter"):
        pytest.importorskip(module, reason="the extra docs is not installed", exc_type=ImportError)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=quiet, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 15
    for file in pages:
        for target in Page(file).loads:
            assert not re.match(r"(?:[a-z]+:)?//", target), f"{file.relative_to(site)} loads {target}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_notebooks_are_pages(site: Path) -> None:
    """A browser would show the files as JSON."""
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        text = (site / "notebooks" / f"{notebook.stem}.html").read_text(encoding="utf-8")
        assert "<article" in text and "jp-CodeCell" in text, notebook.name
        assert f'href="notebooks/{notebook.stem}.html"' in (site / "notebooks.html").read_text(encoding="utf-8")


def test_tables_are_tables(site: Path) -> None:
    """A row separated from its table by an empty line would be shown as text between bars."""
    for file in site.rglob("*.html"):
        lost = re.search(r"<p>\|.*?</p>", file.read_text(encoding="utf-8"), re.S)
        assert lost is None, f"{file.relative_to(site)}: {lost and lost[0][:80]}"


def test_every_page_has_a_place_in_the_menu(site: Path) -> None:
    """mkdocs.yml names every page; others would be listed under "More"."""
    assert not re.search(r">\s*More\s*<", (site / "index.html").read_text(encoding="utf-8"))


def test_links_and_anchors_lead_somewhere(site: Path) -> None:
    pages = {file.resolve(): Page(file) for file in site.rglob("*.html") if file.name != "404.html"}
    for file, page in pages.items():
        for target in [*page.links, *page.loads]:
            if re.match(r"(?:[a-z]+:|//)", target):
                continue
            path, _, anchor = target.partition("#")
            goal = (file.parent / unquote(path)).resolve() if path else file
            assert goal.exists(), f"{file.relative_to(site)} links to {target}"
            if anchor and goal in pages and anchor != "__skip":
                assert unquote(anchor) in pages[goal].ids, f"{file.relative_to(site)} links to {target}"
