"""From a plan to a program in the KernelBench convention, as a person would write it."""

import functools
import math
import re
from importlib.resources import files
from string import Formatter

import jinja2

from cuda_agent.synthesis.operator import Domain, Layout, OperandKind
from cuda_agent.synthesis.plan import Join, Plan, Step
from cuda_agent.synthesis.recipe import Precision

_DRAWS = {
    OperandKind.INPUT: "torch.randn({shape})",
    OperandKind.POSITIVE: "torch.rand({shape}) + 0.5",
    OperandKind.SHARE: "torch.rand({shape})",
    OperandKind.INDEX: "torch.randint(0, {bound}, ({shape}))",
    OperandKind.MASK: "torch.rand({shape}) < 0.3",
    OperandKind.SIGN: "torch.randn({shape}).sign()",
}
_FIRST_DRAWS = {
    Domain.REAL: "torch.randn({shape})",
    Domain.POSITIVE: "torch.rand({shape}) + 0.1",
    Domain.ABOVE_ONE: "torch.rand({shape}) + 1.1",
    Domain.UNIT: "torch.rand({shape}) * 1.9 - 0.95",
    Domain.SHARE: "torch.rand({shape}) * 0.9 + 0.05",
}
_GUARDS = {
    Domain.POSITIVE: "x = x.square() + 0.1",
    Domain.ABOVE_ONE: "x = x.square() + 1.1",
    Domain.UNIT: "x = 0.95 * torch.tanh(x)",
    Domain.SHARE: "x = torch.sigmoid(x)",
}


def write_source(plan: Plan) -> str:
    """The program that a plan describes: same plan, same text."""
    return _load_template().render(writer=_Writer(plan), title=_write_title(plan))


@functools.cache
def _load_template() -> jinja2.Template:
    text = (files(__package__) / "task.py.jinja").read_text(encoding="utf-8")
    environment = jinja2.Environment(keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(text)


def _write_title(plan: Plan) -> str:
    names = [name.rpartition(".")[2] for name in plan.names]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


class _Writer:
    """Gathers the parts of a program while it goes through a plan's steps."""

    def __init__(self, plan: Plan) -> None:
        self.imports: list[str] = []
        self.constants: dict[str, str] = {}
        self.arguments: list[str] = []
        self.setup: list[str] = []
        self.inputs: dict[str, str] = {}
        self._precision = plan.precision
        self._attributes: set[str] = set()
        self._lines: list[str] = []
        self._write_first_input(plan.steps[0])
        for index, step in enumerate(plan.steps):
            after = plan.steps[index + 1] if index + 1 < len(plan.steps) else None
            self._write_step(
                step, is_first=index == 0, is_left=after is not None and after.join is Join.BRANCH
            )

        if self.setup and plan.precision is not Precision.FLOAT32:
            self.setup.append(f"self.to(torch.{plan.precision})")

    @property
    def forward(self) -> list[str]:
        """Statements of forward; the last one returns."""
        return [*self._lines[:-1], self._lines[-1].replace("x =", "return", 1)]

    def _write_first_input(self, step: Step) -> None:
        names = ["batch_size" if name == "batch" else name for name in step.axes]
        sizes = zip(names, step.shape, strict=True)
        self._first_shape = tuple(self._name_constant(name, str(size)) for name, size in sizes)
        self._first_sizes = step.shape
        shape = _join_sizes(self._first_shape)
        if step.operator.layout is Layout.INDICES:
            self.inputs["x"] = _DRAWS[OperandKind.INDEX].format(shape=shape, bound=step.values["vocabulary"])
        else:
            self.inputs["x"] = self._write_draw(_FIRST_DRAWS[step.operator.domain], shape)

    def _write_step(self, step: Step, *, is_first: bool, is_left: bool) -> None:
        operator = step.operator
        if not is_first and operator.domain is not Domain.REAL:
            self._lines.append(_GUARDS[operator.domain])
        self.imports += [line for line in operator.imports if line not in self.imports]
        tensors = {"x": "x"} | {name: self._write_operand(name, step) for name in operator.operands}
        if operator.is_module:
            tensors["module"] = self._write_module(step)
        text = operator.call if operator.is_module else operator.template
        known = {symbol: str(step.measure(symbol)) for symbol in step.axes} | step.values | tensors
        expression = text.format(**{symbol: known[symbol] for symbol in _list_fields(text)})
        match step.join:
            case Join.RESIDUAL:
                self._lines.append(f"x = x + {expression}")
            case Join.GATE:
                self._lines.append(f"x = x * {expression}")
            case Join.BRANCH:
                self._lines.append(f"x = left + {expression}")
            case Join.SEQUENCE:
                self._lines.append(f"{'left' if is_left else 'x'} = {expression}")

    def _write_draw(self, template: str, shape: str, *, bound: str = "") -> str:
        """An input's expression, in the plan's precision where its values are kept, and not just compared."""
        is_stored = "randn(" in template or ("rand(" in template and "<" not in template)
        if is_stored and self._precision is not Precision.FLOAT32:
            shape = f"{shape.rstrip(',')}, dtype=torch.{self._precision}"
        return template.format(shape=shape, bound=bound)

    def _write_module(self, step: Step) -> str:
        """Construct a module in the constructor; what it is called there."""
        template = step.operator.template
        names: dict[str, str] = {}
        for symbol in _list_fields(template):
            value = step.values[symbol] if symbol in step.values else str(step.measure(symbol))
            names[symbol] = self._name_argument("batch_size" if symbol == "batch" else symbol, value)
        attribute = self._name_attribute(_to_snake(step.operator.name.rpartition(".")[2]))
        self.setup.append(f"self.{attribute} = {template.format(**names)}")
        return f"self.{attribute}"

    def _write_operand(self, name: str, step: Step) -> str:
        """Make a further tensor; what it is called in forward."""
        operand, kind = step.operator.operands[name], step.kinds[name]
        shape = step.shape_operand(name)
        if kind is not OperandKind.WEIGHT:
            argument = _make_unique(name, self.inputs)
            bound = str(step.measure(operand.bound)) if operand.bound else ""
            names = self._first_shape if shape == self._first_sizes else tuple(map(str, shape))
            self.inputs[argument] = self._write_draw(_DRAWS[kind], _join_sizes(names), bound=bound)
            return argument
        attribute = self._name_attribute(name)
        argument = self._name_argument(f"{attribute}_shape", str(shape))
        scale = f" * {_choose_scale(step, name):.4g}" if operand.kind is OperandKind.WEIGHT else ""
        self.setup.append(f"self.{attribute} = nn.Parameter(torch.randn({argument}){scale})")
        return f"self.{attribute}"

    def _name_argument(self, name: str, value: str) -> str:
        name = self._name_constant(name, value)
        if name not in self.arguments:
            self.arguments.append(name)
        return name

    def _name_constant(self, name: str, value: str) -> str:
        """A module-level constant of that value, under that name or a numbered one."""
        number, unique = 1, name
        while self.constants.get(unique, value) != value:
            number += 1
            unique = f"{name}_{number}"
        self.constants[unique] = value
        return unique

    def _name_attribute(self, name: str) -> str:
        name = _make_unique(name, self._attributes)
        self._attributes.add(name)
        return name


def _choose_scale(step: Step, name: str) -> float:
    """A factor for random weights that keeps the size of sums: one over the root of how many are summed."""
    fields = step.operator.operands[name].shape
    summed = [field for field in fields if not field.startswith("out_")]
    count = 1
    for field in summed:
        count *= step.measure(field)
    return 1.0 / math.sqrt(max(count, 1))


def _join_sizes(sizes: tuple[str, ...]) -> str:
    """Sizes as arguments; a single one with its comma, so that in brackets it is a tuple too."""
    return f"{sizes[0]}," if len(sizes) == 1 else ", ".join(sizes)


def _make_unique(name: str, taken: set[str] | dict[str, str]) -> str:
    number, unique = 1, name
    while unique in taken or unique in ("x", "left", "self"):
        number += 1
        unique = f"{name}_{number}"
    return unique


def _list_fields(text: str) -> list[str]:
    return list(dict.fromkeys(field for _, field, _, _ in Formatter().parse(text) if field))


def _to_snake(name: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})", "_", name)
    return words.lower()
