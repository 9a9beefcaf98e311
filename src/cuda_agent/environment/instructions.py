"""Which machine instructions a built library must not hold.

A library whose undefined symbols are all allowed can still enter the operating system by the
instruction itself, through inline assembly. No kernel has a use for that. Compiled code is listed in
order from its start, so an instruction hidden inside another one's bytes is not seen here; the sandbox
is what holds such a submission.
"""

import shutil
from collections.abc import Callable, Sequence

from cuda_agent.environment.result import Violation
from cuda_agent.errors import ToolchainError
from cuda_agent.sandbox.protocol import Completed

FORBIDDEN = r"[[:space:]](syscall|sysenter|int|svc|wrpkru|rdtscp?|rdpmc)([[:space:]]|$)"
"""Entering the operating system, changing memory protection, and reading clocks."""

UNREADABLE = "unreadable"
LIST_FORBIDDEN = f"""
{{ objdump --disassemble --no-show-raw-insn "$1" || echo ": {UNREADABLE}"; }} |
grep -m 3 -E "$2|: {UNREADABLE}"
true
"""


def check_instructions(library: str, *, run: Callable[[Sequence[str]], Completed]) -> tuple[Violation, ...]:
    """Every kind of forbidden instruction in the library's host code.

    `run` executes a command in the sandbox, in the folder that holds `library`.

    Raises:
        ToolchainError: binutils is missing.
    """
    if shutil.which("objdump") is None:
        raise ToolchainError(
            "objdump is missing: install binutils (on Debian or Ubuntu: apt-get install binutils)"
        )
    end = run(["/bin/sh", "-c", LIST_FORBIDDEN, "sh", library, FORBIDDEN])
    found = sorted({words[1] for line in end.stdout.splitlines() if len(words := line.split()) > 1})
    if end.returncode != 0 or UNREADABLE in found:
        return (_violation(library, f"machine code that cannot be listed: {end.stderr.strip()[:200]}"),)
    why = "a kernel computes; it neither enters the system nor reads a clock"
    return tuple(_violation(library, f"the instruction `{name}`: {why}") for name in found)


def _violation(library: str, reason: str) -> Violation:
    return Violation(file=library, line=0, rule="forbidden-instruction", reason=reason)
