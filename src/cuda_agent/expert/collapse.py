"""Merge neighbouring counters of a kernel that every access walks through as if they were one."""

from cuda_agent.expert.plan import Access, Kernel, Level, Store, Value


def get_accesses(kernel: Kernel) -> list[Access]:
    """Every access and affine number of a kernel."""
    found = [value.access for value in kernel.values if value.access is not None]
    return found + [store.access for store in kernel.stores]


def can_merge(kernel: Kernel, counter: int, *, size: int) -> bool:
    """Whether `counter` and the next one, which counts to `size`, are walked through as one everywhere."""
    return all(
        access.get_coefficient(counter) == access.get_coefficient(counter + 1) * size
        for access in get_accesses(kernel)
    )


def drop_counter(access: Access, counter: int) -> Access:
    """The access without `counter`; later ones move up by one."""
    kept = tuple((c - (c > counter), k) for c, k in access.terms if c != counter)
    return access.model_copy(update={"terms": kept})


def drop_everywhere(kernel: Kernel, counter: int) -> dict[str, object]:
    """The kernel's values and stores with `counter` left out of every access."""

    def shorten(item: Value | Store) -> Value | Store:
        if item.access is None:
            return item
        return item.model_copy(update={"access": drop_counter(item.access, counter)})

    return {
        "values": tuple(shorten(value) for value in kernel.values),
        "stores": tuple(shorten(store) for store in kernel.stores),
    }


def has_columns(kernel: Kernel) -> bool:
    """Whether rows matter: something is reduced over columns, or computed or stored once a row."""
    needs_rows = any(value.op.startswith("reduce_") and value.level is Level.ROW for value in kernel.values)
    row_total = any(
        kernel.values[arg].level is Level.ROW for total in kernel.totals for arg in kernel.values[total].args
    )
    return needs_rows or row_total or any(store.level is Level.ROW for store in kernel.stores)


def collapse_kernel(kernel: Kernel) -> Kernel:
    """The kernel with as few counters as its accesses allow.

    Row counters merge with row counters and column counters with column counters; rows merge with columns
    only where nothing is done once a row.
    """
    changed = True
    while changed:
        changed = False
        for counter in range(kernel.inner):
            merged = merge_at(kernel, counter)
            if merged is not None:
                kernel, changed = merged, True
                break
    return kernel


def merge_at(kernel: Kernel, counter: int) -> Kernel | None:
    """The kernel with `counter` merged into the next one, or None where that is not possible."""
    rows, counts = len(kernel.outer), [*kernel.outer, *kernel.cols]
    count, next_is_inner = counts[counter], counter + 1 == kernel.inner
    size = kernel.loops[0] if next_is_inner else counts[counter + 1]
    if count > 1:
        crosses = counter == rows - 1
        if (crosses and has_columns(kernel)) or (next_is_inner and len(kernel.loops) > 1):
            return None
        if not can_merge(kernel, counter, size=size):
            return None
    loops = kernel.loops
    if next_is_inner:
        loops = tuple(length * count for length in loops)
    else:
        counts[counter + 1] *= count
    del counts[counter]
    kept_rows = rows - 1 if counter < rows else rows
    shape = {"outer": tuple(counts[:kept_rows]), "cols": tuple(counts[kept_rows:]), "loops": loops}
    return kernel.model_copy(update=shape | drop_everywhere(kernel, counter))
