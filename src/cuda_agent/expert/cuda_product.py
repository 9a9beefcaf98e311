"""Write one matrix product of a plan for CUDA: through cuBLAS where it takes the operands, else in tiles."""

from cuda_agent.config import Record
from cuda_agent.expert.plan import Operand, Product
from cuda_agent.expert.text_product import find_touched, write_matrix, write_size

TILE = 64
"""Rows and columns of the result in a block, as in device_product.h."""

MOST_INT = (1 << 31) - 1
"""The library counts in int."""


class LibraryMatrix(Record):
    """An operand as cuBLAS takes it."""

    is_transposed: bool
    """Whether it is packed along its columns."""
    stride: int
    """Elements from one row (or column) to the next."""
    distance: int
    """Elements from one matrix of a batch to the next."""


def find_library_matrix(operand: Operand, *, rows: int, cols: int) -> LibraryMatrix | None:
    """The operand as cuBLAS takes it, or None where it does not lie in memory that way."""
    down, along = operand.get_stride("rows"), operand.get_stride("cols")
    distance = operand.get_stride("batch")
    if down is None or along is None or distance is None:
        return None
    for is_transposed, step, stride, count, lines in (
        (False, along, down, cols, rows),
        (True, down, along, rows, cols),
    ):
        wide = count if lines == 1 else stride
        if (step == 1 or count == 1) and count <= wide <= MOST_INT:
            return LibraryMatrix(is_transposed=is_transposed, stride=wide, distance=distance)
    return None


def suits_library(product: Product) -> bool:
    """Whether cuBLAS takes the operands of a product as they lie in memory."""
    left = find_library_matrix(product.left, rows=product.rows, cols=product.depth)
    right = find_library_matrix(product.right, rows=product.depth, cols=product.cols)
    return left is not None and right is not None


class CudaProduct:
    """The CUDA of one product."""

    def __init__(self, product: Product) -> None:
        """Prepare to write `product`."""
        self.product = product

    def write(self) -> str:
        """A function that launches the product."""
        product = self.product
        names = find_touched(product)
        declared = [f"{'' if name == product.out else 'const '}float* {name}" for name in names]
        body = self._write_library() if suits_library(product) else self._write_tiles()
        head = f"static void {product.name}({', '.join(declared)}, cudaStream_t stream) {{"
        return "\n".join([head, *(f"  {line}" for line in body), "}"]) + "\n"

    def write_launches(self) -> list[str]:
        """The call from `fused`."""
        return [f"{self.product.name}({', '.join(find_touched(self.product))}, stream);"]

    def _write_library(self) -> list[str]:
        product = self.product
        sizes = f"{product.batch}, {product.rows}, {product.cols}, {product.depth}"
        left = self._write_operand(product.left, rows=product.rows, cols=product.depth)
        right = self._write_operand(product.right, rows=product.depth, cols=product.cols)
        return [f"multiply_by_library(stream, {sizes}, {left}, {right}, {product.out});"]

    def _write_operand(self, operand: Operand, *, rows: int, cols: int) -> str:
        found = find_library_matrix(operand, rows=rows, cols=cols)
        assert found is not None, f"{operand.buffer} is no matrix for the library"
        operation = "CUBLAS_OP_T" if found.is_transposed else "CUBLAS_OP_N"
        offset = f" + {operand.offset}" if operand.offset else ""
        return f"{operand.buffer}{offset}, {{{operation}, {found.stride}, {found.distance}}}"

    def _write_tiles(self) -> list[str]:
        product = self.product
        blocks = product.batch * -(-product.rows // TILE) * -(-product.cols // TILE)
        head = "[] __device__ "
        return [
            f"const auto left = {write_matrix(product.left, head=head)};",
            f"const auto right = {write_matrix(product.right, head=head)};",
            f"const ProductSize size = {write_size(product)};",
            f"multiply_tiles<<<{blocks}, 256, 0, stream>>>(size, left, right, {product.out});",
        ]
