"""Which functions a built library may need from outside itself.

The second defence behind the rules on sources: whatever a macro or a template hides from a reader,
the dynamic linker must find by name, and a name that is not allowed is refused. What this does not
see: machine instructions that enter the operating system directly. The rules refuse inline assembly
in host code for that, and the sandbox holds what is left.
"""

from pathlib import Path

from cuda_agent.environment.allowlist import load_allowlists
from cuda_agent.environment.elf import DynamicSymbols, ElfError, read_dynamic_symbols
from cuda_agent.environment.result import Violation
from cuda_agent.tasks.target import Target

EXPORT_PREFIX = "__tvm_ffi_"
"""What TVM-FFI puts before an exported function's name."""


def check_symbols(library: Path, target: Target) -> tuple[Violation, ...]:
    """Every undefined symbol, needed library and linker entry that is not allowed for the target."""
    try:
        symbols = read_dynamic_symbols(library)
    except ElfError as error:
        return (_violation(library, "symbol-table", reason=f"{error}"),)
    lists = load_allowlists("symbols")
    found = []
    for name in symbols.undefined:
        reason = lists["undefined"].refuse(name)
        is_from_nvcc = target is Target.CUDA and lists["undefined_cuda"].allowed.find(name) is not None
        if reason is not None and not is_from_nvcc:
            found.append(_violation(library, "forbidden-symbol", reason=f"`{name}`: {reason}"))
    for name in symbols.needed:
        reason = lists["needed"].refuse(name)
        if reason is not None:
            found.append(_violation(library, "forbidden-library", reason=f"`{name}`: {reason}"))
    for entry in symbols.loader_entries:
        reason = "a library may not steer where others are loaded from"
        found.append(_violation(library, "loader-entry", reason=f"`{entry}`: {reason}"))
    return tuple(found)


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
