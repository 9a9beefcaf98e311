"""Where a kernel runs."""

from enum import StrEnum


class Target(StrEnum):
    """The kind of device that a task, a submission and a clock are for."""

    CPU = "cpu"
    """C++ with OpenMP on the host's cores."""
    CUDA = "cuda"
    """CUDA C++ on one NVIDIA GPU."""
