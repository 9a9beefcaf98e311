"""Shapes by the names of axes and choices."""

from cuda_agent.synthesis.operator import Layout, Operand, OperandKind, Operator
from cuda_agent.synthesis.plan import Step, accepts, name_axes


def make_step(kind: OperandKind, *shape: str) -> Step:
    operand = Operand(kind=kind, shape=shape)
    operator = Operator(name="torch.f", layout=Layout.TOKENS, template="f({x}, {y})", operands={"y": operand})
    axes = name_axes(Layout.TOKENS, 3)
    return Step(operator=operator, values={"wide": "7"}, kinds={"y": kind}, shape=(2, 3, 5), axes=axes)


def test_an_operands_shape() -> None:
    assert make_step(OperandKind.INPUT, "*").shape_operand("y") == (2, 3, 5)
    assert make_step(OperandKind.INPUT, "*:-1", "wide").shape_operand("y") == (2, 3, 7)
    assert make_step(OperandKind.INPUT, "features", "4").shape_operand("y") == (5, 4)


def test_a_weight_is_shared_by_the_batch() -> None:
    assert make_step(OperandKind.WEIGHT, "*").shape_operand("y") == (3, 5)


def test_which_shapes_a_layout_accepts() -> None:
    assert accepts(Layout.IMAGE, (1, 2, 3, 4))
    assert not accepts(Layout.IMAGE, (1, 2, 3))
    assert accepts(Layout.SQUARE, (2, 3, 3))
    assert not accepts(Layout.SQUARE, (2, 3, 4))
    assert not accepts(Layout.INDICES, (2, 3))
    assert accepts(Layout.ANY, (5,))
    assert not accepts(Layout.FEATURES, (5,))
    assert not accepts(Layout.ANY, ())


def test_axes_of_any_rank_have_names() -> None:
    for rank in range(1, 7):
        assert len(set(name_axes(Layout.ANY, rank))) == rank
