"""Write one kernel of a plan as CUDA."""

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.cuda_shape import (
    TOTAL_BLOCKS,
    CudaShape,
    choose_keep,
    choose_shape,
    is_packed,
    is_read_once,
)
from cuda_agent.expert.ops import LANES, Lane
from cuda_agent.expert.plan import Access, Buffer, Kernel, Level, Plan, Store
from cuda_agent.expert.schedule import Pass, Schedule, Sweep, build_schedule
from cuda_agent.expert.text import REDUCERS, SCALARS, name_counters, write_name, write_neutral, write_position

ELEMENTS = {
    "float32": "float", "float64": "double", "bfloat16": "__nv_bfloat16", "float16": "__half",
    "int64": "int64_t", "int32": "int32_t", "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t",
    "bool": "bool",
}  # fmt: skip
"""The CUDA type of one element in memory."""

CALLS = {
    "add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "div": "divide({0}, {1})", "neg": "-{0}",
    "where": "select({0}, {1}, {2})", "logical_and": "both({0}, {1})", "logical_or": "either({0}, {1})",
    "logical_xor": "differ({0}, {1})", "logical_not": "invert({0})", "abs": "absolute_of({0})",
    "isnan": "is_nan({0})",
}  # fmt: skip
"""How pointwise words are written; functions of device.h carry the word's name, maths functions `_of` too."""

PLAIN = ("maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge")
"""Words that are functions of device.h under their own name."""


class CudaKernel:
    """The CUDA of one kernel, written line by line."""

    def __init__(self, kernel: Kernel, plan: Plan, choice: Choice) -> None:
        """Lay out `kernel` of `plan` and prepare to write it."""
        self._kernel = kernel
        self._choice = choice
        self._buffers = {buffer.name: buffer for buffer in plan.buffers}
        self.shape: CudaShape = choose_shape(kernel, plan, choice)
        self._schedule: Schedule = build_schedule(kernel, choose_keep(self.shape, choice))
        largest = max(buffer.numel for buffer in plan.buffers)
        self._whole = "int" if largest < 1 << 31 else "int64_t"
        self._lines: list[str] = []
        self._depth = 1

    def write(self) -> str:
        """The kernel, and the one that finishes its totals."""
        kernel, shape = self._kernel, self.shape
        names = self.find_arguments()
        arguments = ", ".join(self._declare(self._buffers[name]) for name in names)
        arguments += ", double* __restrict__ partials" if kernel.totals else ""
        self._say_values(self._schedule.once)
        for total in kernel.totals:
            self._say(f"double total{total} = {self._write_total_neutral(total)};")
        self._write_items()
        for place, total in enumerate(kernel.totals):
            reducer = REDUCERS[kernel.values[total].op]
            self._say(f"total{total} = gather_threads<{reducer}, {shape.block}>(total{total});")
            where = f"partials[{place} * {TOTAL_BLOCKS} + blockIdx.x]"
            self._say(f"if (threadIdx.x == 0) {where} = total{total};")
        body = "\n".join(self._lines)
        head = f"static __global__ void __launch_bounds__({shape.block}) {kernel.name}({arguments}) {{"
        return f"{head}\n{body}\n}}\n" + (self._write_finish() if kernel.totals else "")

    def find_arguments(self) -> list[str]:
        """Names of the buffers that the kernel touches, in a fixed order."""
        accesses = [value.access for value in self._kernel.values if value.op == "load" and value.access]
        accesses += [store.access for store in self._kernel.stores]
        touched = {access.buffer for access in accesses}
        return [name for name in self._buffers if name in touched]

    def write_launch(self) -> str:
        """The launch, and that of the finishing kernel."""
        kernel, shape = self._kernel, self.shape
        blocks = -(-shape.items // shape.items_per_block)
        names = ", ".join(self.find_arguments())
        if not kernel.totals:
            return f"  {kernel.name}<<<{blocks}, {shape.block}, 0, stream>>>({names});"
        blocks = min(blocks, TOTAL_BLOCKS)
        first = f"  {kernel.name}<<<{blocks}, {shape.block}, 0, stream>>>({names}, partials);"
        return f"{first}\n  {kernel.name}_finish<<<1, 256, 0, stream>>>({names}, partials, {blocks});"

    # Frame

    def _say(self, line: str, indent: int | None = None) -> None:
        self._lines.append("  " * (self._depth if indent is None else indent) + line)

    def _open(self, line: str) -> None:
        self._say(line)
        self._depth += 1

    def _close(self) -> None:
        self._depth -= 1
        self._say("}")

    def _declare(self, buffer: Buffer) -> str:
        written = any(store.access.buffer == buffer.name for store in self._kernel.stores)
        return f"{'' if written else 'const '}{ELEMENTS[buffer.dtype]}* __restrict__ {buffer.name}"

    def _write_total_neutral(self, total: int) -> str:
        op, lane = self._kernel.values[total].op, self._kernel.values[total].lane
        return f"double({write_neutral(op, lane)})"

    def _write_items(self) -> None:
        """Walk over the items of this block; kernels with totals take several in turn."""
        kernel, shape = self._kernel, self.shape
        per_block = shape.items_per_block
        blocks = -(-shape.items // per_block)
        if kernel.totals:
            self._open(f"for (int64_t block = blockIdx.x; block < {blocks}; block += gridDim.x) {{")
        else:
            self._say("const int64_t block = blockIdx.x;")
        if shape.has_rows:
            self._write_row()
        else:
            self._write_vectors()
        if kernel.totals:
            self._close()

    def _write_vectors(self) -> None:
        """Items that are vectors: each thread takes a few that lie a block apart."""
        kernel, shape = self._kernel, self.shape
        self._say("#pragma unroll", indent=0)
        self._open(f"for (int u = 0; u < {shape.rows}; ++u) {{")
        item = f"block * {shape.items_per_block} + u * {shape.threads} + threadIdx.x"
        self._say(f"const {self._whole} item = static_cast<{self._whole}>({item});")
        if shape.items % shape.items_per_block:
            self._open(f"if (item < {shape.items}) {{")
        self._write_counters("item", [*kernel.outer, *kernel.cols, kernel.loops[0]])
        self._say_values(self._schedule.row_start)
        for one in self._schedule.passes:
            self._say_accumulators(one)
            for sweep in one.sweeps:
                self._write_vector(sweep, 0, "0")
            self._add_totals(one)
        if shape.items % shape.items_per_block:
            self._close()
        self._close()

    def _write_counters(self, item: str, counts: list[int]) -> None:
        """Take an item's number apart into counters; the last one counts in vectors."""
        names = name_counters(self._kernel)[-len(counts) :]
        counts = [*counts[:-1], counts[-1] // self.shape.vector]
        rest = item
        for place in range(len(counts) - 1, -1, -1):
            scale = f" * {self.shape.vector}" if place == len(counts) - 1 and self.shape.vector > 1 else ""
            own = f"({rest}) % {counts[place]}" if place else rest
            self._say(f"const {self._whole} {names[place]} = {own}{scale};" if scale == "" or not place
                      else f"const {self._whole} {names[place]} = ({own}){scale};")  # fmt: skip
            rest = f"({rest}) / {counts[place]}"

    def _write_row(self) -> None:
        kernel, shape = self._kernel, self.shape
        self._say(f"const int lane = threadIdx.x % {shape.threads};")
        own = f"block * {shape.rows} + threadIdx.x / {shape.threads}" if shape.rows > 1 else "block"
        partial = shape.items % shape.rows != 0
        if partial:  # a warp must stay together, so threads without a row repeat the last one
            self._say(f"const bool has_row = {own} < {shape.items};")
            own = f"has_row ? {own} : {shape.items - 1}"
        self._say(f"const {self._whole} row = static_cast<{self._whole}>({own});")
        rest = "row"
        for place in range(len(kernel.outer) - 1, -1, -1):
            part = f"({rest}) % {kernel.outer[place]}" if place else rest
            self._say(f"const {self._whole} r{place} = {part};")
            rest = f"({rest}) / {kernel.outer[place]}"
        for number in self._schedule.kept:
            value = kernel.values[number]
            size = f"[{shape.steps[value.loop]}][{shape.vector}]"
            self._say(f"{SCALARS[value.lane]} kept{number}{size};")
        self._say_values(self._schedule.row_start)
        for one in self._schedule.passes:
            self._write_pass(one, partial)
        self._write_row_end(partial)

    def _write_row_end(self, partial: bool) -> None:
        schedule, guard = self._schedule, "lane == 0" + (" && has_row" if partial else "")
        for total, value in schedule.row_totals:
            reducer = REDUCERS[self._kernel.values[total].op]
            self._say(f"if ({guard}) total{total} = {reducer}{{}}(total{total}, double({write_name(self._kernel, value)}));")
        for store in schedule.row_stores:
            self._say(f"if ({guard}) {self._write_scalar_store(store)}")

    # Passes

    def _say_accumulators(self, one: Pass) -> list[int]:
        values, vector = self._kernel.values, self.shape.vector
        fed = list(dict.fromkeys(t for sweep in one.sweeps for t, _ in (*sweep.reductions, *sweep.totals)))
        for number in fed:
            kind, neutral = SCALARS[values[number].lane], write_neutral(values[number].op, values[number].lane)
            self._say(f"{kind} acc{number}[{vector}];")
            self._say("#pragma unroll", indent=0)
            self._say(f"for (int e = 0; e < {vector}; ++e) acc{number}[e] = {neutral};")
        return fed

    def _add_totals(self, one: Pass, guard: str = "") -> None:
        for total in dict.fromkeys(t for sweep in one.sweeps for t, _ in sweep.totals):
            reducer = REDUCERS[self._kernel.values[total].op]
            self._say(f"{guard}total{total} = {reducer}{{}}(total{total}, double(fold<{reducer}>(acc{total})));")

    def _write_pass(self, one: Pass, partial: bool) -> None:
        shape = self.shape
        self._say_accumulators(one)
        for loop, sweep in enumerate(one.sweeps):
            if not (sweep.steps or sweep.stores or sweep.reductions or sweep.totals or sweep.reads):
                continue
            steps = shape.steps[loop]
            self._say("#pragma unroll" if shape.is_resident else "#pragma unroll 2", indent=0)
            self._open(f"for (int s = 0; s < {steps}; ++s) {{")
            whole = steps * shape.threads == shape.vectors[loop]
            is_placed = bool(sweep.stores) or any(self._kernel.values[n].access for n in sweep.steps)
            if is_placed or not whole:
                self._say(f"const int at = lane + s * {shape.threads};")
            if not whole:
                self._open(f"if (at < {shape.vectors[loop]}) {{")
            if is_placed:
                self._write_counters("at", [*self._kernel.cols, self._kernel.loops[loop]])
            self._write_vector(sweep, loop, "s", partial=partial)
            if not whole:
                self._close()
            self._close()
        self._add_totals(one, "if (has_row) " if partial else "")
        for number in one.reductions:
            value = self._kernel.values[number]
            reducer = REDUCERS[value.op]
            gathered = f"gather_threads<{reducer}, {shape.threads}>(fold<{reducer}>(acc{number}))"
            self._say(f"const {SCALARS[value.lane]} v{number} = {gathered};")
        self._say_values(one.row_values)

    def _write_vector(self, sweep: Sweep, loop: int, step: str, *, partial: bool = False) -> None:
        """Loads, one element after the other, stores."""
        kernel, vector = self._kernel, self.shape.vector
        loads = [n for n in sweep.steps if kernel.values[n].op == "load"]
        packed = [n for n in loads if self._is_packed(kernel.values[n].access)]
        for number in packed:
            access = kernel.values[number].access
            assert access is not None
            verb = "load_once" if is_read_once(kernel, access) and self._choice.stream else "load"
            where = f"{access.buffer} + {write_position(kernel, access)}"
            self._say(f"const auto pack{number} = {verb}<{vector}>({where});")
        stores = [(place, store) for place, store in enumerate(sweep.stores) if self._is_packed(store.access)]
        for place, store in stores:
            element = ELEMENTS[self._buffers[store.access.buffer].dtype]
            self._say(f"Pack<{element}, {vector}> result{place};")
        self._say("#pragma unroll", indent=0)
        self._open(f"for (int e = 0; e < {vector}; ++e) {{")
        for number in sweep.reads:
            self._say(f"const {SCALARS[kernel.values[number].lane]} v{number} = kept{number}[{step}][e];")
        self._say_values(sweep.steps)
        for number in sweep.keeps:
            self._say(f"kept{number}[{step}][e] = v{number};")
        for total, number in (*sweep.reductions, *sweep.totals):
            reducer = REDUCERS[kernel.values[total].op]
            self._say(f"acc{total}[e] = {reducer}{{}}(acc{total}[e], {write_name(kernel, number)});")
        for place, store in enumerate(sweep.stores):
            self._write_element_store(place, store, partial=partial)
        self._close()
        for place, store in stores:
            verb = "store_once" if self._choice.stream else "store"
            where = f"{store.access.buffer} + {write_position(kernel, store.access)}"
            guard = "if (has_row) " if partial else ""
            self._say(f"{guard}{verb}<{vector}>({where}, result{place});")

    def _is_packed(self, access: Access | None) -> bool:
        return access is not None and is_packed(self._kernel, access, self.shape.vector)

    def _write_element_store(self, place: int, store: Store, *, partial: bool) -> None:
        element = ELEMENTS[self._buffers[store.access.buffer].dtype]
        value = f"narrow<{element}>({self._fit(store)})"
        if self._is_packed(store.access):
            self._say(f"result{place}.at[e] = {value};")
            return
        guard = "if (has_row) " if partial else ""
        where = write_position(self._kernel, store.access, inner="(j + e)")
        self._say(f"{guard}{store.access.buffer}[{where}] = {value};")

    # Values

    def _say_values(self, numbers: tuple[int, ...]) -> None:
        for number in numbers:
            value = self._kernel.values[number]
            self._say(f"const {SCALARS[value.lane]} v{number} = {self._write_value(number)};")

    def _write_value(self, number: int) -> str:
        kernel, value = self._kernel, self._kernel.values[number]
        operands = [write_name(kernel, arg) for arg in value.args]
        if value.access is not None:
            position = write_position(kernel, value.access, inner="(j + e)" if value.level is Level.FULL else "j")
            if value.op == "index":
                return f"int64_t({position})"
            if value.level is Level.FULL and self._is_packed(value.access):
                return f"widen(pack{number}.at[e])"
            return f"widen({value.access.buffer}[{position}])"
        if value.op == "pick":
            return f"pick({operands[0]}, {value.literal})"
        if value.op == "cast":
            return f"to_{value.lane.value}({operands[0]})"
        if value.op in CALLS:
            return CALLS[value.op].format(*operands)
        return f"{value.op}{'' if value.op in PLAIN else '_of'}({', '.join(operands)})"

    # Stores and totals

    def _fit(self, store: Store) -> str:
        """A value in the lane of the buffer it goes to."""
        want, have = LANES[self._buffers[store.access.buffer].dtype], self._kernel.values[store.value].lane
        name = write_name(self._kernel, store.value)
        return name if want is have else f"to_{want.value}({name})"

    def _write_scalar_store(self, store: Store) -> str:
        element = ELEMENTS[self._buffers[store.access.buffer].dtype]
        where = write_position(self._kernel, store.access)
        return f"{store.access.buffer}[{where}] = narrow<{element}>({self._fit(store)});"

    def _write_finish(self) -> str:
        """A kernel of one block that adds the partial results up and stores what follows from them."""
        kernel = self._kernel
        self._lines = []
        names = self.find_arguments()
        arguments = ", ".join(self._declare(self._buffers[name]) for name in names)
        self._say_values(self._schedule.once)
        for number in self._schedule.final:
            value = kernel.values[number]
            if not value.op.startswith("reduce_"):
                self._say_values((number,))
                continue
            place, reducer = kernel.totals.index(number), REDUCERS[value.op]
            kind = SCALARS[value.lane if value.lane is not Lane.BOOL else Lane.I64]
            self._say(f"double total{number} = {self._write_total_neutral(number)};")
            self._say("for (int b = threadIdx.x; b < blocks; b += 256)")
            self._say(f"  total{number} = {reducer}{{}}(total{number}, partials[{place} * {TOTAL_BLOCKS} + b]);")
            self._say(f"const {kind} v{number} = {kind}(gather_threads<{reducer}, 256>(total{number}));")
        for store in self._schedule.final_stores:
            self._say(f"if (threadIdx.x == 0) {self._write_scalar_store(store)}")
        body = "\n".join(self._lines)
        head = f"static __global__ void {kernel.name}_finish({arguments}, const double* partials, int blocks) {{"
        return f"\n{head}\n{body}\n}}\n"
