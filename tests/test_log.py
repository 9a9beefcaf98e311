"""The log goes to stderr, as loud as asked."""

import logging
from collections.abc import Iterator

import pytest

from cuda_agent.log import Verbosity, setup_logging


@pytest.fixture(autouse=True)
def package_logger() -> Iterator[None]:
    """Put the package's logger back as it was."""
    logger = logging.getLogger("cuda_agent")
    before = logger.handlers, logger.level, logger.propagate
    yield
    logger.handlers, logger.propagate = before[0], before[2]
    logger.setLevel(before[1])


@pytest.mark.parametrize(
    ("verbosity", "heard"),
    [
        (Verbosity.QUIET, {"error"}),
        (Verbosity.NORMAL, {"error", "warning", "info"}),
        (Verbosity.VERBOSE, {"error", "warning", "info", "debug"}),
    ],
)
def test_each_verbosity_lets_through_what_it_says(
    capfd: pytest.CaptureFixture[str], verbosity: Verbosity, heard: set[str]
) -> None:
    setup_logging(Verbosity.VERBOSE)
    setup_logging(verbosity)
    logger = logging.getLogger("cuda_agent.room")
    for level in ("debug", "info", "warning", "error"):
        getattr(logger, level)("said [%s]", level)
    out, err = capfd.readouterr()
    assert out == ""
    assert {level for level in ("debug", "info", "warning", "error") if f"[{level}]" in err} == heard
    assert err.count("[error]") == 1
