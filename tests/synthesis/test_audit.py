"""An audit finds every planted fault, and nothing in clean rows."""

import pytest

from cuda_agent.synthesis.audit import run_audit
from cuda_agent.synthesis.fate import Filter
from cuda_agent.synthesis.probe import Probe
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.similarity import compute_print
from cuda_agent.tasks.dataset import Row
from tests.synthesis.conftest import GOOD, RENAMED

KNOWN = GOOD.replace("torch.tanh(x)", "torch.softmax(x * 2.0 + 1.0, dim=1).cumsum(1)")
ZERO_WEIGHT = GOOD.replace("return torch.tanh(x)", "return torch.exp(x)").replace(
    "width)\n\n",
    "width)\n        nn.init.zeros_(self.linear.weight)\n        nn.init.zeros_(self.linear.bias)\n\n",
    1,
)
ROWS = {
    "clean": (GOOD, ("nn.Linear", "torch.tanh"), None),
    "copy": (GOOD, ("nn.Linear", "torch.tanh"), Filter.DUPLICATE),
    "renamed": (RENAMED, ("nn.Linear", "torch.tanh"), Filter.DUPLICATE),
    "label": (GOOD.replace("tanh", "sin"), ("nn.Conv2d", "torch.sin"), Filter.LABEL),
    "known": (KNOWN.replace("2.0", "3.5").replace("32", "640"), ("torch.cumsum",), Filter.SIMILAR),
    "dropout": (
        GOOD.replace("torch.tanh(x)", "torch.dropout(x, 0.3, True)"),
        ("nn.Linear",),
        Filter.STOCHASTIC,
    ),
    "broken": ("def", ("x",), Filter.PARSES),
}
RUN = {
    "constant": (GOOD.replace("tanh(x)", "clamp(torch.relu(x), max=0)"), ("torch.clamp",), Filter.GATE),
    "zero weight": (ZERO_WEIGHT, ("nn.Linear", "torch.exp"), Filter.GATE),
    "crash": (GOOD.replace("torch.tanh(x)", "torch.cos(x) / exit(3)"), ("torch.cos",), Filter.EAGER),
    "clean too": (GOOD.replace("tanh", "cosh"), ("torch.cosh",), None),
}


def make_rows(cases: dict[str, tuple[str, tuple[str, ...], Filter | None]]) -> list[Row]:
    return [Row(id=name, ops=ops, data_source="torch#2", code=code) for name, (code, ops, _) in cases.items()]


@pytest.mark.parametrize("is_run", [False, True])
def test_planted_faults_are_found(probe: Probe, is_run: bool) -> None:
    assert ZERO_WEIGHT.count("zeros_") == 2
    cases = ROWS | RUN if is_run else ROWS
    known = {"level1/9_known.py": compute_print(KNOWN)}
    done: list[int] = []
    found = run_audit(
        make_rows(cases),
        recipe=Recipe(),
        kernelbench=known,
        probe=probe if is_run else None,
        observe=done.append,
    )
    faults = {fault.id: fault.found_by for fault in found.faults}
    assert faults == {name: filter_ for name, (_, _, filter_) in cases.items() if filter_ is not None}
    assert (found.rows, found.copies, found.compared_with) == (len(cases), 1, 1)
    assert done[-1] == len(cases)
