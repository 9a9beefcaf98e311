from collections.abc import Mapping

from cuda_agent.expert.lower_product import merge_digits, split_digits
from cuda_agent.expert.plan import Digit, Product
from tests.expert.built import Planned


def get_product(planned: Mapping[str, Planned], name: str) -> Product:
    return planned[name].plan.products[0]


def test_views_of_an_operand_cost_nothing(planned: Mapping[str, Planned]) -> None:
    strided = get_product(planned, "product_of_strided")
    assert len(planned["product_of_strided"].plan.steps) == 1
    assert (strided.left.rows, strided.left.cols) == (
        (Digit(count=12, stride=18),),
        (Digit(count=9, stride=2),),
    )
    assert (strided.right.rows, strided.right.cols) == (
        (Digit(count=9, stride=1),),
        (Digit(count=6, stride=36),),
    )


def test_windows_of_a_convolution_are_never_written_out(planned: Mapping[str, Planned]) -> None:
    line = planned["convolution_line"].plan
    assert line.products[0].right.rows == (Digit(count=3, stride=30), Digit(count=4, stride=1))
    assert line.products[0].right.cols == (Digit(count=9, stride=3),)
    assert all(buffer.numel <= 3 * 2 * 30 for buffer in line.buffers)


def test_an_operand_that_is_computed_is_in_memory_first(planned: Mapping[str, Planned]) -> None:
    _kernel, product = planned["product_of_a_sum"].plan.steps
    assert isinstance(product, Product)
    assert product.left.buffer == planned["product_of_a_sum"].plan.kernels[0].stores[0].access.buffer


def test_digits_that_follow_each_other_are_one() -> None:
    assert merge_digits([Digit(count=2, stride=12), Digit(count=3, stride=4)]) == (Digit(count=6, stride=4),)
    assert len(merge_digits([Digit(count=2, stride=10), Digit(count=3, stride=4)])) == 2
    assert split_digits([2, 1, 3, 4], [12, 0, 4, 1], shape=(6, 4)) == [
        (Digit(count=6, stride=4),),
        (Digit(count=4, stride=1),),
    ]
