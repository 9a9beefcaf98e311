"""Softmax of rows in two kernels with maxima and sums between them, in a workspace that is kept."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.workspaces = {}

    def get_workspace(self, x: torch.Tensor) -> torch.Tensor:
        key = (tuple(x.shape), x.dtype)
        workspace = self.workspaces.get(key)
        if workspace is None:
            workspace = torch.empty(2, x.shape[0], dtype=x.dtype, device=x.device)
            self.workspaces[key] = workspace
        return workspace

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        workspace = self.get_workspace(x)
        y = torch.empty_like(x)
        kernels.reduce_rows(x, workspace)
        kernels.normalise(x, workspace, y)
        return y
