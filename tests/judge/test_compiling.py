"""torch.compile in two steps."""

from collections.abc import Iterator

import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters

from cuda_agent.judge.compiling import compile_model, precompile

ROWS = torch.arange(12.0).reshape(3, 4)


@pytest.fixture(autouse=True)
def _forget(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    torch.compiler.reset()
    counters.clear()
    yield
    torch.compiler.reset()


class Writing(nn.Module):
    """Shows by its input that it ran."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.add_(1).cumsum(-1)


def test_what_was_built_ahead_did_not_run_and_is_not_built_again() -> None:
    model, given = Writing().eval(), ROWS.clone()
    precompile(model, [given])
    assert torch.equal(given, ROWS)
    assert counters["inductor"]["fxgraph_cache_miss"] == 1
    compiled = compile_model(model, [given])
    assert torch.equal(given, ROWS + 1)
    assert counters["inductor"]["fxgraph_cache_miss"] == 1
    assert counters["inductor"]["fxgraph_cache_hit"] == 1
    assert torch.equal(compiled(ROWS.clone()), (ROWS + 1).cumsum(-1))


def test_what_the_compiler_refuses_is_told_both_times() -> None:
    class Asking(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError("no such shape")

    for step in (precompile, compile_model):
        with pytest.raises(Exception, match="no such shape"):
            step(Asking().eval(), [ROWS])
