from collections.abc import Mapping

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.cuda_shape import choose_keep, choose_shape, is_packed, is_read_once, round_up_power
from cuda_agent.expert.plan import Access
from cuda_agent.expert.schedule import Keep
from tests.expert.built import Planned

CHOICE = Choice(keep=Keep.ROW)


def test_a_short_row_belongs_to_a_warp(planned: Mapping[str, Planned]) -> None:
    plan = planned["even_masked_softmax"].plan
    shape = choose_shape(plan.kernels[0], plan, choice=CHOICE)
    assert (shape.vector, shape.threads, shape.rows, shape.block) == (4, 32, 8, 256)
    assert (shape.vectors, shape.steps, shape.is_resident) == ((128,), (4,), True)


def test_a_long_row_belongs_to_a_block(planned: Mapping[str, Planned]) -> None:
    plan = planned["block_rows"].plan
    shape = choose_shape(plan.kernels[0], plan, choice=CHOICE)
    assert (shape.vector, shape.threads, shape.rows, shape.steps) == (4, 256, 1, (4,))


def test_a_row_beyond_the_registers_is_read_again(planned: Mapping[str, Planned]) -> None:
    plan = planned["huge_rows"].plan
    shape = choose_shape(plan.kernels[0], plan, choice=CHOICE)
    assert (shape.threads, shape.is_resident) == (1024, False)
    assert choose_keep(shape, CHOICE) is Keep.NOTHING


def test_neighbouring_threads_take_rows_that_lie_side_by_side(planned: Mapping[str, Planned]) -> None:
    plan = planned["softmax_across"].plan
    shape = choose_shape(plan.kernels[0], plan, choice=CHOICE)
    assert (shape.vector, shape.rows, shape.is_across, shape.has_rows) == (1, 32, True, True)
    assert shape.threads * shape.steps[0] >= shape.vectors[0]
    assert shape.block <= 1024


def test_vectors_fill_an_access(planned: Mapping[str, Planned]) -> None:
    for name, vector in (("even_pointwise", 4), ("even_bfloat16", 8), ("gelu_bias", 1)):
        plan = planned[name].plan
        assert choose_shape(plan.kernels[-1], plan, choice=CHOICE).vector == vector, name


def test_packed_means_side_by_side_and_aligned(planned: Mapping[str, Planned]) -> None:
    kernel = planned["even_masked_softmax"].plan.kernels[0]
    inner = kernel.inner
    assert is_packed(kernel, Access(buffer="in0", offset=8, terms=((0, 512), (inner, 1))), vector=4)
    assert not is_packed(kernel, Access(buffer="in0", offset=2, terms=((0, 512), (inner, 1))), vector=4)
    assert not is_packed(kernel, Access(buffer="in0", offset=0, terms=((0, 510), (inner, 1))), vector=4)
    assert not is_packed(kernel, Access(buffer="in0", offset=0, terms=((inner, 2),)), vector=4)


def test_what_rows_share_is_not_read_once(planned: Mapping[str, Planned]) -> None:
    kernel = planned["rms_norm"].plan.kernels[0]
    assert is_read_once(kernel, Access(buffer="in0", offset=0, terms=((0, 19), (1, 1))))
    assert not is_read_once(kernel, Access(buffer="in0", offset=0, terms=((1, 1),)))


def test_powers_of_two() -> None:
    assert [round_up_power(n) for n in (1, 2, 3, 32, 33)] == [1, 2, 4, 32, 64]
