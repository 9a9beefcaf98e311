"""The examples are tasks worth solving: well-formed, big enough to time, with outputs that mean something."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch

from cuda_agent.tasks.kernelbench import load_task

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))
MIB = 1 << 20


def load_module(path: Path) -> ModuleType:
    """Run an example in this process: it is our own code."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shorten(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The first few rows of each input: as good for values, and quicker."""
    return [tensor[:1] if tensor.dim() > 2 else tensor[:8] for tensor in inputs]


def get_tensors(output: object) -> list[torch.Tensor]:
    """The tensors of an example's output."""
    outputs = output if isinstance(output, tuple) else (output,)
    assert all(isinstance(tensor, torch.Tensor) for tensor in outputs)
    return list(outputs)


def test_there_are_six() -> None:
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_parses_as_a_task(path: Path) -> None:
    assert load_task(path).name == path.stem


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_output_means_something(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    module = load_module(path)
    torch.manual_seed(0)
    model = module.Model(*module.get_init_inputs()).eval()
    inputs = module.get_inputs()
    moved = sum(tensor.nbytes for tensor in inputs)
    assert 32 * MIB <= moved <= 256 * MIB, "too small to time, or too big for a laptop"
    inputs = shorten(inputs)
    with torch.inference_mode():
        outputs = get_tensors(model(*inputs))
        again = get_tensors(model(*inputs))
        others = get_tensors(model(*[-x if x.is_floating_point() else x for x in inputs]))
    for output, same, other in zip(outputs, again, others, strict=True):
        assert torch.isfinite(output).all()
        assert torch.equal(output, same), "the same inputs must give the same output"
        assert not torch.equal(output, other), "other inputs must give another output"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_weights_matter(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    module = load_module(path)
    model = module.Model(*module.get_init_inputs()).eval()
    inputs = shorten(module.get_inputs())
    for name, parameter in model.named_parameters():
        with torch.inference_mode():
            before = get_tensors(model(*inputs))
            parameter.mul_(1.5)
            after = get_tensors(model(*inputs))
        assert not all(map(torch.equal, before, after)), f"{name} changes nothing"
        assert parameter.std() > 0.01, f"{name} is constant"
