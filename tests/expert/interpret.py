"""Run a plan in plain torch, element grids instead of loops: an independent reading of what a plan means."""

import inspect
from collections.abc import Callable
from math import prod

import torch

from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.fuse import fuse_graph
from cuda_agent.expert.ops import Lane
from cuda_agent.expert.plan import Access, Kernel, Level, Operand, Plan, Product, Traversal, Value
from cuda_agent.expert.rewrite import rewrite_graph
from cuda_agent.expert.trace import trace_source
from tests.expert.built import define

DTYPES = {Lane.F32: torch.float64, Lane.F64: torch.float64, Lane.I64: torch.int64, Lane.BOOL: torch.bool}
NAMES = {"div": "true_divide"}
REDUCE: dict[str, Callable[..., torch.Tensor]] = {
    "reduce_sum": torch.sum, "reduce_amax": torch.amax, "reduce_amin": torch.amin,
    "reduce_prod": torch.prod,
}  # fmt: skip


class Interpreter:
    def __init__(self, plan: Plan, tensors: dict[str, torch.Tensor]) -> None:
        self.memory = {name: tensor.reshape(-1).clone() for name, tensor in tensors.items()}
        for buffer in plan.buffers:
            if buffer.name not in self.memory:
                dtype = getattr(torch, buffer.dtype)
                wide = torch.float64 if dtype.is_floating_point else dtype
                self.memory[buffer.name] = torch.zeros(buffer.numel, dtype=wide)
        for step in plan.steps:
            if isinstance(step, Product):
                self.multiply(step)
            elif isinstance(step, Traversal):
                self.go_along(step)
            else:
                self.run(step)

    def multiply(self, product: Product) -> None:
        left = self.take(product.left, (product.batch, product.rows, product.depth))
        right = self.take(product.right, (product.batch, product.depth, product.cols))
        self.memory[product.out] = torch.bmm(left, right).reshape(-1)

    def go_along(self, step: Traversal) -> None:
        lines = self.memory[step.source].reshape(step.outer, step.length, step.inner)
        result = getattr(torch, step.op)(lines, dim=1)
        result = result if isinstance(result, torch.Tensor) else result.values
        self.memory[step.out] = result.reshape(-1)

    def take(self, operand: Operand, shape: tuple[int, ...]) -> torch.Tensor:
        position = torch.tensor(operand.offset)
        for digits, size in zip((operand.batch, operand.rows, operand.cols), shape, strict=True):
            walk, below = torch.zeros(size, dtype=torch.int64), 1
            for digit in reversed(digits):
                walk, below = (
                    walk + torch.arange(size) // below % digit.count * digit.stride,
                    below * digit.count,
                )
            position = position.unsqueeze(-1) + walk
        return self.memory[operand.buffer][position]

    def run(self, kernel: Kernel) -> None:
        counters = [self.build_counters(kernel, loop) for loop in range(len(kernel.loops))]
        done: list[torch.Tensor] = []
        for value in kernel.values:
            done.append(self.compute(kernel, value, done=done, counters=counters[value.loop]))
        for store in kernel.stores:
            position = self.locate(store.access, done, counters=counters[store.loop])
            value, where = torch.broadcast_tensors(done[store.value], position)
            if store.level is not Level.FULL:
                value, where = value[:, :1], where[:, :1]
            target = self.memory[store.access.buffer]
            target[where.reshape(-1)] = value.reshape(-1).to(target.dtype)

    def build_counters(self, kernel: Kernel, loop: int) -> list[torch.Tensor]:
        rows = torch.cartesian_prod(*(torch.arange(n) for n in (1, *kernel.outer))).reshape(kernel.rows, -1)
        inner = (1, *kernel.cols, kernel.loops[loop])
        columns = torch.cartesian_prod(*(torch.arange(n) for n in inner)).reshape(prod(inner), -1)
        first = [rows[:, 1 + place].reshape(-1, 1) for place in range(len(kernel.outer))]
        return first + [columns[:, 1 + place].reshape(1, -1) for place in range(len(inner) - 1)]

    def locate(
        self, access: Access, done: list[torch.Tensor], *, counters: list[torch.Tensor]
    ) -> torch.Tensor:
        position = torch.full((1, 1), access.offset)
        for counter, coefficient in access.terms:
            position = position + counters[counter] * coefficient
        for pick, coefficient in access.picks:
            position = position + done[pick] * coefficient
        return position

    def compute(
        self, kernel: Kernel, value: Value, *, done: list[torch.Tensor], counters: list[torch.Tensor]
    ) -> torch.Tensor:
        dtype, args = DTYPES[value.lane], [done[arg] for arg in value.args]
        if value.op == "literal":
            return torch.full((1, 1), value.literal, dtype=dtype)  # type: ignore[arg-type]
        if value.op == "load":
            assert value.access is not None
            return self.memory[value.access.buffer][self.locate(value.access, done, counters=counters)].to(
                dtype
            )
        if value.op == "index":
            assert value.access is not None
            return self.locate(value.access, done, counters=counters)
        if value.op == "pick":
            bound = int(value.literal or 0)
            return torch.where(args[0] < 0, args[0] + bound, args[0]).clamp(0, bound - 1)
        if value.op == "cast":
            return args[0].to(dtype)
        if value.op in REDUCE:
            return self.reduce(kernel, value, args=args)
        function: Callable[..., torch.Tensor] = getattr(torch, NAMES.get(value.op, value.op))
        return function(*args)

    def reduce(self, kernel: Kernel, value: Value, *, args: list[torch.Tensor]) -> torch.Tensor:
        function = REDUCE[value.op]
        if value.level is Level.ROW:
            if len(args) == 1:  # a value that does not change along the row counts as often as it has columns
                args = [args[0].expand(-1, prod(kernel.cols) * kernel.loops[0])]
            return function(torch.cat([arg.expand(kernel.rows, -1) for arg in args], 1), dim=1, keepdim=True)
        parts = []
        for arg, number in zip(args, value.args, strict=True):
            is_full = kernel.values[number].level is Level.FULL
            width = prod(kernel.cols) * kernel.loops[kernel.values[number].loop] if is_full else 1
            parts.append(arg.expand(kernel.rows, width).reshape(-1))
        return function(torch.cat(parts), dim=0).reshape(1, 1)


def interpret(plan: Plan, tensors: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    """Outputs of a plan in float64, given its sources by buffer name."""
    memory = Interpreter(plan, tensors).memory
    return [memory[name].reshape(plan.get_buffer(name).shape) for name in plan.outputs]


def check_meaning(source: str) -> list[str]:
    """See that the plan of a module of one output means what torch computes; the words of its graph."""
    graph = rewrite_graph(canonicalize(trace_source(source)))
    reference = define(source)
    inputs = [value.double() for value in reference["get_inputs"]()]
    names = [each.path for each in graph.sources]
    given = dict(zip(inspect.signature(reference["Model"].forward).parameters, (None, *inputs), strict=True))
    (got,) = interpret(fuse_graph(graph), {f"in{place}": given[name] for place, name in enumerate(names)})
    torch.testing.assert_close(got, reference["Model"]()(*inputs))
    return [node.op for node in graph.nodes]
