"""What a command's exit status says."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit statuses of every verb but the workspace commands."""

    DONE = 0
    """Done, and every task verified."""
    NOT_VERIFIED = 1
    """Done, but a task failed or was not verified."""
    WRONG_USE = 2
    """Wrong use: the message names the cause and the mend."""
    INFRASTRUCTURE = 3
    """The machine failed, or this program did: trying again may help."""
    INTERRUPTED = 130
    """Interrupted; a run can be resumed."""
