"""Which operators the installed libraries have, and which of them tasks can be composed from.

By inspection where a signature says enough (one tensor, nothing else needed, the same shape out), else by
the tables' argument makers. Everything found is either used or left out with a reason.
"""

import contextlib
import importlib
import inspect
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.overrides
from torch import nn
from torch.nn import functional

from cuda_agent.config import Record
from cuda_agent.synthesis.operator import Layout, Operator
from cuda_agent.synthesis.plan import Plan
from cuda_agent.synthesis.sampling import sample_first_step
from cuda_agent.synthesis.table import Table, find_reason, load_reasons, load_table
from cuda_agent.synthesis.trial import Trial, TrialError, run_trial
from cuda_agent.synthesis.write import write_source

_TRIES = 12
_SPACES: tuple[tuple[Any, str], ...] = ((functional, "F"), (torch, "torch"))


class Crawl(Record):
    """What was found."""

    operators: tuple[Operator, ...]
    """Those that tasks can be composed from, sorted by name."""
    left_out: dict[str, str]
    """Why each of the others cannot."""


def crawl(libraries: tuple[str, ...] = ("torch", "transformers")) -> Crawl:
    """Look at the installed libraries; one that is not installed is left out as a whole."""
    found: dict[str, Operator | str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "torch" in libraries:
            found |= _crawl_torch()
        if "transformers" in libraries:
            found |= _crawl_transformers()
    used = {name: entry for name, entry in found.items() if isinstance(entry, Operator)}
    return Crawl(
        operators=tuple(used[name] for name in sorted(used)),
        left_out={name: entry for name, entry in sorted(found.items()) if isinstance(entry, str)},
    )


def try_operator(operator: Operator) -> Trial:
    """Run an operator alone on meta tensors; several draws of its choices, until one fits.

    Raises:
        TrialError: none did.
    """
    generator = random.Random(operator.name)
    for attempt in range(_TRIES):
        step = sample_first_step(operator, generator)
        try:
            trial = run_trial(write_source(Plan(steps=(step,))))
        except TrialError:
            if attempt + 1 == _TRIES:
                raise
        else:
            if trial.is_random:
                raise TrialError("random")
            return trial
    raise AssertionError("the last attempt raises or returns")


def _crawl_torch() -> dict[str, Operator | str]:
    table, reasons = load_table("torch"), load_reasons()
    found = {operator.name: _check(operator) for operator in table.operators}
    for name, template, needed in (*_list_modules(), *_list_functions()):
        if name not in found:
            found[name] = find_reason(name, reasons) or _inspect(name, template, needed=needed, table=table)
    return _leave_out_other_names(found)


def _crawl_transformers() -> dict[str, Operator | str]:
    try:
        importlib.import_module("transformers")
    except ImportError:
        return {"transformers": "not installed; it comes with the extra `train`"}
    found = {operator.name: _check(operator) for operator in load_table("transformers").operators}
    reasons = load_reasons()
    for name, needed in _list_blocks({name.rpartition(".")[0] for name in found}):
        if name not in found:
            found[name] = find_reason(name, reasons) or f"needs an argument maker: {', '.join(needed)}"
    return found


def _check(operator: Operator) -> Operator | str:
    try:
        try_operator(operator)
    except TrialError as error:
        return str(error)
    return operator


def _list_modules() -> Iterator[tuple[str, str, list[str]]]:
    """Full name, constructor in a program, and required parameters of every module."""
    for attribute in sorted(dir(nn)):
        module = getattr(nn, attribute)
        if inspect.isclass(module) and issubclass(module, nn.Module):
            yield f"torch.nn.{attribute}", f"nn.{attribute}()", _list_required(module.__init__)[1:]


def _list_blocks(places: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Full name and required parameters of every module that is defined where the table has blocks from."""
    for place in sorted(places):
        with contextlib.suppress(ImportError):  # an older or newer version has others
            for attribute, block in sorted(vars(importlib.import_module(place)).items()):
                if inspect.isclass(block) and issubclass(block, nn.Module) and block.__module__ == place:
                    yield f"{place}.{attribute}", _list_required(block.__init__)[1:]


def _list_functions() -> Iterator[tuple[str, str, list[str]]]:
    """Full name, call in a program, and further required parameters of every function of tensors."""
    overrides = torch.overrides.get_testing_overrides()
    functions = torch.overrides.get_overridable_functions()
    for space, short in _SPACES:
        for function in sorted(functions[space], key=lambda item: str(item.__name__)):
            attribute = function.__name__
            if getattr(space, attribute, None) is function and function in overrides:
                needed = _list_required(overrides[function])[1:]
                yield f"{space.__name__}.{attribute}", f"{short}.{attribute}({{x}})", needed


def _leave_out_other_names(found: dict[str, Operator | str]) -> dict[str, Operator | str]:
    """Of functions found by inspection that dispatch the same operation, only the first is used."""
    seen: dict[tuple[str, ...], str] = {}
    for name, entry in found.items():
        if isinstance(entry, Operator) and not entry.is_module and entry.tags == ("pointwise",):
            first = seen.setdefault(try_operator(entry).operations, name)
            found[name] = entry if first == name else f"another name of {first}"
    return found


def _inspect(name: str, template: str, *, needed: list[str], table: Table) -> Operator | str:
    """An operator that needs nothing but its tensor, or why it is none."""
    if needed:
        return f"needs an argument maker: {', '.join(needed)}"
    domain = table.domains.get(name)
    operator = Operator(name=name, layout=Layout.ANY, template=template, tags=("pointwise",))
    operator = operator if domain is None else operator.model_copy(update={"domain": domain})
    try:
        trial = try_operator(operator)
    except TrialError as error:
        return f"does not take one tensor alone: {error}"
    if not trial.is_floating:
        return "gives no floating tensor"
    if not trial.operations:
        return "copies or views only"
    step = sample_first_step(operator, random.Random(name))
    return operator if len(trial.shape) == len(step.shape) else "changes the shape: needs an argument maker"


def _list_required(function: Callable[..., object]) -> list[str]:
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty and parameter.kind not in variadic
    ]
