"""Write one kernel of a plan as C++ for the CPU: OpenMP over rows, vectors over columns."""

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.collapse import has_columns
from cuda_agent.expert.ops import Lane
from cuda_agent.expert.plan import Access, Kernel, Level, Plan, Store
from cuda_agent.expert.schedule import Pass, Sweep, build_schedule
from cuda_agent.expert.text import SCALARS, name_counters, write_position
from cuda_agent.expert.writer import CALLS, KernelWriter, is_busy

VECTORS = {Lane.F32: "F32", Lane.F64: "F64", Lane.I64: "I64", Lane.BOOL: "I32"}
"""The type in vec.h that holds a vector of a lane."""

ELEMENTS = {
    "float32": "float", "float64": "double", "bfloat16": "Bf16", "float16": "F16", "int64": "int64_t",
    "int32": "int32_t", "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t", "bool": "bool",
}  # fmt: skip
"""The C++ type of one element in memory."""

STREAM_FROM_BYTES = 8 << 20
"""Outputs from this size on are worth storing past the cache."""


class CpuKernel(KernelWriter):
    """The C++ of one kernel."""

    def __init__(self, kernel: Kernel, plan: Plan, *, choice: Choice) -> None:
        """Prepare to write `kernel` of `plan`."""
        super().__init__(kernel, plan, schedule=build_schedule(kernel, choice.keep), elements=ELEMENTS)
        self._choice = choice
        self._lane = kernel.inner
        """The counter along which a vector's elements lie."""
        single = len(kernel.loops) == 1 and not has_columns(kernel)
        self._chunked = single and kernel.loops[0] >= 2 * choice.chunk

    def write(self) -> str:
        """The whole function."""
        self._say_values(self.schedule.once)
        for total in self.kernel.totals:
            kind, neutral = (
                self._get_total_type(total),
                self._write_neutral(total, self._get_total_lane(total)),
            )
            self._say(f"std::vector<{kind}> totals{total}(omp_get_max_threads(), {neutral});")
        self._say("#pragma omp parallel", indent=0)
        self._open("{")
        self._write_thread()
        self._close()
        self._write_final()
        head = f"static void {self.kernel.name}({self._declare(self.find_arguments())}) {{"
        return f"{head}\n{self._take_lines()}\n}}\n"

    def write_call(self) -> str:
        """The call from `fused`."""
        return f"{self.kernel.name}({', '.join(self.find_arguments())});"

    # Rows

    def _get_total_lane(self, total: int) -> Lane:
        lane = self.kernel.values[total].lane
        return Lane.F64 if lane is Lane.F32 else lane

    def _get_total_type(self, total: int) -> str:
        return SCALARS[self._get_total_lane(total)]

    def _write_thread(self) -> None:
        """What each thread does: its totals, its kept values, its rows."""
        kernel = self.kernel
        for total in kernel.totals:
            neutral = self._write_neutral(total, self._get_total_lane(total))
            self._say(f"{self._get_total_type(total)} total{total} = {neutral};")
        for number in self.schedule.kept:
            self._say(f"std::vector<{self._get_scalar(number)}> kept{number}({self._get_kept_size()});")
        self._write_rows()
        for total in kernel.totals:
            self._say(f"totals{total}[omp_get_thread_num()] = total{total};")
        if self._choice.stream:
            self._say("finish_streams();")

    def _write_rows(self) -> None:
        """The rows of this thread, one after the other."""
        kernel = self.kernel
        chunks = (kernel.loops[0], self._choice.chunk) if self._chunked else None
        self._open_loops(kernel.outer, chunks=chunks)
        self._write_row()
        self._close()

    def _open_loops(self, counts: tuple[int, ...], *, chunks: tuple[int, int] | None) -> None:
        """Loops over counters, the last of which may go in chunks, shared among threads."""
        collapse = len(counts) + (chunks is not None)
        extra = f" collapse({collapse})" if collapse > 1 else ""
        shared = f"for schedule(static){extra}" if collapse else "single"
        self._say(f"#pragma omp {shared} nowait", indent=0)
        for name, count in zip(name_counters(self.kernel), counts, strict=False):
            self._say(f"for (int64_t {name} = 0; {name} < {count}; ++{name})")
        if chunks is not None:
            self._say(f"for (int64_t start = 0; start < {chunks[0]}; start += {chunks[1]})")
        self._open("{")

    def _write_row(self) -> None:
        schedule = self.schedule
        self._say_values(schedule.row_start)
        last = len(schedule.passes) - 1
        for number, one in enumerate(schedule.passes):
            # The last of several passes reads what is in the cache, so memory has time for the next row.
            self._write_pass(one, prefetch=self._choice.prefetch and 0 < number == last)
        for total, value in schedule.row_totals:
            self._write_row_total(total, value)
        for store in schedule.row_stores:
            self._write_row_store(store)

    def _get_kept_size(self) -> str:
        """How many elements of one kept value a thread needs room for."""
        return str(self.kernel.row_numel)

    def _write_row_total(self, total: int, value: int) -> None:
        operand = f"{self._get_total_type(total)}({self._name(value)})"
        self._say(f"total{total} = {self._get_reducer(total)}{{}}(total{total}, {operand});")

    def _write_row_store(self, store: Store) -> None:
        self._say(self._write_scalar_store(store))

    def _write_final(self) -> None:
        for number in self.schedule.final:
            if not self.kernel.values[number].op.startswith("reduce_"):
                self._say_values((number,))
                continue
            reducer, kind = self._get_reducer(number), self._get_scalar(number)
            neutral = self._write_neutral(number, self._get_total_lane(number))
            self._say(f"{self._get_total_type(number)} whole{number} = {neutral};")
            self._say(f"for (auto part : totals{number}) whole{number} = {reducer}{{}}(whole{number}, part);")
            self._say(f"const {kind} v{number} = {kind}(whole{number});")
        for store in self.schedule.final_stores:
            self._say(self._write_scalar_store(store))

    # Passes

    def _write_pass(self, one: Pass, *, prefetch: bool) -> None:
        unroll, fed = self._choice.unroll, self._find_fed(one.sweeps)
        for number in fed:
            self._say(f"{VECTORS[self.kernel.values[number].lane]} acc{number}[{unroll}];")
            self._say(f"for (auto& acc : acc{number}) acc = splat({self._write_neutral(number)});")
        for loop, sweep in enumerate(one.sweeps):
            if is_busy(sweep):
                self._write_sweep(sweep, loop, prefetch=prefetch)
        for number in fed:
            reducer = self._get_reducer(number)
            combined = f"combine<{reducer}, {unroll}>(acc{number})"
            if self.kernel.values[number].level is Level.FINAL:
                kind = self._get_total_type(number)
                self._say(f"total{number} = {reducer}{{}}(total{number}, {kind}({combined}));")
            else:
                self._say(f"const {self._get_scalar(number)} v{number} = {combined};")
        self._say_values(one.row_values)

    def _write_sweep(self, sweep: Sweep, loop: int, *, prefetch: bool) -> None:
        length, position = str(self.kernel.loops[loop]), "j"
        for place, count in enumerate(self.kernel.cols):
            self._say(f"for (int64_t c{place} = 0; c{place} < {count}; ++c{place})")
        if self._chunked:
            length, position = f"std::min<int64_t>({self._choice.chunk}, {length} - start)", "from"
        head = (
            f"walk<{self._choice.unroll}>({length}, [&](auto u, int64_t {position}, auto part) VEC_LAMBDA {{"
        )
        self._open(head)
        if self._chunked:
            self._say("const int64_t j = start + from;")
        for number in sweep.reads:
            kept = f"static_cast<const {self._get_scalar(number)}*>(kept{number}.data())"
            load = f"load({kept} + {self._write_slot(loop)}, part)"
            self._say(f"const {VECTORS[self.kernel.values[number].lane]} v{number} = {load};")
        self._say_values(sweep.steps)
        for number in sweep.keeps:
            self._say(f"store(kept{number}.data() + {self._write_slot(loop)}, v{number}, part);")
        for total, number in (*sweep.reductions, *sweep.totals):
            operand = f"keep({self._write_operand(number)}, splat({self._write_neutral(total)}), part)"
            self._say(f"acc{total}[u] = {self._get_reducer(total)}{{}}(acc{total}[u], {operand});")
        for store in sweep.stores:
            self._say(self._write_vector_store(store))
        if prefetch:
            self._write_prefetches(loop)
        self._close("});")

    def _write_slot(self, loop: int) -> str:
        """Position of the element at hand in a row of kept values."""
        parts, stride = ["j"], self.kernel.loops[loop]
        for place in range(len(self.kernel.cols) - 1, -1, -1):
            parts.append(f"c{place} * {stride}")
            stride *= self.kernel.cols[place]
        return " + ".join(reversed(parts))

    def _write_prefetches(self, loop: int) -> None:
        """Ask for the elements of the next row that lie where this one's are."""
        kernel = self.kernel
        last = len(kernel.outer) - 1
        for value in kernel.values:
            access = value.access
            if value.op != "load" or value.level is not Level.FULL or value.loop != loop or access is None:
                continue
            step = access.get_coefficient(last) if last >= 0 else 0
            if step and access.get_coefficient(kernel.inner) == 1 and not access.picks:
                self._say(f"prefetch({access.buffer} + {write_position(kernel, access)} + {step});")

    # Values

    def _is_vector(self, number: int) -> bool:
        """Whether a value is held as a vector."""
        return self.kernel.values[number].level is Level.FULL

    def _write_operand(self, number: int) -> str:
        """A value as an operand of a vector."""
        return self._name(number) if self._is_vector(number) else f"splat({self._name(number)})"

    def _say_values(self, numbers: tuple[int, ...]) -> None:
        for number in numbers:
            value = self.kernel.values[number]
            kinds = VECTORS if self._is_vector(number) else SCALARS
            self._say(f"const {kinds[value.lane]} v{number} = {self._write_value(number)};")

    def _write_value(self, number: int) -> str:
        value = self.kernel.values[number]
        is_vector = self._is_vector(number)
        if value.access is not None:
            return (
                self._write_load(number) if value.op == "load" else self._write_count(value.access, is_vector)
            )
        operands = [self._write_operand(arg) if is_vector else self._name(arg) for arg in value.args]
        if value.op == "pick":
            return f"pick({operands[0]}, {value.literal})"
        if value.op == "cast":
            return f"to_{value.lane.value}({operands[0]})"
        names = {"div": "{0} / {1}", "abs": "absolute({0})"}
        form = CALLS.get(value.op) or names.get(value.op)
        return form.format(*operands) if form else f"{value.op}({', '.join(operands)})"

    def _write_load(self, number: int) -> str:
        kernel, access = self.kernel, self._get_access(number)
        where = f"{access.buffer} + {write_position(kernel, access)}"
        if not self._is_vector(number):
            return f"load_one({where})"
        if any(self._is_vector(pick) for pick, _ in access.picks):
            return f"lookup({access.buffer}, {self._write_count(access, is_vector=True)}, part)"
        step = access.get_coefficient(self._lane)
        if step == 0:
            return f"splat(load_one({where}))"
        return f"load({where}, part)" if step == 1 else f"gather({where}, {step}, part)"

    def _write_count(self, access: Access, is_vector: bool) -> str:
        """An affine number, or one for each lane."""
        if not is_vector:
            return f"int64_t({write_position(self.kernel, access)})"
        plain = access.model_copy(update={"picks": ()})
        step = access.get_coefficient(self._lane)
        picks = [f"{self._write_operand(pick)} * {coefficient}" for pick, coefficient in access.picks]
        return " + ".join([f"count_from({write_position(self.kernel, plain)}, {step})", *picks])

    # Stores

    def _count_lanes(self, store: Store) -> int:
        """How far the counter counts along which a stored vector's elements lie."""
        return self.kernel.loops[store.loop]

    def _write_vector_store(self, store: Store) -> str:
        access, buffer = store.access, self._buffers[store.access.buffer]
        operand = self._fit(store, self._write_operand(store.value))
        where = f"{access.buffer} + {write_position(self.kernel, access)}"
        step = access.get_coefficient(self._lane)
        if step != 1 and self._count_lanes(store) > 1:
            return f"scatter({where}, {step}, {operand}, part);"
        streamed = self._choice.stream and buffer.size_bytes >= STREAM_FROM_BYTES
        return f"{'stream' if streamed else 'store'}({where}, {operand}, part);"

    def _write_scalar_store(self, store: Store) -> str:
        where = f"{store.access.buffer} + {write_position(self.kernel, store.access)}"
        return f"store_one({where}, {self._fit(store, self._name(store.value))});"
