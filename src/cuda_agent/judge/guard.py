"""Which torch operators a submission's forward may dispatch: memory, views and moves, nothing that computes.

Holds for calls from Python and, through the dispatcher, from C++. It runs in the runner, so it is a
barrier to honest fallbacks and to careless cheats, not the last word.
"""

from collections.abc import Callable, Sequence
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

ALLOWED_OPERATORS = frozenset(
    {
        # memory
        "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "zeros", "zeros_like",
        "new_zeros", "ones", "ones_like", "new_ones", "full", "full_like", "new_full", "zero_", "fill_",
        "scalar_tensor", "lift_fresh", "lift_fresh_copy", "resize_",
        # views
        "view", "_unsafe_view", "_reshape_alias", "reshape", "as_strided", "expand", "permute", "transpose",
        "t", "slice", "select", "squeeze", "unsqueeze", "narrow", "split", "split_with_sizes", "unbind",
        "chunk", "movedim", "detach", "alias", "view_as_real", "view_as_complex", "unfold", "diagonal",
        # moves
        "clone", "copy_", "_to_copy", "contiguous", "record_stream", "_local_scalar_dense", "is_pinned",
    }
)  # fmt: skip
"""Names of aten operators without their overload."""
MOVING_OPERATORS = frozenset({"clone", "copy_", "_to_copy"})
"""Those that a kernel's own code may not call: they would do its work where muting does not show it."""


class ForbiddenOperatorError(RuntimeError):
    """A submission's forward dispatched an operator that computes."""


class OperatorGuard(TorchDispatchMode):
    """Refuses every operator that is not allowed."""

    def __init__(self, is_in_kernel: Callable[[], bool] = lambda: False) -> None:
        """`is_in_kernel` says whether a kernel is being called: inside, torch does not move data either."""
        super().__init__()  # type: ignore[no-untyped-call]
        self._is_in_kernel = is_in_kernel

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled in a runner, and torch.compile's machinery takes over a second to import."""
        return False

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401  the dispatcher's own types
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        """Run an allowed operator; raise for any other."""
        name = func._schema.name.split("::")
        if name[0] != "aten" or name[1] not in ALLOWED_OPERATORS:
            raise ForbiddenOperatorError(
                f"forward uses the torch operator {'::'.join(name)}: compute it in a kernel instead"
            )
        if name[1] in MOVING_OPERATORS and self._is_in_kernel():
            raise ForbiddenOperatorError(
                f"a kernel calls the torch operator {'::'.join(name)}: copy in your own loop, or hand it "
                "tensors that are contiguous"
            )
        return func(*args, **(kwargs or {}))
