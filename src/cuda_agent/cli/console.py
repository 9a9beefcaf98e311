"""Where a verb prints its result, and where it tells how far it is."""

import logging

from rich.console import Console

PLAIN_WIDTH = 140
"""Characters of a line where no terminal says how wide it is."""


def build_console() -> Console:
    """A console on stdout, wide enough for a table when it goes to a file."""
    console = Console()
    return console if console.is_terminal else Console(width=PLAIN_WIDTH)


def build_error_console() -> Console:
    """A console on stderr, for what is no result; nothing is shown there when only errors are wanted."""
    return Console(stderr=True, quiet=not logging.getLogger("cuda_agent").isEnabledFor(logging.INFO))
