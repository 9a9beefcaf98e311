"""Write a plan as C++ for the CPU: OpenMP over rows, vectors over columns."""

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.collapse import has_columns
from cuda_agent.expert.ops import LANES, Lane
from cuda_agent.expert.plan import Access, Buffer, Kernel, Level, Plan, Role, Store
from cuda_agent.expert.schedule import Pass, Schedule, Sweep, build_schedule
from cuda_agent.expert.text import (
    CALLS,
    REDUCERS,
    SCALARS,
    has_full_picks,
    name_counters,
    write_name,
    write_neutral,
    write_position,
)

VECTORS = {Lane.F32: "F32", Lane.F64: "F64", Lane.I64: "I64", Lane.BOOL: "I32"}
"""The type in vec.h that holds a vector of a lane."""

ELEMENTS = {
    "float32": "float", "float64": "double", "bfloat16": "Bf16", "float16": "F16", "int64": "int64_t",
    "int32": "int32_t", "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t", "bool": "bool",
}  # fmt: skip
"""The C++ type of one element in memory."""

STREAM_FROM_BYTES = 8 << 20
"""Outputs from this size on are worth storing past the cache."""


class CpuKernel:
    """The C++ of one kernel, written line by line."""

    def __init__(self, kernel: Kernel, plan: Plan, choice: Choice) -> None:
        """Prepare to write `kernel` of `plan`."""
        self._kernel = kernel
        self._choice = choice
        self._buffers = {buffer.name: buffer for buffer in plan.buffers}
        self._schedule: Schedule = build_schedule(kernel, choice.keep)
        single = len(kernel.loops) == 1 and not has_columns(kernel)
        self._chunked = single and kernel.loops[0] >= 2 * choice.chunk
        self._lines: list[str] = []
        self._depth = 1

    def write(self) -> str:
        """The whole function."""
        kernel, schedule = self._kernel, self._schedule
        names = self.find_arguments()
        arguments = ", ".join(self._declare(self._buffers[name]) for name in names)
        self._say_values(schedule.once)
        for total in kernel.totals:
            neutral = write_neutral(kernel.values[total].op, self._total_lane(total))
            kind = SCALARS[self._total_lane(total)]
            self._say(f"std::vector<{kind}> totals{total}(omp_get_max_threads(), {neutral});")
        self._say("#pragma omp parallel", indent=0)
        self._open("{")
        self._write_thread()
        self._close()
        self._write_final()
        body = "\n".join(self._lines)
        return f"static void {kernel.name}({arguments}) {{\n{body}\n}}\n"

    def find_arguments(self) -> list[str]:
        """Names of the buffers that the kernel touches, in a fixed order."""
        accesses = [value.access for value in self._kernel.values if value.op == "load" and value.access]
        accesses += [store.access for store in self._kernel.stores]
        touched = {access.buffer for access in accesses}
        return [name for name in self._buffers if name in touched]

    # Frame

    def _say(self, line: str, indent: int | None = None) -> None:
        self._lines.append("  " * (self._depth if indent is None else indent) + line)

    def _open(self, line: str) -> None:
        self._say(line)
        self._depth += 1

    def _close(self, tail: str = "}") -> None:
        self._depth -= 1
        self._say(tail)

    def _declare(self, buffer: Buffer) -> str:
        const = "" if self._is_written(buffer.name) else "const "
        return f"{const}{ELEMENTS[buffer.dtype]}* {buffer.name}"

    def _is_written(self, name: str) -> bool:
        return any(store.access.buffer == name for store in self._kernel.stores)

    def _total_lane(self, total: int) -> Lane:
        lane = self._kernel.values[total].lane
        return Lane.F64 if lane is Lane.F32 else lane

    def _write_thread(self) -> None:
        """What each thread does: its totals, its kept values, its rows."""
        kernel = self._kernel
        for total in kernel.totals:
            lane = self._total_lane(total)
            self._say(f"{SCALARS[lane]} total{total} = {write_neutral(kernel.values[total].op, lane)};")
        for number in self._schedule.kept:
            kind = SCALARS[kernel.values[number].lane]
            self._say(f"std::vector<{kind}> kept{number}({kernel.row_numel});")
        counters = name_counters(kernel)
        loops = list(zip(counters, kernel.outer, strict=False))
        collapse = len(loops) + self._chunked
        if collapse:
            extra = f" collapse({collapse})" if collapse > 1 else ""
            self._say(f"#pragma omp for schedule(static){extra} nowait", indent=0)
        else:
            self._say("#pragma omp single nowait", indent=0)
            self._open("{")
        for name, count in loops:
            self._say(f"for (int64_t {name} = 0; {name} < {count}; ++{name})")
        if self._chunked:
            length, chunk = kernel.loops[0], self._choice.chunk
            self._say(f"for (int64_t start = 0; start < {length}; start += {chunk})")
        self._open("{")
        self._write_row()
        self._close()
        if not collapse:
            self._close()
        for total in kernel.totals:
            self._say(f"totals{total}[omp_get_thread_num()] = total{total};")
        if self._choice.stream:
            self._say("finish_streams();")

    def _write_row(self) -> None:
        schedule = self._schedule
        self._say_values(schedule.row_start)
        for number, one in enumerate(schedule.passes):
            self._write_pass(one, is_last=number == len(schedule.passes) - 1)
        for total, value in schedule.row_totals:
            kind = SCALARS[self._total_lane(total)]
            reducer = REDUCERS[self._kernel.values[total].op]
            self._say(f"total{total} = {reducer}{{}}(total{total}, {kind}({write_name(self._kernel, value)}));")
        for store in schedule.row_stores:
            self._say(self._write_scalar_store(store))

    def _write_final(self) -> None:
        kernel = self._kernel
        for number in self._schedule.final:
            value = kernel.values[number]
            if not value.op.startswith("reduce_"):
                self._say_values((number,))
                continue
            lane, kind = self._total_lane(number), SCALARS[value.lane]
            reducer = REDUCERS[value.op]
            neutral = write_neutral(value.op, lane)
            self._say(f"{SCALARS[lane]} whole{number} = {neutral};")
            self._say(f"for (auto part : totals{number}) whole{number} = {reducer}{{}}(whole{number}, part);")
            self._say(f"const {kind} v{number} = {kind}(whole{number});")
        for store in self._schedule.final_stores:
            self._say(self._write_scalar_store(store))

    # Passes

    def _write_pass(self, one: Pass, *, is_last: bool) -> None:
        values, unroll = self._kernel.values, self._choice.unroll
        fed = dict.fromkeys(total for sweep in one.sweeps for total, _ in (*sweep.reductions, *sweep.totals))
        for number in fed:
            lane, neutral = values[number].lane, write_neutral(values[number].op, values[number].lane)
            self._say(f"{VECTORS[lane]} acc{number}[{unroll}];")
            self._say(f"for (auto& acc : acc{number}) acc = splat({neutral});")
        for loop, sweep in enumerate(one.sweeps):
            if sweep.steps or sweep.stores or sweep.reductions or sweep.totals or sweep.reads:
                self._write_sweep(sweep, loop, prefetch=is_last and self._choice.prefetch)
        for number in fed:
            value = values[number]
            combined = f"combine<{REDUCERS[value.op]}, {unroll}>(acc{number})"
            if value.level is Level.FINAL:
                kind = SCALARS[self._total_lane(number)]
                self._say(f"total{number} = {REDUCERS[value.op]}{{}}(total{number}, {kind}({combined}));")
            else:
                self._say(f"const {SCALARS[value.lane]} v{number} = {combined};")
        self._say_values(one.row_values)

    def _write_sweep(self, sweep: Sweep, loop: int, *, prefetch: bool) -> None:
        kernel = self._kernel
        length = str(kernel.loops[loop])
        for place, count in enumerate(kernel.cols):
            self._say(f"for (int64_t c{place} = 0; c{place} < {count}; ++c{place})")
        position = "j"
        if self._chunked:
            length = f"std::min<int64_t>({self._choice.chunk}, {length} - start)"
            position = "from"
        unroll = self._choice.unroll
        self._open(f"walk<{unroll}>({length}, [&](auto u, int64_t {position}, auto part) VEC_LAMBDA {{")
        self._say("constexpr int k = decltype(u)::value;")
        if self._chunked:
            self._say("const int64_t j = start + from;")
        for number in sweep.reads:
            self._say(f"const {self._vector(number)} v{number} = {self._write_kept(number, loop)};")
        self._say_values(sweep.steps)
        for number in sweep.keeps:
            self._say(f"store(kept{number}.data() + {self._write_slot(loop)}, v{number}, part);")
        for total, value in (*sweep.reductions, *sweep.totals):
            self._say(self._write_accumulate(total, value))
        for store in sweep.stores:
            self._say(self._write_vector_store(store))
        if prefetch:
            self._write_prefetches(loop)
        self._say("(void)k;")
        self._close("});")

    def _write_accumulate(self, total: int, number: int) -> str:
        value = self._kernel.values[total]
        neutral = write_neutral(value.op, value.lane)
        operand = self._operand(number, Level.FULL)
        return f"acc{total}[k] = {REDUCERS[value.op]}{{}}(acc{total}[k], keep({operand}, splat({neutral}), part));"

    def _write_slot(self, loop: int) -> str:
        """Position of the element at hand in a row of kept values."""
        parts, stride = ["j"], self._kernel.loops[loop]
        for place in range(len(self._kernel.cols) - 1, -1, -1):
            parts.append(f"c{place} * {stride}")
            stride *= self._kernel.cols[place]
        return " + ".join(reversed(parts))

    def _write_kept(self, number: int, loop: int) -> str:
        kind = SCALARS[self._kernel.values[number].lane]
        slot = self._write_slot(loop)
        return f"load(static_cast<const {kind}*>(kept{number}.data()) + {slot}, part)"

    def _write_prefetches(self, loop: int) -> None:
        """Ask for the elements of the next row that lie where this one's are."""
        kernel = self._kernel
        last = len(kernel.outer) - 1
        for value in kernel.values:
            access = value.access
            if value.op != "load" or value.level is not Level.FULL or value.loop != loop or access is None:
                continue
            step = access.get_coefficient(last) if last >= 0 else 0
            if step and access.get_coefficient(kernel.inner) == 1 and not access.picks:
                self._say(f"prefetch({access.buffer} + {write_position(kernel, access)} + {step});")

    # Values

    def _vector(self, number: int) -> str:
        return VECTORS[self._kernel.values[number].lane]

    def _operand(self, number: int, level: Level) -> str:
        """A value as an operand of something computed at `level`."""
        own = self._kernel.values[number].level
        name = write_name(self._kernel, number)
        return f"splat({name})" if level is Level.FULL and own is not Level.FULL else name

    def _say_values(self, numbers: tuple[int, ...]) -> None:
        for number in numbers:
            value = self._kernel.values[number]
            is_full = value.level is Level.FULL
            kind = VECTORS[value.lane] if is_full else SCALARS[value.lane]
            self._say(f"const {kind} v{number} = {self._write_value(number)};")

    def _write_value(self, number: int) -> str:
        value = self._kernel.values[number]
        if value.access is not None:
            return self._write_load(value.access, number) if value.op == "load" else self._write_index(number)
        operands = [self._operand(arg, value.level) for arg in value.args]
        if value.op == "pick":
            return f"pick({operands[0]}, {value.literal})"
        if value.op == "cast":
            return f"to_{value.lane.value}({operands[0]})"
        if value.op in CALLS:
            return CALLS[value.op].format(*operands)
        return f"{value.op}({', '.join(operands)})"

    def _write_load(self, access: Access, number: int) -> str:
        kernel = self._kernel
        if kernel.values[number].level is not Level.FULL:
            return f"load_one({access.buffer} + {write_position(kernel, access)})"
        step = access.get_coefficient(kernel.inner)
        if has_full_picks(kernel, access):
            return f"lookup({access.buffer}, {self._write_lookup(access)}, part)"
        where = f"{access.buffer} + {write_position(kernel, access)}"
        if step == 0:
            return f"splat(load_one({where}))"
        return f"load({where}, part)" if step == 1 else f"gather({where}, {step}, part)"

    def _write_lookup(self, access: Access) -> str:
        """Positions of a vector of elements, some of whose indices are vectors themselves."""
        kernel = self._kernel
        plain = access.model_copy(update={"picks": ()})
        start = f"count_from({write_position(kernel, plain)}, {access.get_coefficient(kernel.inner)})"
        picks = [f"{self._operand(pick, Level.FULL)} * {coefficient}" for pick, coefficient in access.picks]
        return " + ".join([start, *picks])

    def _write_index(self, number: int) -> str:
        access = self._kernel.values[number].access
        assert access is not None
        if self._kernel.values[number].level is not Level.FULL:
            return write_position(self._kernel, access)
        return self._write_lookup(access)

    # Stores

    def _write_vector_store(self, store: Store) -> str:
        kernel, access = self._kernel, store.access
        operand = self._operand(store.value, Level.FULL)
        where = f"{access.buffer} + {write_position(kernel, access)}"
        step = access.get_coefficient(kernel.inner)
        if kernel.loops[store.loop] == 1 and step == 0:
            step = 1
        if step != 1:
            return f"scatter({where}, {step}, {self._fit(store, operand)}, part);"
        buffer = self._buffers[access.buffer]
        streamed = self._choice.stream and buffer.size_bytes >= STREAM_FROM_BYTES
        verb = "stream" if streamed else "store"
        return f"{verb}({where}, {self._fit(store, operand)}, part);"

    def _fit(self, store: Store, operand: str) -> str:
        """An operand in the lane of the buffer it goes to."""
        want, have = LANES[self._buffers[store.access.buffer].dtype], self._kernel.values[store.value].lane
        return operand if want is have else f"to_{want.value}({operand})"

    def _write_scalar_store(self, store: Store) -> str:
        where = f"{store.access.buffer} + {write_position(self._kernel, store.access)}"
        return f"store_one({where}, {self._fit(store, write_name(self._kernel, store.value))});"


def write_call(kernel: CpuKernel, name: str) -> str:
    """The call of one kernel from the exported function."""
    return f"  {name}({', '.join(kernel.find_arguments())});"


def write_pointer(buffer: Buffer) -> str:
    """Take a tensor's pointer, checked for dtype and device."""
    element = ELEMENTS[buffer.dtype]
    const = "const " if buffer.role is Role.SOURCE else ""
    if element in ("Bf16", "F16"):
        cast = f"reinterpret_cast<{const}{element}*>({buffer.name}_.data<{const}uint16_t>())"
        return f"  {const}{element}* {buffer.name} = {cast};"
    return f"  {const}{element}* {buffer.name} = {buffer.name}_.data<{const}{element}>();"


def emit_cpu(plan: Plan, choice: Choice, *, comment: str) -> str:
    """The source of `kernels/fused.cpp`; `comment` explains the plan at its top."""
    kernels = [CpuKernel(kernel, plan, choice) for kernel in plan.kernels]
    bodies = "\n".join(kernel.write() for kernel in kernels)
    arguments = ", ".join(f"kernel::Tensor {buffer.name}_" for buffer in plan.buffers)
    pointers = "\n".join(write_pointer(buffer) for buffer in plan.buffers)
    calls = "\n".join(write_call(kernel, one.name) for kernel, one in zip(kernels, plan.kernels, strict=True))
    head = "\n".join(f"// {line}".rstrip() for line in comment.splitlines())
    return (
        f"{head}\n#include <cuda_agent/kernel.h>\n#include <omp.h>\n\n#include <algorithm>\n\n"
        f'#include "vec_math.h"\n\nusing namespace vec;\n\n{bodies}\n'
        f"static void fused({arguments}) {{\n{pointers}\n{calls}\n}}\nEXPORT_KERNEL(fused, fused);\n"
    )
