from collections.abc import Mapping

from cuda_agent.expert.cpu_product import CpuProduct
from tests.expert.built import Planned


def test_a_product_is_one_call(planned: Mapping[str, Planned]) -> None:
    writer = CpuProduct(planned["product"].plan.products[0])
    assert "multiply({1, 45, 83, 300}, left, right, out0);" in writer.write()
    assert writer.write_call() == "kernel0(in0, in1, out0);"
