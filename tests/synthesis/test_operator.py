"""An operator knows where it is and how it is written."""

from cuda_agent.synthesis.operator import Layout, Operator


def test_library_and_kind() -> None:
    module = Operator(name="torch.nn.ReLU", layout=Layout.ANY, template="nn.ReLU()")
    function = Operator(name="transformers.x.f", layout=Layout.ANY, template="f({x})")
    assert (module.package, module.is_module) == ("torch", True)
    assert (function.package, function.is_module) == ("transformers", False)
