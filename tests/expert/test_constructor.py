import pytest

from cuda_agent.expert.constructor import (
    SignatureError,
    find_method,
    find_model,
    write_arguments,
    write_constant,
    write_held,
    write_holders,
)
from cuda_agent.expert.graph import Origin, Source

SOURCE = """
SIZE = 4
class Model(nn.Module):
    def __init__(me, size: int, *rest, eps: float = 1e-6, table=SIZE, **more):
        pass
    def forward(self, x: torch.Tensor, y=None, k: float = 2.0): pass
"""


def hold(path: str, origin: Origin = Origin.PARAMETER, *, dtype: str = "float32") -> Source:
    return Source(name="p", origin=origin, path=path, shape=(2, 3), dtype=dtype)


def test_signatures_are_kept_without_annotations() -> None:
    model = find_model(SOURCE)
    assert (
        write_arguments(find_method(model, "__init__")) == "self, size, *rest, eps=1e-06, table=None, **more"
    )
    assert write_arguments(find_method(model, "forward")) == "self, x, y=None, k=2.0"
    assert write_arguments(find_method(model, "missing")) == "self"


def test_a_missing_class_is_said() -> None:
    with pytest.raises(SignatureError, match="no class Model"):
        find_model("Model = make()")


def test_holders_nest_as_in_the_reference() -> None:
    lines = write_holders(
        [hold("b"), hold("layers.0.weight"), hold("layers.0.n", Origin.BUFFER, dtype="int64")]
    )
    assert lines == [
        "self.register_parameter('b', nn.Parameter(torch.empty([2, 3], dtype=torch.float32)))",
        "self.add_module('layers', nn.Module())",
        "self.layers.add_module('0', nn.Module())",
        "self.layers.get_submodule('0').register_parameter('weight', "
        "nn.Parameter(torch.empty([2, 3], dtype=torch.float32)))",
        "self.layers.get_submodule('0').register_buffer('n', torch.empty([2, 3], dtype=torch.int64))",
    ]


def test_held_tensors_are_read_by_name() -> None:
    assert write_held(hold("norm.weight")) == "self.norm.weight"
    assert write_held(hold("layers.0.weight")) == "self.get_parameter('layers.0.weight')"
    assert write_held(hold("layers.0.n", Origin.BUFFER)) == "self.get_buffer('layers.0.n')"


def test_small_constants_are_written_out() -> None:
    source = Source(
        name="c", origin=Origin.CONSTANT, path="c", shape=(1, 2), dtype="int64", values=(3.0, float(4))
    )
    assert write_constant(source) == "torch.tensor([3, 4], dtype=torch.int64).reshape([1, 2])"
