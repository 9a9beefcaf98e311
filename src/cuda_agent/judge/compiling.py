"""torch.compile for a baseline: built ahead without touching the device, then run once.

Building takes seconds of processor time, running takes the device: apart, one task can be compiled while
another is timed.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import torch


class _BuiltError(Exception):
    """A graph was built, and would run now."""


def precompile(model: torch.nn.Module, inputs: Sequence[Any]) -> None:
    """Fill the compiler's cache for the first graph that these inputs lead to, and stop before it runs.

    Raises:
        Exception: whatever the compiler raises.
    """
    from torch._dynamo import lookup_backend  # takes a second to import, and many a task is never compiled

    inductor = lookup_backend("inductor")

    def build(graph: Any, examples: Any) -> Callable[..., Any]:  # noqa: ANN401
        inductor(graph, examples)

        def stop(*_: object) -> None:
            raise _BuiltError

        return stop

    with suppress(_BuiltError):
        _call(lambda: torch.compile(model, backend=build), inputs)
    torch.compiler.reset()


def compile_model(model: torch.nn.Module, inputs: Sequence[Any], *, mode: str = "default") -> Any:  # noqa: ANN401
    """The compiled model, in one of torch.compile's modes, called once.

    Raises:
        Exception: whatever the compiler, or the call, raises.
    """
    return _call(lambda: torch.compile(model, mode=mode), inputs)


def _call(make: Callable[[], Any], inputs: Sequence[Any]) -> Any:  # noqa: ANN401
    compiled = make()
    try:
        with torch.no_grad():
            compiled(*inputs)
    except _BuiltError:
        raise
    except Exception:
        if torch._inductor.config.cpp.vec_isa_ok is None:
            raise
        # It may be that the processor has instructions which the compiler does not know: let it try.
        torch._inductor.config.cpp.vec_isa_ok = None
        torch.compiler.reset()
        return _call(make, inputs)
    return compiled
