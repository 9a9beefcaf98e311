from cuda_agent.expert.domain import Dim, Domain
from cuda_agent.expert.index import Affine

DOMAIN = Domain((Dim(4), Dim(6)), (8,), ((0, 8),))


def test_positions_are_row_major() -> None:
    assert DOMAIN.locate_row() == Affine(0, ((0, 6), (1, 1)))
    assert DOMAIN.locate_column(0) == Affine(0, ((2, 1),))
    assert (DOMAIN.rows, DOMAIN.row_extent, DOMAIN.loops) == (24, 8, (8,))


def test_refining_splits_a_counter_and_keeps_positions() -> None:
    rows, columns = DOMAIN.refine(1, 3), DOMAIN.refine(2, 2)
    assert rows is not None
    assert columns is not None
    assert rows.locate_row() == Affine(0, ((0, 6), (1, 3), (2, 1)))
    assert columns.cols == (4, 2)
    assert columns.locate_column(0) == Affine(0, ((2, 2), (3, 1)))


def test_pieces_of_equal_length_share_a_loop() -> None:
    halves = DOMAIN.cut_columns(4)
    assert (halves.pieces, halves.loops) == (((0, 4), (4, 4)), (4,))
    assert halves.locate_column(1) == Affine(4, ((2, 1),))
    parts = halves.cut_columns(6)
    assert (parts.pieces, parts.loops) == (((0, 4), (4, 2), (6, 2)), (4, 2))
    assert parts.refine(2, 2) is None


def test_rows_divide_into_two_domains() -> None:
    low, high = DOMAIN.cut_rows(0, 3)
    assert (low.rows, high.rows) == (18, 6)
    assert high.locate_row() == Affine(18, ((1, 1),))
    assert high.refine(0, 2) is None
