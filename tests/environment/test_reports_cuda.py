"""What CUDA's tools print, in their own words, and what is made of it.

ptxas and cuobjdump were run for these texts; those of compute-sanitizer and ncu follow their documentation.
"""

import pytest

from cuda_agent.environment.reports_cuda import (
    compute_occupancy,
    summarise_ncu,
    summarise_registers,
    summarise_sanitizer,
    summarise_sass,
)

PTXAS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1kPfi' for 'sm_90a'
ptxas info    : Function properties for _Z1kPfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 1 barriers, 1024 bytes smem
ptxas info    : Compiling entry function '_Z1mPfi' for 'sm_90a'
ptxas info    : Function properties for _Z1mPfi
    96 bytes stack frame, 92 bytes spill stores, 120 bytes spill loads
ptxas info    : Used 255 registers, 380 bytes cmem[0]
ptxas info    : Compile time = 14.150 ms
"""

SASS = """
\tcode for sm_90a
\t\tFunction : _Z1kPfi
\t.headerflags\t@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;              /* 0x00000a00ff017b82 */
                                                                       /* 0x000fe20000000800 */
        /*0010*/                   LDG.E.128 R4, desc[UR6][R2.64] ;    /* 0x0000000602007981 */
        /*0020*/              @!P0 LDG.E R0, desc[UR6][R2.64] ;        /* 0x0000000602007981 */
        /*0030*/                   STL [R1], R0 ;                      /* 0x0000000602007981 */
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;       /* 0x0000000000007b1d */
        /*0050*/                   EXIT ;                              /* 0x000000000000794d */
"""

SANITIZER = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at scale_kernel(const float *, float *, int)+0x110
=========     by thread (31,0,0) in block (4,0,0)
=========     Address 0x7f2c4a000200 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f2c4a000000 of size 512 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: [0x2fe1f0]
=========
========= ERROR SUMMARY: 17 errors
"""

NCU = """\
==PROF== Connected to process 4242 (/usr/bin/python3.11)
==PROF== Profiling "scale_kernel" - 0: 0%....50%....100% - 1 pass
==PROF== Disconnected from process 4242
"ID","Process ID","Kernel Name","dram__bytes.sum","dram__throughput.avg.pct_of_peak_sustained_elapsed",\
"gpu__time_duration.sum","launch__registers_per_thread","sm__warps_active.avg.pct_of_peak_sustained_active",\
"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",\
"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"
"","","","Mbyte","%","us","register/thread","%","inst","inst"
"0","4242","scale_kernel(const float *, float *, int)","1,073.74","91.20","262.10","16","88.40","21.53","0.01"
"""


def test_registers_and_spills_of_each_kernel() -> None:
    assert summarise_registers(PTXAS).splitlines() == [
        "_Z1kPfi: 8 registers, no spills, 1024 bytes shared memory; registers allow 100% occupancy",
        "_Z1mPfi: 255 registers, spills 92 bytes stored and 120 loaded, 0 bytes shared memory; "
        "registers allow 12% occupancy",
    ]
    assert summarise_registers("") == "no kernel was compiled"


@pytest.mark.parametrize(("registers", "warps"), [(1, 64), (32, 64), (33, 51), (64, 32), (128, 16), (255, 8)])
def test_occupancy_that_registers_allow(registers: int, warps: int) -> None:
    # A warp gets its registers in steps of 256: 33 a thread are 1280 a warp, and 65,536 hold 51 of those.
    assert compute_occupancy(registers) == warps / 64


def test_telling_instructions_of_each_kernel() -> None:
    assert summarise_sass(SASS) == (
        "_Z1kPfi: 6 instructions: 1 loads of global memory, 128 bit, 1 loads of global memory, 32 bit, "
        "1 stores of spilled registers, 1 barriers"
    )
    assert summarise_sass("") == "no kernel was found"


def test_the_first_errors_of_the_sanitizer() -> None:
    assert summarise_sanitizer(SANITIZER, returncode=0).splitlines() == [
        "17 errors, the first of them:",
        "Invalid __global__ write of size 4 bytes",
        "  at scale_kernel(const float *, float *, int)+0x110",
        "  by thread (31,0,0) in block (4,0,0)",
        "  Address 0x7f2c4a000200 is out of bounds",
    ]
    clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
    assert summarise_sanitizer(clean, returncode=0).startswith("no access out of bounds")
    assert "did not come to its end" in summarise_sanitizer("========= COMPUTE-SANITIZER\n", returncode=0)


def test_errors_of_every_kind_are_told() -> None:
    told = SANITIZER.replace("Invalid __global__ write of size 4 bytes", "Stack overflow")
    assert "Stack overflow" in summarise_sanitizer(told, returncode=0)


def test_a_program_that_fails_before_its_kernels_is_not_clean() -> None:
    text = (
        "========= COMPUTE-SANITIZER\nTraceback (most recent call last):\nTypeError: relu_scale\n"
        "========= Error: process didn't terminate successfully\n"
        "========= Target application returned an error\n========= ERROR SUMMARY: 0 errors\n"
    )
    assert summarise_sanitizer(text, returncode=1) == (
        "nothing was checked, for the submission fails: TypeError: relu_scale"
    )


def test_a_launch_in_nsight_computes_numbers() -> None:
    assert summarise_ncu(NCU).splitlines() == [
        "scale_kernel(const float *, float *, int):",
        "  time: 262.10 us",
        "  bytes of memory moved: 1,073.74 Mbyte",
        "  memory throughput: 91.20 % of the peak",
        "  occupancy reached: 88.40 %",
        "  registers a thread: 16 register/thread",
        "  stalled warps an issue: waiting for memory 21.5",
    ]


def test_counters_that_may_not_be_read_say_who_can_mend_it() -> None:
    assert "machine's owner" in summarise_ncu(
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission"
    )
    assert "saw no kernel" in summarise_ncu("==WARNING== No kernels were profiled.\n")
