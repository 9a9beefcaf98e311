from cuda_agent.expert.collapse import collapse_kernel, has_columns
from cuda_agent.expert.index import find_strides
from cuda_agent.expert.ops import Lane
from cuda_agent.expert.plan import Access, Kernel, Level, Store, Value


def build(outer: tuple[int, ...], loops: tuple[int, ...], *terms: tuple[tuple[int, int], ...]) -> Kernel:
    """A kernel that adds up loads with these terms and stores the sum contiguously."""
    loads = tuple(
        Value(
            op="load", lane=Lane.F32, level=Level.FULL, access=Access(buffer=f"in{k}", offset=0, terms=term)
        )
        for k, term in enumerate(terms)
    )
    full = (*outer, loops[0])
    access = Access(buffer="out0", offset=0, terms=tuple(enumerate(find_strides(full))))
    store = Store(value=0, access=access, level=Level.FULL)
    return Kernel(name="k", outer=outer, cols=(), loops=loops, values=loads, stores=(store,))


def test_contiguous_counters_become_one() -> None:
    kernel = collapse_kernel(build((3, 4), (5,), ((0, 20), (1, 5), (2, 1))))
    assert (kernel.outer, kernel.loops) == ((), (60,))
    assert kernel.stores[0].access.terms == ((0, 1),)


def test_a_broadcast_keeps_its_counter() -> None:
    kernel = collapse_kernel(build((3, 4), (5,), ((0, 20), (1, 5), (2, 1)), ((1, 5), (2, 1))))
    assert (kernel.outer, kernel.loops) == ((3,), (20,))
    assert kernel.values[1].access is not None
    assert kernel.values[1].access.terms == ((1, 1),)


def test_counters_of_one_value_go() -> None:
    kernel = collapse_kernel(build((1, 4), (5,), ((1, 5), (2, 1)), ((2, 1),)))
    assert (kernel.outer, kernel.loops) == ((4,), (5,))


def test_rows_stay_where_something_is_done_once_a_row() -> None:
    kernel = build((3, 4), (5,), ((0, 20), (1, 5), (2, 1)))
    reduction = Value(op="reduce_sum", args=(0,), lane=Lane.F32, level=Level.ROW)
    kernel = kernel.model_copy(update={"values": (*kernel.values, reduction)})
    assert has_columns(kernel)
    collapsed = collapse_kernel(kernel)
    assert (collapsed.outer, collapsed.loops) == ((12,), (5,))


def test_loops_of_several_lengths_stay() -> None:
    kernel = collapse_kernel(build((3, 4), (5, 2), ((0, 20), (1, 5), (2, 1))))
    assert (kernel.outer, kernel.loops) == ((12,), (5, 2))
