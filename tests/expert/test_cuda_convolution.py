"""Which products cuDNN takes as convolutions, and that it is asked for the right ones."""

import itertools
from pathlib import Path

import pytest

from cuda_agent.expert.choice import Choice, Convolve
from cuda_agent.expert.cuda_convolution import Axis, Convolution, find_convolution
from cuda_agent.expert.cuda_product import is_convolution, write_shape
from tests.expert.built import Planned, build_library, check_against_reference, plan_source
from tests.expert.zoo import write_module


def plan_convolution(layer: str, shape: str) -> Planned:
    return plan_source(
        write_module("return self.conv(x)", {"x": f"torch.randn({shape})"}, init=f"self.conv = {layer}")
    )


CASES = {
    "plain": ("nn.Conv2d(3, 4, 3)", "2, 3, 8, 9"),
    "padded": ("nn.Conv2d(3, 4, 3, padding=1)", "2, 3, 8, 9"),
    "strided": ("nn.Conv2d(3, 4, 3, stride=2)", "2, 3, 9, 10"),
    "dilated": ("nn.Conv2d(3, 4, (3, 2), dilation=(2, 3))", "2, 3, 9, 10"),
    "both": ("nn.Conv2d(3, 4, 3, stride=2, dilation=2)", "2, 3, 11, 12"),
    "wide": ("nn.Conv2d(3, 4, (1, 5))", "2, 3, 4, 9"),
    "tall": ("nn.Conv2d(3, 4, (5, 1), stride=(2, 1))", "2, 3, 9, 4"),
    "one_image": ("nn.Conv2d(3, 4, 3)", "1, 3, 8, 9"),
    "one_channel": ("nn.Conv2d(1, 4, 3)", "2, 1, 8, 9"),
    "one_filter_a_group": ("nn.Conv2d(4, 2, 3, groups=2)", "2, 4, 8, 9"),
    "groups": ("nn.Conv2d(4, 6, 3, groups=2, padding=1)", "3, 4, 7, 8"),
    "groups_of_one_image": ("nn.Conv2d(4, 6, 3, groups=2)", "1, 4, 7, 8"),
    "groups_of_one_channel": ("nn.Conv2d(3, 6, 3, groups=3)", "2, 3, 7, 8"),
    "one_row": ("nn.Conv2d(3, 4, 3)", "2, 3, 3, 9"),
    "one_column": ("nn.Conv2d(3, 4, 3)", "2, 3, 9, 3"),
    "line": ("nn.Conv1d(3, 5, 4, stride=3)", "2, 3, 30"),
    "volume": ("nn.Conv3d(3, 4, 3, padding=1, stride=(1, 2, 1))", "2, 3, 5, 6, 7"),
    "transposed": ("nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1)", "2, 3, 5, 6"),
}
FEW = {"one_filter_a_group", "groups_of_one_channel"}
"""Of which some may be sums that fuse, or have no product at all."""


@pytest.fixture(scope="module")
def convolutions() -> dict[str, Planned]:
    return {name: plan_convolution(*case) for name, case in CASES.items()}


def test_the_library_is_asked_for_what_the_layer_does(
    convolutions: dict[str, Planned], tmp_path: Path
) -> None:
    library = build_library(convolutions, tmp_path, choice=Choice(convolve=Convolve.WINOGRAD), emulated=True)
    for name, one in convolutions.items():
        if name not in FEW:
            assert any(is_convolution(product) for product in one.plan.products), name
        assert check_against_reference(one, getattr(library, name), emulated=True) < 0.5, name


def test_a_convolution_is_found_with_its_sizes(convolutions: dict[str, Planned]) -> None:
    [product] = convolutions["both"].plan.products
    found = find_convolution(product)
    assert found is not None
    # A step that stride and dilation share is told as a longer way from row to row.
    assert found.axes == (
        Axis(size=6, distance=24, taps=3, places=4),
        Axis(size=11, distance=1, taps=3, places=4, stride=2, dilation=2),
    )
    [product] = convolutions["line"].plan.products
    found = find_convolution(product)
    assert found == Convolution(
        images=2,
        image_distance=90,
        groups=1,
        channels=3,
        channel_distance=30,
        filters=5,
        axes=(Axis(size=30, distance=1, taps=4, places=9, stride=3),),
    )
    assert (
        write_shape(found)
        == "{4, {2, 3, 1, 30}, {90, 30, 30, 1}, {5, 3, 1, 4}, {2, 5, 1, 9}, {1, 3}, {1, 1}, 1}"
    )


def test_packed_images_are_told_as_such(convolutions: dict[str, Planned]) -> None:
    for name in ("plain", "padded", "strided", "volume"):
        [product] = convolutions[name].plan.products
        found = find_convolution(product)
        assert found is not None
        sizes = [axis.size for axis in found.axes]
        distances = [found.channel_distance, *(axis.distance for axis in found.axes)]
        assert [a // b for a, b in itertools.pairwise(distances)] == sizes, name


def test_products_of_other_kinds_are_none(planned: dict[str, Planned]) -> None:
    assert not is_convolution(planned["linear_gelu"].plan.products[0])
    assert not is_convolution(planned["convolution_points"].plan.products[0])


def test_without_the_library_there_are_tiles(convolutions: dict[str, Planned], tmp_path: Path) -> None:
    some = {name: convolutions[name] for name in ("padded", "groups")}
    library = build_library(some, tmp_path, choice=Choice(convolve=Convolve.TILES), emulated=True)
    for name, one in some.items():
        assert check_against_reference(one, getattr(library, name), emulated=True) < 0.5, name
