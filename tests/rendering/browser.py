"""A headless Chromium with its driver, both from system packages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromedriver")


@contextmanager
def driver(profile: Path) -> Iterator[Any]:
    """A driven browser with its profile in a folder."""
    from selenium import webdriver

    binary, service = (shutil.which(name) for name in PROGRAMS)
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1000,1100"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={profile}")
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    try:
        yield browser
    finally:
        browser.quit()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A driven browser; skips the test if a part is missing."""
    pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed: apt-get install chromium chromium-driver")
    with driver(tmp_path_factory.mktemp("browser")) as driven:
        yield driven
