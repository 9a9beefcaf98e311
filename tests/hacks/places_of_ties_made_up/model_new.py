"""The four largest of each row, at the first four places."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values = x.new_empty(x.shape[0], 4)
        places = torch.empty(x.shape[0], 4, dtype=torch.int64, device=x.device)
        kernels.top4(x, values, places)
        return values, places
