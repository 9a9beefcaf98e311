from pathlib import Path

import pytest

from cuda_agent.tasks.target import Target
from scripts.expert_coverage import Attempt, CoverageConfig, list_tasks, run_coverage, write_table
from tests.expert.zoo import ZOO, X, write_module


def test_reasons_are_counted_and_the_most_frequent_comes_first() -> None:
    found = [Attempt(name="a"), Attempt(name="b", reason="x|y"), *(Attempt(name=n, reason="z") for n in "cd")]
    assert write_table(found).splitlines() == [
        "written: 1 of 4",
        "",
        "| tasks | why not | for example |",
        "|---|---|---|",
        "| 2 | z | c |",
        "| 1 | x/y | b |",
    ]
    assert write_table(found[:1]) == "written: 1 of 1"


def test_tasks_are_planned_and_refusals_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources = {"good": ZOO["softmax"], "bad": write_module("return torch.nextafter(x, x * 2)", X)}
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(source)
    places = tuple(str(tmp_path / f"{name}.py") for name in sources)
    assert [task.name for task in list_tasks(places)] == ["good", "bad"]
    run_coverage(CoverageConfig(tasks=places, target=Target.CUDA))
    printed = capsys.readouterr().out
    assert "[1/2] good: written" in printed
    assert "written: 1 of 2" in printed
    assert "| 1 | I have no kernel for the operation aten.nextafter.default yet | bad |" in printed
