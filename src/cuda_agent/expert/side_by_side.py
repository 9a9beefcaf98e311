"""Which kernels have rows, not columns, that lie side by side: those that reduce no last dimension."""

from cuda_agent.expert.collapse import has_columns
from cuda_agent.expert.plan import Access, Kernel, Level

LEAST_LANES = 8
"""With fewer rows side by side a vector is better filled along the columns."""


def find_accesses(kernel: Kernel) -> list[tuple[Access, bool]]:
    """Accesses of elements, and whether each is a store."""
    loads = [
        (value.access, False)
        for value in kernel.values
        if value.op == "load" and value.level is Level.FULL and value.access is not None
    ]
    return loads + [(store.access, True) for store in kernel.stores if store.level is Level.FULL]


def suits_lanes(kernel: Kernel) -> bool:
    """Whether neighbouring rows, and not neighbouring columns, lie side by side in memory."""
    if not kernel.outer or kernel.outer[-1] < LEAST_LANES or not has_columns(kernel):
        return False
    lane, inner = len(kernel.outer) - 1, kernel.inner
    walked = [access for access, _ in find_accesses(kernel) if access.get_coefficient(lane)]
    across = [a for a in walked if a.get_coefficient(lane) == 1 and (a.get_coefficient(inner) or a.picks)]
    return bool(across) and all(access.get_coefficient(inner) != 1 for access in walked)
