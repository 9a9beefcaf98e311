"""Plans: which kernels compute a module, as data. Knows nothing of torch, C++ or CUDA."""

from enum import StrEnum
from math import prod

from cuda_agent.config import Record
from cuda_agent.expert.ops import DTYPE_BYTES, SPECIAL, Lane


class Role(StrEnum):
    """What a buffer is to the module."""

    SOURCE = "source"
    """An input, a parameter or a buffer of the module: read only."""
    OUTPUT = "output"
    """Allocated for every call and returned."""
    SCRATCH = "scratch"
    """Allocated for every call, passed from one kernel to the next."""


class Buffer(Record):
    """A contiguous tensor that kernels read or write."""

    name: str
    """A C++ identifier."""
    role: Role
    """What it is to the module."""
    node: str
    """The graph's node or source that it holds."""
    shape: tuple[int, ...]
    """Its sizes."""
    dtype: str
    """Its dtype."""

    @property
    def numel(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """How many bytes it has."""
        return self.numel * DTYPE_BYTES[self.dtype]


class Level(StrEnum):
    """How often a value is computed."""

    ONCE = "once"
    """Once a kernel, before its loops."""
    ROW = "row"
    """Once a row."""
    FULL = "full"
    """Once an element."""
    FINAL = "final"
    """Once a kernel, after its loops."""


class Access(Record):
    """Which element of a buffer: `offset + sum(counters) + sum(picks)`."""

    buffer: str
    """Whose element."""
    offset: int
    """In elements."""
    terms: tuple[tuple[int, int], ...] = ()
    """Loop counter and its coefficient in elements."""
    picks: tuple[tuple[int, int], ...] = ()
    """Value that is an index, and its coefficient in elements."""

    def get_coefficient(self, counter: int) -> int:
        """The coefficient of one counter."""
        return dict(self.terms).get(counter, 0)


class Value(Record):
    """One step of a kernel, in single-assignment form: its number is its place in `Kernel.values`."""

    op: str
    """A pointwise word of `ops.py`, or load, literal, index (an affine number), pick, or a reduction."""
    args: tuple[int, ...] = ()
    """The values it needs; a reduction over columns has one for each piece of the row."""
    lane: Lane
    """How it is held."""
    level: Level
    """How often it is computed."""
    loop: int = 0
    """In which of the kernel's column loops, if `level` is FULL."""
    access: Access | None = None
    """Which element, if it is a load; the affine number, if it is an index."""
    literal: float | int | bool | None = None
    """The number, if it is a literal; the bound, if it is a pick."""


class Store(Record):
    """A value that goes to memory."""

    value: int
    """Which value."""
    access: Access
    """Where to."""
    level: Level
    """How often it is stored: an element, a row, or once at the end."""
    loop: int = 0
    """In which of the kernel's column loops, if `level` is FULL."""


class Kernel(Record):
    """A loop nest over rows, each a nest over columns; counters are numbered from the outermost inwards."""

    name: str
    """A C++ identifier."""
    outer: tuple[int, ...]
    """How far the row counters count."""
    cols: tuple[int, ...]
    """How far the column counters count, all but the innermost."""
    loops: tuple[int, ...]
    """How far the innermost counter counts: one loop for each distinct length of a piece of the row."""
    values: tuple[Value, ...]
    """The steps, each after those it needs."""
    stores: tuple[Store, ...]
    """What goes to memory."""

    @property
    def rows(self) -> int:
        """How many rows."""
        return prod(self.outer)

    @property
    def inner(self) -> int:
        """The number of the innermost counter."""
        return len(self.outer) + len(self.cols)

    @property
    def row_numel(self) -> int:
        """Elements of the longest loop of a row, over all its column counters."""
        return prod(self.cols) * max(self.loops)

    @property
    def reductions(self) -> tuple[int, ...]:
        """The values that are reductions over columns."""
        return tuple(
            number
            for number, value in enumerate(self.values)
            if value.op.startswith("reduce_") and value.level is Level.ROW
        )

    @property
    def totals(self) -> tuple[int, ...]:
        """The values that are reductions over everything."""
        return tuple(
            number
            for number, value in enumerate(self.values)
            if value.op.startswith("reduce_") and value.level is Level.FINAL
        )


class Digit(Record):
    """One digit of an index: what a part of it counts, and how far apart its elements lie."""

    count: int
    """How far it counts."""
    stride: int
    """Elements from one to the next."""


class Operand(Record):
    """A matrix, or a batch of them, that lies in a buffer in some regular way."""

    buffer: str
    """Where it lies."""
    offset: int
    """Its first element."""
    batch: tuple[Digit, ...] = ()
    """How the matrices of a batch lie, the outermost digit first; none means that all are the same."""
    rows: tuple[Digit, ...]
    """How its rows lie."""
    cols: tuple[Digit, ...]
    """How its columns lie."""

    def get_stride(self, axis: str) -> int | None:
        """Elements from one index of `batch`, `rows` or `cols` to the next; None where it is not even."""
        digits: tuple[Digit, ...] = getattr(self, axis)
        return digits[0].stride if len(digits) == 1 else 0 if not digits else None


class Product(Record):
    """Matrix products, one for each matrix of a batch: `out[b] = left[b] @ right[b]`, row-major."""

    name: str
    """A C++ identifier."""
    out: str
    """The buffer that is filled."""
    batch: int
    """How many products."""
    rows: int
    """Rows of the left operand and of the result."""
    cols: int
    """Columns of the right operand and of the result."""
    depth: int
    """Columns of the left operand, rows of the right one."""
    left: Operand
    """The left operand."""
    right: Operand
    """The right operand."""

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return 2 * self.batch * self.rows * self.cols * self.depth


class Traversal(Record):
    """Goes along the middle dimension of a tensor of (outer, length, inner), line by line."""

    name: str
    """A C++ identifier."""
    op: str
    """Which one of `ops.TRAVERSALS`."""
    source: str
    """The buffer that is read."""
    out: str
    """The buffer that is filled."""
    outer: int
    """Elements before the dimension."""
    length: int
    """Elements along it."""
    inner: int
    """Elements after it."""


Step = Kernel | Product | Traversal
"""What a plan consists of."""


class Plan(Record):
    """All steps of a module, in order."""

    steps: tuple[Step, ...]
    """Each after those whose results it reads."""
    buffers: tuple[Buffer, ...]
    """Everything they read or write."""
    outputs: tuple[str, ...]
    """Names of the buffers that are returned, in the order of the graph's outputs."""

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The steps that are loop nests."""
        return tuple(step for step in self.steps if isinstance(step, Kernel))

    @property
    def products(self) -> tuple[Product, ...]:
        """The steps that are matrix products."""
        return tuple(step for step in self.steps if isinstance(step, Product))

    @property
    def traversals(self) -> tuple[Traversal, ...]:
        """The steps that go along a dimension."""
        return tuple(step for step in self.steps if isinstance(step, Traversal))

    @property
    def has_special(self) -> bool:
        """Whether some value is computed by a function of special.h."""
        return any(value.op in SPECIAL for kernel in self.kernels for value in kernel.values)

    def get_buffer(self, name: str) -> Buffer:
        """The buffer of that name."""
        return next(buffer for buffer in self.buffers if buffer.name == name)

    @property
    def touched_bytes(self) -> int:
        """Bytes of all sources read and outputs written once."""
        return sum(buffer.size_bytes for buffer in self.buffers if buffer.role is not Role.SCRATCH)
