"""Writing one kernel line by line: what the two targets share."""

from collections.abc import Iterable, Mapping

from cuda_agent.expert.ops import LANES, Lane
from cuda_agent.expert.plan import Access, Kernel, Plan, Store
from cuda_agent.expert.schedule import Schedule, Sweep
from cuda_agent.expert.text import REDUCERS, SCALARS, write_name, write_neutral

CALLS = {
    "add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "neg": "-{0}",
    "where": "select({0}, {1}, {2})",
    "logical_and": "both({0}, {1})", "logical_or": "either({0}, {1})", "logical_xor": "differ({0}, {1})",
    "logical_not": "invert({0})",
}  # fmt: skip
"""How pointwise words are written; the others are calls of a function, which each target names."""


class KernelWriter:
    """The lines of one kernel, its buffers, and how its values are named."""

    def __init__(
        self, kernel: Kernel, plan: Plan, *, schedule: Schedule, elements: Mapping[str, str]
    ) -> None:
        """`elements` gives the target's type of one element in memory, by dtype."""
        self.kernel = kernel
        self.schedule = schedule
        self._elements = elements
        self._buffers = {buffer.name: buffer for buffer in plan.buffers}
        self._lines: list[str] = []
        self._depth = 1

    def find_arguments(self) -> list[str]:
        """Names of the buffers that the kernel touches, in a fixed order."""
        accesses = [value.access for value in self.kernel.values if value.op == "load" and value.access]
        accesses += [store.access for store in self.kernel.stores]
        touched = {access.buffer for access in accesses}
        return [name for name in self._buffers if name in touched]

    def _say(self, line: str, *, indent: int | None = None) -> None:
        self._lines.append("  " * (self._depth if indent is None else indent) + line)

    def _open(self, line: str) -> None:
        self._say(line)
        self._depth += 1

    def _close(self, tail: str = "}") -> None:
        self._depth -= 1
        self._say(tail)

    def _take_lines(self) -> str:
        text = "\n".join(self._lines)
        self._lines = []
        return text

    def _declare(self, names: Iterable[str], qualifier: str = "") -> str:
        """The buffers as parameters."""
        written = {store.access.buffer for store in self.kernel.stores}
        return ", ".join(
            f"{'' if name in written else 'const '}{self._get_element(name)}* {qualifier}{name}"
            for name in names
        )

    def _get_element(self, buffer: str) -> str:
        return self._elements[self._buffers[buffer].dtype]

    def _name(self, number: int) -> str:
        return write_name(self.kernel, number)

    def _fit(self, store: Store, operand: str) -> str:
        """An operand in the lane of the buffer it goes to."""
        want, have = LANES[self._buffers[store.access.buffer].dtype], self.kernel.values[store.value].lane
        return operand if want is have else f"to_{want.value}({operand})"

    def _get_access(self, number: int) -> Access:
        access = self.kernel.values[number].access
        assert access is not None
        return access

    def _find_fed(self, sweeps: Iterable[Sweep]) -> list[int]:
        """Reductions that a pass adds to."""
        return list(dict.fromkeys(n for sweep in sweeps for n, _ in (*sweep.reductions, *sweep.totals)))

    def _get_reducer(self, number: int) -> str:
        return REDUCERS[self.kernel.values[number].op]

    def _write_neutral(self, number: int, lane: Lane | None = None) -> str:
        value = self.kernel.values[number]
        return write_neutral(value.op, lane or value.lane)

    def _get_scalar(self, number: int) -> str:
        return SCALARS[self.kernel.values[number].lane]


def is_busy(sweep: Sweep) -> bool:
    """Whether a pass has anything to do in one of its loops."""
    return bool(sweep.steps or sweep.reads or sweep.reductions or sweep.totals or sweep.stores)
