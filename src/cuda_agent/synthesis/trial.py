"""A program tried on meta tensors: nothing is computed, but shapes, bytes and operations are known.

Only for programs that this room wrote itself: they run in this process.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry


class TrialError(Exception):
    """The program cannot run: its shapes do not fit, or it needs values."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What one run of forward would do."""

    shape: tuple[int, ...]
    """Shape of its output."""
    is_floating: bool
    """Whether the output is one floating tensor."""
    moved_bytes: int
    """Bytes that eager operations read and write."""
    flops: int
    """Multiplications and additions of matrix products and convolutions."""
    held_bytes: int
    """Bytes of inputs, weights and all intermediate results together: more than are ever held at once."""
    operations: tuple[str, ...]
    """The dispatched operations, in order, but for views."""
    is_random: bool
    """Whether one of them draws random numbers."""


def run_trial(source: str) -> Trial:
    """Run a program of ours on meta tensors.

    Raises:
        TrialError: it cannot run; the message is torch's first line.
    """
    scope: dict[str, Any] = {"__name__": "trial"}
    counter = _Counter()
    try:
        exec(compile(source, "<trial>", "exec"), scope)
        with torch.no_grad(), torch.device("meta"):
            model = scope["Model"](*scope["get_init_inputs"]()).eval()
            inputs = scope["get_inputs"]()
            with counter:
                output = model(*inputs)
    except Exception as error:  # a library's own check may raise anything (see errors.py)
        raise TrialError(f"{type(error).__name__}: {error}".splitlines()[0][:200]) from error
    if not isinstance(output, torch.Tensor):
        raise TrialError(f"the output is a {type(output).__name__}, not a tensor")
    held = [*inputs, *model.state_dict().values()]
    return Trial(
        shape=tuple(output.shape),
        is_floating=output.is_floating_point(),
        moved_bytes=counter.moved_bytes,
        flops=counter.flops,
        held_bytes=counter.made_bytes + sum(map(_count_bytes, held)),
        operations=tuple(counter.operations),
        is_random=counter.is_random,
    )


class _Counter(TorchDispatchMode):
    """Counts what is dispatched."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.moved_bytes = self.made_bytes = self.flops = 0
        self.operations: list[str] = []
        self.is_random = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        kwargs = kwargs or {}
        output = func(*args, **kwargs)
        if func.is_view:
            return output
        made = sum(map(_count_bytes, tree_leaves(output)))
        self.made_bytes += made
        self.moved_bytes += made + sum(map(_count_bytes, tree_leaves((args, kwargs))))
        self.operations.append(str(func))
        self.is_random = self.is_random or torch.Tag.nondeterministic_seeded in func.tags
        count: Callable[..., int] | None = flop_registry.get(func.overloadpacket)
        if count is not None:
            self.flops += int(count(*args, **kwargs, out_val=output))
        return output


def _count_bytes(value: object) -> int:
    return value.numel() * value.itemsize if isinstance(value, torch.Tensor) else 0
