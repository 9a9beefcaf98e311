"""The dynamic section is read as the dynamic linker reads it, and damage is an error, not a crash."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuda_agent.environment.elf import ElfError, read_dynamic_symbols
from cuda_agent.environment.toolchain import find_cxx

SOURCE = """
extern "C" int outside(int);
#include <stdio.h>
extern "C" int offered(int x) { return outside(x) + puts("x"); }
extern "C" __attribute__((visibility("hidden"))) int inside(int x) { return x; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elf")
    (folder / "a.cpp").write_text(SOURCE)
    flags = ["-shared", "-fPIC", "-Wl,--hash-style=sysv", "-Wl,-rpath,/somewhere"]
    subprocess.run([find_cxx(), *flags, folder / "a.cpp", "-o", folder / "a.so"], check=True)
    return folder / "a.so"


def test_symbols_libraries_and_entries(library: Path) -> None:
    symbols = read_dynamic_symbols(library)
    assert "outside" in symbols.undefined
    assert "offered" in symbols.defined
    assert "inside" not in symbols.defined
    assert "libc.so.6" in symbols.needed
    assert set(symbols.loader_entries) <= {"RPATH", "RUNPATH"}
    assert symbols.loader_entries


def test_agrees_with_nm(library: Path) -> None:
    listed = subprocess.run(["nm", "-D", "-u", library], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
    assert names == set(read_dynamic_symbols(library).undefined)


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF", b"not a library" * 100, b"\x7fELF\x02\x01" + b"\xff" * 500]
)
def test_other_files_are_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.so").write_bytes(content)
    with pytest.raises(ElfError):
        read_dynamic_symbols(tmp_path / "x.so")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damage_is_an_error_or_harmless(library: Path, tmp_path: Path, data: st.DataObject) -> None:
    image = bytearray(library.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        image[data.draw(st.integers(0, min(len(image), 4096) - 1))] = data.draw(st.integers(0, 255))
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(image[: data.draw(st.integers(0, len(image)))])
    try:
        read_dynamic_symbols(damaged)
    except ElfError:
        return
