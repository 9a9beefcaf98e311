"""How a kernel is laid out over a GPU: elements to threads, rows to blocks."""

from dataclasses import dataclass
from math import prod

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.collapse import has_columns
from cuda_agent.expert.ops import DTYPE_BYTES
from cuda_agent.expert.plan import Access, Kernel, Plan
from cuda_agent.expert.schedule import Keep
from cuda_agent.expert.side_by_side import find_accesses, suits_lanes

WARP = 32
MAX_BLOCK = 1024
REGISTER_VECTORS = 8
"""Vectors of a row that one thread keeps at most; beyond that rows are read again."""

TOTAL_BLOCKS = 1056
"""Blocks of a kernel with totals: eight for each of 132 multiprocessors; each leaves one partial result."""


@dataclass(frozen=True)
class CudaShape:
    """The layout of one kernel. Where there are no rows, every vector is a row of its own to one thread."""

    vector: int
    """Neighbouring elements that one thread handles at a time."""
    threads: int
    """Threads that share a row (a power of two); threads in a block where there are no rows."""
    rows: int
    """Rows that a block handles at a time; vectors a thread handles at a time where there are no rows."""
    vectors: tuple[int, ...]
    """Vectors in a row, for each column loop."""
    has_rows: bool
    """Whether a row is shared by threads."""
    is_resident: bool
    """Whether a row's kept values fit into registers, so that passes need not read it again."""
    items: int
    """Rows, or vectors where there are no rows."""
    is_stacked: bool = False
    """Whether a thread's vectors lie along the outermost counter, one behind the other, so that what does
    not depend on it is loaded once for all of them; only where there are no rows."""

    is_across: bool = False
    """Whether neighbouring threads take neighbouring rows, which lie side by side, and not columns of one."""

    @property
    def block(self) -> int:
        """Threads in a block."""
        return self.threads * self.rows if self.has_rows else self.threads

    @property
    def items_per_block(self) -> int:
        """Items that a block handles at a time."""
        return self.rows if self.has_rows else self.threads * self.rows

    @property
    def steps(self) -> tuple[int, ...]:
        """Vectors of a row for each thread, for each column loop."""
        return tuple(-(-vectors // self.threads) for vectors in self.vectors)


def is_packed(kernel: Kernel, access: Access, *, vector: int) -> bool:
    """Whether `vector` neighbours along the innermost counter lie side by side, aligned to their size."""
    if access.picks or access.get_coefficient(kernel.inner) != 1 or access.offset % vector:
        return False
    return all(coefficient % vector == 0 for counter, coefficient in access.terms if counter != kernel.inner)


def is_read_once(kernel: Kernel, access: Access) -> bool:
    """Whether every row reads elements of its own."""
    return all(access.get_coefficient(c) for c in range(len(kernel.outer)))


def can_stack(kernel: Kernel, count: int) -> bool:
    """Whether `count` neighbours along the outermost counter share some of what they load, and not all."""
    if not kernel.outer or kernel.outer[0] % count or count == 1:
        return False
    loads = [access for access, is_store in find_accesses(kernel) if not is_store]
    own = [bool(access.picks) or access.get_coefficient(0) != 0 for access in loads]
    return any(own) and not all(own)


def choose_vector(kernel: Kernel, plan: Plan, *, widest_bytes: int) -> int:
    """Elements that a thread handles at a time: the widest dtype among a row's own data fills an access."""
    packed = [access for access, _ in find_accesses(kernel) if is_packed(kernel, access, vector=1)]
    own = [access for access in packed if is_read_once(kernel, access)] or packed
    widest = max((DTYPE_BYTES[plan.get_buffer(access.buffer).dtype] for access in own), default=4)
    vector = max(1, widest_bytes // widest)
    while vector > 1 and any(length % vector for length in kernel.loops):
        vector //= 2
    return vector


def round_up_power(number: int) -> int:
    """The least power of two that is not smaller."""
    return 1 << max(0, number - 1).bit_length()


def choose_shape(kernel: Kernel, plan: Plan, *, choice: Choice) -> CudaShape:
    """The layout of one kernel under a choice."""
    vector = choose_vector(kernel, plan, widest_bytes=choice.vector_bytes)
    per_column = prod(kernel.cols)
    vectors = tuple(per_column * length // vector for length in kernel.loops)
    if not has_columns(kernel):
        items = prod(kernel.outer) * vectors[0]
        is_stacked = can_stack(kernel, choice.unroll)
        return CudaShape(vector, choice.threads, choice.unroll, vectors, False, True, items, is_stacked)
    if suits_lanes(kernel):
        return lay_across(kernel, choice=choice)
    longest = max(vectors)
    if longest <= WARP * REGISTER_VECTORS:
        threads = min(WARP, round_up_power(longest))
        rows = choice.threads // threads
    else:
        threads = min(MAX_BLOCK, round_up_power(-(-longest // choice.unroll)))
        rows = 1
    resident = -(-longest // threads) <= REGISTER_VECTORS
    return CudaShape(vector, threads, rows, vectors, True, resident, kernel.rows)


def lay_across(kernel: Kernel, *, choice: Choice) -> CudaShape:
    """The layout where rows lie side by side: a warp reads one column of as many of them."""
    columns = tuple(prod(kernel.cols) * length for length in kernel.loops)
    wanted = round_up_power(-(-max(columns) // choice.unroll))
    threads = min(MAX_BLOCK // WARP, wanted)
    resident = -(-max(columns) // threads) <= REGISTER_VECTORS
    return CudaShape(1, threads, WARP, columns, True, resident, kernel.rows, is_across=True)


def choose_keep(shape: CudaShape, choice: Choice) -> Keep:
    """What passes keep: nothing where a row does not fit into registers."""
    return choice.keep if shape.is_resident else Keep.NOTHING
