"""The tables of argument makers: what cannot be read off an operator's signature."""

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from cuda_agent.config import Record
from cuda_agent.synthesis.operator import Domain, Layout, Operand, Operator


class Table(Record):
    """What is known beforehand about the operators of one library."""

    operators: tuple[Operator, ...]
    """Those with an argument maker."""
    domains: dict[str, Domain] = {}
    """Which values operators found by inspection bear, where not all."""


def load_table(library: str) -> Table:
    """The table of `torch` or of `transformers`."""
    data = _load(library)
    operators = tuple(operator for group in data["group"] for operator in _read_group(group))
    names = [operator.name for operator in operators]
    assert len(names) == len(set(names)), "an operator has one argument maker"
    domains = {name: Domain(domain) for domain, group in data.get("domains", {}).items() for name in group}
    return Table(operators=operators, domains=domains)


def load_reasons() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns of names with the reason why such operators are left out."""
    return tuple((re.compile(pattern), reason) for pattern, reason in _load("left_out").items())


def find_reason(name: str, reasons: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    """Why an operator is left out; empty when no pattern matches its whole name."""
    return next((reason for pattern, reason in reasons if pattern.fullmatch(name)), "")


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "tables" / f"{name}.toml").read_text(encoding="utf-8"))


def _read_group(group: dict[str, Any]) -> Iterator[Operator]:
    calls = group.get("calls", {})
    choices = {name: tuple(values) for name, values in group.get("choices", {}).items()}
    operands = {name: Operand.model_validate(value) for name, value in group.get("operands", {}).items()}
    for name, template in group["operators"].items():
        call = calls.get(name, group.get("call", "{module}({x})"))
        used = set(re.findall(r"{(\w+)}", template + call))
        used |= {symbol for key in used & operands.keys() for symbol in _list_symbols(operands[key])}
        yield Operator(
            name=name,
            layout=Layout(group["layout"]),
            template=template,
            call=call,
            choices={key: values for key, values in choices.items() if key in used},
            operands={key: value for key, value in operands.items() if key in used},
            domain=Domain(group.get("domain", "real")),
            imports=_list_imports(name, template),
            tags=tuple(group.get("tags", ())),
        )


def _list_symbols(operand: Operand) -> tuple[str, ...]:
    return (*operand.shape, operand.bound)


def _list_imports(name: str, template: str) -> tuple[str, ...]:
    """What a program imports for an operator beside torch: a block itself, and its configuration."""
    module, _, attribute = name.rpartition(".")
    if module.startswith("torch"):
        return ()
    configs = re.findall(r"\b(\w+Config)\(", template)
    return (
        *(f"from transformers import {config}" for config in configs),
        f"from {module} import {attribute}",
    )
