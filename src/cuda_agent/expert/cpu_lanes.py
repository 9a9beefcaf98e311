"""Write a kernel whose rows lie side by side in memory: a vector holds one column of neighbouring rows."""

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.cpu_kernel import VECTORS, CpuKernel
from cuda_agent.expert.plan import Kernel, Level, Plan, Store
from cuda_agent.expert.schedule import Keep, Pass, Sweep
from cuda_agent.expert.text import name_counters
from cuda_agent.expert.writer import is_busy

BLOCK = 64
"""Columns that are reduced on their own before they join the rest, so that rounding errors stay small."""

CHUNK, SMALL_CHUNK = 64, 16
"""Neighbouring rows that a thread takes at a time; fewer where there are not many."""

FEW_ROWS = 1024
"""So many rows are few."""


def find_varying(kernel: Kernel) -> list[bool]:
    """Which values differ from row to row within a vector; reductions count as if they all did."""
    lane = len(kernel.outer) - 1
    varying: list[bool] = []
    for value in kernel.values:
        picks = [pick for pick, _ in value.access.picks] if value.access is not None else []
        is_placed = value.access is not None and value.access.get_coefficient(lane) != 0
        is_row = value.op.startswith("reduce_") and value.level is Level.ROW
        can_vary = value.level in (Level.FULL, Level.ROW)
        varying.append(can_vary and (is_placed or is_row or any(varying[n] for n in (*value.args, *picks))))
    return varying


class CpuLanes(CpuKernel):
    """The C++ of one such kernel: what is computed once a row is a vector too."""

    def __init__(self, kernel: Kernel, plan: Plan, *, choice: Choice) -> None:
        """Prepare to write `kernel` of `plan`; what a pass computed is kept: its columns lie far apart."""
        super().__init__(kernel, plan, choice=choice.model_copy(update={"keep": Keep.ROW}))
        self._lane = len(kernel.outer) - 1
        self._varying = find_varying(kernel)

    def _is_vector(self, number: int) -> bool:
        return self._varying[number]

    def _count_lanes(self, store: Store) -> int:
        return self.kernel.outer[-1]

    def _get_kept_size(self) -> str:
        return f"{self.kernel.row_numel} * W"

    # Rows

    def _write_rows(self) -> None:
        """Chunks of neighbouring rows, a vector of them at a time."""
        kernel, count = self.kernel, self.kernel.outer[-1]
        chunk = SMALL_CHUNK if kernel.rows < FEW_ROWS else CHUNK
        self._open_loops(kernel.outer[:-1], chunks=(count, chunk))
        head = f"walk<1>(std::min<int64_t>({chunk}, {count} - start)"
        self._open(f"{head}, [&](auto, int64_t from, auto part) VEC_LAMBDA {{")
        self._say(f"const int64_t {name_counters(kernel)[self._lane]} = start + from;")
        self._write_row()
        self._close("});")
        self._close()

    def _write_row_total(self, total: int, value: int) -> None:
        self._add_lanes(total, self._write_operand(value))

    def _write_row_store(self, store: Store) -> None:
        self._say(self._write_vector_store(store))

    def _add_lanes(self, total: int, operand: str) -> None:
        """Add the lanes of a vector, as far as they are rows, to a total."""
        reducer, kind = self._get_reducer(total), self._get_total_type(total)
        kept = f"keep({operand}, splat({self._write_neutral(total)}), part)"
        self._say(f"const {self._get_vector(total)} lanes{total}[1] = {{{kept}}};")
        combined = f"combine<{reducer}, 1>(lanes{total})"
        self._say(f"total{total} = {reducer}{{}}(total{total}, {kind}({combined}));")

    # Passes

    def _write_pass(self, one: Pass, *, prefetch: bool) -> None:
        fed = self._find_fed(one.sweeps)
        for number in fed:
            self._say(f"{self._get_vector(number)} acc{number} = splat({self._write_neutral(number)});")
        for loop, sweep in enumerate(one.sweeps):
            if is_busy(sweep):
                self._write_sweep(sweep, loop, prefetch=prefetch)
        for number in fed:
            if self.kernel.values[number].level is Level.FINAL:
                self._add_lanes(number, f"acc{number}")
            else:
                self._say(f"const {self._get_vector(number)} v{number} = acc{number};")
        self._say_values(one.row_values)

    def _get_vector(self, number: int) -> str:
        return VECTORS[self.kernel.values[number].lane]

    def _write_sweep(self, sweep: Sweep, loop: int, *, prefetch: bool) -> None:
        """The columns one after the other; what is reduced, in blocks."""
        length, fed = self.kernel.loops[loop], self._find_fed([sweep])
        for place, count in enumerate(self.kernel.cols):
            self._say(f"for (int64_t c{place} = 0; c{place} < {count}; ++c{place})")
        self._open(f"for (int64_t block = 0; block < {length}; block += {BLOCK}) {{")
        for number in fed:
            self._say(f"{self._get_vector(number)} part{number} = splat({self._write_neutral(number)});")
        end = f"std::min<int64_t>(block + {BLOCK}, {length})"
        self._open(f"for (int64_t j = block; j < {end}; ++j) {{")
        self._write_column(sweep, loop)
        self._close()
        for number in fed:
            self._say(f"acc{number} = {self._get_reducer(number)}{{}}(acc{number}, part{number});")
        self._close()

    def _write_column(self, sweep: Sweep, loop: int) -> None:
        """One column of a vector of rows."""
        for number in sweep.reads:
            kept = f"static_cast<const {self._get_scalar(number)}*>(kept{number}.data())"
            where = f"{kept} + ({self._write_slot(loop)}) * W"
            is_vector = self._is_vector(number)
            kind = self._get_vector(number) if is_vector else self._get_scalar(number)
            load = f"load({where}, Whole{{}})" if is_vector else f"load_one({where})"
            self._say(f"const {kind} v{number} = {load};")
        self._say_values(sweep.steps)
        for number in sweep.keeps:
            where, operand = (
                f"kept{number}.data() + ({self._write_slot(loop)}) * W",
                self._write_operand(number),
            )
            self._say(f"store({where}, {operand}, Whole{{}});")
        for total, number in (*sweep.reductions, *sweep.totals):
            reducer, operand = self._get_reducer(total), self._write_operand(number)
            self._say(f"part{total} = {reducer}{{}}(part{total}, {operand});")
        for store in sweep.stores:
            self._say(self._write_vector_store(store))
