"""Write one kernel of a plan as CUDA: a block, a warp or a part of one to a row, rows kept in registers."""

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.cuda_shape import (
    TOTAL_BLOCKS,
    CudaShape,
    choose_keep,
    choose_shape,
    is_packed,
    is_read_once,
)
from cuda_agent.expert.plan import Access, Kernel, Level, Plan, Store
from cuda_agent.expert.schedule import Pass, Sweep, build_schedule
from cuda_agent.expert.text import SCALARS, name_counters, write_position
from cuda_agent.expert.writer import CALLS, KernelWriter, is_busy

ELEMENTS = {
    "float32": "float", "float64": "double", "bfloat16": "__nv_bfloat16", "float16": "__half",
    "int64": "int64_t", "int32": "int32_t", "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t",
    "bool": "bool",
}  # fmt: skip
"""The CUDA type of one element in memory."""

OWN_NAMES = {"div": "divide", "abs": "absolute_of", "isnan": "is_nan"}
"""Functions of device.h that are not called like the word."""

PLAIN = ("maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge")
"""Functions of device.h that are; the others end in `_of`, so that they do not hide CUDA's own."""


class CudaKernel(KernelWriter):
    """The CUDA of one kernel."""

    def __init__(self, kernel: Kernel, plan: Plan, *, choice: Choice) -> None:
        """Lay out `kernel` of `plan` and prepare to write it."""
        self.shape: CudaShape = choose_shape(kernel, plan, choice=choice)
        schedule = build_schedule(kernel, choose_keep(self.shape, choice))
        super().__init__(kernel, plan, schedule=schedule, elements=ELEMENTS)
        self._choice = choice
        self._whole = "int" if max(buffer.numel for buffer in plan.buffers) < 1 << 31 else "int64_t"
        self._is_partial = self.shape.items % self.shape.items_per_block != 0

    def write(self) -> str:
        """The kernel, and the one that finishes its totals."""
        kernel, shape = self.kernel, self.shape
        arguments = self._declare(self.find_arguments(), "__restrict__ ")
        arguments += ", double* __restrict__ partials" if kernel.totals else ""
        self._say_values(self.schedule.once)
        for total in kernel.totals:
            self._say(f"double total{total} = double({self._write_neutral(total)});")
        self._write_items()
        for place, total in enumerate(kernel.totals):
            self._say(
                f"total{total} = gather_threads<{self._get_reducer(total)}, {shape.block}>(total{total});"
            )
            where = f"partials[{place} * {TOTAL_BLOCKS} + blockIdx.x]"
            self._say(f"if (threadIdx.x == 0) {where} = total{total};")
        head = f"static __global__ void __launch_bounds__({shape.block}) {kernel.name}({arguments}) {{"
        text = f"{head}\n{self._take_lines()}\n}}\n"
        return text + (self._write_finish() if kernel.totals else "")

    def write_launches(self) -> list[str]:
        """The launch, and that of the finishing kernel."""
        kernel, shape = self.kernel, self.shape
        blocks = -(-shape.items // shape.items_per_block)
        names = ", ".join(self.find_arguments())
        if not kernel.totals:
            return [f"{kernel.name}<<<{blocks}, {shape.block}, 0, stream>>>({names});"]
        blocks = min(blocks, TOTAL_BLOCKS)
        return [
            f"{kernel.name}<<<{blocks}, {shape.block}, 0, stream>>>({names}, partials);",
            f"{kernel.name}_finish<<<1, 256, 0, stream>>>({names}, partials, {blocks});",
        ]

    # Items

    def _write_items(self) -> None:
        """Walk over the items of this block; kernels with totals take several in turn."""
        blocks = -(-self.shape.items // self.shape.items_per_block)
        if self.kernel.totals:
            self._open(f"for (int64_t block = blockIdx.x; block < {blocks}; block += gridDim.x) {{")
        else:
            self._say("const int64_t block = blockIdx.x;")
        if self.shape.has_rows:
            self._write_row()
        else:
            self._write_vectors()
        if self.kernel.totals:
            self._close()

    def _write_vectors(self) -> None:
        """Items that are vectors: each thread takes a few that lie a block apart, or one behind the other."""
        kernel, shape = self.kernel, self.shape
        counts = [*kernel.outer, *kernel.cols, kernel.loops[0] // shape.vector]
        if shape.is_stacked:
            self._say_item(f"block * {shape.threads} + threadIdx.x")
            stacks = counts[0] // shape.rows
            self._say_counters("item", [stacks, *counts[1:]], names=["stack", *name_counters(kernel)[1:]])
            if self._is_partial:
                self._open(f"if (item < {shape.items // shape.rows}) {{")
        self._say("#pragma unroll", indent=0)
        self._open(f"for (int u = 0; u < {shape.rows}; ++u) {{")
        if shape.is_stacked:
            self._say(f"const {self._whole} r0 = stack * {shape.rows} + u;")
        else:
            self._say_item(f"block * {shape.items_per_block} + u * {shape.threads} + threadIdx.x")
            if self._is_partial:
                self._open(f"if (item < {shape.items}) {{")
            self._say_counters("item", counts, names=name_counters(kernel))
        self._say_values(self.schedule.row_start)
        for one in self.schedule.passes:
            self._say_accumulators(one)
            for sweep in one.sweeps:
                self._write_vector(sweep, step="0")
            self._add_totals(one)
        if self._is_partial:
            self._close()
        self._close()

    def _say_item(self, item: str) -> None:
        self._say(f"const {self._whole} item = static_cast<{self._whole}>({item});")

    def _say_counters(self, item: str, counts: list[int], *, names: list[str]) -> None:
        """Take a number apart into counters; the innermost of the kernel counts in vectors."""
        rest, innermost = item, name_counters(self.kernel)[-1]
        for place in range(len(counts) - 1, -1, -1):
            own = f"{rest} % {counts[place]}" if place else rest
            is_inner = names[place] == innermost
            group = f"({own})" if " " in own else own
            scaled = f"{group} * {self.shape.vector}" if is_inner and self.shape.vector > 1 else own
            self._say(f"const {self._whole} {names[place]} = {scaled};")
            rest = f"{rest} / {counts[place]}"

    def _write_row(self) -> None:
        kernel, shape = self.kernel, self.shape
        threads, rows = f"threadIdx.x % {shape.threads}", f"threadIdx.x / {shape.threads}"
        if shape.is_across:
            threads, rows = f"threadIdx.x / {shape.rows}", f"threadIdx.x % {shape.rows}"
        self._say(f"const int lane = {threads};")
        own = f"block * {shape.rows} + {rows}" if shape.rows > 1 else "block"
        if self._is_partial:  # a warp must stay together, so threads without a row repeat the last one
            self._say(f"const bool has_row = {own} < {shape.items};")
            own = f"has_row ? {own} : {shape.items - 1}"
        self._say(f"const {self._whole} row = static_cast<{self._whole}>({own});")
        self._say_counters("row", list(kernel.outer), names=name_counters(kernel))
        for number in self.schedule.kept:
            size = f"[{shape.steps[kernel.values[number].loop]}][{shape.vector}]"
            self._say(f"{self._get_scalar(number)} kept{number}{size};")
        self._say_values(self.schedule.row_start)
        for one in self.schedule.passes:
            self._write_pass(one)
        guard = "lane == 0" + (" && has_row" if self._is_partial else "")
        for total, value in self.schedule.row_totals:
            reducer = self._get_reducer(total)
            self._say(
                f"if ({guard}) total{total} = {reducer}{{}}(total{total}, double({self._name(value)}));"
            )
        for store in self.schedule.row_stores:
            self._say(f"if ({guard}) {self._write_scalar_store(store)}")

    # Passes

    def _say_accumulators(self, one: Pass) -> None:
        for number in self._find_fed(one.sweeps):
            self._say(f"{self._get_scalar(number)} acc{number}[{self.shape.vector}];")
            self._say("#pragma unroll", indent=0)
            neutral = self._write_neutral(number)
            self._say(f"for (int e = 0; e < {self.shape.vector}; ++e) acc{number}[e] = {neutral};")

    def _get_guard(self) -> str:
        return "if (has_row) " if self._is_partial and self.shape.has_rows else ""

    def _add_totals(self, one: Pass) -> None:
        for total in dict.fromkeys(number for sweep in one.sweeps for number, _ in sweep.totals):
            reducer = self._get_reducer(total)
            added = f"{reducer}{{}}(total{total}, double(fold<{reducer}>(acc{total})))"
            self._say(f"{self._get_guard()}total{total} = {added};")

    def _write_pass(self, one: Pass) -> None:
        self._say_accumulators(one)
        for loop, sweep in enumerate(one.sweeps):
            if is_busy(sweep):
                self._write_sweep(sweep, loop)
        self._add_totals(one)
        for number in one.reductions:
            reducer = self._get_reducer(number)
            gather = f"gather_threads<{reducer}, {self.shape.threads}>"
            if self.shape.is_across:
                gather = f"gather_across<{reducer}, {self.shape.threads}, {self.shape.rows}>"
            gathered = f"{gather}(fold<{reducer}>(acc{number}))"
            self._say(f"const {self._get_scalar(number)} v{number} = {gathered};")
        self._say_values(one.row_values)

    def _write_sweep(self, sweep: Sweep, loop: int) -> None:
        kernel, shape = self.kernel, self.shape
        at_once = "" if shape.is_resident else " 8" if shape.is_across else " 2"
        self._say(f"#pragma unroll{at_once}", indent=0)
        self._open(f"for (int s = 0; s < {shape.steps[loop]}; ++s) {{")
        is_whole = shape.steps[loop] * shape.threads == shape.vectors[loop]
        is_placed = bool(sweep.stores) or any(kernel.values[step].access for step in sweep.steps)
        if is_placed or not is_whole:
            self._say(f"const int at = lane + s * {shape.threads};")
        if not is_whole:
            self._open(f"if (at < {shape.vectors[loop]}) {{")
        if is_placed:
            counts = [*kernel.cols, kernel.loops[loop] // shape.vector]
            self._say_counters("at", counts, names=name_counters(kernel)[len(kernel.outer) :])
        self._write_vector(sweep, step="s")
        if not is_whole:
            self._close()
        self._close()

    def _write_vector(self, sweep: Sweep, *, step: str) -> None:
        """Packed loads, the elements one after the other, packed stores."""
        kernel, vector = self.kernel, self.shape.vector
        for number in sweep.steps:
            access = kernel.values[number].access
            if kernel.values[number].op == "load" and access is not None and self._is_packed(access):
                verb = "load_once" if self._choice.stream and is_read_once(kernel, access) else "load"
                where = f"{access.buffer} + {write_position(kernel, access)}"
                self._say(f"const auto pack{number} = {verb}<{vector}>({where});")
        packed = [(place, store) for place, store in enumerate(sweep.stores) if self._is_packed(store.access)]
        for place, store in packed:
            self._say(f"Pack<{self._get_element(store.access.buffer)}, {vector}> result{place};")
        self._say("#pragma unroll", indent=0)
        self._open(f"for (int e = 0; e < {vector}; ++e) {{")
        self._write_element(sweep, step=step)
        self._close()
        for place, store in packed:
            verb = "store_once" if self._choice.stream else "store"
            where = f"{store.access.buffer} + {write_position(kernel, store.access)}"
            self._say(f"{self._get_guard()}{verb}<{vector}>({where}, result{place});")

    def _write_element(self, sweep: Sweep, *, step: str) -> None:
        for number in sweep.reads:
            self._say(f"const {self._get_scalar(number)} v{number} = kept{number}[{step}][e];")
        self._say_values(sweep.steps)
        for number in sweep.keeps:
            self._say(f"kept{number}[{step}][e] = v{number};")
        for total, number in (*sweep.reductions, *sweep.totals):
            self._say(f"acc{total}[e] = {self._get_reducer(total)}{{}}(acc{total}[e], {self._name(number)});")
        for place, store in enumerate(sweep.stores):
            value = self._narrow(store)
            if self._is_packed(store.access):
                self._say(f"result{place}.at[e] = {value};")
            else:
                where = write_position(self.kernel, store.access, inner="(j + e)")
                self._say(f"{self._get_guard()}{store.access.buffer}[{where}] = {value};")

    def _is_packed(self, access: Access) -> bool:
        return is_packed(self.kernel, access, vector=self.shape.vector)

    # Values

    def _say_values(self, numbers: tuple[int, ...]) -> None:
        for number in numbers:
            self._say(f"const {self._get_scalar(number)} v{number} = {self._write_value(number)};")

    def _write_value(self, number: int) -> str:
        value = self.kernel.values[number]
        if value.access is not None:
            return self._write_access(number, value.access)
        operands = [self._name(arg) for arg in value.args]
        if value.op == "pick":
            return f"pick({operands[0]}, {value.literal})"
        if value.op == "cast":
            return f"to_{value.lane.value}({operands[0]})"
        if value.op in CALLS:
            return CALLS[value.op].format(*operands)
        name = OWN_NAMES.get(value.op) or (value.op if value.op in PLAIN else f"{value.op}_of")
        return f"{name}({', '.join(operands)})"

    def _write_access(self, number: int, access: Access) -> str:
        is_full, is_load = (
            self.kernel.values[number].level is Level.FULL,
            self.kernel.values[number].op == "load",
        )
        if is_full and is_load and self._is_packed(access):
            return f"widen(pack{number}.at[e])"
        position = write_position(self.kernel, access, inner="(j + e)" if is_full else "j")
        return f"widen({access.buffer}[{position}])" if is_load else f"int64_t({position})"

    def _narrow(self, store: Store) -> str:
        """A value as it lies in memory."""
        return (
            f"narrow<{self._get_element(store.access.buffer)}>({self._fit(store, self._name(store.value))})"
        )

    def _write_scalar_store(self, store: Store) -> str:
        where = write_position(self.kernel, store.access)
        return f"{store.access.buffer}[{where}] = {self._narrow(store)};"

    # Totals

    def _write_finish(self) -> str:
        """A kernel of one block that adds the partial results up and stores what follows from them."""
        kernel = self.kernel
        arguments = self._declare(self.find_arguments())
        self._say_values(self.schedule.once)
        for number in self.schedule.final:
            if not kernel.values[number].op.startswith("reduce_"):
                self._say_values((number,))
                continue
            place, reducer = kernel.totals.index(number), self._get_reducer(number)
            kind = SCALARS[kernel.values[number].lane]
            self._say(f"double total{number} = double({self._write_neutral(number)});")
            self._say("for (int b = threadIdx.x; b < blocks; b += 256)")
            self._say(
                f"  total{number} = {reducer}{{}}(total{number}, partials[{place} * {TOTAL_BLOCKS} + b]);"
            )
            self._say(f"const {kind} v{number} = {kind}(gather_threads<{reducer}, 256>(total{number}));")
        for store in self.schedule.final_stores:
            self._say(f"if (threadIdx.x == 0) {self._write_scalar_store(store)}")
        head = (
            f"static __global__ void {kernel.name}_finish({arguments}, const double* partials, int blocks) {{"
        )
        return f"\n{head}\n{self._take_lines()}\n}}\n"
