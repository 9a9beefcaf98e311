"""A candidate: a program that may become a task, before anything is known about it."""

import hashlib

from cuda_agent.config import Record


class Candidate(Record):
    """A composed, or read, program with its label."""

    number: int
    """Which candidate of its seed it is, or which row of its file."""
    seed: int
    """What it was composed from."""
    ops: tuple[str, ...]
    """The operators that it is said to consist of, in order."""
    data_source: str
    """Library and number of operators: torch#2."""
    code: str
    """The program."""
    tags: tuple[str, ...] = ()
    """What its operators belong to."""
    joins: tuple[str, ...] = ()
    """How each operator's result goes on."""

    family: str = ""
    """What it shares with the same program at other sizes or in other precisions; empty when it has none."""
    precision: str = "float32"
    """What its floating inputs and weights are stored in."""

    @property
    def key(self) -> str:
        """Content key: the first 16 hex digits of the SHA-256 of the program."""
        return hashlib.sha256(self.code.encode(errors="surrogatepass")).hexdigest()[:16]
