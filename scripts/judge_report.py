"""Run the cheats and the honest kernels past the judge, and write docs/judge.md from what was found.

`python -m scripts.judge_report` (or `make judge-report`) runs both corpora for the target at hand, keeps
every verdict in docs/results/, and writes the page anew from all results kept there, so that runs on
several machines add up. `--without LAYER` runs with a line of defence switched off, `--self-comparisons
N` lets the reference race against itself, `--render-only` runs nothing.
"""

import dataclasses
import datetime
import fnmatch
import functools
import itertools
import multiprocessing
import os
import queue
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import tyro

from cuda_agent.cli.target import choose_target
from cuda_agent.config import Record
from cuda_agent.judge.policy import JudgePolicy, Layer
from cuda_agent.report.judged import CaseResult
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.tasks.target import Target
from cuda_agent.workers.devices import list_gpus
from scripts.judge_page import load_file, load_races, load_rows, render_page
from scripts.self_comparison import run_races
from tests.judge_cases import HACKS, HONEST, Bench, Case, load_cases

REPOSITORY = Path(__file__).resolve().parents[1]
RESULTS = REPOSITORY / "docs" / "results"
PAGE = REPOSITORY / "docs" / "judge.md"
REASON_CHARACTERS = 300
PART = 12
"""Cases of a task that share a judge: fewer, and several judges may work on one task at once."""


@dataclasses.dataclass(frozen=True)
class Options:
    """What to run."""

    target: Target | None = None
    """cpu or cuda; by default what this machine has."""
    without: tuple[Layer, ...] = ()
    """Lines of defence to switch off."""
    only: str = "*"
    """Run only cases whose names fit this pattern; their verdicts are shown, and not kept."""
    self_comparisons: int = 0
    """How often to let the reference race against itself, over all sizes together."""
    jobs: int = 1
    """Tasks at once, spread over the GPUs; the judges of one device still take times one by one."""
    minutes: float = 1e6
    """Begin no further task after so many; `--resume` goes on."""
    resume: bool = False
    """Keep the verdicts of today's file and run only what is missing."""
    machine: str = "machine"
    """What the files in docs/results/ are named after."""
    render_only: bool = False
    """Run nothing, only write the page."""


def run_cases(options: Options, target: Target, *, done: Collection[str] = ()) -> Iterator[CaseResult]:
    """Put every case but those that are done before the judge, those of one task together."""
    cases = [(corpus.name, case) for corpus in (HACKS, HONEST) for case in load_cases(corpus)]
    chosen = [
        (corpus, case)
        for corpus, case in cases
        if target in case.targets and fnmatch.fnmatch(case.name, options.only) and case.name not in done
    ]
    groups: dict[tuple[str, str], list[tuple[str, Case]]] = {}
    for corpus, case in chosen:
        groups.setdefault((case.task, case.precision), []).append((corpus, case))
    parts = [group[start : start + PART] for group in groups.values() for start in range(0, len(group), PART)]
    rows = _run_groups(parts, options, target)
    for number, row in enumerate(rows, start=1):
        mark = "  " if row.is_right else "! "
        print(
            f"{mark}{number}/{len(chosen)} {row.corpus}/{row.name}: {row.verdict} ({row.seconds:.1f} s)",
            file=sys.stderr,
        )
        yield row


def _run_groups(
    groups: list[list[tuple[str, Case]]], options: Options, target: Target
) -> Iterator[CaseResult]:
    """The rows of all groups, as they come."""
    end = time.monotonic() + 60 * options.minutes
    run = functools.partial(run_group, without=options.without, target=target, end=end)
    if options.jobs == 1:
        for group in groups:
            yield from run(group)
        return
    # Fresh processes: one that has used CUDA must not be forked.
    context = multiprocessing.get_context("spawn")
    gpus = itertools.cycle(list_gpus() or ("",))
    with context.Manager() as manager:
        rows, devices = manager.Queue(), manager.Queue()
        for _ in range(options.jobs):
            devices.put(next(gpus))
        with ProcessPoolExecutor(
            options.jobs, mp_context=context, initializer=_take_device, initargs=(devices,)
        ) as pool:
            largest_first = sorted(groups, key=len, reverse=True)
            runs = [pool.submit(_send_group, run, group, rows=rows) for group in largest_first]
            for future in runs:
                future.add_done_callback(lambda _: rows.put(None))
            for _ in runs:
                yield from iter(rows.get, None)
            for future in runs:
                future.result()


def _take_device(devices: "queue.Queue[str]") -> None:
    os.environ["CUDA_VISIBLE_DEVICES"] = devices.get()


def _send_group(
    run: Callable[..., Iterator[CaseResult]],
    group: list[tuple[str, Case]],
    *,
    rows: "queue.Queue[CaseResult | None]",
) -> None:
    for row in run(group):
        rows.put(row)


def run_group(
    group: list[tuple[str, Case]], *, without: tuple[Layer, ...], target: Target, end: float
) -> Iterator[CaseResult]:
    """Put the cases of one task before one judge, as long as the monotonic clock has not come to `end`."""
    with Bench(build_sandbox(Containment.AUTO), JudgePolicy(without=without)) as bench:
        for corpus, case in group:
            if time.monotonic() >= end:
                return
            yield try_case(bench, case, target, corpus=corpus).model_copy(update={"without": without})


def try_case(bench: Bench, case: Case, target: Target, *, corpus: str) -> CaseResult:
    """One case's verdict, and whether it is a right one."""
    started = time.monotonic()
    outcome = bench.try_case(case, target)
    is_right = outcome.verdict in case.expect
    if is_right and outcome.evaluation.failed_stage is None:
        is_right = outcome.reward <= case.max_reward
    return CaseResult(
        corpus=corpus,
        name=case.name,
        kind=case.kind,
        mechanism=case.mechanism,
        source=case.source,
        target=target,
        expect=case.expect,
        verdict=outcome.verdict,
        reward=outcome.reward,
        is_right=is_right,
        reason=outcome.evaluation.reason[:REASON_CHARACTERS],
        seconds=time.monotonic() - started,
    )


def write_lines(path: Path, records: Iterable[Record]) -> None:
    """Keep records as they come, so that a run that is cut short leaves what it found."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(record.model_dump_json() + "\n")
            file.flush()


def name_result(options: Options, target: Target, what: str) -> Path:
    """`<date>-<machine>-<what>-<target>[-without-<layers>].jsonl`."""
    switched_off = "".join(f"-without-{layer.value}" for layer in options.without)
    today = datetime.date.today().isoformat()
    return RESULTS / f"{today}-{options.machine}-{what}-{target.value}{switched_off}.jsonl"


def run(options: Options, target: Target) -> int:
    """Run what is asked for and keep it; how many verdicts of a run that is not kept are wrong."""
    if options.self_comparisons:
        races = run_races(options.self_comparisons, target)
        write_lines(name_result(options, target, "self"), races)
    elif options.only == "*":
        path = name_result(options, target, "judge")
        kept = load_file(path) if options.resume and path.exists() else []
        found = run_cases(options, target, done={row.name for row in kept})
        write_lines(path, itertools.chain(kept, found))
    else:
        return sum(not row.is_right for row in run_cases(options, target))
    return 0


def main() -> int:
    """Run what is asked for and write the page; 1 when a verdict is wrong."""
    options = tyro.cli(Options, description=__doc__, config=(tyro.conf.EnumChoicesFromValues,))
    if not options.render_only:
        wrong = run(options, choose_target(options.target))
        if options.only != "*":
            return 1 if wrong else 0
    rows = load_rows(RESULTS)
    PAGE.write_text(render_page(rows, load_races(RESULTS)), encoding="utf-8")
    wrong = sum(not row.is_right for row in rows if not row.without)
    print(f"{PAGE.relative_to(REPOSITORY)}: {len(rows)} verdicts, {wrong} wrong", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
