"""Write the digests by which published versions of KernelBench are told apart.

    python scripts/kernelbench_versions.py v0=CHECKOUT v0.1=CHECKOUT v0.2=CHECKOUT

Each CHECKOUT is KernelBench at the commit that the version is named after. Digests alone are kept: no task.
"""

import sys
from pathlib import Path

from cuda_agent.bench import kernelbench
from cuda_agent.bench.suite import load_suite


def describe_version(version: str, checkout: Path) -> str:
    """One version's table: for each level, the digests of its tasks by number."""
    lines = [f'["{version}".tasks]']
    suite = load_suite(checkout)
    for level in sorted({each.level for each in suite.tasks}):
        tasks = [each for each in suite.tasks if each.level == level]
        assert [each.problem for each in tasks] == list(range(1, len(tasks) + 1)), "numbers without gaps"
        digests = " ".join(kernelbench.compute_digest(each.task.source) for each in tasks)
        lines.append(f'level{level} = "{digests}"')
    return "\n".join(lines)


def main() -> None:
    """Write the file anew."""
    tables = [
        describe_version(version, Path(checkout))
        for version, _, checkout in (argument.partition("=") for argument in sys.argv[1:])
    ]
    target = Path(kernelbench.__file__).with_name(kernelbench.VERSIONS_FILE)
    head = "# Written by scripts/kernelbench_versions.py: a digest a task, in the order of their numbers."
    target.write_text("\n\n".join([head, *tables]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
