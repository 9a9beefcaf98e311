"""Matrix products as C++ that both targets share: an operand is a pointer and functions of its indices."""

from cuda_agent.expert.plan import Digit, Operand, Product


def write_walk(digits: tuple[Digit, ...]) -> str:
    """Distance of an index `i` from the first, as a C++ expression."""
    parts = []
    below = 1
    for place in range(len(digits) - 1, -1, -1):
        digit = digits[place]
        own = "i" if below == 1 else f"i / {below}"
        if place:
            own = f"{own} % {digit.count}"
        if digit.stride:
            parts.append(own if digit.stride == 1 else f"({own}) * {digit.stride}")
        below *= digit.count
    return " + ".join(reversed(parts)) or "int64_t{0}"


def write_lambda(digits: tuple[Digit, ...], head: str) -> str:
    """The function from an index to its distance from the first."""
    name = " i" if any(digit.stride for digit in digits) else ""
    return f"{head}(int64_t{name}) {{ return {write_walk(digits)}; }}"


def write_matrix(operand: Operand, *, head: str = "[]") -> str:
    """The operand as a `Matrix` of product.h."""
    walks = [write_lambda(digits, head) for digits in (operand.rows, operand.cols, operand.batch)]
    offset = f" + {operand.offset}" if operand.offset else ""
    return f"Matrix{{{operand.buffer}{offset}, {', '.join(walks)}}}"


def write_size(product: Product) -> str:
    """The sizes as a `ProductSize`."""
    return f"{{{product.batch}, {product.rows}, {product.cols}, {product.depth}}}"


def find_touched(product: Product) -> list[str]:
    """The buffers that a product reads and the one that it fills, each once."""
    return list(dict.fromkeys((product.left.buffer, product.right.buffer, product.out)))
