"""What model_new.py may say, checked on its syntax tree.

Every name is resolved to what it stands for, so aliases hide nothing, and comments and strings may say
anything. A call must name what it calls: a module's function, a function or class of the file, a method
of self, or a method of a value; only then can it be looked up in `allowlists/python.toml`. What cannot
be told from syntax (whether `a + b` adds tensors or integers) is left to the check at run time.
"""

import ast
import builtins
from collections.abc import Iterable

from cuda_agent.environment.python_lookup import Lookup, Refusal, is_dunder
from cuda_agent.environment.python_loops import find_own_items
from cuda_agent.environment.python_names import FileNames, Function, collect_names
from cuda_agent.environment.python_substitutes import find_substitutes
from cuda_agent.environment.result import Violation

MODEL_CLASS = "ModelNew"
DEFINABLE_DUNDERS = {
    "__init__",
    "__post_init__",
    "__len__",
    "__repr__",
    "__slots__",
    "__all__",
    "__constants__",
}
BASES = (
    "torch.nn.Module",
    "typing.NamedTuple",
    "typing.Protocol",
    "typing.TypedDict",
    "enum.Enum",
    "enum.IntEnum",
)
BUILTINS = frozenset(dir(builtins))

BY_NAME = (
    "call functions by their names: kernels.*, functions of this file, methods of self; "
    "to choose between kernels write if and else"
)
HOLDER = (
    "a held layer is only a holder of parameters: pass its weight and bias to a kernel instead of calling it"
)
ONE_MEANING = (
    "an imported name, a function or a class keeps its meaning in the whole file: choose another name"
)
ONLY_SELF = "only attributes of self may be set: nothing else belongs to the submission"


def check_python(tree: ast.Module, file: str) -> tuple[Violation, ...]:
    """Every rule that a parsed model_new.py breaks, in the order of lines."""
    names = collect_names(tree)
    visitor = _Visitor(tree, names, file=file)
    visitor.visit(tree)
    model = names.classes.get(MODEL_CLASS)
    if model is None:
        visitor.refuse(
            None, "model-class", reason=f"there is no class {MODEL_CLASS} at the top level: define it"
        )
    elif "forward" not in model.methods:
        visitor.refuse(model.node, "model-class", reason=f"{MODEL_CLASS} defines no forward: define it")
    return tuple(sorted(set(visitor.found), key=lambda violation: (violation.line, violation.reason)))


class _Visitor(ast.NodeVisitor):
    """Walks the tree, knowing in which class it is and whether the code only runs while building."""

    def __init__(self, tree: ast.Module, names: FileNames, *, file: str) -> None:
        self.found: list[Violation] = []
        self._tree = tree
        self._names = names
        self._file = file
        self._lookup = Lookup(names.declared)
        self._is_building = True
        self._class: str | None = None
        self._depth = 0
        self._own_items: set[str] = set()
        self._receiver: ast.arg | None = None
        self._substitutes = find_substitutes(tree, names.classes.keys())

    def refuse(self, node: ast.AST | None, rule: str, *, reason: str) -> None:
        """Note one broken rule."""
        line = getattr(node, "lineno", 0)
        self.found.append(Violation(file=self._file, line=line, rule=rule, reason=reason))

    def _note(self, node: ast.AST, refusals: Iterable[Refusal]) -> None:
        for rule, reason in refusals:
            self.refuse(node, rule, reason=reason)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._note(node, self._lookup.check_module(alias.name))
            bound = alias.name if alias.asname else alias.name.split(".")[0]
            self._check_one_meaning(node, alias.asname or bound, path=bound)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None:
            reason = "a submission has no package of its own: put everything into model_new.py"
            self.refuse(node, "import", reason=reason)
            return
        self._note(node, self._lookup.check_module(node.module))
        for alias in node.names:
            path = f"{node.module}.{alias.name}"
            if alias.name == "*":
                reason = "import names one by one, so that the file says what it uses"
                self.refuse(node, "import", reason=reason)
            else:
                self._note(node, self._lookup.check_imported(path, is_building=self._is_building))
                self._check_one_meaning(node, alias.asname or alias.name, path=path)

    def _check_one_meaning(self, node: ast.AST, name: str, *, path: str) -> None:
        if self._names.imports[name] != path:
            self.refuse(node, "rebinding", reason=f"`{name}`: {ONE_MEANING}")

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for base in node.bases:
            is_own = isinstance(base, ast.Name) and base.id in self._names.classes
            if not is_own and self._names.resolve(base) not in BASES:
                reason = (
                    f"`{ast.unparse(base)}`: derive from torch.nn.Module, whose forward you write yourself"
                )
                self.refuse(base, "base-class", reason=reason)
        if node.keywords:
            self.refuse(node, "base-class", reason="a class takes no keywords such as metaclass")
        self._visit_all(node.decorator_list)
        outer, self._class = self._class, node.name if node.name in self._names.classes else None
        for statement in node.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                self._check_class_variable(statement)
            self.visit(statement)
        self._class = outer

    def _check_class_variable(self, node: ast.Assign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for name in [target.id for target in targets if isinstance(target, ast.Name)]:
            if (name == "forward" or name.startswith("_")) and name not in DEFINABLE_DUNDERS:
                self.refuse(
                    node, "class-variable", reason="write methods with def, so that they can be checked"
                )

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.refuse(node, "async", reason="nothing here waits: write a plain function")
        self._visit_function(node)

    def _visit_function(self, node: Function) -> None:
        if is_dunder(node.name) and node.name not in DEFINABLE_DUNDERS:
            self.refuse(
                node, "dunder", reason=f"`{node.name}` changes how Python itself behaves: use a plain method"
            )
        defaults = [each for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
        self._visit_all([*node.decorator_list, *defaults])
        outer = self._is_building, self._own_items, self._receiver
        self._is_building, self._receiver = node in self._names.building, None
        if self._depth == 0:
            self._own_items = find_own_items(node, self._tree, holds_own=self._holds_own)
            self._receiver = _find_receiver(node)
        self._depth += 1
        self._visit_all([node.args, *node.body])
        self._depth -= 1
        self._is_building, self._own_items, self._receiver = outer

    def _holds_own(self, attribute: str) -> bool:
        return self._class is not None and self._names.holds_own(self._class, attribute)

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit_arg(self, node: ast.arg) -> None:
        if node is not self._receiver:
            self._check_binding(node, node.arg)
        if node.annotation is not None:
            # An annotation is evaluated once, while the file is imported.
            outer, self._is_building = self._is_building, True
            self.visit(node.annotation)
            self._is_building = outer

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            if node not in self._substitutes:
                self._check_binding(node, node.id)
        elif node.id in self._names.imports:
            self._check_path(node, self._names.imports[node.id], is_call=False)
        elif node.id in BUILTINS and node.id not in self._names.functions:
            self._note(node, self._lookup.check_builtin(node.id))
        elif is_dunder(node.id):
            self.refuse(node, "dunder", reason=f"`{node.id}`: dunder names reach into Python itself")

    def _check_binding(self, node: ast.AST, name: str) -> None:
        names = self._names
        if name == "self" or name in names.imports or name in names.functions or name in names.classes:
            self.refuse(node, "rebinding", reason=f"`{name}`: {ONE_MEANING}")

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._check_binding(node, node.name)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._names.resolve(node)
        if not isinstance(node.ctx, ast.Load):
            self._check_setting(node, path)
        elif path is not None:
            self._check_path(node, path, is_call=False)
            return
        else:
            self._check_attribute(node, node.attr)
        self.visit(node.value)

    def _check_setting(self, node: ast.Attribute, path: str | None) -> None:
        is_self = isinstance(node.value, ast.Name) and node.value.id == "self"
        if path is not None or is_dunder(node.attr) or not (is_self or self._is_building):
            self.refuse(node, "set-attribute", reason=f"`{ast.unparse(node)}`: {ONLY_SELF}")
        elif self._class is not None and node.attr in self._names.classes[self._class].methods:
            self.refuse(node, "set-attribute", reason=f"`{ast.unparse(node)}`: a method keeps its meaning")

    def _check_attribute(self, node: ast.AST, name: str) -> None:
        self._note(node, self._lookup.check_attribute(name, is_building=self._is_building))

    def _check_path(self, node: ast.AST, path: str, *, is_call: bool) -> None:
        self._note(node, self._lookup.check_path(path, is_call=is_call, is_building=self._is_building))

    def _check_method(self, node: ast.AST, name: str) -> None:
        self._note(node, self._lookup.check_method(name, is_building=self._is_building))

    def visit_Call(self, node: ast.Call) -> None:
        path = self._names.resolve(node.func)
        if path is not None:
            self._check_path(node.func, path, is_call=True)
        elif isinstance(node.func, ast.Attribute):
            self._check_method_call(node.func)
        elif isinstance(node.func, ast.Name):
            self._check_name_call(node.func, node)
        elif not self._is_own_item(node.func):
            self.refuse(node, "call", reason=f"`{ast.unparse(node.func)}(...)`: {BY_NAME}")
            self.visit(node.func)
        self._visit_all([*node.args, *node.keywords])

    def _check_method_call(self, func: ast.Attribute) -> None:
        own = self._names.classes[self._class] if self._class else None
        if isinstance(func.value, ast.Name) and func.value.id == "self" and own is not None:
            if func.attr in own.methods or self._names.holds_own(own.node.name, func.attr):
                return
            if func.attr in own.held and not self._is_building:
                self.refuse(func, "held-layer", reason=f"`self.{func.attr}(...)`: {HOLDER}")
                return
        is_super = isinstance(func.value, ast.Call) and ast.unparse(func.value.func) == "super"
        if not (is_super and func.attr == "__init__"):
            self._check_method(func, func.attr)
        self.visit(func.value)

    def _check_name_call(self, func: ast.Name, call: ast.Call) -> None:
        if func.id in BUILTINS and func.id not in self._names.functions:
            self.visit(func)
            if any(keyword.arg == "key" for keyword in call.keywords):
                self.refuse(call, "call", reason=f"`{func.id}(key=...)`: {BY_NAME}")
        elif not (self._is_building or func.id in self._names.callable or func.id in self._own_items):
            self.refuse(func, "call", reason=f"`{func.id}(...)`: {BY_NAME}")

    def _is_own_item(self, func: ast.expr) -> bool:
        """Whether a callee is `self.blocks[i]` with a list of modules of this file."""
        if not (isinstance(func, ast.Subscript) and isinstance(func.value, ast.Attribute) and self._class):
            return False
        is_self = isinstance(func.value.value, ast.Name) and func.value.value.id == "self"
        return is_self and self._names.holds_own(self._class, func.value.attr)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._check_operator(node, node.op)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._check_operator(node, node.op)
        self.generic_visit(node)

    def _check_operator(self, node: ast.AST, operator: ast.operator) -> None:
        if isinstance(operator, ast.MatMult) and not self._is_building:
            self.refuse(
                node,
                "operator",
                reason="`@` is a matrix product: do it in a kernel, with cuBLAS where that fits",
            )


def _find_receiver(function: Function) -> ast.arg | None:
    """The parameter that is the object itself where the function is a method."""
    decorators = {ast.unparse(each) for each in function.decorator_list}
    positional = [*function.args.posonlyargs, *function.args.args]
    return None if decorators & {"staticmethod", "classmethod"} else next(iter(positional), None)
