"""Order a kernel's steps into passes over a row: a pass ends where a reduction's result is needed."""

from dataclasses import dataclass
from enum import StrEnum

from cuda_agent.expert import ops
from cuda_agent.expert.plan import Kernel, Level, Store, Value


class Keep(StrEnum):
    """What an earlier pass keeps for later ones; the rest is computed again from memory."""

    NOTHING = "nothing"
    """Nothing: rows that do not fit in registers."""
    DEAR = "dear"
    """Values that took an exponential or the like."""
    ROW = "row"
    """Everything that was computed from the row's own data."""


@dataclass(frozen=True)
class Sweep:
    """What one pass does in one of the kernel's column loops."""

    steps: tuple[int, ...]
    """Values to compute, in order."""
    reads: tuple[int, ...]
    """Values kept by an earlier pass that this one reads."""
    keeps: tuple[int, ...]
    """Values to keep for later passes."""
    reductions: tuple[tuple[int, int], ...]
    """Reduction over columns, and the value that goes into it."""
    totals: tuple[tuple[int, int], ...]
    """Reduction over everything, and the value that goes into it."""
    stores: tuple[Store, ...]
    """What to store an element."""


@dataclass(frozen=True)
class Pass:
    """One walk over a row."""

    sweeps: tuple[Sweep, ...]
    """One for each column loop."""
    reductions: tuple[int, ...]
    """Reductions over columns that are complete after this pass."""
    row_values: tuple[int, ...]
    """Values to compute once a row after this pass, in order."""


@dataclass(frozen=True)
class Schedule:
    """The order of a kernel's steps."""

    once: tuple[int, ...]
    """Before the rows; literals are left out, for they need no computing."""
    row_start: tuple[int, ...]
    """At the beginning of a row."""
    passes: tuple[Pass, ...]
    """The walks over a row."""
    row_totals: tuple[tuple[int, int], ...]
    """Reductions over everything that take a value once a row, and that value."""
    row_stores: tuple[Store, ...]
    """What to store once a row."""
    final: tuple[int, ...]
    """After the rows, the totals first."""
    final_stores: tuple[Store, ...]
    """What to store at the end."""

    @property
    def kept(self) -> tuple[int, ...]:
        """Every value that some pass keeps, in order."""
        return tuple(
            sorted({number for one in self.passes for sweep in one.sweeps for number in sweep.keeps})
        )


class Scheduler:
    """Finds the passes of one kernel."""

    def __init__(self, kernel: Kernel, keep: Keep) -> None:
        """Measure how deep each value lies: how many passes must be over before it can be computed."""
        self._kernel = kernel
        self._keep = keep
        self._depths = self._find_depths()
        self._computed: dict[int, int] = {}
        self._keeps: dict[int, set[int]] = {}

    def _find_depths(self) -> list[int]:
        depths: list[int] = []
        for value in self._kernel.values:
            needs = [*value.args, *(pick for pick, _ in (value.access.picks if value.access else ()))]
            depth = max((depths[number] for number in needs), default=0)
            is_reduction = value.op.startswith("reduce_") and value.level is Level.ROW
            depths.append(depth + is_reduction)
        return depths

    def build(self) -> Schedule:
        """The schedule."""
        count = self._count_passes()
        drafts = [self._build_sweeps(number) for number in range(count)]
        passes = []
        for number, sweeps in enumerate(drafts):
            kept = self._keeps.get(number, set())
            done = tuple(
                Sweep(
                    steps=sweep.steps,
                    reads=sweep.reads,
                    keeps=tuple(step for step in sweep.steps if step in kept),
                    reductions=sweep.reductions,
                    totals=sweep.totals,
                    stores=sweep.stores,
                )
                for sweep in sweeps
            )
            passes.append(self._close_pass(number, done))
        return self._build_frame(tuple(passes))

    def _count_passes(self) -> int:
        kernel = self._kernel
        depths = [self._depths[number] - 1 for number in kernel.reductions]
        depths += [self._depths[store.value] for store in kernel.stores if store.level is Level.FULL]
        depths += [
            self._depths[arg]
            for total in kernel.totals
            for arg in kernel.values[total].args
            if kernel.values[arg].level is Level.FULL
        ]
        return max(depths, default=-1) + 1

    def _build_frame(self, passes: tuple[Pass, ...]) -> Schedule:
        kernel = self._kernel
        row_totals = [
            (total, arg)
            for total in kernel.totals
            for arg in kernel.values[total].args
            if kernel.values[arg].level is not Level.FULL
        ]
        finals = [n for n, value in enumerate(kernel.values) if value.level is Level.FINAL]
        return Schedule(
            once=tuple(n for n, v in enumerate(kernel.values) if v.level is Level.ONCE and v.op != "literal"),
            row_start=self._find_row_values(0),
            passes=passes,
            row_totals=tuple(row_totals),
            row_stores=tuple(store for store in kernel.stores if store.level is Level.ROW),
            final=tuple(finals),
            final_stores=tuple(store for store in kernel.stores if store.level is Level.FINAL),
        )

    def _find_row_values(self, depth: int) -> tuple[int, ...]:
        return tuple(
            number
            for number, value in enumerate(self._kernel.values)
            if value.level is Level.ROW
            and not value.op.startswith("reduce_")
            and self._depths[number] == depth
        )

    def _close_pass(self, number: int, sweeps: tuple[Sweep, ...]) -> Pass:
        done = tuple(r for r in self._kernel.reductions if self._depths[r] == number + 1)
        return Pass(sweeps=sweeps, reductions=done, row_values=self._find_row_values(number + 1))

    def _build_sweeps(self, number: int) -> tuple[Sweep, ...]:
        return tuple(self._build_sweep(number, loop) for loop in range(len(self._kernel.loops)))

    def _build_sweep(self, number: int, loop: int) -> Sweep:
        kernel, values = self._kernel, self._kernel.values
        reductions = self._find_inputs(kernel.reductions, number, loop=loop)
        totals = self._find_inputs(kernel.totals, number, loop=loop)
        stores = tuple(
            store
            for store in kernel.stores
            if store.level is Level.FULL and store.loop == loop and self._depths[store.value] == number
        )
        wanted = [arg for _, arg in (*reductions, *totals)] + [store.value for store in stores]
        steps: dict[int, None] = {}
        reads: dict[int, None] = {}
        for target in wanted:
            if values[target].level is Level.FULL:
                self._collect(target, number, steps=steps, reads=reads)
        for step in steps:
            self._computed.setdefault(step, number)
        return Sweep(tuple(sorted(steps)), tuple(sorted(reads)), (), reductions, totals, stores)

    def _find_inputs(self, sums: tuple[int, ...], number: int, *, loop: int) -> tuple[tuple[int, int], ...]:
        """Reductions fed in this pass and loop, with what feeds them."""
        values = self._kernel.values
        found = []
        for total in sums:
            args = values[total].args
            depth = max(self._depths[arg] for arg in args)
            for arg in args:
                in_loop = values[arg].loop == loop if values[arg].level is Level.FULL else loop == 0
                is_row_total = values[total].level is Level.FINAL and values[arg].level is not Level.FULL
                if depth == number and in_loop and not is_row_total:
                    found.append((total, arg))
        return tuple(found)

    def _collect(self, number: int, current: int, *, steps: dict[int, None], reads: dict[int, None]) -> None:
        """Add a value and what it needs, as far as that is not kept from an earlier pass."""
        value = self._kernel.values[number]
        if value.level is not Level.FULL or number in steps or number in reads:
            return
        earlier = self._computed.get(number)
        if earlier is not None and earlier < current and self._is_worth_keeping(number):
            self._keeps.setdefault(earlier, set()).add(number)
            reads[number] = None
            return
        for need in self._get_needs(value):
            self._collect(need, current, steps=steps, reads=reads)
        steps[number] = None

    def _get_needs(self, value: Value) -> tuple[int, ...]:
        return (*value.args, *(pick for pick, _ in (value.access.picks if value.access else ())))

    def _is_worth_keeping(self, number: int) -> bool:
        """Whether keeping a value is better than computing it again."""
        seen: set[int] = set()
        queue = [number]
        cost, reads_row = 0, False
        while queue:
            value = self._kernel.values[here := queue.pop()]
            if here in seen or value.level is not Level.FULL:
                continue
            seen.add(here)
            cost = max(cost, ops.POINTWISE.get(value.op, 0))
            if value.access is not None and any(c < len(self._kernel.outer) for c, _ in value.access.terms):
                reads_row = True
            queue += self._get_needs(value)
        if self._keep is Keep.NOTHING:
            return False
        return cost >= ops.DEAR or (self._keep is Keep.ROW and (reads_row or not self._kernel.outer))


def build_schedule(kernel: Kernel, keep: Keep) -> Schedule:
    """The passes of a kernel over each of its rows."""
    return Scheduler(kernel, keep).build()
