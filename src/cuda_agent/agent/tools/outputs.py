"""Long outputs: cut for the model, whole in a file of the workspace."""

import itertools
import re
from pathlib import Path

from cuda_agent.environment.beneath import write_file_beneath

SHOWN_CHARACTERS = 16_000
"""How much of one tool's output a model is shown unless it is told otherwise."""

FOLDER = "outputs"
"""Where in the workspace whole outputs are."""

_KEPT = re.compile(rf"characters cut; all of it: ({FOLDER}/\d+\.txt) \.\.\.\]")


class Outputs:
    """Shortens outputs and keeps the whole ones, numbered, below `root`."""

    def __init__(self, root: Path, *, shown_characters: int = SHOWN_CHARACTERS) -> None:
        """`root` is the workspace's folder; untrusted commands may write to it."""
        self._root = root
        self._shown_characters = shown_characters
        self._numbers = itertools.count(1)

    def shorten(self, text: str) -> str:
        """The text; a long one without its middle, with a note that says where all of it is."""
        if len(text) <= self._shown_characters:
            return text
        return truncate_middle(text, self._shown_characters, place=self.keep(text))

    def keep(self, text: str) -> str:
        """Where in the workspace all of `text` can be read from now on; empty when it cannot be kept.

        A text that was shortened before is where it was kept then.
        """
        if found := _KEPT.search(text):
            return found[1]
        path = f"{FOLDER}/{next(self._numbers):03}.txt"
        try:
            write_file_beneath(self._root, path, data=text.encode("utf-8", "replace"))
        except OSError:
            # A full disk, or a link that the agent planted there: it does without.
            return ""
        return path


def truncate_middle(text: str, limit_characters: int, *, place: str = "") -> str:
    """The text, or its head and tail around a note of how much was cut, and of the place where all is."""
    if len(text) <= limit_characters:
        return text
    half = limit_characters // 2
    whole = f"; all of it: {place}" if place else ""
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters cut{whole} ...]\n{text[-half:]}"
