"""How much memory a task needs, without allocating it."""

import warnings
from types import ModuleType

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def estimate_bytes(program: ModuleType) -> int:
    """Bytes of a task's inputs, state and outputs together, from one run on fake tensors.

    Returns 0 when the program cannot run on fake tensors (it reads values, or calls into numpy): then
    nothing is known beforehand, and the memory limits of its process are the only guard.
    """
    try:
        with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arguments = program.get_init_inputs()
            model = program.Model(**arguments) if isinstance(arguments, dict) else program.Model(*arguments)
            inputs = program.get_inputs()
            outputs = model.eval()(*inputs)
            held = [*inputs, *model.state_dict().values(), *_flatten(outputs)]
            return sum(value.numel() * value.itemsize for value in held if isinstance(value, torch.Tensor))
    except (RuntimeError, TypeError, ValueError, NotImplementedError, AttributeError, KeyError):
        return 0


def _flatten(value: object) -> list[object]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _flatten(item)]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _flatten(item)]
    return [value]
