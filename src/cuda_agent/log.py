"""Logging for people: to stderr, through rich."""

import logging
from enum import StrEnum

from rich.console import Console
from rich.logging import RichHandler


class Verbosity(StrEnum):
    """How much a command tells on stderr."""

    QUIET = "quiet"
    """Errors alone."""
    NORMAL = "normal"
    """Warnings and what a person should know."""
    VERBOSE = "verbose"
    """Everything, with times and places, and tracebacks of errors."""


_LEVELS = {
    Verbosity.QUIET: logging.ERROR,
    Verbosity.NORMAL: logging.INFO,
    Verbosity.VERBOSE: logging.DEBUG,
}


def setup_logging(verbosity: Verbosity = Verbosity.NORMAL) -> None:
    """Send this package's log to stderr; a second call replaces the first."""
    is_verbose = verbosity is Verbosity.VERBOSE
    handler = RichHandler(
        console=Console(stderr=True),
        show_time=is_verbose,
        show_path=is_verbose,
        show_level=True,
        markup=False,
        rich_tracebacks=is_verbose,
    )
    handler.setFormatter(logging.Formatter("%(message)s", datefmt="%H:%M:%S"))
    logger = logging.getLogger("cuda_agent")
    logger.handlers = [handler]
    logger.setLevel(_LEVELS[verbosity])
    logger.propagate = False
