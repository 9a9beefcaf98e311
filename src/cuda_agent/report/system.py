"""The page of the system: devices, versions, clocks, configurations, and the commands to repeat it all."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue

from cuda_agent.report.material import Material, SavedRun
from cuda_agent.report.page import Page
from cuda_agent.report.reward_page import iterate_evaluations
from cuda_agent.report.throughput import build_throughput_chart, describe_throughput, list_further


def build_system_page(material: Material) -> Page:
    """What everything ran on, and how."""
    machines = list(_iterate_machines(material))
    missing = [] if machines else ["No timed evaluation was found, so no device or version is known."]
    if not material.runs:
        missing.append("No folder of a run was found, so there is no configuration to show.")
    throughputs = [each for each in material.throughputs if list_further(each.evaluations)]
    return Page(
        name="system",
        template="system",
        title="The system",
        lead="A figure without its machine, versions and command is a rumour.",
        data={
            "machines": machines,
            "throughputs": list(map(describe_throughput, throughputs)),
            "runs": [_describe_run(run) for run in material.runs],
            "commands": ["make demo", "make judge-report", "make docs"],
        },
        charts={"throughput": build_throughput_chart(throughputs)} if throughputs else {},
        missing=tuple(missing),
        is_empty=not machines and not material.runs and not throughputs,
    )


def _iterate_machines(material: Material) -> Iterator[dict[str, Any]]:
    """Each device with its versions once, with its ways to time and the runs that each was seen in."""
    seen: dict[tuple[Any, ...], dict[str, list[str]]] = {}
    for run, evaluation in iterate_evaluations(material):
        profile = evaluation.profile
        if profile is not None and profile.device:
            key = (profile.device, tuple(sorted(profile.versions.items())))
            seen.setdefault(key, {}).setdefault(profile.method, []).append(run)
    for (device, versions), methods in seen.items():
        yield {
            "device": device,
            "versions": dict(versions),
            "ways": _join_methods(methods),
        }


def _join_methods(runs_by_method: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Ways to time that differ in their numbers alone are one, with the range of each number."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for method in runs_by_method:
        groups.setdefault(tuple(re.split(r"[0-9]+", method)), []).append(method)
    ways = []
    for words, methods in groups.items():
        columns = zip(*(map(int, re.findall(r"[0-9]+", method)) for method in methods), strict=True)
        ends = [(min(column), max(column)) for column in columns]
        ranges = [f"{low} to {high}" if low < high else str(low) for low, high in ends]
        runs = [run for method in methods for run in runs_by_method[method]]
        told = "".join(f"{word}{number}" for word, number in zip(words, [*ranges, ""], strict=True))
        ways.append({"method": told, "runs": sorted(set(runs)), "evaluations": len(runs)})
    return ways


def _describe_run(run: SavedRun) -> dict[str, Any]:
    config = {name: value for name, value in run.config.items() if name not in ("tasks", "pairs")}
    tasks = run.config.get("tasks")
    names = [str(task.get("task_id") or task.get("name", "")) for task in _list_objects(tasks)]
    return {
        "name": run.name,
        "digest": run.digest,
        "tasks": names,
        "config": dict(_flatten(config)),
        "commands": _list_commands(run),
    }


def _list_commands(run: SavedRun) -> list[str]:
    """What goes on with a run, and what tells of it."""
    folder = shlex.quote(run.name)
    match run.verb:
        case "synth":
            return [
                f"cuda-agent synth --resume {folder}",
                f"cuda-agent synth audit {folder}/tasks.parquet",
            ]
        case "run":
            return [f"cuda-agent run --resume {folder}", f"cuda-agent show {folder}"]
        case "bench":
            return [f"cuda-agent bench report {folder}", f"cuda-agent show {folder}"]
    return [f"cuda-agent report {folder}"]


def _list_objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _flatten(value: JsonValue, *, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _flatten(each, place=f"{place}.{key}" if place else key)
    else:
        yield place, str(value)
