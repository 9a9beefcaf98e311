"""What tools print, in their own words, and what is made of it."""

from cuda_agent.environment.reports_cpu import summarise_counters, summarise_machine_code, summarise_vectors

VECTORS = """\
kernels/a.cpp:9:34: optimized: loop vectorized using 64 byte vectors
kernels/a.cpp:9:34: optimized:  loop versioned for vectorization because of possible aliasing
kernels/a.cpp:20:21: missed: couldn't vectorize loop
kernels/a.cpp:21:18: missed: statement clobbers memory: _5 = expf (_4);
kernels/a.cpp:20:21: missed: not vectorized: control flow in loop.
/usr/include/c++/12/bits/stl_algobase.h:431:30: missed: couldn't vectorize loop
kernels/a.cpp:9:34: missed: couldn't vectorize loop
"""

MACHINE_CODE = """
library:     file format elf64-x86-64

Disassembly of section .text:

0000000000001100 <scale(float*, int)>:
    1100:\tvmovups (%rdi),%zmm0
    1106:\tvfmadd213ps %zmm1,%zmm2,%zmm0
    110c:\tvmovups %zmm0,(%rdi)
    1112:\tvmovss (%rsi),%xmm3
    1118:\tvaddps %ymm1,%ymm2,%ymm0
    1120:\tcall   1040 <expf@plt>
    1125:\tcall   1040 <expf@plt>
    1130:\tlock xadd %eax,(%rdi)
    1134:\tadd    $0x1,%eax
    1138:\tcmp    %eax,%edx
    113a:\tjne    1100 <scale(float*, int)>
    113c:\tret

0000000000001200 <tiny>:
    1200:\tret

0000000000001300 <scale(float*, int) [clone .cold]>:
    1300:\tret
"""
MACHINE_CODE += (
    "    1300:\\tnop\\n" * 20
    + """
"""
)

COUNTERS = """\
# started on Mon Nov 30 06:00:00 2026

40.50,msec,task-clock,4050,100.00,0.9,CPUs utilized
2000,,cycles:u,4050,100.00,,
3000,,instructions:u,4050,100.00,1.5,insn per cycle
400,,cache-references,4050,100.00,,
100,,cache-misses,4050,100.00,25.0,of all cache refs
<not supported>,,branch-misses,0,100.00,,
"""


def test_vectorised_loops_and_the_others_with_reasons() -> None:
    assert summarise_vectors(VECTORS).splitlines() == [
        "kernels/a.cpp:9: loop vectorized using 64 byte vectors; "
        "loop versioned for vectorization because of possible aliasing",
        "kernels/a.cpp:20: loop not vectorized: not vectorized: control flow in loop.",
    ]
    assert summarise_vectors("") == "no loop was found in kernels/"


def test_many_lines_are_counted() -> None:
    text = "".join(f"kernels/a.cpp:{line}:1: optimized: loop vectorized\n" for line in range(1, 51))
    lines = summarise_vectors(text).splitlines()
    assert (len(lines), lines[-1]) == (41, "and 10 more")
    assert lines[9].startswith("kernels/a.cpp:10:")


def test_widths_and_calls_of_each_function() -> None:
    assert summarise_machine_code(MACHINE_CODE) == (
        "scale(float*, int): 12 instructions: 3 64-byte, 1 32-byte, 0 16-byte, 1 scalar float; calls expf 2x"
    )
    assert summarise_machine_code("garbage") == "no function of more than a few instructions"


def test_counters_for_each_call() -> None:
    assert summarise_counters(COUNTERS, calls=10).splitlines() == [
        "task-clock: 4.05 msec a call",
        "cycles: 200 a call",
        "instructions: 300 a call",
        "cache-references: 40 a call",
        "cache-misses: 10 a call",
        "instructions a cycle: 1.50",
        "cache misses: 25.0% of references",
        "this machine does not count: branch-misses (virtual machines often do not)",
    ]
    assert summarise_counters("", calls=10) == "perf counted nothing"
