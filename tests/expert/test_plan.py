from cuda_agent.expert.ops import Lane
from cuda_agent.expert.plan import Access, Buffer, Kernel, Level, Plan, Role, Value

KERNEL = Kernel(
    name="k",
    outer=(3, 4),
    cols=(2,),
    loops=(5, 7),
    values=(
        Value(
            op="load", lane=Lane.F32, level=Level.FULL, access=Access(buffer="in0", offset=0, terms=((3, 2),))
        ),
        Value(op="reduce_sum", args=(0,), lane=Lane.F32, level=Level.ROW),
        Value(op="reduce_sum", args=(1,), lane=Lane.F32, level=Level.FINAL),
    ),
    stores=(),
)


def test_a_kernel_counts_its_rows_and_columns() -> None:
    assert (KERNEL.rows, KERNEL.inner, KERNEL.row_numel) == (12, 3, 14)
    assert (KERNEL.reductions, KERNEL.totals) == ((1,), (2,))


def test_scratch_is_not_traffic() -> None:
    buffers = (
        Buffer(name="in0", role=Role.SOURCE, node="x", shape=(4, 2), dtype="float16"),
        Buffer(name="out0", role=Role.OUTPUT, node="y", shape=(), dtype="int64"),
        Buffer(name="mid0", role=Role.SCRATCH, node="z", shape=(100,), dtype="float64"),
    )
    plan = Plan(steps=(KERNEL,), buffers=buffers, outputs=("out0",))
    assert plan.touched_bytes == 16 + 8
    assert plan.get_buffer("mid0").size_bytes == 800
    assert KERNEL.values[0].access is not None
    assert KERNEL.values[0].access.get_coefficient(3) == 2
    assert KERNEL.values[0].access.get_coefficient(0) == 0
