"""A context that closes itself does so once, at the end, whatever was raised; and does not hide it."""

import pytest

from cuda_agent.closing import Closing


class Door(Closing):
    """Counts how often it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        """Count."""
        self.closed += 1


def test_it_is_closed_when_its_block_ends() -> None:
    with Door() as door:
        assert door.closed == 0
    assert door.closed == 1


def test_it_is_closed_by_what_is_raised_which_goes_on() -> None:
    door = Door()
    with pytest.raises(KeyboardInterrupt), door:
        raise KeyboardInterrupt
    assert door.closed == 1


def test_who_cannot_close_is_no_context() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Closing()  # type: ignore[abstract]
