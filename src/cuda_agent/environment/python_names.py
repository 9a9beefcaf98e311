"""What the names in model_new.py stand for: imports, functions, classes, and what classes hold."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeGuard

Function = ast.FunctionDef | ast.AsyncFunctionDef

MODULE_LIST = "torch.nn.ModuleList"
ANY_NAME = "*"
"""Stands for the attribute that is set under a name made at run time."""
REGISTERING = ("register_buffer", "register_parameter", "add_module", "register_module")


@dataclass(frozen=True)
class ClassNames:
    """What one class of the file defines."""

    node: ast.ClassDef
    """Its definition."""
    methods: set[str] = field(default_factory=set)
    """Functions defined in it or in a class of this file that it derives from."""
    held: dict[str, list[ast.expr | None]] = field(default_factory=dict)
    """Values assigned to each attribute of self; None where the value cannot be told."""


@dataclass(frozen=True)
class FileNames:
    """What the names of one file stand for."""

    imports: dict[str, str] = field(default_factory=dict)
    """Dotted path of each imported name, aliases resolved: `nn` is `torch.nn`."""
    functions: dict[str, Function] = field(default_factory=dict)
    """Functions of the module."""
    classes: dict[str, ClassNames] = field(default_factory=dict)
    """Classes of the module."""
    declared: set[str] = field(default_factory=set)
    """Every name that the file itself puts on an object: attributes, methods, fields."""
    building: set[Function] = field(default_factory=set)
    """Functions that only ever run while the module is imported or ModelNew is built."""

    choices: set[str] = field(default_factory=set)
    """Variables that can only hold one of the submission's kernels."""

    @property
    def callable(self) -> set[str]:
        """Plain names that may be called."""
        return self.functions.keys() | self.classes.keys() | self.choices

    def resolve(self, node: ast.expr) -> str | None:
        """The dotted path of a chain that starts at an import (`nn.Linear` is `torch.nn.Linear`), or None."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.imports:
            return None
        return ".".join([self.imports[node.id], *reversed(attributes)])

    def holds_own(self, class_name: str, attribute: str) -> bool:
        """Whether self.<attribute> can only be a module (or a ModuleList of modules) of this file."""
        held = self.classes[class_name].held
        values = [*held.get(attribute, []), *held.get(ANY_NAME, [])]
        return attribute in held and all(value is not None and self._builds_own(value) for value in values)

    def _builds_own(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in self.classes:
            return True
        if isinstance(value, ast.Call) and self.resolve(value.func) == MODULE_LIST:
            return all(self._builds_own(each) for each in value.args)
        if isinstance(value, ast.List | ast.Tuple):
            return all(self._builds_own(each) for each in value.elts)
        return isinstance(value, ast.ListComp | ast.GeneratorExp) and self._builds_own(value.elt)


def collect_names(tree: ast.Module) -> FileNames:
    """Read a whole file."""
    names = FileNames()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                # `import torch.nn` binds `torch`.
                bound = alias.name if alias.asname else alias.name.split(".")[0]
                names.imports[alias.asname or bound] = bound
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names.imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in tree.body:
        if isinstance(node, Function):
            names.functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            names.classes[node.name] = _read_class(node)
    _inherit(names)
    _add_foreign(tree, names)
    for each in names.classes.values():
        names.declared.update(each.methods, each.held)
    names.building.update(_find_building(tree))
    names.choices.update(_find_choices(tree, names))
    return names


def _read_class(node: ast.ClassDef) -> ClassNames:
    found = ClassNames(node)
    for statement in node.body:
        if isinstance(statement, Function):
            found.methods.add(statement.name)
        elif isinstance(statement, ast.AnnAssign | ast.Assign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    found.held.setdefault(target.id, []).append(None)
    for inner in ast.walk(node):
        for name, value in _find_held(inner):
            found.held.setdefault(name, []).append(value)
    return found


def _find_held(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Attributes of self that a node sets, with their values where they can be told."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            holder = target.value if isinstance(target, ast.Subscript) else target
            if is_self_attribute(holder) and node.value is not None:
                yield holder.attr, node.value
            elif isinstance(target, ast.Tuple | ast.List):
                yield from ((each.attr, None) for each in ast.walk(target) if is_self_attribute(each))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield from _find_added(node, node.func)
    elif isinstance(node, ast.For | ast.comprehension | ast.withitem | ast.NamedExpr | ast.AugAssign):
        bound = node.optional_vars if isinstance(node, ast.withitem) else node.target
        if bound is not None:
            yield from ((each.attr, None) for each in ast.walk(bound) if is_self_attribute(each))


def _find_added(call: ast.Call, method: ast.Attribute) -> Iterator[tuple[str, ast.expr | None]]:
    """Attributes of self that a call sets, or into which it puts something."""
    last = call.args[-1] if call.args else None
    if method.attr in REGISTERING:
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value, None
        else:
            yield ANY_NAME, last
    if method.attr in ("append", "extend", "insert", *REGISTERING) and is_self_attribute(method.value):
        yield method.value.attr, last


def is_self_attribute(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether a node is `self.<attribute>`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _inherit(names: FileNames) -> None:
    # Bases come before the classes that derive from them, and the dictionary keeps the file's order.
    for each in names.classes.values():
        for base in each.node.bases:
            if isinstance(base, ast.Name) and base.id in names.classes:
                parent = names.classes[base.id]
                each.methods.update(parent.methods)
                # An object of the deriving class runs the methods of both.
                for name in parent.held:
                    both = [*parent.held[name], *each.held.get(name, [])]
                    parent.held[name], each.held[name] = both, both


def _add_foreign(tree: ast.Module, names: FileNames) -> None:
    """Whatever is set on an object that is not self may be set on an object of any class."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Load) or is_self_attribute(node):
            continue
        for each in names.classes.values():
            if node.attr in each.held:
                each.held[node.attr] = [None]


def _find_building(tree: ast.Module) -> set[Function]:
    """Constructors, and functions that are only referred to from constructors and from the module itself."""
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    references = list(_find_references(tree, None))
    building = {each for each in functions if each.name == "__init__"}
    while True:
        callers: dict[str, list[Function | None]] = {}
        for name, place in references:
            callers.setdefault(name, []).append(place)
        fresh = {
            each
            for each in functions
            if each not in building
            and each.name != "forward"
            and callers.get(each.name)
            and all(place is None or place in building for place in callers[each.name])
        }
        if not fresh:
            return building
        building |= fresh


def _find_references(node: ast.AST, place: Function | None) -> Iterator[tuple[str, Function | None]]:
    """Each name that is read, with the innermost function it is read in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
            yield child.id, place
        elif isinstance(child, ast.Attribute):
            yield child.attr, place
        yield from _find_references(child, child if isinstance(child, Function) else place)


def _find_choices(tree: ast.Module, names: FileNames) -> set[str]:
    """Variables whose every binding is `kernels.a`, or `kernels.a if ... else kernels.b`."""
    stored = [
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    chosen = [
        node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and len(node.targets) == 1
        and _is_kernel(node.value, names)
    ]
    return {name for name in chosen if stored.count(name) == chosen.count(name) and name not in parameters}


def _is_kernel(value: ast.expr, names: FileNames) -> bool:
    if isinstance(value, ast.IfExp):
        return _is_kernel(value.body, names) and _is_kernel(value.orelse, names)
    path = names.resolve(value)
    return path is not None and path.startswith("kernels.")
