"""Keys and values of many conversations, each in a slot of its own that grows at its own pace.

It takes the place of transformers' cache, so that any of its causal language models can be continued row
by row: which rows and positions a pass writes is set before it.

Axes: S slots, R rows of a pass, N tokens of a row, P positions, H heads that keys have, D width of a head.
"""

from typing import Any

import torch
from torch import Tensor


class SlotCache:
    """What a model has read, slot by slot."""

    def __init__(self, model: Any, *, slots: int, window_tokens: int) -> None:  # noqa: ANN401
        """Room for `window_tokens` in each slot; `model` is one of transformers' causal language models."""
        config = model.config.get_text_config()
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        # One position more than the window, where padding and idle slots write.
        shape = (config.num_hidden_layers, 2, slots, window_tokens + 1, heads, width)
        self._kept_SPHD = torch.zeros(shape, dtype=model.dtype, device=model.device)
        self.nowhere = window_tokens
        """The position that is written and never read."""
        self._rows_R: Tensor = torch.arange(slots, device=model.device)
        self._positions_RN: Tensor = self._rows_R[:, None]
        self._width = 0
        self._has_all = True

    def aim(self, positions_RN: Tensor, *, width: int, rows_R: Tensor | None = None) -> None:
        """Choose what the next pass writes, of all rows or some; it reads the first `width` positions."""
        self._has_all = rows_R is None
        slots = self._kept_SPHD.shape[2]
        self._rows_R = torch.arange(slots, device=positions_RN.device) if rows_R is None else rows_R
        self._positions_RN = positions_RN
        self._width = width

    def update(self, keys_RHND: Tensor, values_RHND: Tensor, *where: int) -> tuple[Tensor, Tensor]:
        """Write a layer's new keys and values, and give all that the pass reads, (R, H, P, D).

        The layer's number comes third, by position: transformers calls it so.
        """
        read = []
        for kept_SPHD, new_RHND in zip(self._kept_SPHD[where[0]], (keys_RHND, values_RHND), strict=True):
            kept_SPHD[self._rows_R[:, None], self._positions_RN] = new_RHND.transpose(1, 2)
            rows_RPHD = kept_SPHD[:, : self._width]
            read.append((rows_RPHD if self._has_all else rows_RPHD[self._rows_R]).transpose(1, 2))
        return read[0], read[1]

    def get_seq_length(self, _layer: int = 0) -> int:
        """Positions that a pass reads; asked for by transformers, which is told all positions anyway."""
        return self._width

    def build_mask(self, positions_RN: Tensor, *, dtype: torch.dtype) -> Tensor:
        """What to add to the scores, (R, 1, N, P): a token reads itself and those before it."""
        places_P = torch.arange(self._width, device=positions_RN.device)
        is_later_R1NP = places_P > positions_RN[:, None, :, None]
        mask_R1NP = torch.zeros(is_later_R1NP.shape, dtype=dtype, device=positions_RN.device)
        return mask_R1NP.masked_fill_(is_later_R1NP, torch.finfo(dtype).min)
