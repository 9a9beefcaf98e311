"""Write one matrix product of a plan for CUDA: through cuBLAS or cuDNN where these take it, else in tiles."""

from cuda_agent.config import Record
from cuda_agent.expert.choice import Choice, Convolve
from cuda_agent.expert.cuda_convolution import Axis, Convolution, find_convolution
from cuda_agent.expert.plan import Operand, Product
from cuda_agent.expert.text_product import find_touched, write_matrix, write_size
from cuda_agent.judge.policy import Precision

TILE = 64
"""Rows and columns of the result in a block, as in device_product.h."""

MOST_INT = (1 << 31) - 1
"""The library counts in int."""


ALGORITHMS = {
    Convolve.LIBRARY: "COUNT",
    Convolve.WINOGRAD: "WINOGRAD_NONFUSED",
    Convolve.FOURIER: "FFT_TILING",
    Convolve.GEMM: "IMPLICIT_PRECOMP_GEMM",
}
"""cuDNN's algorithm for each way to convolve, after CUDNN_CONVOLUTION_FWD_ALGO_; COUNT stands for none."""

WORKSPACE = "workspace"
"""Scratch buffer for cuDNN."""

WORKSPACE_FLOATS = 64 << 20
"""Its size: algorithms that need more are not taken."""


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


def is_convolution(product: Product) -> bool:
    """Whether cuDNN takes a product that cuBLAS does not take."""
    return not suits_library(product) and find_convolution(product) is not None


def find_product_header(product: Product, choice: Choice) -> str:
    """The header that a product needs."""
    if suits_library(product):
        return "cublas_product.h"
    if choice.convolve is not Convolve.TILES and is_convolution(product):
        return "cudnn_convolution.h"
    return "device_product.h"


class CudaProduct:
    """The CUDA of one product."""

    def __init__(self, product: Product, choice: Choice, *, precision: Precision = Precision.HIGHEST) -> None:
        """Prepare to write `product`."""
        self.product = product
        self._precision = precision
        self._choice = choice
        self._header = find_product_header(product, choice)

    def write(self) -> str:
        """A function that launches the product."""
        write_body = {
            "cublas_product.h": self._write_library,
            "cudnn_convolution.h": self._write_convolution,
            "device_product.h": self._write_tiles,
        }
        written = (self.product.out, WORKSPACE)
        declared = [f"{'' if name in written else 'const '}float* {name}" for name in self._find_arguments()]
        head = f"static void {self.product.name}({', '.join(declared)}, cudaStream_t stream) {{"
        return "\n".join([head, *(f"  {line}" for line in write_body[self._header]()), "}"]) + "\n"

    def write_launches(self) -> list[str]:
        """The call from `fused`."""
        return [f"{self.product.name}({', '.join(self._find_arguments())}, stream);"]

    def _find_arguments(self) -> list[str]:
        needs_workspace = self._header == "cudnn_convolution.h"
        return [*find_touched(self.product), *([WORKSPACE] if needs_workspace else [])]

    def _write_convolution(self) -> list[str]:
        product = self.product
        found = find_convolution(product)
        assert found is not None, f"{product.name} is no convolution"
        math = "CUDNN_DEFAULT_MATH" if self._precision.convolves_in_tf32 else "CUDNN_FMA_MATH"
        wanted = f"CUDNN_CONVOLUTION_FWD_ALGO_{ALGORITHMS[self._choice.convolve]}"
        room = f"{WORKSPACE}, {4 * WORKSPACE_FLOATS}"
        images, filters = (
            operand.buffer + (f" + {operand.offset}" if operand.offset else "")
            for operand in (product.right, product.left)
        )
        return [
            f"static Convolution convolution({write_shape(found)}, {wanted}, {math});",
            f"convolution.run(stream, {images}, {filters}, {product.out}, {room});",
        ]

    def _write_library(self) -> list[str]:
        product = self.product
        sizes = f"{product.batch}, {product.rows}, {product.cols}, {product.depth}"
        left = self._write_operand(product.left, rows=product.rows, cols=product.depth)
        right = self._write_operand(product.right, rows=product.depth, cols=product.cols)
        math = "CUBLAS_TF32_TENSOR_OP_MATH" if self._precision.multiplies_in_tf32 else "CUBLAS_DEFAULT_MATH"
        return [f"multiply_by_library(stream, {math}, {sizes}, {left}, {right}, {product.out});"]

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


def write_shape(found: Convolution) -> str:
    """The convolution as a `ConvolutionShape`; the library wants two axes of space at least."""
    first = found.axes[0]
    line = Axis(size=1, distance=first.size * first.distance, taps=1, places=1)
    axes = (line, *found.axes) if len(found.axes) == 1 else found.axes
    lists = (
        (found.images, found.groups * found.channels, *(axis.size for axis in axes)),
        (found.image_distance, found.channel_distance, *(axis.distance for axis in axes)),
        (found.groups * found.filters, found.channels, *(axis.taps for axis in axes)),
        (found.images, found.groups * found.filters, *(axis.places for axis in axes)),
        tuple(axis.stride for axis in axes),
        tuple(axis.dilation for axis in axes),
    )
    written = ", ".join(f"{{{', '.join(map(str, numbers))}}}" for numbers in lists)
    return f"{{{len(axes) + 2}, {written}, {found.groups}}}"
