"""Instructions that enter the system are found in the built library."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from cuda_agent.environment.instructions import check_instructions
from cuda_agent.environment.toolchain import find_cxx
from cuda_agent.sandbox.protocol import Command, Completed, Mount, Sandbox


def check(folder: Path, source: str, *, sandbox: Sandbox) -> list[str]:
    (folder / "a.cpp").write_text(source)
    subprocess.run([find_cxx(), "-shared", "-fPIC", folder / "a.cpp", "-o", folder / "a.so"], check=True)
    return list_found(folder, sandbox)


def list_found(folder: Path, sandbox: Sandbox) -> list[str]:
    def run(argv: Sequence[str]) -> Completed:
        return sandbox.run(Command(argv=argv, cwd=folder, mounts=[Mount(path=folder)]))

    return [violation.reason.split(":")[0] for violation in check_instructions("a.so", run=run)]


@pytest.mark.parametrize("instruction", ["syscall", "int $0x80", "rdtsc"])
def test_forbidden_instructions(tmp_path: Path, plain_sandbox: Sandbox, instruction: str) -> None:
    source = f'extern "C" void f() {{ asm volatile("{instruction}"); }}'
    assert check(tmp_path, source, sandbox=plain_sandbox) == [f"the instruction `{instruction.split()[0]}`"]


def test_functions_with_such_names_are_fine(tmp_path: Path, plain_sandbox: Sandbox) -> None:
    source = 'extern "C" { void syscall(); void rdtsc() { syscall(); } void svc() { rdtsc(); } }'
    assert check(tmp_path, source, sandbox=plain_sandbox) == []


def test_what_cannot_be_listed_is_refused(tmp_path: Path, plain_sandbox: Sandbox) -> None:
    (tmp_path / "a.so").write_bytes(b"nothing")
    assert list_found(tmp_path, plain_sandbox) == ["machine code that cannot be listed"]
