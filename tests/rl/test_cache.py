import torch

from cuda_agent.rl.cache import SlotCache
from tests.llm.tiny_llama import build_model, build_tokenizer


def build() -> SlotCache:
    return SlotCache(build_model(build_tokenizer()), slots=3, window_tokens=8)


def fill(rows: int, tokens: int, *, value: float) -> torch.Tensor:
    """Keys of the tiny model: 2 heads of width 16."""
    return torch.full((rows, 2, tokens, 16), value)


def test_a_row_is_written_where_it_is_aimed_and_read_back_with_what_was_there() -> None:
    cache = build()
    cache.aim(torch.tensor([[0, 1], [0, 1]]), width=2, rows_R=torch.tensor([2, 0]))
    cache.update(torch.stack([fill(1, 2, value=5.0)[0], fill(1, 2, value=7.0)[0]]), fill(2, 2, value=1.0), 1)
    cache.aim(torch.tensor([[2], [cache.nowhere], [3]]), width=4)
    keys, values = cache.update(fill(3, 1, value=9.0), fill(3, 1, value=2.0), 1)
    assert keys.shape == (3, 2, 4, 16)
    assert keys[:, 0, :, 0].tolist() == [[7, 7, 9, 0], [0, 0, 0, 0], [5, 5, 0, 9]]
    assert values[:, 1, :, 3].tolist() == [[1, 1, 2, 0], [0, 0, 0, 0], [1, 1, 0, 2]]


def test_layers_do_not_share_places() -> None:
    cache = build()
    cache.aim(torch.zeros(3, 1, dtype=torch.int64), width=1)
    cache.update(fill(3, 1, value=5.0), fill(3, 1, value=5.0), 0)
    keys, _ = cache.update(fill(3, 1, value=6.0), fill(3, 1, value=6.0), 1)
    assert keys.unique().tolist() == [6.0]


def test_a_token_reads_itself_and_those_before_it() -> None:
    cache = build()
    positions = torch.tensor([[1, 2], [0, cache.nowhere]])
    cache.aim(positions, width=4)
    mask = cache.build_mask(positions, dtype=torch.float32)
    assert mask.shape == (2, 1, 2, 4)
    seen = (mask[:, 0] == 0).long().tolist()
    assert seen == [[[1, 1, 0, 0], [1, 1, 1, 0]], [[1, 0, 0, 0], [1, 1, 1, 1]]]
    assert mask.min().item() == torch.finfo(torch.float32).min
