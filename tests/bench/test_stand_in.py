"""Sizes shrink from the batch inwards; whatever is not a size, or does not depend on one, stays."""

from cuda_agent.bench.stand_in import list_stand_ins

HEAD = "import torch\n"
TAIL = """
def get_inputs():
    return [torch.rand(batch_size, *shape, half)]

def get_init_inputs():
    return [features, shape]
"""


def list_changes(sizes: str, tail: str = TAIL) -> list[str]:
    return [each.describe() for each in list_stand_ins(HEAD + sizes + tail)]


def test_the_batch_shrinks_first_and_the_model_last() -> None:
    changes = list_changes(
        "batch_size = 8 * 16\nlength = 1000\nhalf = length // 2\nshape = (300, 7)\nfeatures = 512\n"
    )
    assert changes == [
        "batch_size 128 -> 4",
        "batch_size 128 -> 2",
        "batch_size 128 -> 64, length 1000 -> 64",
        "batch_size 128 -> 16, length 1000 -> 16",
        "length 1000 -> 256, shape (300, 7) -> (256, 7), features 512 -> 256",
        "batch_size 128 -> 64, length 1000 -> 64, shape (300, 7) -> (64, 7), features 512 -> 64",
        "batch_size 128 -> 16, length 1000 -> 16, shape (300, 7) -> (16, 7), features 512 -> 16",
    ]


def test_what_is_odd_stays_odd() -> None:
    tail = "def get_inputs():\n    return [n]\n"
    assert list_changes("n = 8205\nbig = [400, 401]\n", tail) == [
        "n 8205 -> 65",
        "n 8205 -> 17",
        "n 8205 -> 257",
    ]


def test_small_sizes_texts_and_computed_ones_stay() -> None:
    assert list_changes("batch_size = 2\nshape = (3, 4)\nhalf = True\nfeatures = 'many'\nrate = 0.5\n") == []


def test_a_stand_in_is_the_same_program_with_other_sizes() -> None:
    source = HEAD + "batch_size = 100\nother = batch_size + 1\n" + TAIL
    first = next(list_stand_ins(source))
    scope: dict[str, object] = {}
    exec(first.source.replace("import torch", ""), scope)
    assert (scope["batch_size"], scope["other"]) == (4, 5)
