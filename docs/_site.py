"""Hook of mkdocs that adds pages and files from outside docs/, and rewrites links.

Links in pages follow the folders of the repository. README, changelog, contributing guide,
model cards and notebooks become pages of the site; other files that a page links to are copied next to it.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
FOLDERS = {"fiveup_env/policies": ("policies", "*.md"), "notebooks": ("notebooks", "*.ipynb")}
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
ELSEWHERE = re.compile(r"^(?:[a-z]+:|#|/)")
FENCE = re.compile(r"(^```.*?^```$)", re.S | re.M)


def places() -> dict[str, str]:
    """Path in the repository -> path in the site, for pages outside docs/."""
    found = dict(PAGES)
    for folder, (target, pattern) in FOLDERS.items():
        for path in sorted((ROOT / folder).glob(pattern)):
            found[f"{folder}/{path.name}"] = f"{target}/{path.name}"
    return found


@event_priority(50)  # before mkdocs-jupyter looks for notebooks
def on_files(files: Files, config: Any) -> Files:
    """Add the pages of `places`, and the files that pages link to."""
    for source, target in places().items():
        if target == source:  # notebooks; mkdocs-jupyter reads no generated files
            files.append(File(source, str(ROOT), config.site_dir, config.use_directory_urls))
        else:
            files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    linked = set()
    for file in list(files.documentation_pages()):
        if file.src_uri.endswith(".md"):
            text = Path(file.abs_src_path or "").read_text(encoding="utf-8")
            linked |= {path for path in _linked(text, _origin(file.src_uri)) if _target(path).startswith("source/")}
    for path in sorted(linked):
        if (ROOT / path).is_file():
            added = File.generated(config, _target(path), abs_src_path=str(ROOT / path))
            added.inclusion = InclusionLevel.INCLUDED
            files.append(added)
    return files


def on_config(config: Any) -> Any:
    """Add pages of docs/ that the menu does not name at its end."""
    named = set(re.findall(r"[\w/-]+\.md", str(config.nav)))
    more = [path.name for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in named]
    if more:
        config.nav.append({"More": more})
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrite links from the folders of the repository to those of the site; links to folders become plain text."""
    if not page.file.src_uri.endswith(".md"):
        return markdown
    origin = _origin(page.file.src_uri)
    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(lambda link: _rewritten(link, origin, page.file.src_uri), part) for part in parts[::2]]
    return "".join(parts)


def _rewritten(link: re.Match[str], origin: str, here: str) -> str:
    if ELSEWHERE.match(link[2]):
        return link[0]
    path = _resolved(link[2], origin)
    if (ROOT / path).is_dir():
        return link[1]
    return f"[{link[1]}]({get_relative_url(_target(path), here)}{link[3] or ''})"


def _origin(page: str) -> str:
    """Path in the repository of a page of the site."""
    return {target: source for source, target in places().items()}.get(page, f"docs/{page}")


def _resolved(link: str, origin: str) -> str:
    """Path in the repository that a link leads to."""
    parts: list[str] = []
    for part in (PurePosixPath(origin).parent / link).parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _target(path: str) -> str:
    """Path in the site of a file of the repository."""
    if path in places():
        return places()[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}"


def _linked(text: str, origin: str) -> set[str]:
    found = (link[2] for part in FENCE.split(text)[::2] for link in LINK.finditer(part))
    return {_resolved(target, origin) for target in found if not ELSEWHERE.match(target)}
