from collections.abc import Mapping

import pytest

from cuda_agent.expert.choice import Choice, Convolve
from cuda_agent.expert.cuda_product import (
    WORKSPACE,
    CudaProduct,
    LibraryMatrix,
    find_library_matrix,
    find_product_header,
    suits_library,
)
from cuda_agent.expert.plan import Digit, Operand
from cuda_agent.judge.policy import Precision
from tests.expert.built import Planned

ROW = LibraryMatrix(is_transposed=False, stride=6, distance=0)
COLUMN = LibraryMatrix(is_transposed=True, stride=3, distance=0)


def lay(rows: int, cols: int, *, batch: int = 0) -> Operand:
    digits = (Digit(count=3, stride=batch),) if batch else ()
    return Operand(
        buffer="in0",
        offset=0,
        batch=digits,
        rows=(Digit(count=4, stride=rows),),
        cols=(Digit(count=6, stride=cols),),
    )


@pytest.mark.parametrize(
    ("operand", "found"),
    [
        (lay(6, 1), LibraryMatrix(is_transposed=False, stride=6, distance=0)),
        (lay(9, 1, batch=50), LibraryMatrix(is_transposed=False, stride=9, distance=50)),
        (lay(1, 4), LibraryMatrix(is_transposed=True, stride=4, distance=0)),
        (lay(12, 2), None),
        (lay(5, 1), None),
        (lay(0, 1), None),
    ],
)
def test_the_library_takes_packed_rows_or_columns(operand: Operand, found: LibraryMatrix | None) -> None:
    assert find_library_matrix(operand, rows=4, cols=6) == found


def test_a_single_row_has_any_stride() -> None:
    row = Operand(buffer="in0", offset=0, rows=(), cols=(Digit(count=6, stride=1),))
    assert find_library_matrix(row, rows=1, cols=6) == LibraryMatrix(
        is_transposed=False, stride=6, distance=0
    )
    spread = row.model_copy(update={"cols": (Digit(count=6, stride=3),)})
    assert find_library_matrix(spread, rows=1, cols=6) == LibraryMatrix(
        is_transposed=True, stride=3, distance=0
    )


def test_ordinary_products_go_to_the_library_and_others_to_tiles(planned: Mapping[str, Planned]) -> None:
    plain = planned["linear_gelu"].plan.products[0]
    windows = planned["convolution_groups"].plan.products[0]
    assert suits_library(plain)
    assert not suits_library(windows)
    assert "{CUBLAS_OP_T, 40, 0}" in CudaProduct(plain, Choice()).write()
    tiles = CudaProduct(windows, Choice(convolve=Convolve.TILES))
    assert "multiply_tiles<<<6, 256, 0, stream>>>(size, left, right," in tiles.write()
    assert CudaProduct(plain, Choice()).write_launches() == ["kernel0(in2, in0, mid0, stream);"]


def test_windows_go_to_cudnn_with_room_to_work_in(planned: Mapping[str, Planned]) -> None:
    windows = planned["convolution_groups"].plan.products[0]
    written = CudaProduct(windows, Choice()).write()
    assert "static Convolution convolution({4, " in written
    assert ", CUDNN_CONVOLUTION_FWD_ALGO_COUNT, CUDNN_FMA_MATH);" in written
    assert "_WINOGRAD_NONFUSED, " in CudaProduct(windows, Choice(convolve=Convolve.WINOGRAD)).write()
    assert f"float* {WORKSPACE}, cudaStream_t stream" in written
    assert find_product_header(windows, Choice()) == "cudnn_convolution.h"


@pytest.mark.parametrize(
    ("precision", "product_math", "convolution_math"),
    [
        (Precision.HIGHEST, "CUBLAS_DEFAULT_MATH", "CUDNN_FMA_MATH"),
        (Precision.TORCH_DEFAULT, "CUBLAS_DEFAULT_MATH", "CUDNN_DEFAULT_MATH"),
        (Precision.TF32, "CUBLAS_TF32_TENSOR_OP_MATH", "CUDNN_DEFAULT_MATH"),
    ],
)
def test_tf32_is_used_where_the_policy_allows_it(
    planned: Mapping[str, Planned], *, precision: Precision, product_math: str, convolution_math: str
) -> None:
    plain, windows = (
        CudaProduct(planned[name].plan.products[0], Choice(), precision=precision).write()
        for name in ("linear_gelu", "convolution_groups")
    )
    assert f"multiply_by_library(stream, {product_math}, " in plain
    assert f", {convolution_math});" in windows
