from cuda_agent.expert.plan import Digit, Operand, Product
from cuda_agent.expert.text_product import find_touched, write_lambda, write_matrix, write_size, write_walk

EVEN = Operand(buffer="in0", offset=0, rows=(Digit(count=4, stride=8),), cols=(Digit(count=8, stride=1),))


def test_an_index_is_taken_apart_into_its_digits() -> None:
    digits = (Digit(count=2, stride=100), Digit(count=3, stride=1), Digit(count=5, stride=7))
    assert write_walk(digits) == "(i / 15) * 100 + i / 5 % 3 + (i % 5) * 7"
    walk = eval(write_walk(digits).replace("/", "//"), {"i": 22})
    assert walk == 1 * 100 + 1 * 1 + 2 * 7


def test_an_axis_that_does_not_move_needs_no_index() -> None:
    assert write_lambda((), "[]") == "[](int64_t) { return int64_t{0}; }"


def test_an_operand_is_a_pointer_and_three_functions() -> None:
    moved = EVEN.model_copy(update={"offset": 3})
    assert write_matrix(moved) == (
        "Matrix{in0 + 3, [](int64_t i) { return (i) * 8; }, [](int64_t i) { return i; }, "
        "[](int64_t) { return int64_t{0}; }}"
    )


def test_a_buffer_that_is_both_operands_is_one_argument() -> None:
    product = Product(name="p", out="out0", batch=1, rows=4, cols=4, depth=8, left=EVEN, right=EVEN)
    assert find_touched(product) == ["in0", "out0"]
    assert write_size(product) == "{1, 4, 4, 8}"
