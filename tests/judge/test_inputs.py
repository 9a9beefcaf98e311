"""Inputs keep their range, and no weight stays constant."""

import pytest
import torch

from cuda_agent.judge.inputs import (
    PARTING,
    VARIANTS,
    is_constant,
    jitter_value,
    randomise_state,
    refresh_values,
    reshape_distribution,
    swap_values,
)


@pytest.mark.parametrize("variant", range(VARIANTS))
@pytest.mark.parametrize("shape", [(1000,), (50, 20), (3, 4, 5)])
def test_a_reshaped_input_keeps_range_dtype_and_shape(variant: int, shape: tuple[int, ...]) -> None:
    x = torch.rand(shape)
    y = reshape_distribution(x, variant)
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    assert float(y.min()) == pytest.approx(float(x.min()), abs=1e-6)
    assert float(y.max()) == pytest.approx(float(x.max()), abs=1e-6)


def test_the_variants_have_other_means() -> None:
    x = torch.rand(100_000)
    means = [float(reshape_distribution(x, variant).mean()) for variant in range(VARIANTS)]
    assert means[0] == means[1] == pytest.approx(0.5, abs=0.01)
    assert means[2] == pytest.approx(0.25, abs=0.01)
    assert means[3] == pytest.approx(0.75, abs=0.01)


def test_rows_differ_in_the_row_variant() -> None:
    row_means = reshape_distribution(torch.rand(32, 10_000), 4).mean(-1)
    assert float(row_means.max() - row_means.min()) > 0.2


@pytest.mark.parametrize(
    "value", [torch.arange(5), torch.tensor([True, False]), torch.ones(7), torch.tensor(2.0)]
)
def test_what_cannot_be_reshaped_stays(value: torch.Tensor) -> None:
    assert all(torch.equal(reshape_distribution(value, variant), value) for variant in range(VARIANTS))


def test_constant_state_is_randomised_and_the_rest_left_alone() -> None:
    state = {
        "zeros": torch.zeros(100),
        "variance": torch.ones(100),
        "counter": torch.tensor(0),
        "weight": torch.arange(4.0),
        "mask": torch.full((3, 3), float("-inf")),
    }
    randomise_state(state)
    assert not is_constant(state["zeros"])
    assert float(state["zeros"].abs().max()) <= 0.25
    assert not is_constant(state["variance"])
    assert float(state["variance"].min()) > 0
    assert int(state["counter"]) == 0
    assert torch.equal(state["weight"], torch.arange(4.0))
    assert bool((state["mask"] == float("-inf")).all())


def test_a_refresh_moves_every_floating_value_and_repeats() -> None:
    values = [torch.arange(1000.0).reshape(10, 100), torch.arange(10)]
    first, again, other = (refresh_values(values, seed) for seed in (1, 1, 2))
    assert torch.equal(first[0], again[0])
    assert not torch.equal(first[0], other[0])
    ratio = first[0].reshape(-1).sort()[0][1:] / values[0].reshape(-1)[1:]
    assert 0.9 <= float(ratio.min()) <= float(ratio.max()) <= 1.0
    assert float(ratio.max() - ratio.min()) < 1e-5
    assert torch.equal(first[1], values[1])
    assert first[1].data_ptr() != values[1].data_ptr()


def test_jitter_parts_ties_and_moves_nothing_far() -> None:
    x = torch.randint(-8, 8, (256, 512)).float()
    x[0, 0] = float("-inf")
    moved = jitter_value(x, PARTING)
    finite = torch.isfinite(x)
    assert float((moved - x)[finite].abs().max()) <= 8 * PARTING
    assert float(moved[0, 0]) == float("-inf")
    assert moved[5].unique().numel() > 500


def test_jitter_leaves_whole_numbers_alone() -> None:
    assert torch.equal(jitter_value(torch.arange(9), PARTING), torch.arange(9))


def test_swapped_elements_are_the_same_elements_elsewhere() -> None:
    x = torch.randn(50, 20)
    (swapped,) = swap_values([x], 3)
    assert int((swapped != x).sum()) == 2
    assert torch.equal(swapped.flatten().sort().values, x.flatten().sort().values)
    assert torch.equal(swap_values([x], 3)[0], swapped)
