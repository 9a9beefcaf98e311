"""Reads a compiler's output: what kind of failure it is, and where it starts."""

import re
from collections.abc import Mapping

from cuda_agent.environment.result import BuildStatus
from cuda_agent.sandbox.protocol import Completed

SYMPTOMS: tuple[tuple[BuildStatus, re.Pattern[str]], ...] = (
    (
        BuildStatus.DISK_FULL,
        re.compile(r"No space left on device|Disk quota exceeded|File size limit exceeded|File too large"),
    ),
    (
        BuildStatus.OUT_OF_MEMORY,
        re.compile(
            r"out of memory|virtual memory exhausted|[Cc]annot allocate memory|std::bad_alloc|"
            r"(Killed|Segmentation fault) signal terminated program"
        ),
    ),
    (
        BuildStatus.MISSING_HEADER,
        re.compile(r"fatal error: .*No such file or directory|cannot open source file"),
    ),
)
"""Texts that tell one failure from another, the first that fits decides."""

FIRST_ERROR = re.compile(
    r"^(?P<file>[\w./+-]+?)(?::(?P<line>\d+)(?::\d+)?|\((?P<nvcc_line>\d+)\)): "
    r"(?:fatal |catastrophic |internal compiler )?error\b.*$",
    re.MULTILINE,
)
PLACE = re.compile(
    r"^(?:In file included from |\s+from )?"
    r"(?P<file>[\w./+-]+?)(?::(?P<line>\d+)\b|\((?P<nvcc_line>\d+)\)).*$",
    re.MULTILINE,
)
NEXT_DIAGNOSTIC = re.compile(r"^(?:[\w./+-]+(?::\d+|\(\d+\))|compilation terminated|\d+ errors? detected)")
OTHER_ERROR = re.compile(
    r"^.*(?:\berror\b|undefined reference|multiple definition|ptxas fatal).*$", re.MULTILINE
)

MAX_ERROR_LINES = 8
MAX_LINE_CHARS = 240


def classify_failure(completed: Completed, otherwise: BuildStatus) -> BuildStatus:
    """What kind of failure a compiler's end is; `otherwise` when nothing special shows."""
    if completed.timed_out:
        return BuildStatus.TIMED_OUT
    output = completed.stderr + completed.stdout
    return next((status for status, pattern in SYMPTOMS if pattern.search(output)), otherwise)


def find_first_error(output: str, sources: Mapping[str, bytes]) -> str:
    """The first error's lines, with its line of source when that is one of `sources`.

    For an error inside a header of others, the place in the submission that leads there is added.
    """
    match = FIRST_ERROR.search(output)
    if match is None:
        other = OTHER_ERROR.search(output)
        return _clip(other.group()) if other else _clip("\n".join(output.strip().splitlines()[-3:]))
    lines = [match.group()]
    for line in output[match.end() :].lstrip("\n").splitlines()[: MAX_ERROR_LINES - 1]:
        if NEXT_DIAGNOSTIC.match(line):
            break
        lines.append(line)
    source = _source_line(match, sources)
    if source and len(lines) == 1:
        lines.append(f"    {source}")
    if match["file"] not in sources:
        lines += _find_place(output, sources)
    return "\n".join(_clip(line) for line in lines).rstrip()


def _find_place(output: str, sources: Mapping[str, bytes]) -> list[str]:
    """Where the submission comes in when the error itself is inside a header of others."""
    for match in PLACE.finditer(output):
        source = _source_line(match, sources)
        if source:
            return [match.group(), f"    {source}"]
    return []


def _source_line(match: re.Match[str], sources: Mapping[str, bytes]) -> str:
    line = int(match["line"] or match["nvcc_line"])
    text = sources.get(match["file"], b"").decode("utf-8", "replace").splitlines()
    return text[line - 1].strip() if 0 < line <= len(text) else ""


def _clip(text: str) -> str:
    return text if len(text) <= MAX_LINE_CHARS else text[:MAX_LINE_CHARS] + " ..."
