"""A headless browser for the tests marked `browser`, and why there is none."""

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """The distribution's Chromium."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def explain_no_browser() -> str:
    """Why tests cannot use a browser, or an empty string."""
    if importlib.util.find_spec("playwright") is None:
        return "needs playwright, which is not installed"
    return "" if find_chromium() else "needs Chromium: install the distribution's package `chromium`"


@contextmanager
def open_browser() -> Iterator["Browser"]:
    """A Chromium without a window; as root it cannot make a sandbox of its own."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=arguments)
        try:
            yield browser
        finally:
            browser.close()
