"""Which torch operators really ran while a submission's forward was called, whoever called them.

The profiler notes every operator where it is called in C++, so it also sees those that no dispatch mode is
asked about: a kernel that finds the interpreter can switch the modes of its own call off. Like the guard
this runs in the runner, and is not the last word.
"""

from functools import cache
from types import TracebackType
from typing import Self

import torch
from torch._C import _autograd, _profiler

from cuda_agent.judge.guard import ALLOWED_OPERATORS, ForbiddenOperatorError

_NAMESPACE = "aten::"


class OperatorRecord:
    """A context that refuses, at its end, what ran in it and is not allowed; host operators alone."""

    def __enter__(self) -> Self:
        """Begin to take notes."""
        activities = {_profiler.ProfilerActivity.CPU}
        _autograd._prepare_profiler(_configure(), activities)
        _autograd._enable_profiler(_configure(), activities)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Look through the notes.

        Raises:
            ForbiddenOperatorError: an operator ran that computes.
        """
        events = _autograd._disable_profiler().events()
        if error is None and (forbidden := find_forbidden([event.name() for event in events])):
            raise ForbiddenOperatorError(f"while forward ran, torch ran {forbidden}: compute it in a kernel")


def find_forbidden(names: list[str]) -> str:
    """The first operator that computes; empty if there is none.

    An operator that only calls others is not counted: those others are noted too.
    """
    for name in names:
        if (
            name.startswith(_NAMESPACE)
            and name.removeprefix(_NAMESPACE) not in ALLOWED_OPERATORS
            and not calls_others(name)
        ):
            return name
    return ""


@cache
def calls_others(name: str) -> bool:
    """Whether an operator, in one of its forms, is made of other operators."""
    forms = [schema.overload_name for schema in torch._C._jit_get_schemas_for_operator(name)]
    full = [f"{name}.{form}" if form else name for form in forms]
    return any(
        torch._C._dispatch_has_kernel_for_dispatch_key(form, "CompositeImplicitAutograd")
        for form in full
        if torch._C._dispatch_has_kernel(form)
    )


def _configure() -> _profiler.ProfilerConfig:
    return _profiler.ProfilerConfig(
        _profiler.ProfilerState.KINETO, False, False, False, False, False, _profiler._ExperimentalConfig()
    )
