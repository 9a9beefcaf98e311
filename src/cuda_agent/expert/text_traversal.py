"""Traversals as C++ that both targets share: the operation's name and the sizes."""

from cuda_agent.expert.plan import Traversal

RUNNERS = {
    "cumsum": "RunningSum",
    "cumprod": "RunningProduct",
    "cummax": "RunningLargest",
    "cummin": "RunningSmallest",
    "logcumsumexp": "RunningLogSumExp",
}
"""The functor of each running operation."""


def write_line_size(step: Traversal) -> str:
    """The sizes as a `LineSize`."""
    return f"LineSize{{{step.outer}, {step.length}, {step.inner}}}"
