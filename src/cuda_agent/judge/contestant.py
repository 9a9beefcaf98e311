"""One callable module inside a child process: staging its inputs, calling it, keeping its outputs."""

import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from cuda_agent.judge.device import Device
from cuda_agent.judge.guard import OperatorGuard
from cuda_agent.judge.mailbox import Mailbox, read_tensors, write_tensors
from cuda_agent.judge.protocol import Call, CallMode
from cuda_agent.judge.replies import Called
from cuda_agent.judge.tree import Node, build_value, compute_offsets, describe_value, map_tensors


class Lane:
    """A module's staged inputs and kept outputs; the same code serves candidate and baselines."""

    def __init__(self, module: Any, device: Device) -> None:  # noqa: ANN401  any callable will do
        """Wrap a callable that takes the task's inputs."""
        self._module = module
        self._device = device
        self._staged: list[tuple[Any, ...]] = []
        self._outputs: list[object] = []

    def stage(self, inbox: Mailbox, inputs: Node) -> None:
        """Copy the inputs in the inbox to fresh addresses."""
        value = build_value(inputs, read_tensors(inbox, inputs.list_tensors()))
        self._staged.append(tuple(value))  # type: ignore[arg-type]

    def stage_value(self, inputs: tuple[object, ...]) -> None:
        """Copy inputs of this process to fresh addresses."""
        self._staged.append(tuple(map_tensors(inputs, torch.clone)))  # type: ignore[arg-type]

    def call(self, request: Call) -> Called:
        """Call once on each staged set, in order; earlier outputs are dropped first."""
        self._outputs.clear()
        with torch.no_grad(), ExitStack() as conditions:
            if request.poisoned:
                conditions.enter_context(poison_fresh_memory())
            if request.guarded:
                conditions.enter_context(OperatorGuard())  # type: ignore[no-untyped-call]
            if request.mode is CallMode.TIMED:
                return Called(calls_ms=self._call_timed())
            return self._call_all(checked=request.mode is CallMode.CHECK)

    def collect(self, outbox: Mailbox, index: int) -> Node:
        """Describe one kept output, and write it into the outbox if it fits there."""
        node, tensors = describe_value(self._outputs[index], path="out")
        for tensor in tensors:
            if tensor.device.type != self._device.torch_device.type:
                raise ValueError(f"an output is on {tensor.device}, not on {self._device.torch_device}")
        nodes = node.list_tensors()
        if compute_offsets(nodes)[1] <= outbox.memory.numel():
            write_tensors(outbox, nodes, tensors=tensors)
            self._device.synchronize()
        return node

    def drop(self) -> None:
        """Forget inputs and outputs."""
        self._staged.clear()
        self._outputs.clear()

    def _call_all(self, *, checked: bool) -> Called:
        before = self._copy_staged() if checked else []
        self._device.synchronize()
        for inputs in self._staged:
            self._outputs.append(self._module(*inputs))
        self._device.synchronize()
        return Called(inputs_changed=checked and self._differs(before))

    def _call_timed(self) -> tuple[float, ...]:
        calls_ms = []
        gc.disable()
        try:
            for inputs in self._staged:
                output, call_ms = self._device.time_call(partial(self._module, *inputs))
                self._outputs.append(output)
                calls_ms.append(call_ms)
        finally:
            gc.enable()
        return tuple(calls_ms)

    def _copy_staged(self) -> list[torch.Tensor]:
        with _disable_current_modes():
            return [tensor.clone() for tensor in describe_value(self._staged)[1]]

    def _differs(self, before: list[torch.Tensor]) -> bool:
        with _disable_current_modes():
            now = describe_value(self._staged)[1]
            return not all(have_same_bytes(a, b) for a, b in zip(before, now, strict=True))


@contextmanager
def poison_fresh_memory() -> Iterator[None]:
    """Fill whatever torch allocates without a value with NaN, or the largest whole number."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def have_same_bytes(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors of one shape and dtype hold the same bytes (a NaN is then equal to itself)."""
    return torch.equal(a.contiguous().view(-1).view(torch.uint8), b.contiguous().view(-1).view(torch.uint8))
