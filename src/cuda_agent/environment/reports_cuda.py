"""What CUDA's tools print, as the lines that an agent needs."""

import csv
import re
from collections import Counter

NCU_METRICS = {
    "gpu__time_duration.sum": "time",
    "dram__bytes.sum": "bytes of memory moved",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory throughput",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "compute throughput",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy reached",
    "launch__registers_per_thread": "registers a thread",
    "launch__shared_mem_per_block": "shared memory a block",
}
"""What Nsight Compute is asked for, and what it is called here."""

NCU_STALLS = {
    f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio": meaning
    for name, meaning in {
        "long_scoreboard": "waiting for memory",
        "short_scoreboard": "waiting for shared memory or special functions",
        "barrier": "waiting at __syncthreads",
        "wait": "waiting for a fixed latency",
        "math_pipe_throttle": "arithmetic units busy",
        "lg_throttle": "too many memory instructions queued",
        "mio_throttle": "too many shared-memory instructions queued",
    }.items()
}
"""Warps stalled for each reason, on average, whenever an instruction is issued."""

SHOWN_ERRORS = 5
_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '(\w+)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(.*)")
_SHARED = re.compile(r"(\d+) bytes smem")
_SASS_FUNCTION = re.compile(r"^\s*Function : (\S+)")
_SASS_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)")
_SANITIZER_START = re.compile(
    r"^========= (?!COMPUTE-SANITIZER|\w+ SUMMARY:|Error:|Target application|Tracking kernels)(\S.*)"
)
_SANITIZER_PLACE = re.compile(r"^=========\s+(at .+|by thread .+|Address .+)")
_SANITIZER_END = re.compile(r"^========= ERROR SUMMARY: (\d+) error")

REGISTERS_OF_SM = 65536
WARPS_OF_SM = 64
REGISTERS_STEP = 256
"""Registers are given to a warp in steps of so many."""


def summarise_registers(text: str) -> str:
    """Registers, spills and shared memory of each kernel; from ptxas's -v."""
    lines, name, spills = [], "", ""
    for line in text.splitlines():
        if match := _ENTRY.search(line):
            name, spills = match[1], ""
        elif match := _STACK.search(line):
            stored, loaded = int(match[2]), int(match[3])
            spills = (
                f", spills {stored} bytes stored and {loaded} loaded" if stored or loaded else ", no spills"
            )
        elif (match := _USED.search(line)) and name:
            shared = _SHARED.search(match[2])
            occupancy = compute_occupancy(int(match[1]))
            lines.append(
                f"{name}: {match[1]} registers{spills}, {shared[1] if shared else 0} bytes shared memory; "
                f"registers allow {occupancy:.0%} occupancy"
            )
            name = ""
    return "\n".join(lines) or "no kernel was compiled"


def compute_occupancy(registers: int) -> float:
    """The share of a multiprocessor's warps that its registers hold, at so many for each thread."""
    a_warp = -(-max(1, registers) * 32 // REGISTERS_STEP) * REGISTERS_STEP
    return min(WARPS_OF_SM, REGISTERS_OF_SM // a_warp) / WARPS_OF_SM


def summarise_sass(text: str) -> str:
    """Of each kernel, how often it has the instructions that tell something; from cuobjdump -sass."""
    kernels: dict[str, Counter[str]] = {}
    name = ""
    for line in text.splitlines():
        if match := _SASS_FUNCTION.match(line):
            name = match[1]
        elif name and (match := _SASS_INSTRUCTION.match(line)):
            counts = kernels.setdefault(name, Counter())
            counts["instructions"] += 1
            counts[_name_sass(match[1])] += 1
    lines = []
    for kernel, counts in kernels.items():
        told = [f"{count} {what}" for what, count in counts.most_common() if what not in ("", "instructions")]
        lines.append(
            f"{kernel}: {counts['instructions']} instructions: {', '.join(told) or 'nothing telling'}"
        )
    return "\n".join(lines) or "no kernel was found"


def _name_sass(operation: str) -> str:
    """What an instruction tells about a kernel; empty for the others."""
    base, *parts = operation.split(".")
    width = next((part for part in parts if part in ("64", "128")), "32")
    access = {
        "LDG": "loads of global memory",
        "STG": "stores to global memory",
        "LDS": "loads of shared memory",
        "STS": "stores to shared memory",
    }
    if base in access:
        return f"{access[base]}, {width} bit"
    others = {
        "LDL": "loads of spilled registers",
        "STL": "stores of spilled registers",
        "FFMA": "fused multiply-adds",
        "MUFU": "special functions",
        "BAR": "barriers",
        "SHFL": "shuffles",
        "HMMA": "tensor-core products",
        "HGMMA": "tensor-core products",
        "CALL": "calls",
    }
    return others.get(base, "")


def summarise_sanitizer(text: str, *, returncode: int) -> str:
    """The first errors, each with its place, and how many there are; from compute-sanitizer.

    It counts no errors of a program that fails before its kernels are launched: `returncode` tells.
    """
    errors: list[list[str]] = []
    total = None
    for line in text.splitlines():
        if match := _SANITIZER_START.match(line):
            errors.append([match[1]])
        elif errors and (match := _SANITIZER_PLACE.match(line)):
            errors[-1].append(f"  {match[1]}")
        elif match := _SANITIZER_END.match(line):
            total = int(match[1])
    if total is None:
        return "compute-sanitizer did not come to its end; the report tells more"
    if total == 0 and returncode != 0:
        said = [line for line in text.splitlines() if line.strip() and not line.startswith("=========")]
        return (
            f"nothing was checked, for the submission fails: {said[-1] if said else 'the report tells more'}"
        )
    if total == 0:
        return "no access out of bounds, misaligned or to freed memory was seen in one call"
    shown = [line for error in errors[:SHOWN_ERRORS] for line in error[:4]]
    return "\n".join([f"{total} errors, the first of them:", *shown])


def summarise_ncu(text: str) -> str:
    """Of each kernel launch: time, bytes, throughput against the peak, occupancy, stalls; from ncu's CSV."""
    start = text.find('"ID"')
    rows = list(csv.reader(text[start:].splitlines())) if start >= 0 else []
    if len(rows) < 3:
        return _explain_ncu(text)
    names, units, *launches = rows
    lines = []
    for launch in launches:
        if len(launch) != len(names):
            continue
        values = dict(zip(names, zip(launch, units, strict=True), strict=True))
        lines.append(f"{values['Kernel Name'][0]}:")
        for metric, meaning in NCU_METRICS.items():
            if metric in values:
                value, unit = values[metric]
                share = " of the peak" if "throughput" in meaning else ""
                lines.append(f"  {meaning}: {value} {unit}{share}".rstrip())
        stalls = [(_read(values[metric][0]), what) for metric, what in NCU_STALLS.items() if metric in values]
        worst = sorted(stalls, reverse=True)[:3]
        told = ", ".join(f"{what} {ratio:.1f}" for ratio, what in worst if ratio > 0.05)
        if told:
            lines.append(f"  stalled warps an issue: {told}")
    return "\n".join(lines)


def _explain_ncu(text: str) -> str:
    if "ERR_NVGPUCTRPERM" in text:
        return (
            "this user may not read the GPU's counters: the machine's owner must allow it "
            "(NVreg_RestrictProfilingToAdminUsers=0)"
        )
    return "Nsight Compute saw no kernel; the report tells more"


def _read(value: str) -> float:
    try:
        return float(value.replace(",", ""))
    except ValueError:
        return 0.0
