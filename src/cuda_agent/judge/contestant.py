"""One callable module inside a child process: staging its inputs, calling it, keeping its outputs."""

import gc
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from cuda_agent.judge.device import Device
from cuda_agent.judge.guard import OperatorGuard
from cuda_agent.judge.mailbox import Mailbox, view_tensors, write_tensors
from cuda_agent.judge.operator_record import OperatorRecord
from cuda_agent.judge.protocol import Call, CallMode
from cuda_agent.judge.replies import Called
from cuda_agent.judge.tree import Node, build_value, compute_offsets, describe_value

_ALIGNMENT = 512
"""In bytes, of each staged tensor: what CUDA's own allocations have."""
_OFFSETS = 128
"""How many places on its board a set may start at."""


class Lane:
    """A module's staged inputs and kept outputs; the same code serves candidate and baselines."""

    def __init__(
        self,
        module: Any,  # noqa: ANN401  any callable will do
        device: Device,
        *,
        is_in_kernel: Callable[[], bool] = lambda: False,
    ) -> None:
        """Wrap a callable that takes the task's inputs; `is_in_kernel` is what the guard asks."""
        self._module = module
        self._device = device
        self._is_in_kernel = is_in_kernel
        self._shelf = Shelf()
        self._staged: list[tuple[Any, ...]] = []
        self._outputs: list[object] = []
        self._last: list[torch.Tensor] = []

    def stage(self, inbox: Mailbox, inputs: Node) -> None:
        """Copy the inputs in the inbox to fresh addresses."""
        self._stage(inputs, view_tensors(inbox, inputs.list_tensors()))

    def stage_value(self, inputs: tuple[object, ...]) -> None:
        """Copy inputs of this process to fresh addresses."""
        self._stage(*describe_value(inputs))

    def call(self, request: Call) -> Called:
        """Call once on each staged set, in order; earlier outputs are dropped first."""
        self._outputs.clear()
        with torch.no_grad(), ExitStack() as conditions:
            if request.poisoned:
                conditions.enter_context(poison_fresh_memory())
            if request.guarded:
                conditions.enter_context(OperatorGuard(self._is_in_kernel))
            if request.mode is CallMode.TIMED:
                return self._call_timed()
            return self._call_all(request)

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
        self._last = []
        self._shelf.clear()

    def _stage(self, node: Node, tensors: Sequence[torch.Tensor]) -> None:
        self._last = list(tensors)
        value: Any = build_value(node, self._shelf.copy(tensors))
        self._staged.append(tuple(value))

    def _call_all(self, request: Call) -> Called:
        is_recorded = request.guarded and self._device.torch_device.type == "cpu"
        self._device.synchronize()
        with OperatorRecord() if is_recorded else nullcontext():
            for inputs in self._staged:
                self._outputs.append(self._module(*inputs))
        self._device.synchronize()
        return Called(inputs_changed=request.mode is CallMode.CHECK and self._has_changed())

    def _call_timed(self) -> Called:
        calls_ms = []
        gc.disable()
        start_ns = time.perf_counter_ns()
        try:
            for inputs in self._staged:
                output, call_ms = self._device.time_call(partial(self._module, *inputs))
                self._outputs.append(output)
                calls_ms.append(call_ms)
        finally:
            gc.enable()
        return Called(calls_ms=tuple(calls_ms), block_ms=(time.perf_counter_ns() - start_ns) / 1e6)

    def _has_changed(self) -> bool:
        """Whether the inputs staged last differ from what they were copied from."""
        with _disable_current_modes():
            now = describe_value(self._staged[-1])[1]
            return not all(have_same_bytes(a, b) for a, b in zip(self._last, now, strict=True))


class Shelf:
    """Memory for staged inputs that is kept from block to block, so that no call pays for page faults.

    Each set of tensors lies on a board of its own, at an offset that nobody can know before: half of the
    time where the board's last set lay, so that whoever keeps answers by address meets other values there.
    """

    def __init__(self) -> None:
        """Own nothing yet."""
        self._free: list[_Board] = []
        self._taken: list[_Board] = []

    def copy(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Copies of the tensors on a board that nothing else lies on."""
        sizes = [-(-tensor.nbytes // _ALIGNMENT) * _ALIGNMENT for tensor in tensors]
        board = self._take(sum(sizes) + _OFFSETS * _ALIGNMENT, tensors)
        if secrets.randbelow(2):
            board.offset = secrets.randbelow(_OFFSETS) * _ALIGNMENT
        offset, copies = board.offset, []
        for tensor, size in zip(tensors, sizes, strict=True):
            flat = board.memory[offset : offset + tensor.nbytes].view(tensor.dtype)
            copies.append(flat.view(tensor.shape).copy_(tensor))
            offset += size
        return copies

    def clear(self) -> None:
        """All boards are free again."""
        self._free += self._taken
        self._taken = []

    def _take(self, nbytes: int, tensors: Sequence[torch.Tensor]) -> "_Board":
        self._free = [board for board in self._free if board.memory.numel() >= nbytes]
        secrets.SystemRandom().shuffle(self._free)
        device = tensors[0].device if tensors else None
        board = self._free.pop() if self._free else _Board(nbytes, device)
        self._taken.append(board)
        return board


class _Board:
    """One piece of a shelf."""

    def __init__(self, nbytes: int, device: torch.device | None) -> None:
        self.memory = torch.empty(nbytes, dtype=torch.uint8, device=device)
        self.offset = secrets.randbelow(_OFFSETS) * _ALIGNMENT


@contextmanager
def poison_fresh_memory() -> Iterator[None]:
    """Fill whatever torch allocates without a value with NaN, or the largest whole number."""
    # The switch itself: its public form first imports torch.compile's machinery, for two seconds.
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch._C._set_deterministic_algorithms(False, warn_only=False)


def have_same_bytes(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors of one shape and dtype hold the same bytes (a NaN is then equal to itself)."""
    return torch.equal(_view_bytes(a), _view_bytes(b))


def _view_bytes(value: torch.Tensor) -> torch.Tensor:
    flat = value.contiguous().view(-1)
    return flat.view(torch.int64 if flat.nbytes % 8 == 0 else torch.uint8)
