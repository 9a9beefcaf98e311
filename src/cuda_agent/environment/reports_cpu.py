"""What tools for processors print, as the lines that an agent needs."""

import re
from collections import Counter
from collections.abc import Iterator

SHOWN = 40
"""How many lines of one kind are shown."""

_VECTOR = re.compile(r"^(?P<place>kernels/[^:]+:\d+):\d+: (?P<kind>optimized|missed): +(?P<what>.+)$")
_LOOP_MISSED = re.compile(r"couldn't vectorize loop")
_FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>[^>]+)>:$")
_INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\s+(?:lock |rep |notrack |bnd )*(?P<name>[a-z]\w*)\s*(?P<rest>.*)$")
_SCALAR_FLOAT = re.compile(
    r"^v?(?:add|sub|mul|div|sqrt|max|min|fmadd\d*|fnmadd\d*|mov|cvt\w*|ucomi|comi)s[sd]\w*$"
)
_SMALL = 12
_NOT_OURS = re.compile(r"register_tm_clones|deregister_tm_clones|__do_global|kernel::detail::|.*\.cold\b")
"""What the compiler and the binding add to a library."""

WIDTHS = (("zmm", "64-byte"), ("ymm", "32-byte"), ("xmm", "16-byte"))


def summarise_vectors(text: str) -> str:
    """Which loops are vectorised, how wide, and why others are not; from g++'s -fopt-info-vec-all."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in text.splitlines():
        if match := _VECTOR.match(line):
            found.setdefault((match["place"], match["kind"]), []).append(match["what"])
    lines = [
        f"{place}: {'; '.join(dict.fromkeys(what))}"
        for (place, kind), what in _sort(found)
        if kind == "optimized"
    ]
    vectorised = {place for place, kind in found if kind == "optimized"}
    for (place, kind), what in _sort(found):
        if kind == "missed" and place not in vectorised and any(map(_LOOP_MISSED.match, what)):
            reasons = [each for each in dict.fromkeys(what) if not _LOOP_MISSED.match(each)]
            lines.append(f"{place}: loop not vectorized: {'; '.join(reasons[:3]) or 'no reason given'}")
    return "\n".join(_limit(lines)) or "no loop was found in kernels/"


def summarise_machine_code(text: str) -> str:
    """Of each function, how many instructions are of which width, and what it calls; from objdump."""
    lines = []
    for name, instructions in _split_functions(text):
        if len(instructions) < _SMALL or _NOT_OURS.match(name):
            continue
        widths = Counter(_find_width(operation, rest) for operation, rest in instructions)
        told = [f"{widths[word]} {word}" for word in ("64-byte", "32-byte", "16-byte", "scalar float")]
        calls = Counter(
            rest.partition("<")[2].rstrip(">").partition("@")[0]
            for operation, rest in instructions
            if operation.startswith("call") and "<" in rest
        )
        called = ", ".join(f"{callee} {count}x" for callee, count in calls.most_common(6))
        ending = f"; calls {called}" if called else ""
        lines.append(f"{name}: {len(instructions)} instructions: {', '.join(told)}{ending}")
    return "\n".join(_limit(lines)) or "no function of more than a few instructions"


def summarise_counters(text: str, *, calls: int) -> str:
    """The counters for each call, with what follows from them; from `perf stat -x,`."""
    values: dict[str, float] = {}
    units: dict[str, str] = {}
    lacking = []
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) < 3 or not fields[2]:
            continue
        name = fields[2].partition(":")[0]
        try:
            values[name] = float(fields[0])
            units[name] = f" {fields[1]}" if fields[1] else ""
        except ValueError:
            lacking.append(name)
    lines = [f"{name}: {_format(value / calls)}{units[name]} a call" for name, value in values.items()]
    if values.get("cycles") and "instructions" in values:
        lines.append(f"instructions a cycle: {values['instructions'] / values['cycles']:.2f}")
    if values.get("cache-references") and "cache-misses" in values:
        lines.append(f"cache misses: {values['cache-misses'] / values['cache-references']:.1%} of references")
    if lacking:
        lines.append(f"this machine does not count: {', '.join(lacking)} (virtual machines often do not)")
    return "\n".join(lines) or "perf counted nothing"


def _format(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _split_functions(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    name = ""
    instructions: list[tuple[str, str]] = []
    for line in text.splitlines():
        if match := _FUNCTION.match(line):
            if name:
                yield name, instructions
            name, instructions = match["name"], []
        elif match := _INSTRUCTION.match(line):
            instructions.append((match["name"], match["rest"]))
    if name:
        yield name, instructions


def _find_width(operation: str, rest: str) -> str:
    if _SCALAR_FLOAT.match(operation) and "mm" in rest:
        return "scalar float"
    return next((word for register, word in WIDTHS if register in rest), "other")


def _sort(found: dict[tuple[str, str], list[str]]) -> list[tuple[tuple[str, str], list[str]]]:
    def place(item: tuple[tuple[str, str], list[str]]) -> tuple[str, int]:
        file, _, line = item[0][0].rpartition(":")
        return file, int(line)

    return sorted(found.items(), key=place)


def _limit(lines: list[str]) -> list[str]:
    return lines if len(lines) <= SHOWN else [*lines[:SHOWN], f"and {len(lines) - SHOWN} more"]
