"""A step of generation as a CUDA graph: one launch instead of hundreds."""

from collections.abc import Callable

import torch
from torch import Tensor

Outputs = tuple[Tensor, Tensor]

WARM_UPS = 2
"""Runs before capture, in which libraries allocate what they need."""


class CudaGraphs:
    """A graph for each width that comes up, all in one memory pool.

    What is computed reads and writes tensors that stay where they are, weights included, so that a graph
    goes on being right when their values change.
    """

    def __init__(self, compute: Callable[[int], Outputs]) -> None:
        """`compute` gives its outputs for a width, without ever waiting for the device."""
        self._compute = compute
        self._captured: dict[int, tuple[torch.cuda.CUDAGraph, Outputs]] = {}
        self._pool = torch.cuda.graph_pool_handle()

    def replay(self, width: int) -> Outputs:
        """The outputs for a width, valid until the next call."""
        if width not in self._captured:
            self._captured[width] = self._capture(width)
        graph, outputs = self._captured[width]
        graph.replay()
        return outputs

    def _capture(self, width: int) -> tuple[torch.cuda.CUDAGraph, Outputs]:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UPS):
                self._compute(width)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            outputs = self._compute(width)
        return graph, outputs
