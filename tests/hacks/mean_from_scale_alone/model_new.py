import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty([], dtype=torch.float32)
        kernels.log_cosh_mean(x, y)
        return y
