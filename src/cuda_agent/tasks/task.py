"""A task: a reference program that an agent must make faster."""

import hashlib

from cuda_agent.config import Record


class Task(Record):
    """A reference program in the KernelBench convention.

    Its source defines `Model` (a torch module), `get_inputs` and `get_init_inputs`. The source may
    be written by anyone, so it is parsed here and only ever run in a sandbox.
    """

    name: str
    """A short readable name: the file's stem, or the data set's label."""
    source: str
    """The Python source."""

    @property
    def key(self) -> str:
        """Content key: the first 16 hex digits of the SHA-256 of the source."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]

    @property
    def task_id(self) -> str:
        """Readable and unique: name and content key."""
        return f"{self.name}-{self.key[:8]}"
