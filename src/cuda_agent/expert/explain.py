"""A plan in words, for the head of the source file and for the reader of an episode."""

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.plan import Kernel, Level, Plan, Step, Traversal
from cuda_agent.expert.schedule import Pass, build_schedule

MIB = float(1 << 20)
GIGA = 1e9


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 row`, `3 rows`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def explain_pass(kernel: Kernel, one: Pass, *, number: int) -> str:
    """One pass over a row, as a sentence."""
    values = kernel.values
    words = [values[total].op.removeprefix("reduce_") for total in one.reductions]
    sweeps = one.sweeps
    totals = sorted({values[t].op.removeprefix("reduce_") for s in sweeps for t, _ in s.totals})
    dear = sorted(
        {values[step].op for s in sweeps for step in s.steps} & {"exp", "erf", "tanh", "sigmoid", "log"}
    )
    parts = []
    if dear:
        parts.append(f"computes {', '.join(dear)}")
    if words:
        parts.append(f"reduces ({', '.join(words)}) over the columns")
    if totals:
        parts.append(f"adds to the total ({', '.join(totals)})")
    kept = sum(len(s.keeps) for s in sweeps)
    if kept:
        parts.append(f"keeps {count(kept, 'value')} a column for the next pass")
    stored = sorted({store.access.buffer for s in sweeps for store in s.stores})
    if stored:
        parts.append(f"stores {', '.join(stored)}")
    return f"  pass {number + 1}: {', '.join(parts) or 'computes'}"


def explain_kernel(kernel: Kernel, choice: Choice) -> list[str]:
    """Shape, passes and memory traffic of one kernel."""
    schedule = build_schedule(kernel, choice.keep)
    operations = sum(value.op not in ("literal", "load", "index") for value in kernel.values)
    shape = f"{count(kernel.rows, 'row')} of {count(kernel.row_numel, 'column')}"
    if len(kernel.loops) > 1:
        shape += f" at most ({len(kernel.loops)} loops of different lengths)"
    lines = [f"{kernel.name}: {shape}, {count(operations, 'operation')} fused"]
    lines += [explain_pass(kernel, one, number=number) for number, one in enumerate(schedule.passes)]
    if any(store.level is Level.ROW for store in kernel.stores):
        lines.append("  stores a value a row")
    if any(store.level is Level.FINAL for store in kernel.stores):
        lines.append("  stores one value at the end, from partial totals added in float64 in a fixed order")
    return lines


def explain_step(step: Step, choice: Choice) -> list[str]:
    """One step of a plan."""
    if isinstance(step, Kernel):
        return explain_kernel(step, choice)
    if isinstance(step, Traversal):
        lines = step.outer * step.inner
        return [f"{step.name}: {step.op} along {count(lines, 'line')} of {count(step.length, 'element')}"]
    sizes = f"{step.rows} x {step.depth} by {step.depth} x {step.cols}"
    how = "matrix product" if step.batch == 1 else f"{step.batch} matrix products"
    return [f"{step.name}: {how}, {sizes}, {step.operations / GIGA:.2f} billion operations"]


def explain_plan(plan: Plan, choice: Choice) -> str:
    """The whole plan, a line for each kernel and pass."""
    kernels = [line for step in plan.steps for line in explain_step(step, choice)]
    traffic = f"Inputs and outputs are {plan.touched_bytes / MIB:.1f} MiB together."
    names = [f"{buffer.name} = {buffer.node} {buffer.dtype}{list(buffer.shape)}" for buffer in plan.buffers]
    return "\n".join([*kernels, traffic, "Buffers: " + "; ".join(names), "Choices: " + choice.describe()])
