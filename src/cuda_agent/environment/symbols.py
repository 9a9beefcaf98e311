"""Which functions a built library may need from outside itself.

The second defence behind the rules on sources: whatever a macro or a template hides from a reader,
the dynamic linker must find by name, and a name that is not allowed is refused. What this does not
see: machine instructions that enter the operating system directly. The rules refuse inline assembly
in host code for that, and the sandbox holds what is left.
"""

import re
from pathlib import Path

from cuda_agent.environment.allowlist import load_allowlists
from cuda_agent.environment.elf import DynamicSymbols, ElfError, read_dynamic_symbols
from cuda_agent.environment.result import Violation
from cuda_agent.tasks.target import Target

EXPORT_PREFIX = "__tvm_ffi_"
"""What TVM-FFI puts before an exported function's name."""
TORCH_OPERATOR = re.compile(r"_ZN2at4_ops(?P<length>[1-9][0-9]{0,2})(?P<rest>[A-Za-z_].*)")
"""A torch operator's entry, `at::_ops::<name>::call`: the name is mangled as its length and itself."""


def check_symbols(library: Path, target: Target, *, needs_torch: bool = False) -> tuple[Violation, ...]:
    """Every undefined symbol, needed library and linker entry that is not allowed for the target.

    With `needs_torch` the library may use what torch has for memory, metadata and errors of tensors.
    """
    try:
        symbols = read_dynamic_symbols(library)
    except ElfError as error:
        return (_violation(library, "symbol-table", reason=f"{error}"),)
    lists = load_allowlists("symbols")
    found = []
    for name in symbols.undefined:
        reason = lists["undefined"].refuse(name)
        is_from_nvcc = target is Target.CUDA and lists["undefined_cuda"].allowed.find(name) is not None
        if reason is None or is_from_nvcc or (needs_torch and _is_allowed_of_torch(name, "undefined_torch")):
            continue
        operator = TORCH_OPERATOR.match(name)
        if needs_torch and operator is not None:
            called = operator["rest"][: int(operator["length"])]
            found.append(_violation(library, "provenance", reason=f"`at::{called}`: {reason}"))
        else:
            found.append(_violation(library, "forbidden-symbol", reason=f"`{name}`: {reason}"))
    for name in symbols.needed:
        reason = lists["needed"].refuse(name)
        if reason is not None and not (needs_torch and _is_allowed_of_torch(name, "needed_torch")):
            found.append(_violation(library, "forbidden-library", reason=f"`{name}`: {reason}"))
    for entry in symbols.loader_entries:
        reason = "a library may not steer where others are loaded from"
        found.append(_violation(library, "loader-entry", reason=f"`{entry}`: {reason}"))
    return tuple(found)


def _is_allowed_of_torch(name: str, table: str) -> bool:
    return load_allowlists("symbols")[table].allowed.find(name) is not None


def list_functions(library: Path) -> tuple[str, ...]:
    """Names that Python can call as `kernels.<name>`, sorted; none for an unreadable library."""
    try:
        return _find_exports(read_dynamic_symbols(library))
    except ElfError:
        return ()


def _find_exports(symbols: DynamicSymbols) -> tuple[str, ...]:
    exported = (
        name.removeprefix(EXPORT_PREFIX) for name in symbols.defined if name.startswith(EXPORT_PREFIX)
    )
    # TVM-FFI's own entries (metadata, documentation) have a further underscore.
    return tuple(name for name in exported if not name.startswith("_"))


def _violation(library: Path, rule: str, *, reason: str) -> Violation:
    return Violation(file=library.name, line=0, rule=rule, reason=reason)
