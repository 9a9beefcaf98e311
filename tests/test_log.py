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


@pytest.mark.parametrize("verbosity", Verbosity)
def test_what_an_error_says_cannot_steer_the_terminal(
    capfd: pytest.CaptureFixture[str], verbosity: Verbosity
) -> None:
    setup_logging(verbosity)
    logger = logging.getLogger("cuda_agent.room")
    try:
        raise ValueError("a kernel's words\x1b[2J\x9b1A\r")
    except ValueError as error:
        logger.exception("failed: %s", error)
    err = capfd.readouterr().err
    assert not {"\x1b", "\x9b", "\r"} & set(err)
    assert "\\x1b[2J\\x9b1A\\r" in err
    assert ("Traceback" in err) == ("raise ValueError" in err) is True
