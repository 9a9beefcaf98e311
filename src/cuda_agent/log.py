"""Logging for people: to stderr, through rich."""

import logging
from enum import StrEnum

from rich.console import Console
from rich.logging import RichHandler

from cuda_agent.printable import make_lines_printable


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


class PrintableFormatter(logging.Formatter):
    """Formats records, errors and tracebacks included, so that none of it can steer a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as harmless lines."""
        return make_lines_printable(super().format(record))


def setup_logging(verbosity: Verbosity = Verbosity.NORMAL) -> None:
    """Send this package's log to stderr; a second call replaces the first."""
    is_verbose = verbosity is Verbosity.VERBOSE
    handler = RichHandler(
        console=Console(stderr=True),
        show_time=is_verbose,
        show_path=is_verbose,
        show_level=True,
        markup=False,
    )
    handler.setFormatter(PrintableFormatter("%(message)s", datefmt="%H:%M:%S"))
    logger = logging.getLogger("cuda_agent")
    logger.handlers = [handler]
    logger.setLevel(_LEVELS[verbosity])
    logger.propagate = False
